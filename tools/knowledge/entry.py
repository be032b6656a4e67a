"""One thing that is known of a database, whatever file it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..words import stems

EntryKind = Literal["term", "metric", "table", "column", "join", "convention", "never"]
"""What an entry is: a word of the business, something that is computed, a description, or a rule. Files have them in
this order."""

Item = tuple[str, str]
"""A table and a column; the column is empty for the table itself."""


@dataclass(frozen=True)
class Entry:
    """One definition.

    Attributes:
        kind: What it is.
        name: Of a term or metric its words; of a description its table or `table.column`; of a join its condition; of a
            convention its text; of what must not be used, that.
        text: What it means, in words.
        sql: Of a term a condition, of a metric an expression, columns qualified by their tables.
        also: Other words for the same.
        about: The tables and columns that it concerns; those of its SQL among them.
        values: Coded values of a column, each with its meaning.
        author: Who wrote it.
        added: When, in ISO 8601.
        rights: The key of the rights under which it was written (`Rights.key`); empty for all rights.
        source: The file that it comes from.
        fault: Why it cannot be used, where that shows while its source is read.
    """

    kind: EntryKind
    name: str
    text: str = ""
    sql: str = ""
    also: tuple[str, ...] = ()
    about: tuple[Item, ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    author: str = ""
    added: str = ""
    rights: str = ""
    source: str = ""
    fault: str = ""

    @property
    def key(self) -> str:
        """Its kind and name, which tell it from others."""
        return f"{self.kind} {self.name}"

    @property
    def line(self) -> str:
        """The entry as a prompt shows it."""
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
    def phrases(self) -> tuple[tuple[str, ...], ...]:
        """The stems of each of its names."""
        names = (self.name, *self.also) if self.kind in ("term", "metric") else self.also
        return tuple(dict.fromkeys(found for name in names if (found := tuple(stems(name)))))


@dataclass(frozen=True)
class Selection:
    """What of the knowledge a question needs.

    Attributes:
        entries: The most specific first.
        left_out: How many more matched, and found no room.
    """

    entries: tuple[Entry, ...] = ()
    left_out: int = 0
