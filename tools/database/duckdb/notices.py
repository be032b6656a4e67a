"""Notices on files: guesses in how they are read, and what misleads a count or a sum."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ...errors import SettingsError

if TYPE_CHECKING:
    from ..schema import Schema

GUESSES = ("totals", "headers", "footnotes", "header", "dates", "times", "numbers", "missing", "sheets")
"""Guesses about files that can be decided otherwise; docs/databases.md says what is guessed."""

_EMPTY = (
    "NA N/A n/a na NaN nan NULL null None - -- – — ? . k.A. n.d. #N/A #NV #DIV/0! #REF! #VALUE! #NAME? #NUM! #NULL!"
)
MISSING = tuple(_EMPTY.split())
"""How people write that a cell is empty, and the errors of a spreadsheet's formulas."""

LOOKED_AT = 100_000
"""Rows of a table that are looked at: the first ones."""

KEPT_TOTALS = "kept totals"
"""The kind of a notice on rows that may be totals, and that count like others."""

MOST_COLUMNS = 200  # that are looked at
EXAMPLE_CHARACTERS = 40  # characters of an example
_LEAVE_OUT = "leave them out in the question"


@dataclass(frozen=True)
class Notice:
    """A remark on a file: a guess in how it is read, or a fact that may mislead.

    Attributes:
        table: The table.
        column: The column; empty if it is about rows, or the whole table.
        kind: A word of `GUESSES`, or what the fact is about.
        text: What was noticed; it has no cell of the file.
        turned_by: For a guess, what decides it otherwise: a word of `GUESSES`, or what to do; empty for a fact.
        example: A cell that shows it, shortened; empty where cells are withheld.
    """

    table: str
    column: str
    kind: str
    text: str
    turned_by: str = ""
    example: str = ""

    def __str__(self) -> str:
        place = ".".join(filter(None, (self.table, self.column)))
        return f"{place}: {self.text}" + (f"; otherwise: {self.turned_by}" if self.turned_by else "")


def validate_guesses(words: Iterable[str]) -> frozenset[str]:
    """Return the guesses to reverse; raise `SettingsError` for an unknown guess."""
    guesses = frozenset(words)
    for word in guesses:
        if word.rpartition(".")[2] not in GUESSES:
            raise SettingsError(f"no guess is called {word!r}: write one of {', '.join(GUESSES)}, or TABLE.GUESS")
    return guesses


def list_likely_key_notices(schema: Schema) -> Iterator[Notice]:
    """Yield a notice for each likely key, which was inferred from names and values."""
    for table in schema.tables:
        for column in table.columns if table.kind == "table" else ():
            if column.likely_key:
                yield Notice(table.name, column.name, "key", "taken as the key: no value occurs twice")


@dataclass
class NoticeCollector:
    """A collector of notices on one table, with the guesses that are reversed."""

    table: str
    reversals: frozenset[str] = frozenset()
    notices: list[Notice] = field(default_factory=list[Notice])

    def is_guess_reversed(self, guess: str) -> bool:
        """Whether a guess is reversed for this table."""
        return guess in self.reversals or f"{self.table}.{guess}" in self.reversals

    def add(self, kind: str, text: str, column: str = "", example: object = "", turned_by: str = "") -> None:
        """Add a notice; a notice on a guess gets the word that reverses the guess."""
        # A terminal or a page shows it in one line.
        cell = "".join(sign if sign.isprintable() else " " for sign in str(example)[: 2 * EXAMPLE_CHARACTERS])
        cell = " ".join(cell.split())
        cell = cell if len(cell) <= EXAMPLE_CHARACTERS else f"{cell[: EXAMPLE_CHARACTERS - 1]}…"
        turned_by = turned_by or (kind if kind in GUESSES else "")
        self.notices.append(Notice(self.table, column, kind, text, turned_by, cell))

    def add_kept_totals(self, text: str, example: object = "", *, can_be_turned: bool = False) -> None:
        """Add a notice on rows that may be totals and are kept, unless the guess is reversed."""
        if can_be_turned and self.is_guess_reversed("totals"):
            self.add("totals", text + format_decision(True, kept=True), example=example)
        else:
            turned_by = "totals" if can_be_turned else _LEAVE_OUT
            self.add(KEPT_TOTALS, f"{text}: kept, so a sum may count rows twice", example=example, turned_by=turned_by)

    def rename_notice_columns(self, names: Mapping[str, str]) -> tuple[Notice, ...]:
        """Return the notices with columns renamed from the file's names to the given names."""
        return tuple(replace(notice, column=names.get(notice.column, notice.column)) for notice in self.notices)


def format_row_count(count: int, singular: str, plural: str) -> str:
    """Return a phrase such as `3 rows repeat the header`."""
    return f"1 row {singular}" if count == 1 else f"{count:,} rows {plural}"


def format_decision(is_turned: bool, *, kept: bool = False) -> str:
    """Return how a guess was decided, as `: left out, as you said`."""
    return (": left out" if is_turned == kept else ": kept") + (", as you said" if is_turned else "")
