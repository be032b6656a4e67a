"""An example's schema text: parsed, and used to write its SQL in the regular form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import cast, get_args

from ..database.quoting import unquote
from ..database.schema import ColumnKind, ColumnSchema, ForeignKey, Schema, TableSchema
from ..errors import SQLParseError
from ..sql import regularize
from .example import Example

_PIECE = re.compile(r""""(?:[^"]|"")*"|`(?:[^`]|``)*`|'(?:[^']|'')*'|[-~]>|[^\W\d]\w*|\S""")
_NAME = re.compile(r'"(?:[^"]|"")+"|`(?:[^`]|``)+`|[^\W\d]\w*')
_ASIDE = re.compile(r"\[[^\]]*(?:\]|\Z)|'(?:[^']|'')*'")


@lru_cache(maxsize=1_024)
def parse_compact_schema(text: str) -> Schema:
    """Parse a schema in the compact form; other texts give one table of all names in the text."""
    read = [table for line in text.splitlines() if (table := _parse_table_line(line))]
    tables = tuple(table for table, _ in read)
    if not tables:
        names = dict.fromkeys(unquote(match[0]) for match in _NAME.finditer(_ASIDE.sub(" ", text)))
        tables = (TableSchema("", tuple(map(ColumnSchema, names))),) if names else ()
    return Schema("", tables, tuple(key for _, keys in read for key in keys))


@lru_cache(maxsize=1_024)
def regularize_example(example: Example) -> Example:
    """Return the example with its SQL in regular form (CREDIT-SQL 3.2), if it can be parsed."""
    try:
        return replace(example, sql=regularize(example.sql, parse_compact_schema(example.schema)))
    except SQLParseError:
        return example


def _parse_table_line(line: str) -> tuple[TableSchema, list[ForeignKey]] | None:
    """Return the table that a line describes, with foreign keys; None if the line has none."""
    pieces = [piece for piece in _PIECE.findall(line) if piece != "^"] or ["("]
    path = _parse_dotted_name(pieces)
    rest = pieces[2 * len(path) - 1 :]
    if not _NAME.fullmatch(pieces[0]) or rest[:1] != ["("]:
        return None
    table = ".".join(path)
    columns: list[ColumnSchema] = []
    keys: list[ForeignKey] = []
    primary = 0
    for item in _split_parenthesized_items(rest[1:]):
        start, is_primary = "".join(item[:1]), item[1:2] == ["*"]
        if _NAME.fullmatch(start):
            primary += is_primary
            kind = cast(ColumnKind, next((piece for piece in item[1:4] if piece in get_args(ColumnKind)), "text"))
            likely = item[1:3] == ["~", "*"]
            columns.append(ColumnSchema(unquote(start), "", kind, primary * is_primary, likely_key=likely))
        elif start != "(":
            continue
        for place, arrow in enumerate(item):
            if arrow in ("->", "~>"):
                target = _parse_dotted_name(item[place + 1 :])
                # A column's own `a -> t.b`, or `(a, b) -> t(c, d)`.
                own, references = _extract_names(item[:place]), _extract_names(item[place + 2 * len(target) :])
                if start != "(":
                    own, target, references = own[:1], target[:-1], target[-1:]
                if target and references:
                    keys.append(ForeignKey(table, own, ".".join(target), references, arrow == "~>"))
    return TableSchema(table, tuple(columns), schema=".".join(path[:-1])), keys


def _parse_dotted_name(pieces: Sequence[str]) -> tuple[str, ...]:
    """Return the parts of the dotted name at the start of the pieces."""
    end = 1
    while pieces[end : end + 1] == ["."]:
        end += 2
    return tuple(map(unquote, pieces[:end:2]))


def _split_parenthesized_items(pieces: Iterable[str]) -> list[list[str]]:
    """Split the content of a table's parentheses at commas that are not nested."""
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


def _extract_names(pieces: Iterable[str]) -> tuple[str, ...]:
    return tuple(unquote(piece) for piece in pieces if _NAME.fullmatch(piece))
