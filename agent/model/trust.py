"""Bounds on being wrong: what `tableturn trust fit` found of a model on a database, in one small versioned file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from ...tools.errors import SettingsError
from ...tools.folders import data_folder
from ...tools.whole_files import only_writer, write_whole

TRUST_FILE = "trust.json"
OFF = "off"


_Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
_Count = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Fingerprints:
    """What a bound holds for, as digests; another value of any withdraws it.

    Attributes:
        prompts: The templates, the settings of the method, and how confidence is reckoned.
        schema: Names, types and keys as whoever asks may see them.
        knowledge: The definitions that hold; empty without any.
        provider: Where the model is asked; empty in bounds of earlier versions.
    """

    prompts: str
    schema: str
    knowledge: str
    provider: str = ""

    def changed(self, now: Fingerprints) -> list[str]:
        """What is another by now, in words."""
        pairs = {
            "prompts or settings": (self.prompts, now.prompts),
            "schema": (self.schema, now.schema),
            "knowledge": (self.knowledge, now.knowledge),
            "the model's provider or address": (self.provider, now.provider),
        }
        return [name for name, (before, after) in pairs.items() if before != after]


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Bound:
    """The level of confidence from which a model's answers about a database are trusted.

    Attributes:
        database: `database_identity`.
        model: As answers name it.
        alpha: The share of wrong ones among trusted answers that is allowed at most.
        certainty: How sure it is that they are no more.
        level: The least confidence of a trusted answer; None where the labels do not show that there is one.
        labels: Labelled answers.
        wrong: Those that are wrong.
        trusted: Labelled answers of that confidence.
        trusted_wrong: Those of them that are wrong.
        missing: How many more labels it takes at least, going by those that there are; 0 where there is a level.
        fingerprints: What it holds for.
        time: When it was set, ISO 8601.
    """

    database: str
    model: str
    alpha: _Share
    certainty: _Share
    level: _Share | None
    labels: _Count
    wrong: _Count
    trusted: _Count
    trusted_wrong: _Count
    missing: _Count
    fingerprints: Fingerprints
    time: str


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class _File:
    version: Literal[1]
    bounds: list[Bound]


_READER = TypeAdapter(_File)


def trust_file(setting: str | Path | None = None) -> Path | None:
    """The file that a setting `trust` names: None or empty for the one in the data folder, `off` for none."""
    if str(setting) == OFF:
        return None
    return Path(setting) if setting else data_folder() / TRUST_FILE


def read_bounds(path: Path) -> tuple[Bound, ...]:
    """All bounds; none where there is no file.

    Raises:
        SettingsError: It cannot be read, or is of another version.
    """
    try:
        state = path.stat()
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error
    return _bounds(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=8)
def _bounds(path: Path, changed: int, size: int) -> tuple[Bound, ...]:
    """Read again when the file is another."""
    try:
        return tuple(_READER.validate_json(path.read_bytes()).bounds)
    except (OSError, ValidationError) as error:
        raise SettingsError(
            f"{path} contains no bounds that this version can read ({str(error).splitlines()[0]}): "
            "remove it, and set them again with `tableturn trust fit`"
        ) from error


def keep_bound(bound: Bound, path: Path) -> None:
    """Writes a bound in the place of the one for the same database and model.

    Raises:
        SettingsError: The file is no file of bounds, or cannot be written.
    """
    place = (bound.database, bound.model)
    try:
        with only_writer(path):
            others = [each for each in read_bounds(path) if (each.database, each.model) != place]
            write_whole(path, json.dumps(asdict(_File(1, [*others, bound])), ensure_ascii=False, indent=1) + "\n")
    except OSError as error:
        raise SettingsError(f"the bound cannot be written to {path}: {error}") from error


def find_bound(bounds: Sequence[Bound], database: str, model: str) -> Bound | None:
    """The bound for a database and a model, if any was set."""
    return next((each for each in bounds if (each.database, each.model) == (database, model)), None)
