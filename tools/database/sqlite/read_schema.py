"""Reading a schema: names and keys from the file's own list, counts and samples from the tables."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, cast

from ..codes import Rows, with_codes
from ..column_kinds import column_kind
from ..egress import Egress, Leaving
from ..infer_keys import infer_keys, with_likely_keys
from ..quoting import quoted
from ..schema import ColumnSchema, ForeignKey, Schema, TableSchema
from .catalogue import Catalogue, Entry
from .connection import SQLITE_ERRORS
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


_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))
    |(?P<name>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|'(?:[^']|'')*'|\w+)
    |(?P<sign>[(),\n])""",
    re.VERBOSE | re.DOTALL,
)
_QUOTES = {'"': '"', "`": "`", "[": "]", "'": "'"}


@dataclass
class _Reading:
    """Where the scan stands."""

    table: list[str] = field(default_factory=list[str])
    columns: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    waiting: list[str] = field(default_factory=list[str])
    depth: int = 0
    current: str = ""
    starting: bool = False
    fresh_line: bool = False

    def comment(self, text: str) -> None:
        if self.depth == 0:
            self.table.append(text)
        elif self.current and not self.fresh_line:
            self.columns.setdefault(self.current, []).append(text)
        else:
            self.waiting.append(text)

    def name(self, text: str) -> None:
        self.fresh_line = False
        if self.depth == 1 and self.starting:
            self.starting = False
            self.current = _unquoted(text).lower()
            if self.waiting:
                self.columns.setdefault(self.current, []).extend(self.waiting)
                self.waiting = []

    def sign(self, sign: str) -> None:
        if sign == "\n":
            self.fresh_line = True
        elif sign == "(":
            self.depth += 1
            self.starting = self.depth == 1
        elif sign == ")":
            self.depth -= 1
        elif self.depth == 1:
            self.starting = True


def ddl_comments(sql: str) -> tuple[str, Mapping[str, str]]:
    """The table's comment and its columns' comments by lower-case name.

    A comment belongs to the column on its line, or, on a line of its own, to the column after it; before the opening
    bracket, to the table.
    """
    if "--" not in sql and "/*" not in sql:
        return "", {}
    reading = _Reading()
    for match in _TOKEN.finditer(sql):
        if match["comment"]:
            reading.comment(_text(match["comment"]))
        elif match["name"]:
            reading.name(match["name"])
        else:
            reading.sign(match["sign"])
    columns = {name: " ".join(texts).strip() for name, texts in reading.columns.items()}
    return " ".join(reading.table).strip(), columns


def _text(comment: str) -> str:
    body = comment[2:] if comment.startswith("--") else comment[2:].removesuffix("*/")
    return " ".join(body.replace("*", " ").split())


def _unquoted(name: str) -> str:
    close = _QUOTES.get(name[0])
    return name[1:-1].replace(close * 2, close) if close and len(name) > 1 else name
