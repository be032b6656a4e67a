"""An example's schema text: parsed, and used to write its SQL in the regular form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
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


@lru_cache(maxsize=1_024)
def read_compact(text: str) -> Schema:
    """Return the schema in a text of the compact form; other texts give a table of their names."""
    read = [table for line in text.splitlines() if (table := _read_table(line))]
    tables = tuple(table for table, _ in read)
    if not tables:
        names = dict.fromkeys(_unquote(match[0]) for match in _NAME.finditer(_ASIDE.sub(" ", text)))
        tables = (TableSchema("", tuple(map(ColumnSchema, names))),) if names else ()
    return Schema("", tables, tuple(key for _, keys in read for key in keys))


@lru_cache(maxsize=1_024)
def regular_example(example: Example) -> Example:
    """Return the example with its SQL in regular form (CREDIT-SQL 3.2), if it can be parsed."""
    try:
        return replace(example, sql=regularize(example.sql, read_compact(example.schema)))
    except SQLParseError:
        return example


def _read_table(line: str) -> tuple[TableSchema, list[ForeignKey]] | None:
    """Return the table that a line describes, and its foreign keys; None if it is not a table."""
    pieces = [piece for piece in _PIECE.findall(line) if piece != "^"] or [""]
    path = _read_path(pieces)
    rest = pieces[2 * len(path) - 1 :]
    if not _NAME.fullmatch(pieces[0]) or rest[:1] != ["("]:
        return None
    table = ".".join(path)
    columns: list[ColumnSchema] = []
    keys: list[ForeignKey] = []
    primary = 0
    for item in _split_items(rest[1:]):
        start, is_primary = "".join(item[:1]), item[1:2] == ["*"]
        if _NAME.fullmatch(start):
            primary += is_primary
            kind = cast(ColumnKind, next((piece for piece in item[1:4] if piece in get_args(ColumnKind)), "text"))
            likely = item[1:3] == ["~", "*"]
            columns.append(ColumnSchema(_unquote(start), "", kind, primary * is_primary, likely_key=likely))
        elif start != "(":
            continue
        for place, arrow in enumerate(item):
            if arrow in ("->", "~>"):
                target = _read_path(item[place + 1 :])
                # A column's own `a -> t.b`, or `(a, b) -> t(c, d)`.
                own, references = _read_names(item[:place]), _read_names(item[place + 2 * len(target) :])
                if start != "(":
                    own, target, references = own[:1], target[:-1], target[-1:]
                if target and references:
                    keys.append(ForeignKey(table, own, ".".join(target), references, arrow == "~>"))
    return TableSchema(table, tuple(columns), schema=".".join(path[:-1])), keys


def _read_path(pieces: Sequence[str]) -> tuple[str, ...]:
    """Return the parts of the dotted name at the start of the pieces."""
    end = 1
    while pieces[end : end + 1] == ["."]:
        end += 2
    return tuple(map(_unquote, pieces[:end:2]))


def _split_items(pieces: Iterable[str]) -> list[list[str]]:
    """Split the content of a table's parentheses at its commas, but not at nested ones."""
    items: list[list[str]] = [[]]
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


def _read_names(pieces: Iterable[str]) -> tuple[str, ...]:
    return tuple(_unquote(piece) for piece in pieces if _NAME.fullmatch(piece))


def _unquote(name: str) -> str:
    quote = name[:1]
    return name[1:-1].replace(2 * quote, quote) if quote in ('"', "`") else name
