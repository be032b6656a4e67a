"""The form of every dataset: questions with gold SQL, and their databases."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Literal, Self

from ...tools.database import Database
from ...tools.database.server.address import without_password
from ...tools.errors import DatabaseUnavailable, SettingsError


def whole_operators(sql: str) -> str:
    """Return a query with `>=` for the `> =` of CoSQL's gold, which SQLite does not read."""
    for split, whole in (("> =", ">="), ("< =", "<="), ("! =", "!=")):
        sql = sql.replace(split, whole)
    return sql


Outcome = Literal["answer", "decline", "ask_back"]
"""What is right to do with a question."""


@dataclass(frozen=True)
class Expects:
    """What a question expects besides, or instead of, a query."""

    outcome: Outcome = "answer"  # what is right to do
    # What its asker means, in words: said if the agent asks back, or the choice nearest to it is taken.
    meant: str = ""


@dataclass(frozen=True)
class Question:
    """One question (one turn of an interaction)."""

    id: str  # unique in its dataset: `12` for a single question, `12.3` for the third turn of interaction 12
    database: str  # the name of its database
    text: str  # as asked; in an interaction it may need the turns before
    # Accepted SQL, the published one first; empty only if `expects` says what is right instead.
    golds: tuple[str, ...]
    interaction: str  # what it is a turn of; a single question is an interaction of its own
    turn: int = 1  # from 1
    evidence: str = ""  # a hint that comes with the question (BIRD); empty without
    level: str = ""  # the dataset's own difficulty (BIRD); empty if Spider's levels hold
    disputed: str = ""  # why the published gold is doubtful; empty if it is not
    # What is right besides a query, if declining or asking back may be; None if only a query is right.
    expects: Expects | None = None
    repeat: int | None = None  # which of several tries at the same question this is; None for the only one

    @property
    def wanted(self) -> Outcome:
        """What is right to do."""
        return self.expects.outcome if self.expects else "answer"


@dataclass(frozen=True)
class Dataset:
    """Questions of one split, in their published order."""

    name: str  # as on the command line
    split: str  # likewise
    questions: tuple[Question, ...]  # turns of one interaction are neighbours
    databases: tuple[Path, ...]  # folders in which `NAME/NAME.sqlite` is looked for, in this order
    tables: tuple[Path, ...] = ()  # Spider's tables.json files, from which EM takes foreign keys
    root: Path | None = None  # the folder that it was loaded from; None for a file of one's own

    def database(self, name: str) -> Path:
        """Return the file of a database."""
        if name.startswith("sqlite:///"):
            return Path(name.removeprefix("sqlite:///").partition("?")[0])
        here = f"{self.name} {self.split}"
        if "://" in name:
            raise DatabaseUnavailable(f"{here}: {without_password(name)} is not an SQLite file")
        # A name with a suffix is a file of one's own; benchmarks give each database a folder.
        for path in (root / place for root in self.databases for place in (f"{name}/{name}.sqlite", name)):
            if path.is_file():
                return path
        looked = ", ".join(map(str, self.databases)) or "no folder at all"
        raise DatabaseUnavailable(f"{here}: no database {without_password(name)!r}; looked in {looked}")

    def place(self, name: str) -> str | Path:
        """Return where to open a database: its file, or the URL that the questions name it by."""
        return name if "://" in name else self.database(name)

    @property
    def conversational(self) -> bool:
        """Whether declining or asking back may be right for some question."""
        return any(question.expects is not None for question in self.questions)

    @property
    def interactions(self) -> Sequence[tuple[Question, ...]]:
        """Questions, interaction by interaction."""
        return [tuple(turns) for _, turns in groupby(self.questions, key=lambda question: question.interaction)]

    def first(self, count: int | None) -> Dataset:
        """Return the first `count` interactions; all of them for None."""
        if count is None:
            return self
        return replace(self, questions=tuple(question for turns in self.interactions[:count] for question in turns))

    def without(self, databases: Collection[str]) -> Dataset:
        """Return the questions of all but some databases."""
        known = {question.database for question in self.questions}
        if unknown := next((name for name in databases if name not in known), None):
            raise SettingsError(f"{self.name} {self.split} has no questions on {unknown!r}")
        return replace(self, questions=tuple(q for q in self.questions if q.database not in databases))

    def on(self, databases: Path | None) -> Dataset:
        """Return a benchmark's questions on other databases of their schemas, such as a test suite's, if given."""
        if databases is None:
            return self
        if self.root is None:
            raise SettingsError(f"{self.name} names its databases: give a file that names those in {databases} instead")
        return replace(self, databases=(databases,))


class Closing:
    """A context manager that closes itself."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what is open."""
        raise NotImplementedError


class OneOpen(Closing):
    """Databases of which one is open at a time: questions come database by database."""

    def __init__(self) -> None:
        self._open: tuple[str | Path, Database] | None = None

    def at(self, place: str | Path) -> Database:
        """Return the database of a place."""
        if self._open is None or self._open[0] != place:
            self.close()
            self._open = (place, Database.open(place))
        return self._open[1]

    def close(self) -> None:
        """Close the database that is open."""
        if self._open is not None:
            self._open[1].close()
            self._open = None
