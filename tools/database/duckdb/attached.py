"""The tables of a DuckDB file, as its own catalogue tells them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
from sqlglot import TokenType, exp, tokenize
from sqlglot.errors import SqlglotError

from ...errors import DatabaseUnavailable
from ..dialects import parse_statement
from ..quoting import quoted
from ..schema import ForeignKey
from ..server.lists import read_lists
from .entries import Entry, column
from .failures import failure
from .text_files import literal

_COLUMNS = """
    SELECT schema_name, table_name, column_name, data_type, is_nullable, comment FROM duckdb_columns()
    WHERE database_name = $1 AND NOT internal ORDER BY schema_name, table_name, column_index
"""
_TABLES = """
    SELECT schema_name, table_name, 'table', comment, estimated_size, sql FROM duckdb_tables()
    WHERE database_name = $1 AND NOT internal
    UNION ALL
    SELECT schema_name, view_name, 'view', comment, NULL, sql FROM duckdb_views()
    WHERE database_name = $1 AND NOT internal
    ORDER BY 1, 2
"""
_KEYS = """
    SELECT schema_name, table_name, constraint_type, constraint_column_names, referenced_table, referenced_column_names
    FROM duckdb_constraints() WHERE database_name = $1 AND constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY')
    ORDER BY schema_name, table_name, constraint_index
"""
_MACROS = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE database_name = $1"


def attach(connection: duckdb.DuckDBPyConnection, path: Path, private: str) -> None:
    """Opens a file for reading, under a name of our own.

    Raises:
        DatabaseUnavailable: It is no database, of another version, or written by another program.
    """
    try:
        connection.execute(f"ATTACH {literal(str(path))} AS {quoted(private)} (READ_ONLY)")
    except duckdb.Error as error:
        if "Could not set lock" in str(error) or "Conflicting lock" in str(error):
            raise DatabaseUnavailable(f"the database {path} is locked by another program: try again later") from None
        raise DatabaseUnavailable(f"{path} cannot be opened: {failure(error)}") from None


def attached_tables(connection: duckdb.DuckDBPyConnection, private: str) -> tuple[list[Entry], list[ForeignKey]]:
    """The tables and views of an attached file, and the keys that it declares."""

    def rows(sql: str) -> list[tuple[Any, ...]]:
        return connection.execute(sql, [private]).fetchall()

    primary: dict[tuple[str, str], list[str]] = {}
    foreign: list[ForeignKey] = []
    for schema, table, kind, names, target, target_names in rows(_KEYS):
        if kind == "PRIMARY KEY":
            primary[schema, table] = names
        elif target_names:
            foreign.append(ForeignKey(_shown(schema, table), tuple(names), _shown(schema, target), tuple(target_names)))
    columns: dict[tuple[str, str], list[tuple[Any, ...]]] = {}
    for schema, table, *rest in rows(_COLUMNS):
        columns.setdefault((schema, table), []).append(tuple(rest))
    macros = {str(name).lower() for (name,) in rows(_MACROS)}
    entries: list[Entry] = []
    for schema, table, kind, comment, estimate, sql in rows(_TABLES):
        keyed = primary.get((schema, table), [])
        listed = columns.get((schema, table), [])
        computed = _computed(sql or "", [name for name, *_ in listed]) if kind == "table" else {}
        held = [
            (
                name,
                column(
                    name,
                    declared,
                    not_null=not nullable,
                    comment=told or "",
                    primary_key=keyed.index(name) + 1 if name in keyed else 0,
                    generated=name.lower() in computed,
                ),
            )
            for name, declared, nullable, told in listed
        ]
        scan = f"{quoted(private)}.{quoted(schema)}.{quoted(table)}"
        reads = _reads(sql or "", schema, macros) if kind == "view" else frozenset[str]()
        anew = _anew(sql, [name for name, _ in held]) if kind == "view" and schema == "main" and reads else ""
        entries.append(
            Entry(
                table,
                tuple(held),
                scan,
                schema,
                kind,
                comment or "",
                estimate,
                hides=computed,
                reads=reads,
                anew=anew,
                query=(sql or "") if kind == "view" else "",
            )
        )
    return entries, foreign


def _shown(schema: str, table: str) -> str:
    return table if schema == "main" else f"{schema}.{table}"


def _reads(sql: str, schema: str, macros: set[str]) -> frozenset[str] | None:
    """The tables that a view reads; None where it may read others, by a function or a macro."""
    try:
        tree = parse_statement(sql, "duckdb")
    except (SqlglotError, RecursionError):
        return None
    body = tree.args.get("expression")
    if not isinstance(tree, exp.Create) or not isinstance(body, exp.Query):
        return None
    called = {node.name.lower() for node in body.find_all(exp.Anonymous)}
    if called - read_lists(__package__ or "").functions or any(
        re.search(rf"(?<!\w){re.escape(name)}(?!\w)", sql, re.IGNORECASE) for name in macros
    ):
        return None
    local = {cte.alias.lower() for cte in body.find_all(exp.CTE)}
    read: set[str] = set()
    for table in body.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier):
            return None
        name = table.name.lower()
        # A name that is both a local and a table's may be either: then the table counts as read too.
        if table.db or name not in local:
            read.add(f"{(table.db or schema).lower()}.{name}")
    return frozenset(read)


def _anew(sql: str, names: Sequence[str]) -> str:
    """A view's query with its columns' names, to be selected from; empty where it reads what it does not name.

    What stands for all columns of a table (`*`, NATURAL, new names for them, a whole row) would mean something else
    over a part of them.
    """
    tree = parse_statement(sql, "duckdb")
    body: exp.Expr = tree.args["expression"]
    sources = {node.alias_or_name.lower() for node in body.find_all(exp.Table, exp.Subquery, exp.CTE, exp.TableAlias)}
    if (
        any(not isinstance(star.parent, exp.Count) for star in body.find_all(exp.Star))
        or any(alias.columns for alias in body.find_all(exp.TableAlias))
        or any(node.name.lower() in sources for node in body.find_all(exp.Column))
        or any(table.catalog for table in body.find_all(exp.Table))
        or body.find(exp.Columns, exp.Pivot) is not None
        or re.search(r"\b(natural|positional|pivot|unpivot|summarize|describe|show|by\s+name)\b", sql, re.IGNORECASE)
    ):
        return ""
    depth = 0
    for token in tokenize(sql, read="duckdb"):
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0 and token.token_type == TokenType.ALIAS:
            written = sql[token.end + 1 :].rstrip("; \n")
            return f"({written}) AS held ({', '.join(map(quoted, names))})"
    return ""


def _computed(sql: str, names: Sequence[str]) -> dict[str, frozenset[str]]:
    """Generated columns with the names that their declarations hold; with all names where it cannot be read."""
    if "generated" not in sql.lower() and " as (" not in sql.lower():
        return {}
    everything = frozenset(name.lower() for name in names)
    try:
        tree = parse_statement(sql, "duckdb")
    except (SqlglotError, RecursionError):
        return dict.fromkeys(everything, everything)
    found: dict[str, frozenset[str]] = {}
    for declared in tree.find_all(exp.ColumnDef):
        constraints = declared.args.get("constraints") or []
        used = {each.name.lower() for constraint in constraints for each in constraint.find_all(exp.Column)}
        if used:
            found[declared.name.lower()] = frozenset(used)
    return found
