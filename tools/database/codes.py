"""What codes mean: the rows of a small table of codes, beside each column that refers to it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from .schema import Codes, ForeignKey, TableSchema
from .table import Cell

Rows: TypeAlias = Sequence[Mapping[str, Cell]]
"""All rows of a table, by the names of its columns; none of a table that has many."""

_MOST_ROWS = 20
_MOST_COLUMNS = 6
_LONGEST_CODE = 6
"""Characters of a text that stands for something else; longer ones speak for themselves."""

_NAMED = re.compile(r"(?i)(code|cd|type|status|state|kind|category|class|reason|gender|flag)s?(_?id|_?no|_?key)?$")
"""What codes, or a table of them, are called; a table of few things is none."""

_LABELS = ("name", "label", "meaning", "description", "desc", "title", "text", "value")
"""Names of columns that say what a code means, the likeliest first."""


def few_rows(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Rows:
    """The rows by the names of their columns, if they are few enough to be a table of codes."""
    if len(columns) > _MOST_COLUMNS or len(rows) > _MOST_ROWS:
        return ()
    return [dict(zip(columns, row, strict=True)) for row in rows]


def with_codes(
    tables: Sequence[TableSchema], keys: Iterable[ForeignKey], rows: Mapping[str, Rows]
) -> list[TableSchema]:
    """The tables with the meaning of codes beside the columns that hold them.

    Args:
        tables: Every table.
        keys: Declared and likely references.
        rows: The rows of tables that have few, by the table's name.
    """
    by_name = {table.name: table for table in tables}
    found: dict[tuple[str, str], Codes] = {}
    for key in keys:
        target = by_name.get(key.ref_table)
        if target is None or len(key.columns) != 1 or key.ref_table == key.table:
            continue
        if not any(map(_NAMED.search, (key.columns[0], target.name, key.ref_columns[0]))):
            continue
        codes = _codes(target, key.ref_columns[0], rows.get(target.name, ()))
        if codes is not None:
            found[key.table, key.columns[0]] = codes
    if not found:
        return list(tables)
    return [
        replace(
            table,
            columns=tuple(
                replace(column, codes=codes) if (codes := found.get((table.name, column.name))) else column
                for column in table.columns
            ),
        )
        for table in tables
    ]


def _codes(table: TableSchema, key: str, rows: Rows) -> Codes | None:
    """What a table says of its codes; None where it says nothing, or where its keys are no codes."""
    label = _label(table, key)
    if label is None or not rows or not {key, label} <= rows[0].keys():
        return None
    told = [(row[key], text) for row in rows if isinstance(text := row[label], str) and text.strip()]
    # The order of rows may tell of columns that are not shown.
    pairs = tuple(sorted(told, key=lambda pair: (isinstance(pair[0], str), pair)))
    short = all(isinstance(code, int) or (isinstance(code, str) and len(code) <= _LONGEST_CODE) for code, _ in told)
    unique = len({text for _, text in pairs}) == len({code for code, _ in pairs}) == len(rows)
    return Codes(table.name, key, label, pairs) if short and unique else None


def _label(table: TableSchema, key: str) -> str | None:
    """The column of texts that says what the table's rows are: the only one, or the one that is called so."""
    texts = [column.name for column in table.columns if column.kind == "text" and column.name != key]
    named = [name for word in _LABELS for name in texts if name.lower().endswith(word)]
    return named[0] if named else texts[0] if len(texts) == 1 else None
