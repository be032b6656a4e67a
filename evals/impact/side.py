"""One of the two states that are compared: a database, or the folder of a trial or a run with its answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from ...tools.database.server.address import without_password
from ...tools.errors import SettingsError
from ..datasets import load_dataset
from ..runner.journal import JOURNAL_FILE
from ..runner.results import RESULTS_FILE, read_results
from ..runner.spec import SPEC_FILE
from ..trial.draft import knowledge_entries
from .history import PastAnswer, read_history


@dataclass(frozen=True)
class Side:
    """A state.

    Attributes:
        database: A path or URL; empty for a run that asked several databases.
        knowledge: The entries of its knowledge file by name, lower case; empty without one.
        model: Who answered; empty where that plays no part.
        answers: What was answered in it; None for a database alone.
    """

    database: str
    knowledge: Mapping[str, Mapping[str, Any]]
    model: str = ""
    answers: tuple[PastAnswer, ...] | None = None

    @property
    def only(self) -> str:
        """The one database of the state.

        Raises:
            SettingsError: It is a run over several.
        """
        if not self.database:
            raise SettingsError(
                "a run over several databases is compared with another run over the same questions alone: "
                "give that one's folder, and neither --history nor --examples"
            )
        return self.database


def read_side(place: str, knowledge: Path | None = None, data: Path | None = None) -> Side:
    """A state by what a person names it by.

    Args:
        place: A database's path or URL, or the folder of a trial or of a run.
        knowledge: Its knowledge file.
        data: The folder of benchmark data, for a run over a benchmark.

    Raises:
        SettingsError: The folder's trial or run is not finished, its dataset cannot be read, or the knowledge file
            cannot.
        DatabaseUnavailable: A database of the run is gone.
    """
    entries = read_knowledge(knowledge) if knowledge else {}
    folder = Path(place)
    if "://" in place or not (folder / RESULTS_FILE).exists():
        if any((folder / name).exists() for name in (SPEC_FILE, JOURNAL_FILE)):
            raise SettingsError(f"the trial or run in {place} is not finished: start it again with the same folder")
        return Side(place, entries)
    answers = tuple(read_history(folder))
    found = read_results(folder)
    if "trial" in found:
        return Side(found["trial"]["database"], entries, found["trial"]["model"], answers)
    spec = found["run"]
    dataset = load_dataset(spec["dataset"], spec["split"], data)
    # Results name databases without the passwords of their URLs.
    names = {without_password(question.database): question.database for question in dataset.questions}
    places = {
        name: str(dataset.place(names.get(name, name))) for name in dict.fromkeys(past.database for past in answers)
    }
    answers = tuple(replace(past, database=places[past.database]) for past in answers)
    only = next(iter(places.values())) if len(set(places.values())) == 1 else ""
    return Side(only, entries, spec["model"] or "", answers)


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
    return {name.lower(): entry for section in sections for name, entry in knowledge_entries(section, path)}
