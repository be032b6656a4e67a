"""Names of tables and columns, read back from the schema text that an example carries."""

from __future__ import annotations

import re
from functools import lru_cache

from ..database.schema import ColumnSchema, Schema, TableSchema

_LINE = re.compile(r"""^\s*("(?:[^"]|"")+"|[^\W\d]\w*)\s*\((.*)\)[^()]*$""")
_ASIDE = re.compile(r"\[[^\]]*\]|'(?:[^']|'')*'")
_NAME = re.compile(r'"((?:[^"]|"")+)"|([^\W\d]\w*)')


@lru_cache(maxsize=1_024)
def read_compact(text: str) -> Schema:
    """Tables and columns of a schema in the compact prompt form (a line a table); anything else gives what it names.

    Sample values, types and keys are passed over: this is for masking, not for querying.
    """
    tables = [table for line in text.splitlines() if not line.startswith(("Database ", "Notation:"))
              if (table := _table(line))]  # fmt: skip
    if not tables:
        names = dict.fromkeys(_unquoted(match) for match in _NAME.finditer(_ASIDE.sub(" ", text)))
        tables = [TableSchema("", tuple(map(ColumnSchema, names)))] if names else []
    return Schema("", tuple(tables))


def _table(line: str) -> TableSchema | None:
    match = _LINE.match(_ASIDE.sub(" ", line))
    if match is None:
        return None
    first = [_NAME.match(part.strip()) for part in match[2].split(",")]
    columns = tuple(ColumnSchema(_unquoted(name)) for name in first if name)
    return TableSchema(match[1].strip('"'), columns)


def _unquoted(match: re.Match[str]) -> str:
    return (match[1] or match[2]).replace('""', '"')
