"""Guarded connections to one file, for any number of threads, renewed when the file or its schema changes."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from ...errors import DatabaseUnavailable, SettingsError
from ..session import Permissions
from .catalogue import Catalogue, FileState, read_catalogue, schema_version
from .confined import Stale
from .connection import SQLITE_ERRORS, QueryConnection, connect, connect_guarded
from .heap import heap_limit_to_lower, limit_heap
from .location import has_no_writer, unavailable

# Idle connections kept open; more are opened when more queries run at once, so that none waits for another.
_IDLE_CONNECTIONS = 8

# Files written to longer ago than this have another time once they are written to again, whatever the clock's grain.
_SETTLED_NS = 2_000_000_000


class ConnectionPool:
    """Hands out guarded connections, one thread at a time each."""

    def __init__(self, path: Path, rules: Permissions) -> None:
        """Open the file.

        Raises:
            DatabaseUnavailable: It cannot be opened or read.
            SettingsError: A rule names what the database doesn't have.
        """
        self._path = path
        self._file = os.fspath(path)
        self._rules = rules
        self._lock = threading.Lock()
        self._idle: list[QueryConnection] = []
        self._closed = False
        self._settled: tuple[tuple[FileState, FileState | None], Catalogue] | None = None
        self._state = FileState.of(self._file)
        try:
            self._reader = connect(path)
        except SQLITE_ERRORS as error:
            raise unavailable(path, error) from None
        try:
            self._catalogue = read_catalogue(self._reader.sqlite, self._state, rules)
        except SQLITE_ERRORS as error:
            self._reader.sqlite.close()
            raise unavailable(path, error) from None
        except SettingsError:
            self._reader.sqlite.close()
            raise

    def catalogue(self) -> Catalogue:
        """The names in the database, as of now.

        Many threads ask dozens of times a turn: none waits where neither the file nor its log was written to.
        """
        files = self._files()
        settled = self._settled
        if settled is not None and settled[0] == files and not self._closed:
            return settled[1]
        with self._lock:
            self._check_open()
            self._refresh()
            at_rest = time.time_ns() - max(file.modified for file in files if file) > _SETTLED_NS
            self._settled = (files, self._catalogue) if at_rest else None
            return self._catalogue

    def _files(self) -> tuple[FileState, FileState | None]:
        """The states of the file and of its write-ahead log: one of them changes whenever the schema does."""
        file = FileState.of(self._file)
        try:
            return file, FileState.of(f"{self._file}-wal")
        except DatabaseUnavailable:
            return file, None

    def take(self) -> QueryConnection:
        """A connection for one query; give it back with `give`.

        Raises:
            DatabaseUnavailable: The file is gone, damaged or locked, or the pool is closed.
        """
        with self._lock:
            self._check_open()
            # A writer with a write-ahead log alters the schema without touching the file. Where nothing is hidden, a
            # query that fails tells of it early enough; where something is, a new column must not be seen even once.
            if self._rules or FileState.of(self._file) != self._state:
                self._refresh()
            while self._idle:
                connection = self._idle.pop()
                if not connection.immutable or has_no_writer(self._path):
                    return connection
                connection.sqlite.close()
            catalogue = self._catalogue
        try:
            return connect_guarded(self._path, catalogue)
        except Stale:
            self.catalogue()
            return self.take()
        except SQLITE_ERRORS as error:
            raise unavailable(self._path, error) from None

    def give(self, connection: QueryConnection) -> None:
        """Take a connection back."""
        with self._lock:
            usable = connection.catalogue is self._catalogue and not connection.suspect
            if usable and not self._closed and len(self._idle) < _IDLE_CONNECTIONS:
                self._idle.append(connection)
                return
        connection.sqlite.close()

    def limit_heap(self, limit: int) -> None:
        """See `heap.limit_heap`."""
        if heap_limit_to_lower(limit):
            with self._lock:
                self._check_open()
                limit_heap(self._reader.sqlite, limit)

    def close(self) -> None:
        """Close every idle connection; those in use are closed when they are given back."""
        with self._lock:
            self._closed = True
            self._drop_idle()
            self._reader.sqlite.close()

    def _check_open(self) -> None:
        if self._closed:
            raise DatabaseUnavailable(f"the database {self._path.stem} was closed: open it again")

    def _refresh(self) -> None:
        """Read the names again if the file was replaced or its schema altered."""
        state = FileState.of(self._file)
        replaced = (state.device, state.inode) != (self._state.device, self._state.inode)
        try:
            # What was opened as immutable doesn't look at the file again.
            reopen = replaced or (self._reader.immutable and (state != self._state or not has_no_writer(self._path)))
            if reopen:
                self._reader.sqlite.close()
                self._reader = connect(self._path)
            if reopen or schema_version(self._reader.sqlite, state) != self._catalogue.version:
                self._catalogue = read_catalogue(self._reader.sqlite, state, self._rules)
                self._drop_idle()
        except SQLITE_ERRORS as error:
            raise unavailable(self._path, error) from None
        except SettingsError as error:
            raise DatabaseUnavailable(f"{self._path} was altered while open: {error}: nothing is shown") from None
        self._state = state

    def _drop_idle(self) -> None:
        for connection in self._idle:
            connection.sqlite.close()
        self._idle.clear()
