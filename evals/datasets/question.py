"""The form of every dataset: questions with gold SQL, and the folders of their databases."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from ...tools.database.server.address import without_password
from ...tools.errors import DatabaseUnavailable, SettingsError

Outcome = Literal["answer", "decline", "ask_back"]
"""What is right to do with a question."""


_SQLITE_FILE = "sqlite:///"


@dataclass(frozen=True)
class Expects:
    """What a question expects besides, or instead of, a query.

    Attributes:
        outcome: What is right to do.
        meant: What its asker means, in words: said where the agent asks back, or the choice nearest to it is taken.
    """

    outcome: Outcome = "answer"
    meant: str = ""


@dataclass(frozen=True)
class Question:
    """One question (one turn of an interaction).

    Attributes:
        id: Unique in its dataset: `12` for a single question, `12.3` for the third turn of interaction 12.
        database: The name of its database.
        text: As asked; in an interaction it may need the turns before.
        golds: Accepted SQL, the published one first; empty only where `expects` says what is right instead.
        interaction: What it is a turn of; a single question is an interaction of its own.
        turn: From 1.
        evidence: A hint that comes with the question (BIRD); empty without.
        level: The dataset's own difficulty (BIRD); empty where Spider's levels hold.
        disputed: Why the published gold is doubtful; empty where it isn't.
        expects: Where declining or asking back may be right; None where a query is, and nobody can be asked.
        repeat: Which of several tries at the same question this is; None for the only one.
    """

    id: str
    database: str
    text: str
    golds: tuple[str, ...]
    interaction: str
    turn: int = 1
    evidence: str = ""
    level: str = ""
    disputed: str = ""
    expects: Expects | None = None
    repeat: int | None = None


@dataclass(frozen=True)
class Dataset:
    """Questions of one split, in their published order.

    Attributes:
        name: As on the command line.
        split: Likewise.
        questions: Turns of one interaction are neighbours.
        databases: Folders in which `NAME/NAME.sqlite` is looked for, in this order.
        tables: Spider's tables.json files, from which EM takes foreign keys.
        root: The folder that it was loaded from; None for a file of one's own.
        moved: Whether `databases` are others than the questions name (`on`).
    """

    name: str
    split: str
    questions: tuple[Question, ...]
    databases: tuple[Path, ...]
    tables: tuple[Path, ...] = ()
    root: Path | None = None
    moved: bool = False

    def database(self, name: str) -> Path:
        """The file of a database.

        Raises:
            DatabaseUnavailable: None of the folders has it.
        """
        if name.startswith(_SQLITE_FILE) and not self.moved:
            return Path(name.removeprefix(_SQLITE_FILE).partition("?")[0])
        if "://" in name:
            raise DatabaseUnavailable(f"{self.name} {self.split}: {without_password(name)} is no SQLite file")
        for root in self.databases:
            if found := next((path for path in self._places(root, name) if path.is_file()), None):
                return found
        looked = ", ".join(str(root) for root in self.databases) or "no folder at all"
        raise DatabaseUnavailable(
            f"{self.name} {self.split}: no database {without_password(name)!r}; looked in {looked}"
        )

    def _places(self, root: Path, name: str) -> Iterator[Path]:
        """Where a database may be in a folder."""
        # A name with a suffix is a file of one's own; benchmarks give each database a folder.
        folder = schema_name(name) if self.moved else name
        yield root / folder / f"{folder}.sqlite"
        # The file that the questions name would otherwise be used in place of the one that should replace it.
        if not self.moved or not (Path(name).is_absolute() or ".." in Path(name).parts):
            yield root / name

    def place(self, name: str) -> str | Path:
        """Where to open a database: its file, or the URL that the questions name it by.

        Raises:
            DatabaseUnavailable: None of the folders has it.
        """
        return name if "://" in name and not self.moved else self.database(name)

    @property
    def conversational(self) -> bool:
        """Whether declining or asking back may be right for some question."""
        return any(question.expects is not None for question in self.questions)

    @property
    def interactions(self) -> Sequence[tuple[Question, ...]]:
        """Questions, interaction by interaction."""
        return [tuple(turns) for _, turns in groupby(self.questions, key=lambda question: question.interaction)]

    def first(self, count: int | None) -> Dataset:
        """The first `count` interactions; all of them for None."""
        if count is None:
            return self
        kept = tuple(question for turns in self.interactions[:count] for question in turns)
        return replace(self, questions=kept)

    def without(self, databases: Collection[str]) -> Dataset:
        """Leaves out the questions of some databases.

        Raises:
            SettingsError: No question is of such a database.
        """
        known = {question.database for question in self.questions}
        if unknown := next((name for name in databases if name not in known), None):
            raise SettingsError(f"{self.name} {self.split} has no questions on {unknown!r}")
        return replace(self, questions=tuple(q for q in self.questions if q.database not in databases))

    def on(self, databases: Path | None) -> Dataset:
        """The same questions on other databases of the same schemas, such as a test suite's; None changes nothing."""
        return self if databases is None else replace(self, databases=(databases,), moved=True)


def schema_name(database: str) -> str:
    """What a database is called in a folder of suites: no two have the same name, and none leads out of the folder.

    >>> schema_name("concert_singer"), schema_name("clinic.sqlite"), schema_name("old/clinic.db")
    ('concert_singer', 'clinic', 'old%2Fclinic.db')
    """
    return quote(database.removesuffix(".sqlite"), safe=" ")
