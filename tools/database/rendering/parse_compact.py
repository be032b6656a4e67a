"""The reader of schemas in the compact form, or of the names in another text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, groupby, takewhile
from typing import cast, get_args

from ..quoting import unquote
from ..schema import ColumnKind, ColumnSchema, ForeignKey, Schema, TableSchema

_NAME = re.compile(r'(?:"(?:[^"]|"")+"|`(?:[^`]|``)+`|[^\W\d]\w*)')
_PATH = re.compile(rf"{_NAME.pattern}(?:\.{_NAME.pattern})*")
_PIECE = re.compile(rf"{_PATH.pattern}|'(?:[^']|'')*'|[-~]>|\S")
_ASIDE = re.compile(r"\[[^\]]*(?:\]|\Z)|'(?:[^']|'')*'")


@lru_cache(maxsize=1_024)
def parse_compact_schema(text: str) -> Schema:
    """Parse a schema in the compact form; other texts give one table of all names in the text."""
    entries = [table for line in text.splitlines() if (table := _parse_table_line(line))]
    tables = tuple(table for table, _ in entries)
    if not tables:
        names = dict.fromkeys(unquote(match[0]) for match in _NAME.finditer(_ASIDE.sub(" ", text)))
        tables = (TableSchema("", tuple(map(ColumnSchema, names))),) if names else ()
    return Schema("", tables, tuple(key for _, keys in entries for key in keys))


def _parse_table_line(line: str) -> tuple[TableSchema, list[ForeignKey]] | None:
    """Return the table that a line describes, with foreign keys; None if the line has none."""
    pieces = [piece for piece in _PIECE.findall(line) if piece != "^"] or ["("]
    path, body = _extract_names(pieces[:1]), pieces[1:]
    if not path or body[:1] != ["("]:
        return None
    table = ".".join(path)
    columns: list[ColumnSchema] = []
    keys: list[ForeignKey] = []
    primary = 0
    for item in _split_parenthesized_items(body[1:]):
        if names := _extract_names(item[:1]):
            is_primary = item[1:2] == ["*"]
            primary += is_primary
            kind = cast(ColumnKind, next((piece for piece in item[1:4] if piece in get_args(ColumnKind)), "text"))
            likely = item[1:3] == ["~", "*"]
            columns.append(ColumnSchema(names[0], "", kind, primary * is_primary, likely_key=likely))
        elif item[0] != "(":
            continue
        for position, arrow in enumerate(item):
            if arrow in ("->", "~>"):
                target = _extract_names(item[position + 1 : position + 2])
                if names:  # a column's own `a -> t.b`
                    key_columns, target, references = names[:1], target[:-1], target[-1:]
                else:  # `(a, b) -> t(c, d)`
                    key_columns, references = _extract_names(item[:position]), _extract_names(item[position + 2 :])
                if target and references:
                    keys.append(ForeignKey(table, key_columns, ".".join(target), references, arrow == "~>"))
    return TableSchema(table, tuple(columns), schema=".".join(path[:-1])), keys


def _split_parenthesized_items(pieces: Sequence[str]) -> list[list[str]]:
    """Split the content of a table's parentheses at commas that are not nested."""
    depths = accumulate((piece in ("(", "[", "{")) - (piece in (")", "]", "}")) for piece in pieces)
    inside = takewhile(lambda pair: pair[1] >= 0, zip(pieces, depths, strict=True))
    items = groupby(inside, lambda pair: pair == (",", 0))
    return [[piece for piece, _ in item] for is_comma, item in items if not is_comma]


def _extract_names(pieces: Iterable[str]) -> tuple[str, ...]:
    paths = (piece for piece in pieces if _PATH.fullmatch(piece))
    return tuple(unquote(name) for path in paths for name in _NAME.findall(path))
