"""The catalogue of a database file: its names, read quickly and watched for changes."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ...errors import DatabaseUnavailable
from ..quoting import quote
from ..session import Permissions
from .visibility import FULL_TEXT, DeclaredTable, Visibility, parse_virtual_table, resolve

# The suffixes of the tables in which SQLite's own virtual tables (FTS3 to FTS5, R-tree) keep their content.
_SHADOWS = ("content", "idx", "data", "docsize", "config", "segments", "segdir", "stat", "node", "rowid", "parent")
# What `PRAGMA table_xinfo` says of virtual and of stored generated columns.
_GENERATED_KINDS = (2, 3)


class FileState(NamedTuple):
    """The identity, size and modification time of a file, equal if the file is unchanged."""

    device: int
    inode: int
    size: int
    mtime: int

    @classmethod
    def of(cls, path: str | Path) -> FileState:
        """Return the current state of the file at a path."""
        try:
            status = os.stat(path)
        except OSError:
            raise DatabaseUnavailable(f"the database file {path} is gone") from None
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def read_file_states(path: Path) -> tuple[FileState, FileState | None]:
    """Return the states of a database file and of its write-ahead log, if it has one."""
    file = FileState.of(path)
    try:
        return file, FileState.of(f"{path}-wal")
    except DatabaseUnavailable:
        return file, None


@dataclass(frozen=True)
class FileCatalogue:
    """The tables of a database file at one version of its schema, in declaration order.

    Shadow and internal tables are left out. The version is (device, inode, schema cookie); the encoding is what
    `PRAGMA encoding` names.
    """

    version: tuple[int, int, int]
    entries: tuple[DeclaredTable, ...]
    visibility: Visibility
    encoding: str = "UTF-8"

    @cached_property
    def full_text_tables(self) -> frozenset[str]:
        """The names of the full-text tables, in lower case."""
        virtual = (entry for entry in self.entries if entry.kind == "virtual")
        return frozenset(entry.key for entry in virtual if parse_virtual_table(entry.sql)[0] in FULL_TEXT)

    @property
    def visible(self) -> tuple[DeclaredTable, ...]:
        """The declared tables and views that may be seen."""
        return tuple(entry for entry in self.entries if self.visibility.shows(entry.name))


def read_schema_version(connection: sqlite3.Connection, state: FileState) -> tuple[int, int, int]:
    """Return a key that changes if the file is replaced or its schema is altered."""
    return state.device, state.inode, connection.execute("PRAGMA schema_version").fetchone()[0]


def read_catalogue(connection: sqlite3.Connection, state: FileState, rules: Permissions) -> FileCatalogue:
    """Read the catalogue of a database file through a schema connection."""
    version = read_schema_version(connection, state)
    rows = connection.execute(
        "SELECT name, CASE WHEN sql LIKE 'CREATE VIRTUAL%' THEN 'virtual' ELSE type END, coalesce(sql, '')"
        " FROM sqlite_master"
        " WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
    )
    entries = [DeclaredTable(*row) for row in rows]
    names = {entry.key for entry in entries if entry.kind == "table"}
    shadows = {
        name: tuple(shadow for suffix in _SHADOWS if (shadow := f"{name}_{suffix}") in names)
        for name in (entry.key for entry in entries if entry.kind == "virtual")
    }
    internal = set(chain(*shadows.values()))
    tables = tuple(entry for entry in entries if entry.key not in internal)
    if rules:
        tables = tuple(_load_table_columns(connection, entry) for entry in tables)
    encoding: str = connection.execute("PRAGMA encoding").fetchone()[0]
    return FileCatalogue(version, tables, resolve(rules, tables, shadows), encoding)


def _load_table_columns(connection: sqlite3.Connection, entry: DeclaredTable) -> DeclaredTable:
    """Return a declared table with its columns; without columns if SQLite cannot list them."""
    try:
        rows = connection.execute(f"PRAGMA table_xinfo({quote(entry.name)})").fetchall()
    except (sqlite3.Error, UnicodeDecodeError):
        rows = []
    columns = frozenset(row[1].lower() for row in rows)
    generated_columns = frozenset(row[1].lower() for row in rows if row[6] in _GENERATED_KINDS)
    reads = _find_columns_read_by_view(connection, entry.name) if entry.kind == "view" else frozenset[tuple[str, str]]()
    return replace(entry, columns=columns, generated_columns=generated_columns, reads=reads)


def _find_columns_read_by_view(connection: sqlite3.Connection, view: str) -> frozenset[tuple[str, str]]:
    """Return the (table, column) pairs that SQLite asks to read as it compiles a view."""
    pairs: set[tuple[str, str]] = set()

    def record_column_read(
        action: int, table: str | None, column: str | None, _database: str | None, _source: str | None
    ) -> int:
        if action == sqlite3.SQLITE_READ and table and not table.lower().startswith("sqlite_"):
            pairs.add((table.lower(), (column or "").lower()))
        return sqlite3.SQLITE_OK

    connection.set_authorizer(record_column_read)
    try:
        connection.execute(f"SELECT * FROM {quote(view)} LIMIT 0").close()
    except (sqlite3.Error, UnicodeDecodeError):
        return frozenset()  # such a view is not readable anyway
    finally:
        connection.set_authorizer(None)
    return frozenset(pairs)
