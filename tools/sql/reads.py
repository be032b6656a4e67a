"""Which columns a query may read, erring on the side of too many: what decides whether its result may leave."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import TypeVar

from sqlglot import exp

from ..database.schema import Schema, TableSchema
from ..errors import SQLParseError
from .parse import Parsed, parse

L = TypeVar("L")

_ROW_NUMBERS = ("rowid", "_rowid_", "oid")
_TABLE_FUNCTIONS = frozenset({"json_each", "json_tree", "generate_series"})
"""SQLite's functions that read no table."""

_OTHER_READING = re.compile(r"/\*M?!|/\*\+|\bU&|\bTABLE\b|\bCOLUMNS\b", re.IGNORECASE)
"""What an engine may read otherwise than our parser: comments that are run, names in escapes, whole tables."""


def may_read(sql: str, schema: Schema, columns: Mapping[tuple[str, str], L]) -> list[L] | None:
    """What stands beside those of the columns that a query may read; None where that cannot be told.

    It goes by names, not by what they resolve to: a column counts as read where its table is named, and its own name
    stands anywhere in the text, or something that stands for all columns does. A view or virtual table that is named
    is read as a whole.

    Args:
        sql: As it would be sent.
        schema: Everything that the query can name.
        columns: `(table, column)`, spelt as the schema does.
    """
    try:
        parsed = parse(sql, schema.dialect)
    except SQLParseError:
        return None
    if not parsed.rules.is_sqlite and _OTHER_READING.search(sql):
        return None
    tables = _tables(parsed, schema)
    if tables is None:
        return None
    words = _words(parsed, sql)
    if any(table not in tables and table.casefold() in words for table, _ in columns):
        return None  # named where our parser sees no table
    everything = _stands_for_all(parsed, words)
    return [
        kept
        for (table, column), kept in columns.items()
        if (found := tables.get(table)) is not None
        and (everything or found.kind != "table" or _is_named(column, found, words))
    ]


def _tables(parsed: Parsed, schema: Schema) -> dict[str, TableSchema] | None:
    """The schema's tables that a query names; None where it names something else."""
    own = {cte.alias.lower() for cte in parsed.tree.find_all(exp.CTE)}
    named: dict[str, TableSchema] = {}
    for node in parsed.tree.find_all(exp.Table):
        if not isinstance(node.this, exp.Identifier):
            if not (parsed.rules.is_sqlite and node.this.name.lower() in _TABLE_FUNCTIONS | _function(node)):
                return None
            continue
        found = schema.table(f"{node.db}.{node.name}") if node.db else None
        found = found or schema.table(node.name)
        if found is not None:
            named[found.name] = found
        elif node.name.lower() not in own:
            return None
        alias = node.args.get("alias")
        if found is not None and isinstance(alias, exp.TableAlias) and alias.columns:
            return None
    return named


def _function(node: exp.Table) -> frozenset[str]:
    """The name of a table function that our parser knows by another."""
    return frozenset({node.this.name.lower()}) if isinstance(node.this, exp.GenerateSeries) else frozenset()


def _words(parsed: Parsed, sql: str) -> Collection[str]:
    """Every word of the text, and every name and string as the parser reads it."""
    written = re.findall(r"\w+", sql)
    nodes = parsed.tree.find_all(exp.Identifier, exp.Literal)
    return {word.casefold() for word in (*written, *(node.name for node in nodes))}


def _is_named(column: str, table: TableSchema, words: Collection[str]) -> bool:
    found = table.column(column)
    names = (column, *_ROW_NUMBERS) if found is not None and found.primary_key else (column,)
    return any(name.casefold() in words for name in names)


def _stands_for_all(parsed: Parsed, words: Collection[str]) -> bool:
    """Whether something in the query stands for columns that are not named: `*`, NATURAL, or a whole row."""
    if any(not isinstance(star.parent, exp.Count) for star in parsed.tree.find_all(exp.Star)):
        return True
    if "natural" in words:
        return True
    return not parsed.rules.is_sqlite and any(_whole_rows(parsed))


def _whole_rows(parsed: Parsed) -> Iterator[bool]:
    """Whether columns are named as a source is: most engines read that as the whole row."""
    sources = {node.alias_or_name.casefold() for node in parsed.tree.find_all(exp.Table, exp.Subquery, exp.CTE)}
    for column in parsed.tree.find_all(exp.Column):
        yield column.name.casefold() in sources
