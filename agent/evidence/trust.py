"""Whether an answer is marked trusted, and what that rests on."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ...tools.annotations import schema_key
from ...tools.errors import SettingsError
from ...tools.examples import database_identity
from ..advice import advisory
from ..model.trust import Bound, Fingerprints, find_bound, read_bounds, trust_file
from ..resources import Resources, Run
from ..settings import PRESETS, Settings


@dataclass(frozen=True)
class Trust:
    """What is said of an answer.

    Attributes:
        trusted: Whether it is above the level that was set; None where no level holds.
        reason: What that rests on, or why none holds; empty where nobody set one.
    """

    trusted: bool | None = None
    reason: str = ""


UNTOLD = Trust()


@advisory("confidence", UNTOLD)
def trusted(confidence: float, run: Run) -> Trust:
    """Whether an answer of that confidence is trusted, by the bound for the run's database and model.

    The agent's own settings say where bounds are kept, not the run's. Reads the schema, so call it within an effect.
    """
    path = trust_file(run.resources.settings.trust)
    if path is None:
        return UNTOLD
    try:
        bounds = read_bounds(path)
    except SettingsError as error:
        return Trust(None, str(error))
    model = run.resources.translator(run.settings).model
    bound = find_bound(bounds, database_identity(run.resources.database), model)
    return UNTOLD if bound is None else judged(confidence, bound, fingerprints(run.resources, run.settings))


def judged(confidence: float, bound: Bound, now: Fingerprints) -> Trust:
    """What a bound says of an answer."""
    if why := fault(bound, now):
        return Trust(None, why)
    assert bound.level is not None
    if confidence < bound.level:
        return Trust(False, f"less sure than the answers of which {promise(bound)}")
    return Trust(True, f"of answers as sure as this one {promise(bound)}")


def fault(bound: Bound, now: Fingerprints) -> str:
    """Why a bound marks nothing: too few labels, or it holds for something else; empty where it does."""
    if bound.level is None:
        more = f"at least {bound.missing} more" if bound.missing else "other"
        return f"nothing is marked trusted: {bound.labels} labelled answers do not show enough; {more} are needed"
    if changed := bound.fingerprints.changed(now):
        what = " and ".join(changed)
        return f"nothing is marked trusted: {what} changed since the labels were made; run `tableturn trust fit` again"
    return ""


def promise(bound: Bound) -> str:
    """What a bound says, in words."""
    return (
        f"at most {bound.alpha:.0%} are wrong, at {bound.certainty:.0%} certainty, by {bound.labels} labelled answers"
    )


def fingerprints(resources: Resources, settings: Settings) -> Fingerprints:
    """What bounds hold for, as it is now; reads the schema, so call it within an effect."""
    knowledge = resources.knowledge.now() if resources.knowledge else None
    known = sorted(entry.line for entry in knowledge.entries) if knowledge else []
    method = {name: getattr(settings, name) for name in (*PRESETS["full"], "approve")}
    translator = resources.translator(settings)
    return Fingerprints(
        _digest(_shipped(), json.dumps(method, sort_keys=True, default=str)),
        schema_key(resources.database.schema()),
        _digest(*known) if known else "",
        _digest(translator.name, str(getattr(translator, "address", ""))),
    )


@cache
def _shipped() -> str:
    """The templates of prompts, the version, and what confidence is reckoned by."""
    from tableturn import __version__

    templates = sorted((files("tableturn.prompts") / "templates").iterdir(), key=lambda file: file.name)
    weights = files("tableturn.agent.evidence") / "data" / "evidence.json"
    return _digest(__version__, *(file.read_text("utf-8") for file in (*templates, weights)))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
