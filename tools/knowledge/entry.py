"""One entry of knowledge about a database, from any file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ..words import stems

# A word of the business, something that is computed, a description, or a rule; files have them in this order.
EntryKind = Literal["term", "metric", "table", "column", "join", "convention", "never"]

Item = tuple[str, str]  # A table and a column; the column is empty for the table itself


@dataclass(frozen=True)
class Entry:
    """An entry of knowledge: a term, metric, description, join or rule."""

    kind: EntryKind
    # Of a term or metric its words; of a description its table or `table.column`; of a join its condition; of a
    # convention its text; of what must not be used, that.
    name: str
    text: str = ""  # what it means, in words
    sql: str = ""  # of a term a condition, of a metric an expression, columns qualified by their tables
    also: tuple[str, ...] = ()  # other words for the same
    about: tuple[Item, ...] = ()  # the tables and columns that it concerns; those of its SQL among them
    values: tuple[tuple[str, str], ...] = ()  # coded values of a column, each with its meaning
    author: str = ""
    added: str = ""  # in ISO 8601
    unchecked: str = ""  # why its SQL was not run when it was added
    rights: str = ""  # the key of the rights under which it was written (`Rights.key`); empty for all rights
    source: str = ""  # the file that it comes from
    fault: str = ""  # why it cannot be used, if that shows while its source is read

    @classmethod
    def make_item_description(cls, table: str, column: str, text: str, **more: Any) -> Entry:
        """Make an entry that describes a table, or one of its columns."""
        kind, name = ("column", f"{table}.{column}") if column else ("table", table)
        return cls(kind, name, text, about=((table, column),), **more)

    @property
    def key(self) -> str:
        """The entry's kind and name, which identify the entry."""
        return f"{self.kind} {self.name}"

    @property
    def line(self) -> str:
        """The entry as one line of a prompt."""
        also = f" (also: {', '.join(self.also)})" if self.also else ""
        match self.kind:
            case "term" | "metric":
                sql = f" SQL: {self.kind.upper()}('{self.name.replace(chr(39), chr(39) * 2)}') = {self.sql}"
                head = f'{self.kind} "{self.name}"{also}: {self.text}'.rstrip(":. ")
                return f"{head}.{sql if self.sql else ''}"
            case "convention":
                return f"convention: {self.text}"
            case "never":
                return f"never use {self.name}{f': {self.text}' if self.text else ''}"
            case _:
                codes = ", ".join(f"{code!r} is {meaning}" for code, meaning in self.values)
                return f"{self.kind} {self.name}{also}: {'; '.join(filter(None, [self.text, codes]))}"

    @property
    def names(self) -> tuple[str, ...]:
        """The names by which people refer to the entry."""
        return (self.name, *self.also) if self.kind in ("term", "metric") else self.also

    @property
    def phrases(self) -> tuple[tuple[str, ...], ...]:
        """The word stems of each name of the entry."""
        return tuple(dict.fromkeys(phrase for name in self.names if (phrase := tuple(stems(name)))))


@dataclass(frozen=True)
class SelectedEntries:
    """The entries that a question needs, most specific first, and the number left out."""

    entries: tuple[Entry, ...] = ()
    left_out: int = 0
