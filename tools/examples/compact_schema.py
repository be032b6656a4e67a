"""The schema text that an example carries: read back, and used to write the example's SQL in the regular form."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import cast, get_args

from ..database.schema import ColumnKind, ColumnSchema, ForeignKey, Schema, TableSchema
from ..errors import SQLParseError
from ..sql import regularize
from .example import Example

_PIECE = re.compile(r""""(?:[^"]|"")*"|`(?:[^`]|``)*`|'(?:[^']|'')*'|[-~]>|[^\W\d]\w*|\S""")
_NAME = re.compile(r'"(?:[^"]|"")+"|`(?:[^`]|``)+`|[^\W\d]\w*')
_ASIDE = re.compile(r"\[[^\]]*(?:\]|\Z)|'(?:[^']|'')*'")
_ARROWS = ("->", "~>")

_Item = list[str]
"""The pieces of a column's description, or of a key of several columns."""


@lru_cache(maxsize=1_024)
def read_compact(text: str) -> Schema:
    """Return the tables, columns and keys of a schema in the compact prompt form; anything else gives what it names.

    Of primary keys, the columns stand in the table's order. Sample values and comments are passed over.
    """
    read = [table for line in text.splitlines() if (table := _table(line))]
    tables = tuple(table for table, _ in read)
    if not tables:
        names = dict.fromkeys(_unquoted(match[0]) for match in _NAME.finditer(_ASIDE.sub(" ", text)))
        tables = (TableSchema("", tuple(map(ColumnSchema, names))),) if names else ()
    return Schema("", tables, tuple(key for _, keys in read for key in keys))


@lru_cache(maxsize=1_024)
def regular_example(example: Example) -> Example:
    """The example with its SQL in the regular form (CREDIT-SQL 3.2); as it is where that cannot be read."""
    try:
        return replace(example, sql=regularize(example.sql, read_compact(example.schema)))
    except SQLParseError:
        return example


def _table(line: str) -> tuple[TableSchema, list[ForeignKey]] | None:
    """Return the table that a line describes, and what it references; None where it describes none."""
    pieces = [piece for piece in _PIECE.findall(line) if piece != "^"] or [""]
    path = _path(pieces, 0)
    rest = pieces[2 * len(path) - 1 :]
    if not _NAME.fullmatch(pieces[0]) or rest[:1] != ["("]:
        return None
    table = ".".join(path)
    columns: list[ColumnSchema] = []
    keys: list[ForeignKey] = []
    primary = 0
    for item in _items(rest[1:]):
        if item[:1] == ["("]:
            keys += _composite(table, item)
        elif item and _NAME.fullmatch(item[0]):
            is_primary = item[1:2] == ["*"]
            primary += is_primary
            kind = cast(ColumnKind, next((piece for piece in item[1:4] if piece in get_args(ColumnKind)), "text"))
            likely = item[1:3] == ["~", "*"]
            columns.append(ColumnSchema(_unquoted(item[0]), "", kind, primary * is_primary, likely_key=likely))
            keys += [
                ForeignKey(table, (columns[-1].name,), ".".join(target[:-1]), target[-1:], arrow == "~>")
                for place, arrow in enumerate(item[:-3])
                if arrow in _ARROWS and len(target := _path(item, place + 1)) > 1
            ]
    return TableSchema(table, tuple(columns), schema=".".join(path[:-1])), keys


def _path(pieces: _Item, start: int) -> tuple[str, ...]:
    """Return the parts of a name, between which dots stand."""
    end = start + 1
    while pieces[end : end + 1] == ["."]:
        end += 2
    return tuple(map(_unquoted, pieces[start:end:2]))


def _items(pieces: _Item) -> list[_Item]:
    """Split what stands between a table's parentheses at its commas, not at those of values, comments and keys."""
    items: list[_Item] = [[]]
    depth = 0
    for piece in pieces:
        depth += (piece in ("(", "[", "{")) - (piece in (")", "]", "}"))
        if depth < 0:
            break
        if piece == "," and not depth:
            items.append([])
        else:
            items[-1].append(piece)
    return items


def _composite(table: str, item: _Item) -> list[ForeignKey]:
    """Read `(a, b) -> t(c, d)`."""
    arrow = next((place for place, piece in enumerate(item) if piece in _ARROWS), len(item))
    path = _path(item, arrow + 1)
    columns, references = (
        tuple(_unquoted(piece) for piece in part if _NAME.fullmatch(piece))
        for part in (item[:arrow], item[arrow + 2 * len(path) :])
    )
    if not references:
        return []
    return [ForeignKey(table, columns, ".".join(path), references, item[arrow] == "~>")]


def _unquoted(name: str) -> str:
    quote = name[:1]
    return name[1:-1].replace(2 * quote, quote) if quote in ('"', "`") else name
