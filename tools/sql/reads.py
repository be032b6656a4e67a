"""The columns that a query may read, an upper bound that decides on egress."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import TypeVar

from sqlglot import exp

from ..database.schema import Schema, TableSchema
from .parse import default_if_unparsed
from .query import Query

L = TypeVar("L")

_ROW_NUMBERS = ("rowid", "_rowid_", "oid")
_TABLE_FUNCTIONS = frozenset({"json_each", "json_tree", "generate_series"})
"""SQLite's functions that read no table."""

_OTHER_READING = re.compile(r"/\*M?!|/\*\+|\bU&|\bTABLE\b|\bCOLUMNS\b", re.IGNORECASE)
"""What an engine may read otherwise than our parser: comments that are run, names in escapes, whole tables."""


@default_if_unparsed(None)
def may_read(sql: str, schema: Schema, columns: Mapping[tuple[str, str], L]) -> list[L] | None:
    """Return the values of `columns` that the query may read; None if that is unknown.

    It goes by names, not by what they resolve to: a column counts as read where its table is named, and its own name
    stands anywhere in the text, or something that stands for all columns does. A view or virtual table that is named
    is read as a whole.
    """
    query = Query.of(sql, schema.dialect, schema)
    if not query.rules.is_sqlite and _OTHER_READING.search(sql):
        return None
    tables = _find_tables(query)
    if tables is None:
        return None
    words = _list_words(query, sql)
    if any(table not in tables and table.casefold() in words for table, _ in columns):
        return None  # named where our parser sees no table
    everything = _stands_for_all(query, words)
    return [
        kept
        for (table, column), kept in columns.items()
        if (found := tables.get(table)) is not None
        and (everything or found.kind != "table" or _is_named(column, found, words))
    ]


def _find_tables(query: Query) -> dict[str, TableSchema] | None:
    """Return the schema's tables that a query names; None if it names anything else."""
    own = {cte.alias.lower() for cte in query.tree.find_all(exp.CTE)}
    named: dict[str, TableSchema] = {}
    for node in query.tree.find_all(exp.Table):
        if not isinstance(node.this, exp.Identifier):
            if not (query.rules.is_sqlite and _reads_no_table(node)):
                return None
            continue
        table = query.schema.table(f"{node.db}.{node.name}") if node.db else None
        table = table or query.schema.table(node.name)
        if table is not None:
            named[table.name] = table
        elif node.name.lower() not in own:
            return None
    return named


def _reads_no_table(node: exp.Table) -> bool:
    """Whether a table function is one of SQLite's that read no table."""
    called = node.this
    return isinstance(called, exp.GenerateSeries) or (
        isinstance(called, exp.Func) and called.name.lower() in _TABLE_FUNCTIONS
    )


def _list_words(query: Query, sql: str) -> Collection[str]:
    """Return every word of the text, and every name and string as parsed."""
    written = re.findall(r"\w+", sql)
    nodes = query.tree.find_all(exp.Identifier, exp.Literal)
    return {word.casefold() for word in (*written, *(node.name for node in nodes))}


def _is_named(column: str, table: TableSchema, words: Collection[str]) -> bool:
    key = table.column(column)
    names = (column, *_ROW_NUMBERS) if key is not None and key.primary_key else (column,)
    return any(name.casefold() in words for name in names)


def _stands_for_all(query: Query, words: Collection[str]) -> bool:
    """Whether the query may read unnamed columns: by `*`, NATURAL, new names or rows."""
    if any(not isinstance(star.parent, exp.Count) for star in query.tree.find_all(exp.Star)):
        return True
    if "natural" in words:
        return True
    return any(_renames(alias) for alias in query.tree.find_all(exp.TableAlias)) or (
        not query.rules.is_sqlite and any(_whole_rows(query))
    )


def _renames(alias: exp.TableAlias) -> bool:
    """Whether a list of new names hides columns that are named nowhere else.

    What a SELECT puts out, and what UNNEST takes apart, stands in the text under the old names, or as `*`. All else
    that can be given new names (tables, joins in brackets, functions) has its columns from the schema.
    """
    if not alias.columns:
        return False
    source = alias.parent
    while isinstance(source, exp.Subquery | exp.CTE | exp.Lateral):
        source = source.this
    return not isinstance(source, exp.Select | exp.SetOperation | exp.Values | exp.Unnest)


def _whole_rows(query: Query) -> Iterator[bool]:
    """Yield whether each column is named like a source, which may read a whole row."""
    named = query.tree.find_all(exp.Table, exp.Subquery, exp.CTE, exp.TableAlias)
    sources = {node.alias_or_name.casefold() for node in named}
    for column in query.tree.find_all(exp.Column):
        yield column.name.casefold() in sources
