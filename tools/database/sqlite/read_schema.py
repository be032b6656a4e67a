"""Reading a schema: names and keys from the file's own list, counts and samples from the tables."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

from ..codes import Rows, with_codes
from ..column_kinds import column_kind
from ..egress import Egress, Leaving
from ..infer_keys import infer_keys, with_likely_keys
from ..quoting import quoted
from ..schema import ColumnSchema, ForeignKey, Schema, TableSchema
from .catalogue import Catalogue, Entry
from .connection import SQLITE_ERRORS
from .ddl_comments import ddl_comments
from .profile import ColumnProfile, Profiler, TableProfile

_KEPT_SAMPLES = 8
_LONGEST_CELL = 1_000_000
_HIDDEN_BY_MODULE = 1
_NOTHING_SEEN = TableProfile({})


@dataclass(frozen=True)
class _Column:
    """A row of `PRAGMA table_xinfo`."""

    name: str
    type: str
    not_null: bool
    primary_key: int
    generated: bool


def read_schema(
    connection: sqlite3.Connection, guarded: sqlite3.Connection, name: str, catalogue: Catalogue, egress: Egress
) -> Schema:
    """What `catalogue` shows of a database.

    Args:
        connection: For the structure, which a guarded connection doesn't tell.
        guarded: For the contents: nothing hidden can get into a sample. What it can't read is left out.
        name: The database's short name.
        catalogue: Its tables and what of them may be seen.
        egress: Columns of which nothing may leave are not looked at: what they hold cannot show in what others do.
    """
    guarded.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_CELL)
    profiler = Profiler(guarded, _file_bytes(connection))
    columns = {entry.name: _columns(connection, entry, catalogue) for entry in catalogue.visible}
    bare = [_table(entry, columns[entry.name], _NOTHING_SEEN, catalogue) for entry in catalogue.visible]
    declared = [key for entry in catalogue.visible for key in _declared_keys(connection, entry.name)]
    keys = _resolved(declared, {table.name.lower(): table for table in bare})
    leaving = Leaving(egress, Schema(name, tuple(bare), tuple(keys)))
    tables: list[TableSchema] = []
    rows: dict[str, Rows] = {}
    for entry in catalogue.visible:
        looked_at = [column.name for column in columns[entry.name] if not leaving.unread(entry.name, column.name)]
        try:
            profile = profiler.profile(entry.name, looked_at)
        except SQLITE_ERRORS as error:
            if "locked" in str(error):
                raise
            if entry.kind != "table":
                # A view on what is hidden or gone, or a virtual table whose module is missing: no query can read it.
                continue
            profile = _NOTHING_SEEN
        if egress.restricts or catalogue.visibility.restricted:
            # The order in which values were met can be that of what is not looked at.
            profile = replace(profile, columns={name: _sorted(seen) for name, seen in profile.columns.items()})
        tables.append(_table(entry, columns[entry.name], profile, catalogue))
        rows[entry.name] = profile.rows
    read = {table.name for table in tables}
    keys = [key for key in keys if key.table in read and key.ref_table in read]

    def includes(table: str, column: str, ref_table: str, ref_column: str) -> bool:
        looks = not (leaving.unread(table, column) or leaving.unread(ref_table, ref_column))
        return looks and profiler.includes(table, column, ref_table, ref_column)

    tables = with_likely_keys(
        tables,
        keys,
        lambda table, column: None if leaving.unread(table, column) else profiler.uniqueness(table, column),
    )
    keys += infer_keys(tables, keys, includes)
    tables, every = with_codes(tables, keys, rows, includes)
    return Schema(name, tuple(tables), every, _version(catalogue, tables))


def _file_bytes(connection: sqlite3.Connection) -> int:
    pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    return pages * size


def _columns(connection: sqlite3.Connection, entry: Entry, catalogue: Catalogue) -> list[_Column]:
    try:
        rows = connection.execute(f"PRAGMA table_xinfo({quoted(entry.name)})").fetchall()
    except SQLITE_ERRORS:
        return []
    shows = catalogue.visibility.shows
    # Part of a key would tell that there is another part.
    whole_key = all(shows(entry.name, row[1]) for row in rows if row[5])
    return [
        _Column(
            name,
            declared or "",
            bool(not_null) and (whole_key or not key),
            key if whole_key else 0,
            hidden > _HIDDEN_BY_MODULE,
        )
        for _, name, declared, not_null, _, key, hidden in rows
        if hidden != _HIDDEN_BY_MODULE and shows(entry.name, name)
    ]


def _table(entry: Entry, columns: Sequence[_Column], profile: TableProfile, catalogue: Catalogue) -> TableSchema:
    comment, comments = ddl_comments(entry.sql) if entry.kind == "table" else ("", {})
    comment, comments = catalogue.visibility.shown_comments(entry.name, comment, comments)
    seen = profile.columns
    return TableSchema(
        entry.name,
        tuple(_column(column, seen.get(column.name, ColumnProfile()), comments) for column in columns),
        cast("Literal['table', 'view', 'virtual']", entry.kind),
        profile.row_count,
        comment,
        definition=(entry.sql or "") if entry.kind == "view" else "",
    )


def _sorted(seen: ColumnProfile) -> ColumnProfile:
    return replace(seen, samples=tuple(sorted(seen.samples, key=lambda cell: (type(cell).__name__, cell))))


def _column(column: _Column, seen: ColumnProfile, comments: Mapping[str, str]) -> ColumnSchema:
    return ColumnSchema(
        column.name,
        column.type,
        column_kind(column.type, seen.samples),
        column.primary_key,
        column.not_null,
        column.generated,
        comments.get(column.name.lower(), ""),
        seen.samples[:_KEPT_SAMPLES],
        seen.distinct,
        seen.nulls,
    )


def _declared_keys(connection: sqlite3.Connection, table: str) -> list[ForeignKey]:
    """As declared: `ref_columns` are empty where the primary key is meant."""
    keys: dict[int, ForeignKey] = {}
    rows = connection.execute(f"PRAGMA foreign_key_list({quoted(table)})").fetchall()
    for number, _, ref_table, column, ref_column, *_ in rows:
        key = keys.get(number, ForeignKey(table, (), ref_table, ()))
        added = () if ref_column is None else (ref_column,)
        keys[number] = replace(key, columns=(*key.columns, column), ref_columns=(*key.ref_columns, *added))
    return [keys[number] for number in sorted(keys, reverse=True)]


def _resolved(keys: Sequence[ForeignKey], tables: Mapping[str, TableSchema]) -> list[ForeignKey]:
    """The keys whose two ends are there, with names as their tables declare them, each once."""
    resolved: dict[ForeignKey, None] = {}
    for key in keys:
        table, ref_table = tables[key.table.lower()], tables.get(key.ref_table.lower())
        if ref_table is None:
            continue
        columns = [table.column(name) for name in key.columns]
        ref_columns = [ref_table.column(name) for name in key.ref_columns or ref_table.primary_key]
        names = tuple(column.name for column in columns if column)
        ref_names = tuple(column.name for column in ref_columns if column)
        if len(names) == len(key.columns) == len(ref_names):
            resolved[ForeignKey(table.name, names, ref_table.name, ref_names)] = None
    return list(resolved)


def _version(catalogue: Catalogue, tables: Sequence[TableSchema]) -> str:
    shown = [(table.name, [column.name for column in table.columns]) for table in tables]
    text = repr((catalogue.version, [entry.sql for entry in catalogue.visible], shown))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
