"""What every dataset comes down to: questions with gold SQL, and where their databases are."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from urllib.parse import quote

from ...tools.errors import DatabaseUnavailable, SettingsError


@dataclass(frozen=True)
class Question:
    """One question (one turn of an interaction).

    Attributes:
        id: Unique in its dataset: `12` for a single question, `12.3` for the third turn of interaction 12.
        database: The name of its database.
        text: As asked; in an interaction it may need the turns before.
        golds: Accepted SQL, the published one first.
        interaction: What it is a turn of; a single question is an interaction of its own.
        turn: From 1.
        evidence: A hint that comes with the question (BIRD); empty without.
        level: The dataset's own difficulty (BIRD); empty where Spider's levels hold.
        disputed: Why the published gold is doubtful; empty where it isn't.
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
        for root in self.databases:
            if found := next((path for path in self._places(root, name) if path.is_file()), None):
                return found
        looked = ", ".join(str(root) for root in self.databases) or "no folder at all"
        raise DatabaseUnavailable(f"{self.name} {self.split}: no database {name!r}; looked in {looked}")

    def _places(self, root: Path, name: str) -> Iterator[Path]:
        """Where a database may be in a folder."""
        # A name with a suffix is a file of one's own; benchmarks give each database a folder.
        folder = schema_name(name) if self.moved else name
        yield root / folder / f"{folder}.sqlite"
        # The file that the questions name would otherwise be taken for the one that should stand in its stead.
        if not self.moved or not (Path(name).is_absolute() or ".." in Path(name).parts):
            yield root / name

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
