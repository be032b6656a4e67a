"""How names, values and comments of a database enter a prompt: on one line, delimited, and never long.

What a database holds was written by others. A value can't end the line or the quotes it stands in, and so can't pass
for an instruction or for another part of the schema.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .schema import ColumnSchema
from .table import Cell

_LONGEST_NAME = 100
_LONGEST_VALUE = 40
_LONGEST_COMMENT = 100
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_KEYWORDS = """
    add all alter and as autoincrement between case check collate commit constraint create default deferrable delete
    distinct drop else escape except exists foreign from group having if in index insert intersect into is isnull join
    limit not notnull null on or order primary references select set table then to transaction union unique update
    using values when where
"""
_RESERVED = frozenset(_KEYWORDS.split())


@lru_cache(maxsize=50_000)
def identifier(name: str) -> str:
    """A name as a query has to write it: in double quotes where SQLite needs them."""
    if _PLAIN.match(name) and len(name) <= _LONGEST_NAME and name.lower() not in _RESERVED:
        return name
    return '"' + one_line(name, _LONGEST_NAME).replace('"', '""') + '"'


def literal(value: Cell) -> str:
    """A value as a short SQL literal; what was cut off shows as an ellipsis, bytes as their number."""
    if isinstance(value, str):
        if len(value) > _LONGEST_VALUE or not value.isprintable():
            value = one_line(value, _LONGEST_VALUE)
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    return "NULL" if value is None else repr(value)


def examples(column: ColumnSchema, number: int) -> str:
    """Sample values, separated by commas; empty where they say nothing: numbers that only identify rows."""
    if not number or not column.samples or (column.primary_key and column.kind == "number"):
        return ""
    return ", ".join([literal(value) for value in column.samples[:number]])


def remark(comment: str) -> str:
    """A comment from the schema in quotes; empty if there is none."""
    return '"' + one_line(comment, _LONGEST_COMMENT).replace('"', "'") + '"' if comment else ""


def one_line(text: str, longest: int) -> str:
    """The text without line breaks and other control characters, cut to `longest` characters."""
    if not text.isprintable():
        text = "".join([character if character.isprintable() else " " for character in text[: 2 * longest]])
    return text if len(text) <= longest else text[: longest - 1] + "…"
