"""Descriptions and rules that belong to a question by the tables and columns that it is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ..values.schema_words import name_stems
from .entry import Entry, Item

LIKELY = 0.5
"""Probability from which a linked table or column counts as what the question is about."""

POSSIBLE = 0.15
"""The same of a column whose name the question says, in a table that it is about; less says nothing."""


@dataclass(frozen=True)
class Asked:
    """What a question says.

    Attributes:
        words: Its stems, mistyped ones as what was meant.
        meant: For each that says something, what it may stand for, with what that counts.
        said: All that they stand for, with what that counts at best.
        named: Words of names that such questions were learned to be about.
    """

    words: Counter[str]
    meant: Mapping[str, Mapping[str, float]]
    said: Mapping[str, float]
    named: frozenset[str]

    def mentions(self, *names: str) -> bool:
        """Whether a word of a name is said."""
        return any(word in self.said for name in names for word in _name(name))

    def says(self, *names: str) -> bool:
        """Whether every word of all names is said."""
        words = [word for name in names for word in _name(name)]
        return bool(words) and all(word in self.said for word in words)

    def means(self, name: str) -> bool:
        """Whether every word of a name is said, or goes with what is said."""
        words = _name(name)
        return bool(words) and all(word in self.said or word in self.named for word in words)


@dataclass(frozen=True)
class InPlay:
    """What a question is about.

    Attributes:
        asked: The question.
        p: The linker's probabilities of what is at least possible; the column is empty for a table.
        read: What the definitions that it needs read.
        keys: The table to which each foreign key column refers.
    """

    asked: Asked
    p: Mapping[Item, float]
    read: Collection[Item]
    keys: Mapping[Item, str]

    @cached_property
    def tables(self) -> frozenset[str]:
        """The tables that it is about."""
        linked = {table for (table, column), p in self.p.items() if not column and p >= LIKELY}
        return frozenset(linked | {table for table, _ in self.read})

    def likely(self, item: Item) -> bool:
        """Whether the linker finds the question to be about an item."""
        return self.p.get(item, 0.0) >= LIKELY

    def needs(self, entry: Entry, shares: bool) -> bool:
        """Whether the question needs a description or a rule.

        Args:
            entry: Of the items that it is about.
            shares: Whether their words have something rare in common.
        """
        near = shares and any(table in self.tables for table, _ in entry.about)
        match entry.kind:
            case "column":
                return near or any(self.likely(item) or item in self.read or self._meant(item) for item in entry.about)
            case "convention":
                return near or any(map(self._said, [item for item in entry.about if item[1]] or entry.about))
            case "never":
                return any(map(self._tempting, entry.about)) or self._instead(entry)
            case "join":
                both = all(table in self.tables for table, _ in entry.about)
                return both and (shares or all(self.asked.means(column) for _, column in entry.about if column))
            case _:
                return False

    def _meant(self, item: Item) -> bool:
        return item[0] in self.tables and item in self.p and self.asked.means(item[1])

    def _said(self, item: Item) -> bool:
        """Whether the question speaks of an item: a value found in it is not enough."""
        return (self.likely(item) and self.asked.mentions(*item)) or (bool(item[1]) and self.asked.says(*item))

    def _tempting(self, item: Item) -> bool:
        """Whether a query would use an item: the likeliest or a mentioned column, or a key on the way."""
        table, column = item
        if self.likely(item):
            best = max(p for (other, held), p in self.p.items() if other == table and bool(held) == bool(column))
            return self.p[item] >= best or self.asked.mentions(column)
        goal = self.keys.get(item)
        reached = any(other in self.tables and target == table for (other, _), target in self.keys.items())
        return goal in self.tables and (reached or table in self.tables)

    def _instead(self, entry: Entry) -> bool:
        """Whether the question is about what must be used instead, and does not say of which table."""
        likely = (item for item, p in self.p.items() if p >= LIKELY and item[1])
        return any(
            entry.text.startswith(f"use {table}.{column} instead") and not self.asked.mentions(table)
            for table, column in likely
        )


@lru_cache(maxsize=20_000)
def _name(name: str) -> tuple[str, ...]:
    """The words of a name that say something."""
    return tuple(word for word in name_stems(name) if word != "id") if name else ()
