"""A schema as text for a prompt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from ..schema import Schema
from .compact import render_compact
from .ddl import render_ddl
from .papers import render_craft, render_credit, render_frames, render_track

SchemaStyle = Literal["compact", "ddl", "credit", "track", "craft", "frames"]
"""`compact` is our own; `ddl` is CREATE statements; the others are the papers' forms, SQL-CRAFT's for SQL and
for pandas (`frames`)."""

_RENDERERS: Mapping[SchemaStyle, Callable[[Schema, frozenset[tuple[str, str]], int], str]] = {
    "compact": render_compact,
    "ddl": render_ddl,
    "credit": render_credit,
    "craft": render_craft,
    "frames": render_frames,
}


def render_schema(
    schema: Schema,
    style: SchemaStyle = "compact",
    *,
    marked: frozenset[tuple[str, str]] = frozenset(),
    samples: int = 3,
    all_columns: tuple[tuple[str, int], ...] = (),
) -> str:
    """A schema, or a part of one, in one of the prompt forms.

    Where the schema is a part of the database, the text says of how many tables. Names, values and comments are cut to
    a length, kept on their line and delimited: a database cannot add lines of its own to a prompt.

    Args:
        schema: Tables and columns in the order in which they should be shown.
        style: The form.
        marked: (table, column) pairs, in any case, that earlier queries used; the column is empty for a table itself,
            which Track-SQL's form has no mark for.
        all_columns: Tables of which all columns are asked for, in Track-SQL's form: `*` stands after so many of their
            columns.
        samples: How many sample values a column at most shows, in the forms that show them.
    """
    if style != "compact":
        schema = schema.stated()
    if style == "track":
        return render_track(schema, _lowered(marked), all_columns)
    return _RENDERERS[style](schema, _lowered(marked), samples)


def _lowered(marked: frozenset[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    return frozenset((table.lower(), column.lower()) for table, column in marked)
