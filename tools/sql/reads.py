"""The columns that a query may read, an upper bound that decides on egress."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import TypeVar

from sqlglot import exp

from ..database.schema import Schema, TableSchema
from .parse import return_default_if_unparsable
from .query import Query

L = TypeVar("L")

_ROW_NUMBERS = ("rowid", "_rowid_", "oid")
_TABLE_FUNCTIONS = frozenset({"json_each", "json_tree", "generate_series"})
"""SQLite's functions that read no table."""

_OTHER_READING = re.compile(r"/\*M?!|/\*\+|\bU&|\bTABLE\b|\bCOLUMNS\b", re.IGNORECASE)
"""What an engine may read otherwise than our parser: comments that are run, names in escapes, whole tables."""


@return_default_if_unparsable(None)
def get_values_of_read_columns(sql: str, schema: Schema, columns: Mapping[tuple[str, str], L]) -> list[L] | None:
    """Return the values in `columns` for columns that the query may read; None if unknown.

    It goes by names, not by what they resolve to: a column counts as read where its table is named, and its own name
    stands anywhere in the text, or something that stands for all columns does. A view or virtual table that is named
    is read as a whole.
    """
    query = Query.of(sql, schema.dialect, schema)
    if not query.rules.is_sqlite and _OTHER_READING.search(sql):
        return None
    tables = _find_named_tables(query)
    if tables is None:
        return None
    words = _list_query_words(query, sql)
    if any(table not in tables and table.casefold() in words for table, _ in columns):
        return None  # named where our parser sees no table
    everything = _can_read_unnamed_columns(query, words)
    return [
        value
        for (table, column), value in columns.items()
        if (table_schema := tables.get(table)) is not None
        and (everything or table_schema.kind != "table" or _is_column_named(column, table_schema, words))
    ]


def _find_named_tables(query: Query) -> dict[str, TableSchema] | None:
    """Return the schema's tables that a query names; None if it names anything else."""
    ctes = {cte.alias.lower() for cte in query.find(exp.CTE)}
    schema_tables: dict[str, TableSchema] = {}
    for node in query.find(exp.Table):
        if not isinstance(node.this, exp.Identifier):
            if not (query.rules.is_sqlite and _is_tableless_function(node)):
                return None
            continue
        table = query.schema.table(f"{node.db}.{node.name}") if node.db else None
        table = table or query.schema.table(node.name)
        if table is not None:
            schema_tables[table.name] = table
        elif node.name.lower() not in ctes:
            return None
    return schema_tables


def _is_tableless_function(node: exp.Table) -> bool:
    """Whether a table function is one of SQLite's functions that read no table."""
    function = node.this
    return isinstance(function, exp.GenerateSeries) or (
        isinstance(function, exp.Func) and function.name.lower() in _TABLE_FUNCTIONS
    )


def _list_query_words(query: Query, sql: str) -> Collection[str]:
    """Return every word, name and string of a query, case-folded."""
    text_words = re.findall(r"\w+", sql)
    nodes = query.find(exp.Identifier, exp.Literal)
    return {word.casefold() for word in (*text_words, *(node.name for node in nodes))}


def _is_column_named(column: str, table: TableSchema, words: Collection[str]) -> bool:
    key = table.column(column)
    names = (column, *_ROW_NUMBERS) if key is not None and key.primary_key else (column,)
    return any(name.casefold() in words for name in names)


def _can_read_unnamed_columns(query: Query, words: Collection[str]) -> bool:
    """Whether a query may read columns that it does not name, such as by `*` or NATURAL."""
    if any(not isinstance(star.parent, exp.Count) for star in query.find(exp.Star)):
        return True
    if "natural" in words:
        return True
    return any(_hides_original_column_names(alias) for alias in query.find(exp.TableAlias)) or (
        not query.rules.is_sqlite and _may_read_rows(query)
    )


def _hides_original_column_names(alias: exp.TableAlias) -> bool:
    """Whether an alias renames columns whose original names the query does not contain.

    What a SELECT puts out, and what UNNEST takes apart, stands in the text under the old names, or as `*`. All else
    that can be given new names (tables, joins in brackets, functions) has its columns from the schema.
    """
    if not alias.columns:
        return False
    source = alias.parent
    while isinstance(source, exp.Subquery | exp.CTE | exp.Lateral):
        source = source.this
    return not isinstance(source, exp.Select | exp.SetOperation | exp.Values | exp.Unnest)


def _may_read_rows(query: Query) -> bool:
    """Whether a column is named like a source, and so may read a whole row."""
    name_nodes = query.find(exp.Table, exp.Subquery, exp.CTE, exp.TableAlias)
    sources = {node.alias_or_name.casefold() for node in name_nodes}
    return any(column.name.casefold() in sources for column in query.find(exp.Column))
