"""SQLite as an `Engine`: a file, read-only by the engine itself."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

from ...errors import NothingReadable, QueryError
from ...forkserver import available
from ..estimate import Estimate
from ..fetch import Sink
from ..quoting import quoted
from ..schema import Schema, TableSchema
from ..schema_cache import SchemaCache
from ..session import Session
from ..table import Cell, Limits, Table
from ..watchdog import Cancellation
from ..wire import pack_opening
from ..workers import Workers, query_nursery
from .catalogue import Catalogue
from .compile_check import refusal
from .connection import SQLITE_ERRORS, connect, lenient_text
from .location import locate, unavailable
from .plan import estimate
from .pool import LIMITS_HERE, ConnectionPool
from .read_schema import read_schema

NURSERY = query_nursery(__package__ or "")
_PLANNED = Limits(seconds=1.0, rows=10_000)
_RENEW_SECONDS = 60.0
"""How long counts and samples are used at least, of a file that is written to."""


class SQLiteEngine:
    """One SQLite file under one session, as an `Engine`."""

    name = "SQLite"
    dialect = "sqlite"
    version = sqlite3.sqlite_version
    warnings: tuple[str, ...] = ()
    rows_by_person = False
    limits_note = "" if available() else LIMITS_HERE

    def __init__(self, path: Path, session: Session) -> None:
        self.path = path
        self.location = str(path.resolve())
        # A file's name may hold bytes that are no text, which neither prompts nor stores can.
        self.database = os.fsencode(path.stem).decode("utf-8", "replace")
        self._schemas = SchemaCache(self.state, _RENEW_SECONDS, self._is_filled)
        self._probed = ""
        self._egress = session.policy.egress
        permissions = session.policy.permissions
        self._restricted = bool(permissions)
        self._pool = ConnectionPool(path, permissions)
        opening = pack_opening(os.path.abspath(path), permissions)
        self._queries = Workers(NURSERY, opening) if available() else self._pool
        if not self._pool.catalogue().visible:
            self._pool.close()
            raise NothingReadable(f"{path} has no tables{' that you may read' if permissions else ''}")

    def under(self, session: Session) -> SQLiteEngine:
        return SQLiteEngine(self.path, session)

    def close(self) -> None:
        self._queries.close()
        self._pool.close()

    def state(self) -> str:
        return " ".join(".".join(map(str, file)) for file in self._pool.files() if file)

    def execute(self, sql: str, limits: Limits, cancellation: Cancellation | None, sink: Sink | None = None) -> Table:
        return self._queries.execute(sql, limits, cancellation, sink)

    def compile_check(self, sql: str, tables: Sequence[TableSchema]) -> QueryError | None:
        return refusal(sql, tables)

    def estimate(self, sql: str) -> Estimate | None:
        if self._restricted:  # plans would tell of what is hidden
            return None
        plan = self.execute(f"EXPLAIN QUERY PLAN {sql}", _PLANNED, None)
        return estimate(sql, [(int(row[0] or 0), int(row[1] or 0), str(row[3])) for row in plan.rows], self.schema())

    def schema(self) -> Schema:
        catalogue = self._pool.catalogue()
        return self._schemas.get(catalogue, lambda _: self._read_schema(catalogue))

    def _is_filled(self, schema: Schema) -> bool:
        """Whether a table that was empty has rows now; looked at once for each state of the file."""
        empty = [table.name for table in schema.tables if table.row_count == 0]
        if not empty or (state := self.state()) == self._probed:
            return False
        self._probed = state
        with self._pool.taken() as connection, suppress(*SQLITE_ERRORS):
            return any(connection.sqlite.execute(f"SELECT 1 FROM {quoted(name)} LIMIT 1").fetchone() for name in empty)
        return False

    def _read_schema(self, catalogue: Catalogue) -> Schema:
        with self._pool.taken() as guarded:
            try:
                with closing(connect(self.path).sqlite) as reader, lenient_text(guarded.sqlite):
                    return read_schema(reader, guarded.sqlite, self.database, catalogue, self._egress)
            except SQLITE_ERRORS as error:
                raise unavailable(self.path, error) from None

    def distinct_values(self, table: str, column: str, limit: int, seconds: float) -> tuple[Cell, ...]:
        return self._pool.distinct_values(table, column, limit, seconds)


def open_engine(url: str, session: Session) -> SQLiteEngine:
    """Open the file that a path or URL names."""
    return SQLiteEngine(locate(url), session)
