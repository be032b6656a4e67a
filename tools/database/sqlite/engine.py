"""SQLite as an `Engine`: a file, read-only by the engine itself."""

from __future__ import annotations

import math
import os
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path

from sqlglot import exp
from sqlglot.errors import SqlglotError

from ...errors import NothingReadable, QueryError
from ...forkserver import can_limit_processes
from ..dialects import parse_statement
from ..estimate import MOST_ROWS, Estimate
from ..fetch import Sink
from ..quoting import quote
from ..schema import Schema, TableSchema
from ..schema_cache import SchemaCache
from ..session import Session
from ..table import Limits, Table
from ..watchdog import Cancellation
from ..wire import pack_open_request
from ..workers import WorkerPool, make_query_fork_server
from .catalogue import FileCatalogue, read_file_states
from .compile_check import find_compile_error
from .connection import SQLITE_ERRORS, connect, decode_leniently
from .location import locate, make_unavailable_error
from .pool import LIMITS_HERE, ConnectionPool
from .read_schema import read_schema

NURSERY = make_query_fork_server(__package__ or "")
_PLANNED = Limits(seconds=1.0, rows=10_000)
_RENEW_SECONDS = 60.0
"""How long counts and samples are used at least, of a file that is written to."""


class SQLiteEngine:
    """A SQLite file under one session, as an `Engine`."""

    name = "SQLite"
    dialect = "sqlite"
    version = sqlite3.sqlite_version
    warnings: tuple[str, ...] = ()
    rows_by_person = False
    limits_note = "" if can_limit_processes() else LIMITS_HERE

    def __init__(self, path: Path, session: Session) -> None:
        self.path = path
        self.location = str(path.resolve())
        # A file's name may hold bytes that are no text, which neither prompts nor stores can.
        self.database = os.fsencode(path.stem).decode("utf-8", "replace")
        self._schemas = SchemaCache(self.state, _RENEW_SECONDS, self._has_newly_filled_table)
        self._probe_state = ""
        self._policy = session.policy
        permissions = session.policy.permissions
        self._pool = ConnectionPool(path, permissions)
        opening = pack_open_request(os.path.abspath(path), permissions)
        self._queries = WorkerPool(NURSERY, opening) if can_limit_processes() else self._pool
        if not self._pool.catalogue().visible:
            self._pool.close()
            raise NothingReadable(f"{path} has no tables{' that you may read' if permissions else ''}")

    def with_session(self, session: Session) -> SQLiteEngine:
        return SQLiteEngine(self.path, session)

    def close(self) -> None:
        self._queries.close()
        self._pool.close()

    def state(self) -> str:
        return " ".join(".".join(map(str, file)) for file in read_file_states(self.path) if file)

    def execute(self, sql: str, limits: Limits, cancellation: Cancellation | None, sink: Sink | None = None) -> Table:
        return self._queries.execute(sql, limits, cancellation, sink)

    def translate(self, sql: str) -> str:
        return sql

    def compile_check(self, sql: str, tables: Sequence[TableSchema]) -> QueryError | None:
        return find_compile_error(sql, tables)

    def estimate(self, sql: str) -> Estimate | None:
        if self._policy.permissions:  # plans would tell of what is hidden
            return None
        return _estimate_cost_from_plan(sql, self.execute(f"EXPLAIN QUERY PLAN {sql}", _PLANNED, None), self.schema())

    def schema(self) -> Schema:
        catalogue = self._pool.catalogue()
        return self._schemas.get(catalogue, lambda _: self._read_schema(catalogue))

    @property
    def hidden_names(self) -> frozenset[str]:
        """The names of tables, and of columns of other tables, that the permissions hide."""
        visibility = self._pool.catalogue().visibility
        return visibility.hidden_tables.union(*visibility.hidden_columns.values())

    def _has_newly_filled_table(self, schema: Schema) -> bool:
        """Whether a table that was empty has rows now, checked once per state of the file."""
        empty = [table.name for table in schema.tables if table.row_count == 0]
        if (state := self.state()) == self._probe_state:
            return False
        self._probe_state = state
        with self._pool.borrow_connection() as connection, suppress(*SQLITE_ERRORS):
            return any(connection.sqlite.execute(f"SELECT 1 FROM {quote(name)} LIMIT 1").fetchone() for name in empty)
        return False

    def _read_schema(self, catalogue: FileCatalogue) -> Schema:
        with self._pool.borrow_connection() as connection:
            try:
                with closing(connect(self.path).sqlite) as reader, decode_leniently(connection.sqlite):
                    return read_schema(reader, connection.sqlite, self.database, catalogue, self._policy.egress)
            except SQLITE_ERRORS as error:
                raise make_unavailable_error(self.path, error) from None


_STEP = re.compile(
    r"(?P<how>SCAN|SEARCH) (?P<table>.+?)(?: USING (?P<index>.+?))?(?: \((?P<terms>.*)\))?(?: LEFT-JOIN)?$"
)
_MADE = re.compile(r"(?:CO-ROUTINE|MATERIALIZE) (?P<name>.+)$")
_FOUND = 10.0
_BETWEEN = 0.25


def _estimate_cost_from_plan(sql: str, plan: Table, schema: Schema) -> Estimate | None:
    """Estimate the cost of a statement from its plan; None if that is not possible."""
    # The plan has no numbers. They are the schema's counts of rows, and, for what an index finds, what SQLite itself
    # assumes if nobody has run ANALYZE: one row by a table's own key, ten by another one, a quarter between two bounds.
    sizes = {table.name.lower(): table.row_count for table in schema.tables if table.kind == "table"}
    row_counts = [size for size in sizes.values() if size is not None]
    if not row_counts:
        return None
    names = _find_table_sizes(sql, sizes, max(row_counts))
    if names is None:
        return None
    largest = float(max(row_counts))
    children: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for number, parent, _, detail in plan.rows:
        children[int(parent or 0)].append((int(number or 0), str(detail)))

    def sum_plan_steps(parent: int) -> tuple[float, float]:
        """Return how many rows the plan steps below a parent read, and how many they produce."""
        rows_read, rows_out, repeats = 0.0, 1.0, 0.0
        for number, detail in children[parent]:
            inner, inner_rows = sum_plan_steps(number)
            if detail.startswith("CORRELATED"):
                repeats += inner
                continue
            rows_read += inner
            if match := _MADE.match(detail):
                names[match["name"].lower()] = inner_rows  # a later step reads these rows
                continue
            if step := _STEP.match(detail):
                size = names.get(step["table"].lower(), 1.0 if step["table"] == "CONSTANT ROW" else largest)
                if "AUTOMATIC" in (step["index"] or ""):
                    rows_read += size  # such an index is made for the statement alone
                rows_out *= min(size, _estimate_rows_of_step(step, size)) or 1.0
                rows_read += rows_out
            elif inner_rows > 1.0:
                rows_out = max(rows_out, inner_rows)
        return rows_read + repeats * rows_out, rows_out

    rows_read, _ = sum_plan_steps(0)
    return Estimate(min(round(rows_read), MOST_ROWS)) if math.isfinite(rows_read) else None


def _estimate_rows_of_step(step: re.Match[str], size: float) -> float:
    if step["how"] == "SCAN":
        return size
    terms = step["terms"] or ""
    if "=?" not in terms.replace("<=?", "").replace(">=?", ""):
        return size * _BETWEEN
    return 1.0 if "INTEGER PRIMARY KEY" in (step["index"] or "") else _FOUND


def _find_table_sizes(sql: str, sizes: Mapping[str, int | None], largest: int) -> dict[str, float] | None:
    """Return table sizes by every name and alias in a statement; None if a size is unknown."""
    table_sizes: dict[str, float] = {name: float(largest if size is None else size) for name, size in sizes.items()}
    try:
        tables: Iterable[exp.Table] = parse_statement(sql, "sqlite").find_all(exp.Table)
    except (SqlglotError, RecursionError):
        return None
    for table in tables:
        name = table.name.lower()
        if name in sizes and sizes[name] is None:
            return None
        if table.alias and name in table_sizes:
            alias = table.alias.lower()
            table_sizes[alias] = max(table_sizes.get(alias, 0.0), table_sizes[name])
    return table_sizes


def open_engine(url: str, session: Session) -> SQLiteEngine:
    """Open the SQLite file at a path or URL."""
    return SQLiteEngine(locate(url), session)
