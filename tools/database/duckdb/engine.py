"""DuckDB as an `Engine`: snapshots of its own files, files of tables, and data frames."""

from __future__ import annotations

import json
import os
import shutil
import threading
import weakref
from collections.abc import Mapping
from dataclasses import replace
from math import prod
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import ormsgpack

from ...errors import SettingsError, TableturnError
from ...forkserver import can_limit_processes
from ..estimate import MOST_ROWS, Estimate
from ..fetch import Sink
from ..profile import ConnectionLost
from ..schema import ColumnSchema
from ..server.catalogue import Catalogue
from ..server.connection import Backend, ServerConnection
from ..server.engine import ServerEngine
from ..session import Permissions, Session
from ..table import Cell, Limits, Table
from ..watchdog import Cancellation
from ..wire import pack_open_request
from ..workers import WorkerPool
from .entries import InstanceDescription, TableEntry, pack_entry, rename_entry
from .grammar import EXPLAIN, GRAMMAR
from .notices import Notice, validate_guesses
from .opening import NURSERY, QUERIES, read_tables_from_files
from .sources import TableSources, number_repeated_names

if TYPE_CHECKING:
    import pandas

# Of statements of our own: samples, counts and plans.
_OWN_LIMITS = Limits(rows=100_000, cell_bytes=20_000_000, result_bytes=200_000_000)
# What is said of a value in a file that is not of the type that its column was found to have.
_MISFITS = ("CSV Error", "JSON transform error", "Failed to parse")
_IDLE = "in these files there is no guess"
_LIMITS_HERE = (
    "this system cannot limit a process, so queries run in the calling one: the memory that one step takes"
    " is not limited"
)


def find_database_or_tables(
    sources: TableSources, folder: Path, *, thorough: bool = False
) -> tuple[Path | None, list[TableEntry]]:
    """Return the DuckDB file of the sources, or the tables of their other files."""
    if sources.database is not None:
        return sources.database, []
    tables = [*read_tables_from_files(sources.files(), folder / "read", thorough=thorough, reversals=sources.reversals)]
    names = number_repeated_names([entry.name for entry in tables])
    return None, [rename_entry(entry, name) for entry, name in zip(tables, names, strict=True)]


class Snapshot:
    """The contents of the sources at one moment, with the workers that query them."""

    def __init__(self, contents: TableSources, permissions: Permissions, *, thorough: bool) -> None:
        self.state = contents.state()
        folder = Path(mkdtemp(prefix="tableturn-"))
        self._clear = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        database, entries = find_database_or_tables(contents, folder, thorough=thorough)
        if can_limit_processes():
            packed_entries = list(map(pack_entry, entries))
            opening = pack_open_request(database or "", permissions, os.fsencode(folder), packed_entries)
            self.queries = WorkerPool(NURSERY, ormsgpack.packb((QUERIES, opening)), folder)
        else:
            from .instance import DuckDBInstance

            self.queries = DuckDBInstance(database, entries, permissions, folder / "own")
        from pydantic import TypeAdapter  # which no worker needs

        self.about = TypeAdapter(InstanceDescription).validate_python(ormsgpack.unpackb(self.queries.about))
        visible = {relation.name for relation in self.about.catalogue.relations}
        guesses = [notice for entry in entries if entry.name in visible for notice in entry.notices]
        words = {word for notice in guesses for word in (notice.turned_by, f"{notice.table}.{notice.turned_by}")}
        self.idle = contents.reversals - words  # words that turn nothing in these files

    def close(self) -> None:
        """Close the snapshot and delete its files."""
        self.queries.close()
        self._clear()


class DuckDBConnection(ServerConnection):
    """A connection to a snapshot, whose workers run the statements."""

    errors = (TableturnError,)

    def __init__(self, backend: DuckDBBackend) -> None:
        self._backend, self._snapshot = backend, backend.snapshot()
        self._limits = _OWN_LIMITS
        self._running = Cancellation()

    def read_version(self) -> str:
        return self._snapshot.about.version

    def begin(self, seconds: float) -> None:
        # A connection to what the files held before is given up.
        if self._backend.snapshot() is not self._snapshot:
            raise ConnectionLost("the data files have changed since they were read")
        self._limits = replace(_OWN_LIMITS, seconds=seconds)
        self._running = Cancellation()

    def fetch(self, sql: str, limits: Limits, sink: Sink | None = None, start: float = 0.0) -> Table:
        # A worker holds the result to the limits.
        del start
        return self._snapshot.queries.execute(sql, limits, self._running, sink)

    def rows(self, sql: str) -> list[tuple[Cell, ...]]:
        return list(self.fetch(sql, self._limits).rows)

    def compile(self, sql: str) -> None:
        self.rows(EXPLAIN + sql)

    def estimate(self, sql: str) -> Estimate | None:
        ((_, plan),) = self.rows(EXPLAIN + sql)
        return estimate(str(plan), self._snapshot.about.catalogue)

    def make_error(self, error: Exception) -> TableturnError | ConnectionLost:
        # If a file's later rows don't fit the types of its first ones, it is read anew.
        text = str(error)
        if any(sign in text for sign in _MISFITS) and self._backend.switch_to_thorough_reading():
            return ConnectionLost("the types of a file's columns have to be found again")
        assert isinstance(error, TableturnError)
        return error

    def interrupt(self) -> None:
        self._running.cancel()


class DuckDBBackend(Backend):
    """A backend for table files, DuckDB files and data frames."""

    name = "DuckDB"
    dialect = "duckdb"
    grammar = GRAMMAR
    keeps_permissions = True

    def __init__(self, contents: TableSources, session: Session) -> None:
        self.database, self.location = contents.name, contents.location
        self.contents, self._session = contents, session
        self._lock = threading.RLock()
        self._thorough = False
        self._snapshot: Snapshot | None = None
        self.snapshot()

    def snapshot(self) -> Snapshot:
        """Return a snapshot of the files, made again if the files have changed."""
        with self._lock:
            if self._snapshot is None or self._snapshot.state != self.contents.state():
                self._snapshot = self._make_snapshot(self.contents)
            return self._snapshot

    def _make_snapshot(self, contents: TableSources) -> Snapshot:
        return Snapshot(contents, self._session.policy.permissions, thorough=self._thorough)

    def close(self) -> None:
        """Close the current snapshot of the files."""
        with self._lock:
            if self._snapshot is not None:
                self._snapshot.close()
            self._snapshot = None

    def with_session(self, session: Session) -> DuckDBBackend:
        return DuckDBBackend(self.contents, session)

    def connect(self) -> DuckDBConnection:
        return DuckDBConnection(self)

    def catalogue(self, connection: ServerConnection) -> Catalogue:
        del connection
        return self.snapshot().about.catalogue

    def catalogue_version(self, connection: ServerConnection) -> str:
        return self.catalogue(connection).version

    def warnings(self, connection: ServerConnection) -> tuple[str, ...]:
        # Files are open for reading only, but some may have been meant otherwise than they are read.
        del connection
        return tuple(str(notice) for notice in self.snapshot().about.notices if notice.turned_by)

    def shorten_column(self, column: ColumnSchema) -> str:
        return super().shorten_column(column) if column.type == "VARCHAR" else self.quote_identifier(column.name)

    def turn_guess(self, guess: str) -> None:
        """Reverse or restore a guess about table files; if that fails, nothing changes."""
        with self._lock:
            contents = replace(self.contents, reversals=self.contents.reversals ^ validate_guesses([guess]))
            snapshot = self._make_snapshot(contents)
            if guess in snapshot.idle:
                snapshot.close()
                raise SettingsError(f"{_IDLE} {guess!r}: the notices about the files name all guesses")
            self.contents, self._snapshot = contents, snapshot

    def switch_to_thorough_reading(self) -> bool:
        """Find column types by all rows from now on; return False if there is nothing to change."""
        with self._lock:
            if self._thorough or self.contents.database is not None:
                return False
            self._thorough = True
            self._snapshot = None
            return True


class DuckDBEngine(ServerEngine):
    """An engine for a DuckDB file, table files or data frames under one session."""

    rows_by_person = False
    limits_note = "" if can_limit_processes() else _LIMITS_HERE

    def __init__(self, backend: DuckDBBackend, session: Session) -> None:
        self._duckdb = backend
        super().__init__(backend, session)

    def close(self) -> None:
        super().close()
        self._duckdb.close()

    @property
    def slow_tables(self) -> frozenset[str]:
        """The tables of large files that have to be taken apart, which takes seconds."""
        return self._duckdb.snapshot().about.slow

    @property
    def hidden_names(self) -> frozenset[str]:
        """The names of tables and columns that the permissions hide."""
        return self._duckdb.snapshot().about.hidden

    @property
    def notices(self) -> tuple[Notice, ...] | None:
        """The notices on the table files as they are read now; None if there are no such files."""
        if not self._duckdb.contents.pattern:
            return None
        snapshot = self._duckdb.snapshot()
        idle = (Notice(self._duckdb.database, "", "turned", f"{_IDLE} {guess!r}") for guess in sorted(snapshot.idle))
        return (*snapshot.about.notices, *idle)

    def turn_guess(self, guess: str) -> None:
        """Reverse or restore a guess about table files, and refresh the catalogue."""
        self._duckdb.turn_guess(guess)
        self._refresh_catalogue(at_once=True)

    def state(self) -> str:
        self._raise_if_closed()
        return self._duckdb.contents.state()


_CARDINALITY = "Estimated Cardinality"


def estimate(plan: str, catalogue: Catalogue) -> Estimate | None:
    """Return a statement's cost estimate from its plan; None if a step lacks a row count."""
    sizes = {f"{relation.schema}.{relation.name}".lower(): relation.estimate or 0 for relation in catalogue.relations}
    try:
        rows = round(sum(_estimate_step_cost(step, sizes)[0] for step in json.loads(plan)))
        return Estimate(min(rows, MOST_ROWS))
    except LookupError:
        return None


def _estimate_step_cost(step: Mapping[str, Any], sizes: Mapping[str, int]) -> tuple[float, float]:
    """Return the rows that a plan step and its children process, and the rows it returns."""
    children = [_estimate_step_cost(child, sizes) for child in step["children"]]
    rows_read, info = sum(cost for cost, _ in children), step["extra_info"]
    if not children:
        if "Table" not in info and "Function" not in info:
            return 0.0, float(info.get(_CARDINALITY, 1))
        output_rows = float(info[_CARDINALITY])
        table_rows = sizes.get(".".join(str(info.get("Table", "")).lower().split(".")[-2:]), 0)
        return max(output_rows, float(table_rows)), output_rows
    joins = len(children) > 1 and "UNION" not in step["name"]
    # A cross product says nothing of its own.
    pairs = prod(rows for _, rows in children)
    output_rows = float(info.get(_CARDINALITY, pairs if joins else max(rows for _, rows in children)))
    compared_rows = pairs if "NESTED_LOOP" in step["name"] or "NL_JOIN" in step["name"] else output_rows
    return rows_read + (compared_rows if joins else 0.0), output_rows


def open_data_frames(frames: Mapping[str, pandas.DataFrame], session: Session) -> DuckDBEngine:
    """Open copies of data frames as the tables of a database."""
    from .tables import compute_frames_fingerprint, write_frames_to_file

    state = compute_frames_fingerprint(frames)
    folder = Path(mkdtemp(prefix="tableturn-"))
    name = next(iter(frames)) if len(frames) == 1 else "frames"
    contents = TableSources(name, f"frames:{state}", folder / "frames.duckdb", fingerprint=state)
    weakref.finalize(contents, shutil.rmtree, folder, ignore_errors=True)
    write_frames_to_file(frames, folder / "frames.duckdb")
    return DuckDBEngine(DuckDBBackend(contents, session), session)
