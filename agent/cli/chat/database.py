"""Commands about the database, as whoever asks may read it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ....tools.errors import SettingsError
from ....tools.terminal import safe
from ... import verbs
from ..rows import Rows
from .chat import Chat, interrupted

if TYPE_CHECKING:
    from ....tools.database import ColumnSchema, Schema


def tables(chat: Chat, rest: str) -> RenderableType:
    """The tables."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(justify="right", style="dim")
    grid.add_column()
    found = verbs.tables(chat.resources)
    for table in found.tables:
        rows = "" if table.row_count is None else f"{table.row_count:,} rows"
        about = "; ".join(filter(None, ("" if table.kind == "table" else table.kind, table.comment)))
        grid.add_row(Text(safe(table.name)), rows, Text(safe(about)))
    return Group(grid, Text(f"rows as of {_minute(found)}", style="dim"))


def schema(chat: Chat, rest: str) -> RenderableType:
    """A table's columns."""
    found = verbs.tables(chat.resources)
    table = found.table(verbs.unquoted(rest)) if rest else None
    if table is None:
        what = f"there is no table {rest}" if rest else "which table"
        raise SettingsError(f"{what}: {verbs.some_of([table.name for table in found.tables])}")
    keys = {
        name: f"{key.ref_table}.{other}"
        for key in found.foreign_keys
        if key.table == table.name
        for name, other in zip(key.columns, key.ref_columns, strict=True)
    }
    rows = [
        (column.name, column.type.lower() or column.kind, _key(column, keys), _samples(column), column.comment)
        for column in table.columns
    ]
    kind = "" if table.kind == "table" else f" ({table.kind})"
    size = "" if table.row_count is None else f", {table.row_count:,} rows as of {_minute(found)}"
    heading = f"{table.name}{kind}{size}{': ' if table.comment else ''}{table.comment}"
    return Group(Text(safe(heading), style="bold"), _columns(rows))


def _minute(schema: Schema) -> str:
    """Return when the rows of a schema were counted."""
    return f"{datetime.fromtimestamp(schema.counted_at):%Y-%m-%d %H:%M}"


def values(chat: Chat, rest: str) -> RenderableType:
    """A column's values, counted."""
    with interrupted() as cancellation:
        found = verbs.values(rest, chat.resources, cancellation)
    more = f"the first {len(found.rows)} of more" if found.truncated else ""
    return Rows((found.columns[0], "rows"), found.rows, more)


def _columns(rows: list[tuple[str, ...]]) -> Table:
    grid = Table.grid(padding=(0, 2))
    for number in range(len(rows[0]) if rows else 0):
        grid.add_column(no_wrap=number < 2, overflow="fold", style="" if number == 0 else "dim")
    for row in rows:
        grid.add_row(*(Text(safe(cell)) for cell in row))
    return grid


def _key(column: ColumnSchema, keys: dict[str, str]) -> str:
    parts = ["key"] if column.primary_key else []
    return ", ".join([*parts, *([f"-> {keys[column.name]}"] if column.name in keys else [])])


def _samples(column: ColumnSchema) -> str:
    shown = ", ".join(str(sample)[:30] for sample in column.samples[:3])
    return f"{shown}, ..." if shown and (column.distinct or 0) > len(column.samples[:3]) else shown
