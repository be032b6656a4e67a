"""An instance of DuckDB in memory that holds nothing but what a session may read, and whose settings are locked.

Files are views over them; a DuckDB file is attached read-only under a name that no query can guess, with views over
what may be seen. Once all is set up, the file system is closed but for the named
files, which are read and never written, extensions stay unloaded, and the settings are locked.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import duckdb
from sqlglot import TokenType, exp, tokenize
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
from ..quoting import literal, quoted
from ..schema import ForeignKey
from ..server.catalogue import Catalogue, Relation
from ..server.connection import BoundedRows
from ..session import Permissions
from ..table import Limits, Table
from ..watchdog import WATCHDOG, Cancellation, RunningQuery
from .entries import About, Entry, Found, column, keys_between, visible
from .files import NamedFiles, settings
from .grammar import EXPLAIN, EXPLAIN_JSON, PROFILE

_LONGEST = 300
_SHOWN = re.compile(r"^(?:[A-Z]\w*|INTERRUPT|TransactionContext)(?: \w+)* Error: ")
# What DuckDB would offer instead may be a name that the session may not know; the rest repeats the statement.
_OFFERS = re.compile(
    r"\s*(?:Did you mean|Candidate bindings|Candidate functions|Candidate macros|LINE \d+:|Possible ).*", re.DOTALL
)
_FULL = "File too large"
"""What the kernel says where a temporary file is as large as it may be."""
_ADDRESS = re.compile(r"(?:file )?\"tableturn://[^\"]*\"")
"""How an instance names a file to DuckDB."""

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
    """Opens a file for reading, under a name of our own."""
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
    tables = rows(_TABLES)
    # A list of all functions takes a third of the time that it takes to open a file.
    views = any(kind == "view" for _, _, kind, *_ in tables)
    macros = {str(name).lower() for (name,) in rows(_MACROS)} if views else set[str]()
    entries: list[Entry] = []
    for schema, table, kind, comment, estimate, sql in tables:
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
    if called - PROFILE.functions or any(
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


class Instance:
    """An open instance.

    Attributes:
        private: The name of the attached file, which no message may show; empty where there is none.
        about: An `About`, packed.
    """

    def __init__(self, found: Found, permissions: Permissions, folder: Path) -> None:
        """Opens it.

        Args:
            found: What it is made from.
            permissions: What of that may be seen.
            folder: Made for its temporary files; whoever made its parent takes it away.
        """
        self.private = f"p{secrets.token_hex(16)}" if found.database else ""
        # DuckDB would make it once it needs it; the kernel may refuse that by then.
        (folder / "temporary").mkdir(parents=True)
        self._root = duckdb.connect(":memory:", config=settings(folder, Limits().disk_bytes))
        self._files = NamedFiles()
        self._files.serve(self._root)
        try:
            entries, keys = self._found(found)
            shown = visible(entries, permissions)
            # Before any of what was read from files is declared.
            self._close_files(shown)
            made = self._made(shown)
            self._root.execute("SET lock_configuration = true")
        except duckdb.Error as error:
            self._root.close()
            raise DatabaseUnavailable(f"the database cannot be opened: {failure(error, self.private)}") from None
        except BaseException:
            self._root.close()
            raise
        remarks = tuple(remark for entry in made for remark in _remarks(entry))
        slow = frozenset(entry.shown for entry in made if entry.slow)
        self.about = About(duckdb.__version__, _catalogue(made, keys_between(keys, made)), slow, remarks).pack()

    def close(self) -> None:
        """Lets go of it once no query is left."""
        self._root.close()

    def connect(self) -> duckdb.DuckDBPyConnection:
        """Another connection to it."""
        return self._root.cursor()

    def execute(self, sql: str, limits: Limits, cancellation: Cancellation | None, sink: Sink | None = None) -> Table:
        """See `Engine.execute`; a plan is asked for by `EXPLAIN` as it is written here."""
        start = time.monotonic()
        connection = self.connect()
        query = RunningQuery(connection, start + limits.seconds, cancellation)
        try:
            with WATCHDOG.watching(query):
                # DuckDB's own parser has to call it one SELECT, whatever the check before it did.
                explain = next((asked for asked in (EXPLAIN_JSON, EXPLAIN) if sql.startswith(asked)), "")
                statement = _single(sql.removeprefix(explain))
                connection.execute("BEGIN TRANSACTION READ ONLY")
                connection.execute(sql if explain else statement)
                columns = tuple([entry[0] for entry in connection.description or ()])
                result = fetch(BoundedRows(connection, columns, limits), limits, sink)
        except (duckdb.Error, MemoryError) as error:
            raise (query.error(limits.seconds) if query.stopped else failure(error, self.private)) from None
        finally:
            connection.close()
        return Table(columns, result.types, result.rows, result.truncated, time.monotonic() - start)

    def _found(self, found: Found) -> tuple[Sequence[Entry], Sequence[ForeignKey]]:
        if found.database is None:
            return found.entries, ()
        attach(self._root, found.database, self.private)
        return attached_tables(self._root, self.private)

    def _made(self, entries: Sequence[Entry]) -> tuple[Entry, ...]:
        """Makes the tables; without those views of a file that cannot be read any more."""
        if not entries:
            raise NothingReadable("the database has no tables that you may read")
        made: dict[str, Entry] = {}
        for schema in {entry.schema for entry in entries} - {"main"}:
            self._root.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(schema)}")
        waiting = list(entries)
        # A view that is declared anew comes after all that it reads; where one of those is not made, neither is it.
        while ready := [entry for entry in waiting if not entry.is_anew or (entry.reads or set()) <= made.keys()]:
            waiting = [entry for entry in waiting if entry not in ready]
            made |= {entry.key: done for entry in ready if (done := self._make(entry)) is not None}
        return tuple(made[entry.key] for entry in entries if entry.key in made)

    def _make(self, entry: Entry) -> Entry | None:
        listed = ", ".join(f"{quoted(own)} AS {quoted(held.name)}" for own, held in entry.columns)
        name = f"{quoted(entry.schema)}.{quoted(entry.name)}"
        try:
            self._root.execute(f"CREATE VIEW {name} AS SELECT {listed} FROM {entry.scan}")
        except duckdb.Error:
            if entry.kind != "view":
                raise
            return None
        return entry

    def _close_files(self, entries: Iterable[Entry]) -> None:
        listed = ", ".join(literal(self._files.address(entry.path)) for entry in entries if entry.path is not None)
        self._root.execute(f"SET allowed_paths = [{listed}]")
        self._root.execute("SET enable_external_access = false")


def _single(sql: str) -> duckdb.Statement:
    statements = duckdb.extract_statements(sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise QueryRejected("this connection only reads: send a single SELECT")
    return statements[0]


def _remarks(entry: Entry) -> Iterable[str]:
    for remark in entry.remarks:
        yield f"{entry.shown}: {remark}; if letters are wrong, save the file as UTF-8"
    for _, held in entry.columns if entry.path is not None else ():
        if held.comment:
            yield f"{entry.shown}.{held.name}: {held.comment}; write dates as 2024-12-31 to be sure"


def _catalogue(entries: Sequence[Entry], keys: tuple[ForeignKey, ...]) -> Catalogue:
    relations = tuple(
        Relation(
            entry.schema,
            entry.name,
            entry.shown,
            tuple(held for _, held in entry.columns),
            entry.kind,
            entry.comment,
            entry.estimate,
            entry.query,
        )
        for entry in sorted(entries, key=lambda each: each.schema != "main")
    )
    told = repr([(each.shown, each.kind, each.comment, each.columns, each.definition) for each in relations]) + repr(
        keys
    )
    return Catalogue(hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16], relations, keys)


def failure(error: Exception, private: str = "") -> TableturnError:
    """The typed error for what the driver raised."""
    whole = str(error)
    # What follows repeats the statement, whose own texts tell nothing of the error.
    told = _OFFERS.sub("", _ADDRESS.sub("the file", whole.partition("Stack Trace:")[0]))
    message = _SHOWN.sub("", told) or whole
    message = " ".join((message.replace(f"{private}.", "") if private else message).split())[:_LONGEST]
    if isinstance(error, duckdb.InterruptException):
        return QueryTimeout(message)
    if isinstance(error, duckdb.OutOfMemoryException | MemoryError) or _FULL in told:
        return ResultTooLarge(
            "the query needs more memory or temporary disk than it may use: ask for less, or aggregate"
        )
    if isinstance(error, duckdb.PermissionException):
        return QueryRejected("the statement reaches for something outside the database")
    if isinstance(error, duckdb.IOException | duckdb.FatalException | duckdb.InternalException):
        return DatabaseUnavailable(f"the database cannot be read: {message}")
    if isinstance(error, duckdb.ParserException):
        return QueryFailed(message, "syntax")
    return QueryFailed(message, PROFILE.kind_of(told))
