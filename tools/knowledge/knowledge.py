"""The knowledge of one database, as one person may see it: checked, and ready to be looked through."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..database.schema import Schema
from ..values.match import ValueMatch
from ..words import fold, name_words, stem
from .check import Problem, check_entries, join_key
from .entry import Entry, Selection
from .read import DATABASE
from .search import KnowledgeIndex

if TYPE_CHECKING:
    from ..database import Database
    from .read import Layers

BUDGET = 1_800
"""Characters of definitions that a question is shown at most, about six hundred tokens."""


_JARGON = re.compile(r"(?<![\w.'’-])(?:([A-Z][A-Z0-9&/]*[A-Z0-9])s?|[\"“]([^\"”]{2,40})[\"”])(?![\w'’-])")
"""What is certainly meant as a word of its own: an abbreviation, or a word in quotes."""

_COMMON = frozenset(
    """
    AD AM AND ASC ASAP AVG BC CEO CFO CM COUNT CSV CTO DB DESC DVD EN EST ETC EU FAQ FR GB GMT HTML HTTP ID IDS IN IP IT
    JSON KG KM KPI LA LIMIT MAX MB MIN NASA NO NOT NULL NY OK OR PC PDF PIN PM PNG SQL SUM TV UK UN URL US USA USD UTC
    VIP XML YES ZIP EUR GBP JPY YTD MTD QTD TOP ALL ANY BY ON OF TO IS ARE WHO HOW WHAT WHEN I
""".split()  # noqa: SIM905 - read as a sentence
)
"""Abbreviations that need no explanation, and words that people write in capitals."""


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
        """Return the entries of all layers, checked against a database.

        Args:
            layers: What `read_knowledge` gives.
            database: As whoever asks may see it.

        Raises:
            DatabaseUnavailable: The database is gone or damaged.
        """
        bare = database.schema()
        entries, problems = check_entries([_commented(layer, bare) for layer in layers], database)
        linked = {frozenset((key.table, key.ref_table)) for key in bare.foreign_keys}
        keys = [join_key(entry, bare) for entry in entries if entry.kind == "join"]
        more = [key for key in keys if frozenset((key.table, key.ref_table)) not in linked]
        return cls(entries, problems, replace(bare, foreign_keys=(*bare.foreign_keys, *more)))

    def find(
        self, question: str, linked: Iterable[tuple[str, str | None, float]] = (), characters: int = BUDGET
    ) -> Selection:
        """Return what a question needs, the most specific first; see `KnowledgeIndex.find`."""
        return self._index.find(question, linked, characters)

    def knows(self, word: str) -> bool:
        """Whether a word stands in any definition."""
        return self._index.knows(word)


def _commented(layer: Sequence[Entry], schema: Schema) -> Sequence[Entry]:
    """Return a layer, or what the database's own comments say if it stands for them."""
    if [entry.source for entry in layer] != [DATABASE]:
        return layer
    items = [(table, item) for table in schema.tables for item in (None, *table.columns)]
    entries = [
        Entry("column", f"{table.name}.{item.name}", item.comment, about=((table.name, item.name),), source=DATABASE)
        if item
        else Entry("table", table.name, table.comment, about=((table.name, ""),), source=DATABASE)
        for table, item in items
        if (item or table).comment
    ]
    return sorted(entries, key=lambda entry: entry.kind == "column")


def unknown_words(question: str, schema: Schema, values: Iterable[ValueMatch], knowledge: Knowledge) -> tuple[str, ...]:
    """Return abbreviations and quoted words of a question that stand in no name, value or definition, in order.

    Ordinary words are left to whoever writes the query: that one knows the language.
    """
    if question.isupper():
        return ()
    items = [item.name for table in schema.tables for item in (table, *table.columns)]
    names = {stem(word) for item in items for word in name_words(item)}
    whole = set(map(fold, items))
    mentioned = [(match.start, match.end) for match in values]
    found: list[str] = []
    for hit in _JARGON.finditer(question):
        word = hit[1] or hit[2]
        if hit[1] and (word in _COMMON or re.fullmatch(r"[QH][1-4]|[A-Z]?\d+[A-Z]?", word)):
            continue
        parts = re.findall(r"\w+", word)
        explained = all(stem(fold(part)) in names or knowledge.knows(part) for part in parts) or fold(word) in whole
        in_value = any(start < hit.end() and hit.start() < end for start, end in mentioned)
        sample = any(word.lower() in str(cell).lower() for t in schema.tables for c in t.columns for cell in c.samples)
        if not (explained or in_value or sample):
            found.append(word)
    return tuple(dict.fromkeys(found))
