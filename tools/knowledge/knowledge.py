"""The knowledge of one database, as one person may see it: checked, and ready to be looked through."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..database.schema import Schema
from .check import Problem, check_entries
from .entry import Entry, Selection
from .read import DATABASE
from .search import KnowledgeIndex

if TYPE_CHECKING:
    from ..database import Database
    from .read import Layers

BUDGET = 1_800
"""Characters of definitions that a question is shown at most, about six hundred tokens."""


class Knowledge:
    """Definitions that hold on a database; made once a version of the files and of the schema.

    Attributes:
        entries: What holds.
        problems: What is left out, and why.
    """

    def __init__(self, entries: Sequence[Entry], problems: Sequence[Problem], schema: Schema) -> None:
        """Use `of`."""
        self.entries = tuple(entries)
        self.problems = tuple(problems)
        self.schema = schema
        self._index = KnowledgeIndex(self.entries, schema)

    @classmethod
    def of(cls, layers: Layers, database: Database) -> Knowledge:
        """The entries of all layers, checked against a database.

        Args:
            layers: What `read_knowledge` gives.
            database: As whoever asks may see it.

        Raises:
            DatabaseUnavailable: The database is gone or damaged.
        """
        bare = database.schema()
        checked = check_entries([_commented(layer, bare) for layer in layers], database)
        linked = {frozenset((key.table, key.ref_table)) for key in bare.foreign_keys}
        more = tuple(key for key in checked.keys if frozenset((key.table, key.ref_table)) not in linked)
        return cls(checked.entries, checked.problems, replace(bare, foreign_keys=(*bare.foreign_keys, *more)))

    def find(
        self, question: str, linked: Iterable[tuple[str, str | None, float]] = (), characters: int = BUDGET
    ) -> Selection:
        """What a question needs, the most specific first; see `KnowledgeIndex.find`."""
        return self._index.find(question, linked, characters)

    def knows(self, word: str) -> bool:
        """Whether a word stands in any definition."""
        return self._index.knows(word)


def _commented(layer: Sequence[Entry], schema: Schema) -> Sequence[Entry]:
    """A layer, or what the database's own comments say where it stands for them."""
    if [entry.source for entry in layer] != [DATABASE]:
        return layer
    tables = [
        Entry("table", table.name, table.comment, about=((table.name, ""),), source=DATABASE)
        for table in schema.tables
        if table.comment
    ]
    columns = [
        Entry("column", f"{table.name}.{held.name}", held.comment, about=((table.name, held.name),), source=DATABASE)
        for table in schema.tables
        for held in table.columns
        if held.comment
    ]
    return [*tables, *columns]
