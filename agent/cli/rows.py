"""Rows on a terminal: the columns that have room side by side, or every row as a record, a column a line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.markup import escape
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from ...tools.terminal import safe

CELL_CHARACTERS = 80
"""Longest cell of a table; a record has it whole."""

_COLUMN_CELLS = 32
"""Width that a column may claim where not all have room."""

_BORDERS = 3
"""What a column's borders and padding take."""


@dataclass(frozen=True)
class Rows:
    """Rows as a table: on a terminal the columns that have room, and the names of the others.

    Attributes:
        headings: Names of the columns.
        rows: The rows.
        caption: What stands below; empty for nothing.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[object]]
    caption: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """See Rich."""
        wide = not console.is_terminal
        shown = len(self.headings) if wide else fitting(self.headings, self.rows, options.max_width)
        table = Table(header_style="bold")
        for name in self.headings[:shown]:
            table.add_column(escape(safe(name)))
        for row in self.rows:
            table.add_row(*map(_cell, row[:shown]))
        yield table
        if left_out := self.headings[shown:]:
            yield Text(safe(f"{len(left_out)} more column(s): {', '.join(left_out)}"), style="dim")
        if self.caption:
            yield Text(self.caption, style="dim")


def fitting(headings: Sequence[str], rows: Sequence[Sequence[object]], width: int) -> int:
    """How many of the columns, from the first, have room side by side; at least one.

    All of them where they have room in full, else those that have if each takes a little less than it could.
    """
    widest = [
        max([_word(name), *(cell_len(_cell(row[place]).plain) for row in rows)]) for place, name in enumerate(headings)
    ]
    if 1 + sum(one + _BORDERS for one in widest) <= width:
        return len(headings)
    left = width - 1
    for count, one in enumerate(widest):
        left -= min(one, _COLUMN_CELLS) + _BORDERS
        if left < 0:
            return max(count, 1)
    return len(headings)


def as_records(headings: Sequence[str], rows: Iterable[Sequence[object]], first: int = 1) -> RenderableType:
    """Every row one under the other, its columns a line each.

    Args:
        headings: Names of the columns.
        rows: The rows.
        first: The number of the first one.
    """
    parts: list[RenderableType] = []
    for number, row in enumerate(rows, first):
        grid = Table.grid(padding=(0, 2))
        grid.add_column(style="bold", overflow="fold", max_width=_COLUMN_CELLS)
        grid.add_column(overflow="fold")
        for name, cell in zip(headings, row, strict=True):
            grid.add_row(Text(safe(name)), _cell(cell, None))
        parts += [Rule(f"row {number:,}", align="left", style="dim"), grid]
    return Group(*parts)


def _word(name: str) -> int:
    return max(map(cell_len, name.split()), default=0)


def _cell(cell: object, characters: int | None = CELL_CHARACTERS) -> Text:
    if cell is None:
        return Text("NULL", style="dim")
    text = safe(str(cell))
    cut = characters is not None and len(text) > characters
    return Text(f"{text[: characters - 1]}…" if cut and characters else text)
