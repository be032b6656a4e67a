"""The schema text that an example carries: read back, and used to write the example's SQL in the regular form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from ..database.schema import ColumnSchema, ForeignKey, Schema, TableSchema
from ..errors import SQLParseError
from ..sql import regularize
from .example import Example

_LINE = re.compile(r"""^\s*("(?:[^"]|"")+"|[^\W\d]\w*)\s*\((.*)\)[^()]*$""")
_ASIDE = re.compile(r"\[[^\]]*(?:\]|\Z)|'(?:[^']|'')*'")
_NAME = re.compile(r'"((?:[^"]|"")+)"|([^\W\d]\w*)')
_REFERENCE = re.compile(rf"[-~]>\s*(?P<table>{_NAME.pattern})\.(?P<column>{_NAME.pattern})")


@lru_cache(maxsize=1_024)
def read_compact(text: str) -> Schema:
    """Tables and columns of a schema in the compact prompt form (a line a table); anything else gives what it names.

    References of single columns are read too. Sample values, types and other keys are passed over: this is for masking
    and for showing, not for querying.
    """
    lines = [line for line in text.splitlines() if not line.startswith(("Database ", "Notation:"))]
    tables = [table for line in lines if (table := _table(line))]
    if not tables:
        names = dict.fromkeys(_unquoted(match[0]) for match in _NAME.finditer(_ASIDE.sub(" ", text)))
        tables = [TableSchema("", tuple(map(ColumnSchema, names)))] if names else []
    return Schema("", tuple(tables), tuple(key for line in lines for key in _references(line)))


@lru_cache(maxsize=1_024)
def regular_example(example: Example) -> Example:
    """The example with its SQL in the regular form (CREDIT-SQL 3.2); as it is where that cannot be read."""
    try:
        return replace(example, sql=regularize(example.sql, read_compact(example.schema)))
    except SQLParseError:
        return example


def _table(line: str) -> TableSchema | None:
    match = _LINE.match(_ASIDE.sub(" ", line))
    if match is None:
        return None
    first = [_NAME.match(part.strip()) for part in match[2].split(",")]
    columns = tuple(ColumnSchema(_unquoted(name[0])) for name in first if name)
    return TableSchema(_unquoted(match[1]), columns)


def _references(line: str) -> Iterator[ForeignKey]:
    match = _LINE.match(_ASIDE.sub(" ", line))
    for part in match[2].split(",") if match else ():
        name, to = _NAME.match(part.strip()), _REFERENCE.search(part)
        if match and name and to:
            target = _unquoted(to["table"]), (_unquoted(to["column"]),)
            yield ForeignKey(_unquoted(match[1]), (_unquoted(name[0]),), *target)


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name
