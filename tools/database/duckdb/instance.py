"""Instances of DuckDB in memory, locked to the data that a session may read.

Files are views over them; a DuckDB file is attached read-only under a name that no query can guess, with views over
what may be seen. Once all is set up, the file system is closed but for the named files, which are read and never
written, extensions stay unloaded, and the settings are locked.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import duckdb
import ormsgpack
from sqlglot import exp
from sqlglot.errors import SqlglotError

from ...errors import (
    DatabaseUnavailable,
    NothingReadable,
    QueryFailed,
    QueryRejected,
    QueryTimeout,
    ResultTooLarge,
    TableturnError,
)
from ..dialects import parse_statement
from ..fetch import Sink, fetch
from ..quoting import literal, quote
from ..schema import ForeignKey, TableSchema, select_keys_within_tables
from ..server.address import redact_message
from ..server.catalogue import Catalogue, Relation
from ..server.connection import BoundedRowCursor
from ..session import Permissions
from ..table import Limits, Table
from ..watchdog import WATCHDOG, Cancellation, RunningQuery
from .entries import InstanceDescription, TableEntry, list_entry_names, make_column_schema, select_visible_entries
from .files import NamedFileSystem, make_settings
from .grammar import EXPLAIN, PROFILE

_ERROR_PREFIX = re.compile(r"^(?:[A-Z]\w*|INTERRUPT|TransactionContext)(?: \w+)* Error: ")
# What DuckDB would offer instead may be a name that the session may not know; the rest repeats the statement.
_OFFERS = re.compile(
    r"\s*(?:Did you mean|Candidate bindings|Candidate functions|Candidate macros|LINE \d+:|Possible ).*", re.DOTALL
)
# What the kernel says if a temporary file is as large as it may be.
_FULL = "File too large"
# How an instance names a file to DuckDB.
_ADDRESS = re.compile(r"(?:file )?\"tableturn://[^\"]*\"")

# How DuckDB writes the statement that makes a view: a name, perhaps columns' names, and the query.
_VIEW = re.compile(
    r'CREATE VIEW (?:"(?:""|[^"])*"|[^\s"(])+(?: \((?:"(?:""|[^"])*"|[^")])*\))? AS (.*?)[;\s]*\Z', re.DOTALL
)
_TABLES = """
    SELECT schema_name, name, kind, coalesce(comment, ''), estimate, coalesce(sql, ''), coalesce(columns, [])
    FROM (
        SELECT schema_name, table_name AS name, 'table' AS kind, comment, estimated_size AS estimate, sql
        FROM duckdb_tables() WHERE database_name = $1 AND NOT internal
        UNION ALL
        SELECT schema_name, view_name, 'view', comment, NULL, sql
        FROM duckdb_views() WHERE database_name = $1 AND NOT internal
    )
    LEFT JOIN (
        SELECT schema_name, table_name AS name, list({
            name: column_name, type_name: data_type, not_null: NOT is_nullable, comment: coalesce(comment, ''),
            primary_key: coalesce(list_position(constraint_column_names, column_name), 0)
        } ORDER BY column_index) AS columns
        FROM duckdb_columns() LEFT JOIN (
            SELECT schema_name, table_name, constraint_column_names FROM duckdb_constraints()
            WHERE database_name = $1 AND constraint_type = 'PRIMARY KEY'
        ) USING (schema_name, table_name)
        WHERE database_name = $1 AND NOT internal GROUP BY ALL
    ) USING (schema_name, name)
    ORDER BY schema_name, name
"""
_KEYS = """
    SELECT before || table_name, constraint_column_names, before || referenced_table, referenced_column_names
    FROM (SELECT *, if(schema_name = 'main', '', schema_name || '.') AS before FROM duckdb_constraints())
    WHERE database_name = $1 AND constraint_type = 'FOREIGN KEY' AND len(referenced_column_names) > 0
    ORDER BY schema_name, table_name, constraint_index
"""
_MACROS = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE database_name = $1"


def _attach_database_file(connection: duckdb.DuckDBPyConnection, path: Path, private: str) -> None:
    """Attach a DuckDB file read-only under a private name."""
    try:
        connection.execute(f"ATTACH {literal(str(path))} AS {quote(private)} (READ_ONLY)")
    except duckdb.Error as error:
        if "Could not set lock" in str(error) or "Conflicting lock" in str(error):
            raise DatabaseUnavailable(f"the database {path} is locked by another program: try again later") from None
        raise DatabaseUnavailable(f"{path} cannot be opened: {make_error(error)}") from None


def _read_tables(connection: duckdb.DuckDBPyConnection, private: str) -> tuple[list[TableEntry], list[ForeignKey]]:
    """Return the tables and views of an attached file, and its declared foreign keys."""

    def fetch_rows(sql: str) -> list[tuple[Any, ...]]:
        return connection.execute(sql, [private]).fetchall()

    tables = fetch_rows(_TABLES)
    # A list of all functions takes a third of the time that it takes to open a file.
    views = any(kind == "view" for _, _, kind, *_ in tables)
    macros = {str(name).lower() for (name,) in fetch_rows(_MACROS)} if views else set[str]()
    entries: list[TableEntry] = []
    for schema, name, kind, comment, estimate, sql, columns in tables:
        names = [column["name"] for column in columns]
        sources = {} if kind == "view" else _find_generated_columns(sql, names)
        more: dict[str, Any] = _read_view(sql, schema, names, macros) if kind == "view" else {"column_sources": sources}
        schemas = tuple(make_column_schema(**column, generated=column["name"].lower() in sources) for column in columns)
        shown_name = name if schema == "main" else f"{schema}.{name}"
        scan = f"{quote(private)}.{quote(schema)}.{quote(name)}"
        entries.append(TableEntry(schema, name, shown_name, schemas, kind, comment, estimate, scan=scan, **more))
    return entries, [ForeignKey(table, tuple(keys), ref, tuple(names)) for table, keys, ref, names in fetch_rows(_KEYS)]


def _read_view(sql: str, schema: str, names: Sequence[str], macros: set[str]) -> dict[str, Any]:
    """Return a view's definition and the tables that it reads; None if they are unknown.

    With it comes its query, to be declared anew, if it names all that it reads.
    """
    unknown_view = {"definition": sql, "reads": None}
    try:
        tree = parse_statement(sql, "duckdb")
    except (SqlglotError, RecursionError):
        return unknown_view
    body = tree.args.get("expression")
    if not isinstance(tree, exp.Create) or not isinstance(body, exp.Query):
        return unknown_view
    function_names = {node.name.lower() for node in body.find_all(exp.Anonymous)}
    if function_names - PROFILE.functions or any(
        re.search(rf"(?<!\w){re.escape(name)}(?!\w)", sql, re.IGNORECASE) for name in macros
    ):
        return unknown_view
    local = {cte.alias.lower() for cte in body.find_all(exp.CTE)}
    table_names: set[str] = set()
    for table in body.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier):
            return unknown_view
        name = table.name.lower()
        # A name that is both a local and a table's may be either: then the table counts as read too.
        if table.db or name not in local:
            table_names.add(f"{(table.db or schema).lower()}.{name}")
    anew = _make_redeclaration_query(sql, body, names) if schema == "main" and table_names else ""
    return {"definition": sql, "reads": frozenset(table_names), "anew": anew}


def _make_redeclaration_query(sql: str, body: exp.Query, names: Sequence[str]) -> str:
    """Return a view's query for a new declaration; empty if its meaning could change.

    What stands for all columns of a table (`*`, NATURAL, new names for them, a whole row) would mean something else
    over a part of them.
    """
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
    match = _VIEW.match(sql)
    return f"({match[1]}) AS held ({', '.join(map(quote, names))})" if match else ""


def _find_generated_columns(sql: str, names: Sequence[str]) -> dict[str, frozenset[str]]:
    """Return the generated columns with the columns that each is computed from; all if unknown."""
    if "generated" not in sql.lower() and " as (" not in sql.lower():
        return {}
    everything = frozenset(name.lower() for name in names)
    try:
        tree = parse_statement(sql, "duckdb")
    except (SqlglotError, RecursionError):
        return dict.fromkeys(everything, everything)
    sources: dict[str, frozenset[str]] = {}
    for definition in tree.find_all(exp.ColumnDef):
        constraints = definition.args.get("constraints") or []
        source_names = {column.name.lower() for constraint in constraints for column in constraint.find_all(exp.Column)}
        if source_names:
            sources[definition.name.lower()] = frozenset(source_names)
    return sources


class DuckDBInstance:
    """An open in-memory DuckDB instance; `about` is its packed `InstanceDescription`."""

    def __init__(
        self, database: Path | None, entries: Sequence[TableEntry], permissions: Permissions, folder: Path
    ) -> None:
        """Open a database, or the tables of other files.

        Its temporary files are in a folder to be made, which whoever made its parent takes away.
        """
        # The name of the attached file, which no message may show.
        self._private = f"p{secrets.token_hex(16)}" if database else ""
        # DuckDB would make it once it needs it; the kernel may refuse that by then.
        (folder / "temporary").mkdir(parents=True)
        self._root = duckdb.connect(":memory:", config=make_settings(folder, Limits().disk_bytes))
        self._files = NamedFileSystem()
        self._files.serve(self._root)
        keys: Sequence[ForeignKey] = ()
        try:
            if database is not None:
                _attach_database_file(self._root, database, self._private)
                entries, keys = _read_tables(self._root, self._private)
            hidden = list_entry_names(entries)
            entries = select_visible_entries(entries, permissions)
            # Before any of what was read from files is declared.
            paths = ", ".join(literal(self._files.address(entry.path)) for entry in entries if entry.path is not None)
            self._root.execute(f"SET allowed_paths = [{paths}]")
            self._root.execute("SET enable_external_access = false")
            relations = self._create_views(entries)
            self._root.execute("SET lock_configuration = true")
        except BaseException as error:
            self._root.close()
            if isinstance(error, duckdb.Error):
                raise DatabaseUnavailable(f"cannot open the database: {make_error(error, self._private)}") from None
            raise
        notices = tuple(notice for entry in relations for notice in entry.notices)
        slow = frozenset(entry.shown_name for entry in relations if entry.slow)
        keys = select_keys_within_tables(keys, [TableSchema(entry.shown_name, entry.columns) for entry in relations])
        hidden -= list_entry_names(relations)
        description = InstanceDescription(duckdb.__version__, _make_catalogue(relations, keys), slow, notices, hidden)
        self.about = ormsgpack.packb(description, tuple)

    def close(self) -> None:
        """Close the instance once no query is left."""
        self._root.close()

    def connect(self) -> duckdb.DuckDBPyConnection:
        """Open another connection to the instance."""
        return self._root.cursor()

    def execute(self, sql: str, limits: Limits, cancellation: Cancellation | None, sink: Sink | None = None) -> Table:
        """Run one SELECT and return the result, or the plan if `EXPLAIN` stands before it."""
        start = time.monotonic()
        connection = self.connect()
        query = RunningQuery(connection.interrupt, start + limits.seconds, cancellation)
        try:
            with WATCHDOG.watch(query):
                # DuckDB's own parser has to call it one SELECT, whatever the check before it did.
                statements = duckdb.extract_statements(sql.removeprefix(EXPLAIN))
                if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                    raise QueryRejected("this connection only reads: send a single SELECT")
                connection.execute("BEGIN TRANSACTION READ ONLY")
                connection.execute(sql if sql.startswith(EXPLAIN) else statements[0])
                columns = [entry[0] for entry in connection.description or ()]
                return fetch(BoundedRowCursor(connection, columns, limits), limits, sink, start)
        except (duckdb.Error, MemoryError) as error:
            raise (query.make_timeout(limits.seconds) if query.outcome else make_error(error, self._private)) from None
        finally:
            connection.close()

    def _create_views(self, entries: Sequence[TableEntry]) -> tuple[TableEntry, ...]:
        """Create a view per entry; return the entries without views that cannot be created."""
        if not entries:
            raise NothingReadable("the database has no tables that you may read")
        views: dict[str, TableEntry] = {}
        for schema in {entry.schema for entry in entries} - {"main"}:
            self._root.execute(f"CREATE SCHEMA IF NOT EXISTS {quote(schema)}")
        queue = list(entries)
        # A view that is declared anew comes after all that it reads; where one of those is not made, neither is it.
        while ready := [entry for entry in queue if not entry.is_redeclared or (entry.reads or set()) <= views.keys()]:
            queue = [entry for entry in queue if entry not in ready]
            views |= {entry.key: entry for entry in ready if self._create_view(entry)}
        return tuple(entry for entry in entries if entry.key in views)

    def _create_view(self, entry: TableEntry) -> bool:
        column_list = ", ".join(quote(column.name) for column in entry.columns)
        name = f"{quote(entry.schema)}.{quote(entry.name)}"
        try:
            self._root.execute(f"CREATE VIEW {name} AS SELECT {column_list} FROM {entry.scan}")
        except duckdb.Error:
            if entry.kind != "view":
                raise
            return False
        return True


def _make_catalogue(entries: Sequence[TableEntry], keys: tuple[ForeignKey, ...]) -> Catalogue:
    relations = tuple(
        Relation(**{part.name: getattr(entry, part.name) for part in fields(Relation)})
        for entry in sorted(entries, key=lambda entry: entry.schema != "main")
    )
    # Not by the numbers of rows, which are no part of the schema.
    parts = [(table.shown_name, table.kind, table.comment, table.columns, table.definition) for table in relations]
    version = hashlib.sha256(f"{parts!r}{keys!r}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return Catalogue(version, relations, keys)


def make_error(error: Exception, private: str = "") -> TableturnError:
    """Return the typed error for a DuckDB error."""
    text = str(error)
    # What follows repeats the statement, whose own texts tell nothing of the error.
    reason = _OFFERS.sub("", _ADDRESS.sub("the file", text.partition("Stack Trace:")[0]))
    message = _ERROR_PREFIX.sub("", reason) or text
    message = redact_message(message.replace(f"{private}.", "") if private else message)
    if isinstance(error, duckdb.InterruptException):
        return QueryTimeout(message)
    if isinstance(error, duckdb.OutOfMemoryException | MemoryError) or _FULL in reason:
        return ResultTooLarge(
            "the query needs more memory or temporary disk than it may use: ask for less, or aggregate"
        )
    if isinstance(error, duckdb.PermissionException):
        return QueryRejected("the statement reaches for something outside the database")
    if isinstance(error, duckdb.IOException | duckdb.FatalException | duckdb.InternalException):
        return DatabaseUnavailable(f"the database cannot be read: {message}")
    if isinstance(error, duckdb.ParserException):
        return QueryFailed(message, "syntax")
    return QueryFailed(message, PROFILE.find_error_kind(reason))
