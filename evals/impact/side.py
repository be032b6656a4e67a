"""One of the two states that are compared: a database, or the folder of a trial with all that it says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ...tools.errors import SettingsError
from ..trial.draft import knowledge_entries
from ..trial.results import RESULTS_FILE, read_trial_results
from .history import PastAnswer, read_history


@dataclass(frozen=True)
class Side:
    """A state.

    Attributes:
        database: A path or URL.
        knowledge: The entries of its knowledge file by name, lower case; empty without one.
        model: Who answered; empty where that plays no part.
        answers: What was answered in it; None for a database alone.
    """

    database: str
    knowledge: Mapping[str, Mapping[str, Any]]
    model: str = ""
    answers: tuple[PastAnswer, ...] | None = None


def read_side(place: str, knowledge: Path | None = None) -> Side:
    """A state by what a person names it by.

    Args:
        place: A database's path or URL, or the folder of a trial.
        knowledge: Its knowledge file.

    Raises:
        SettingsError: The folder holds no trial, or the knowledge file cannot be read.
    """
    entries = read_knowledge(knowledge) if knowledge else {}
    folder = Path(place)
    if "://" in place or not (folder / RESULTS_FILE).exists():
        return Side(place, entries)
    about = read_trial_results(folder)["trial"]
    return Side(about["database"], entries, about["model"], tuple(read_history(folder)))


def read_knowledge(path: Path) -> dict[str, Mapping[str, Any]]:
    """Terms and metrics by name, lower case.

    Raises:
        SettingsError: It cannot be read.
    """
    try:
        found: object = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise SettingsError(f"{path} cannot be read: {' '.join(str(error).split())}") from error
    if not isinstance(found, Mapping):
        raise SettingsError(f"{path}: expected `terms` and `metrics`")
    sections = (found.get("terms"), found.get("metrics"))
    return {name.lower(): entry for section in sections for name, entry in knowledge_entries(section)}
