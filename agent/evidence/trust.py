"""Trust in answers, by error bounds that `tableturn trust fit` writes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from ...tools.annotations import compute_schema_key
from ...tools.errors import SettingsError
from ...tools.examples import database_identity
from ...tools.folders import data_folder
from ...tools.labels import IN_ENGLISH, Labels
from ...tools.record_files import read_file
from ...tools.validation import describe_fault
from ...tools.whole_files import lock_folder_of_file, write_text_atomically
from ..advice import with_fallback
from ..resources import Resources, Run
from ..settings import PRESETS, Settings

TRUST_FILE = "trust.json"
OFF = "off"

_Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
_Count = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class TrustFingerprints:
    """Digests of the conditions for which a trust bound is valid; any change invalidates it."""

    prompts: str  # the templates, the settings of the method, and how confidence is reckoned
    schema: str  # names, types and keys as whoever asks may see them
    knowledge: str  # the definitions that hold; empty without any
    provider: str = ""  # where the model is asked; empty in bounds of earlier versions

    def list_changed_conditions(self, now: TrustFingerprints, labels: Labels = IN_ENGLISH) -> list[str]:
        """Return the conditions that have changed, in words."""
        return [labels.say(f"trust_{name}") for name, digest in vars(self).items() if digest != getattr(now, name)]


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class TrustBound:
    """The minimum confidence at which a model's answers about a database are trusted."""

    database: str  # see `database_identity`
    model: str  # as answers name it
    alpha: _Share  # the share of wrong ones among trusted answers that is allowed at most
    certainty: _Share  # how sure it is that they are no more
    level: _Share | None  # the least confidence of a trusted answer; None where the labels show none
    labels: _Count  # labelled answers
    wrong: _Count  # those that are wrong
    trusted: _Count  # labelled answers of that confidence
    trusted_wrong: _Count  # those of them that are wrong
    missing: _Count  # how many more labels it takes at least, going by those that there are; 0 where there is a level
    fingerprints: TrustFingerprints  # what it holds for
    time: str  # when it was set, ISO 8601


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class _TrustFile:
    version: Literal[1]
    bounds: list[TrustBound]


_READER = TypeAdapter(_TrustFile)


def get_trust_file_path(setting: str | Path | None = None) -> Path | None:
    """Return the file path for the setting `trust`; '' means the default, `off` no file."""
    if str(setting) == OFF:
        return None
    return Path(setting) if setting else data_folder() / TRUST_FILE


def read_trust_bounds(path: Path) -> tuple[TrustBound, ...]:
    """Return all trust bounds in a file; none if the file does not exist."""
    try:
        state = path.stat()
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error
    return _parse_trust_bounds(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=8)
def _parse_trust_bounds(path: Path, modified_at: int, size: int) -> tuple[TrustBound, ...]:
    """Return the trust bounds in a file, cached until the file changes."""
    try:
        return tuple(_READER.validate_json(read_file(path)).bounds)
    except ValidationError as error:
        raise SettingsError(
            f"{path} contains no trust bounds that this version can read ({describe_fault(error.errors()[0])}): name"
            " another file with --trust or the setting `trust`, and set them there with `tableturn trust fit`"
        ) from error


def write_trust_bound(bound: TrustBound, path: Path) -> None:
    """Write a trust bound in place of the one for the same database and model."""
    place = (bound.database, bound.model)
    try:
        with lock_folder_of_file(path):
            others = [other for other in read_trust_bounds(path) if (other.database, other.model) != place]
            write_text_atomically(
                path, json.dumps(asdict(_TrustFile(1, [*others, bound])), ensure_ascii=False, indent=1) + "\n"
            )
    except OSError as error:
        raise SettingsError(f"cannot write the trust bound to {path}: {error}") from error


def find_trust_bound(bounds: Sequence[TrustBound], database: str, model: str) -> TrustBound | None:
    """Return the trust bound for a database and a model, or None."""
    return next((bound for bound in bounds if (bound.database, bound.model) == (database, model)), None)


@dataclass(frozen=True)
class TrustVerdict:
    """The decision whether an answer is trusted, with the reason."""

    trusted: bool | None = None  # whether above the level; None where no level holds
    reason: str = ""  # what that rests on, or why none holds; empty where nobody set one


UNTOLD = TrustVerdict()


@with_fallback("confidence", UNTOLD)
def judge_answer_trust(confidence: float, run: Run, labels: Labels) -> TrustVerdict:
    """Return whether an answer is trusted, by the trust bound for the database and model.

    The agent's own settings say where bounds are kept, not the run's. Reads the schema, so call it within an effect.
    """
    path = get_trust_file_path(run.resources.settings.trust)
    if path is None:
        return UNTOLD
    try:
        bounds = read_trust_bounds(path)
    except SettingsError as error:
        return TrustVerdict(None, str(error))
    model = run.translator.model
    bound = find_trust_bound(bounds, database_identity(run.resources.database), model)
    if bound is None:
        return UNTOLD
    return apply_bound(confidence, bound, compute_fingerprints(run.resources, run.settings), labels)


def apply_bound(
    confidence: float, bound: TrustBound, now: TrustFingerprints, labels: Labels = IN_ENGLISH
) -> TrustVerdict:
    """Return whether a trust bound makes an answer trusted."""
    if why := explain_inapplicable_bound(bound, now, labels):
        return TrustVerdict(None, why)
    assert bound.level is not None
    trusted = confidence >= bound.level
    key = "trust_above" if trusted else "trust_below"
    return TrustVerdict(trusted, labels.say(key, bound=format_trust_bound(bound, labels)))


def explain_inapplicable_bound(bound: TrustBound, now: TrustFingerprints, labels: Labels = IN_ENGLISH) -> str:
    """Return why a trust bound does not apply, or '' if it does."""
    if bound.level is None:
        more = labels.say("trust_more" if bound.missing else "trust_other", missing=bound.missing)
        return labels.say("trust_unshown", bound.labels, more=more)
    if conditions := bound.fingerprints.list_changed_conditions(now, labels):
        return labels.say("trust_changed", what=f" {labels.say('and')} ".join(conditions))
    return ""


def format_trust_bound(bound: TrustBound, labels: Labels = IN_ENGLISH) -> str:
    """Return the error limit that a trust bound guarantees, in words."""
    return labels.say("trust_bound", bound.labels, alpha=bound.alpha, certainty=bound.certainty)


def compute_fingerprints(resources: Resources, settings: Settings) -> TrustFingerprints:
    """Return digests of the current prompts, schema, knowledge and provider."""
    knowledge = resources.knowledge.read()
    lines = sorted(entry.line for entry in knowledge.entries) if knowledge else []
    method = {name: getattr(settings, name) for name in (*PRESETS["full"], "approve")}
    translator = resources.translator(settings)
    return TrustFingerprints(
        _compute_digest(_compute_package_digest(), json.dumps(method, sort_keys=True, default=str)),
        compute_schema_key(resources.database.schema()),
        _compute_digest(*lines) if lines else "",
        _compute_digest(translator.name, str(getattr(translator, "address", ""))),
    )


@cache
def _compute_package_digest() -> str:
    """Return a digest of the package version, the prompt templates and the weights."""
    from tableturn import __version__

    templates = sorted((files("tableturn.prompts") / "templates").iterdir(), key=lambda file: file.name)
    weights = files("tableturn.agent.evidence") / "data" / "evidence.json"
    return _compute_digest(__version__, *(file.read_text("utf-8") for file in (*templates, weights)))


def _compute_digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
