"""Reading a schema: names and keys from the file's own list, counts and samples from the tables."""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from itertools import groupby
from operator import itemgetter

from ..column_kinds import column_kind
from ..egress import Egress, Leaving
from ..profiling import completed
from ..quoting import quoted
from ..schema import ColumnSchema, ForeignKey, Schema, TableSchema
from ..session import digest
from .catalogue import Catalogue
from .connection import SQLITE_ERRORS
from .profile import Profiler
from .tokens import unquoted
from .visibility import Entry

_LONGEST_CELL = 1_000_000
_HIDDEN_BY_MODULE = 1


def read_schema(
    connection: sqlite3.Connection, guarded: sqlite3.Connection, name: str, catalogue: Catalogue, egress: Egress
) -> Schema:
    """Return what `catalogue` shows of a database.

    Args:
        connection: For the structure, which a guarded connection doesn't tell.
        guarded: For the contents: nothing hidden can get into a sample. What it can't read is left out.
        name: The database's short name.
        catalogue: Its tables and what of them may be seen.
        egress: Columns of which nothing may leave are not looked at: what they hold cannot show in what others do.
    """
    guarded.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_CELL)
    pages, size = (connection.execute(f"PRAGMA {each}").fetchone()[0] for each in ("page_count", "page_size"))
    bare = [_table(connection, entry, catalogue) for entry in catalogue.visible]
    keys = _foreign_keys(connection, {table.name.lower(): table for table in bare})
    leaving = Leaving(egress, Schema(name, tuple(bare), tuple(keys)))
    profiler = Profiler(guarded, pages * size, leaving.unread, egress.restricts or catalogue.visibility.restricted)
    tables: list[TableSchema] = []
    for table in bare:
        try:
            tables.append(profiler.profile(table))
        except SQLITE_ERRORS as error:
            if "locked" in str(error):
                raise
            # A view on what is hidden or gone, and a virtual table whose module is missing, no query can read.
            if table.kind == "table":
                tables.append(table)
    names = {table.name for table in tables}
    keys = tuple(key for key in keys if names.issuperset((key.table, key.ref_table)))
    shown = [(table.name, [column.name for column in table.columns]) for table in tables]
    version = digest(catalogue.version, [entry.sql for entry in catalogue.visible], shown)
    read = Schema(name, tuple(tables), keys, version)
    return completed(read, profiler.rows, profiler.uniqueness, profiler.includes)


def _table(connection: sqlite3.Connection, entry: Entry, catalogue: Catalogue) -> TableSchema:
    """Return a table as it is declared, without what may not be seen."""
    try:
        rows = connection.execute(f"PRAGMA table_xinfo({quoted(entry.name)})").fetchall()
    except SQLITE_ERRORS:
        rows = []
    visibility = catalogue.visibility
    comment, comments = ddl_comments(entry.sql) if entry.kind == "table" else ("", {})
    comment, comments = visibility.shown_comments(entry.name, comment, comments)
    # Part of a key would tell that there is another part.
    whole_key = all(visibility.shows(entry.name, row[1]) for row in rows if row[5])
    columns = tuple(
        ColumnSchema(
            name,
            declared or "",
            column_kind(declared or "", ()),
            key if whole_key else 0,
            bool(not_null) and (whole_key or not key),
            hidden > _HIDDEN_BY_MODULE,
            comments.get(name.lower(), ""),
        )
        for _, name, declared, not_null, _, key, hidden in rows
        if hidden != _HIDDEN_BY_MODULE and visibility.shows(entry.name, name)
    )
    definition = entry.sql if entry.kind == "view" else ""
    return TableSchema(entry.name, columns, entry.kind, comment=comment, definition=definition)


def _foreign_keys(connection: sqlite3.Connection, tables: Mapping[str, TableSchema]) -> list[ForeignKey]:
    """Return the keys whose two ends are there, with names as their tables declare them, each once."""
    keys: dict[ForeignKey, None] = {}
    for table in tables.values():
        rows = connection.execute(f"PRAGMA foreign_key_list({quoted(table.name)})").fetchall()
        for _, parts in groupby(sorted(rows, key=lambda row: (-row[0], row[1])), key=itemgetter(0)):
            _, _, (ref_name, *_), names, ref_names, *_ = zip(*parts, strict=True)
            if ref_table := tables.get(ref_name.lower()):
                columns = [table.column(name) for name in names]
                # Without names, the primary key is meant.
                named = [name for name in ref_names if name is not None] or ref_table.primary_key
                ref_columns = [ref_table.column(name) for name in named]
                own, other = (tuple(column.name for column in each if column) for each in (columns, ref_columns))
                if len(own) == len(names) == len(other):
                    keys[ForeignKey(table.name, own, ref_table.name, other)] = None
    return list(keys)


_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))
    |(?P<name>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|'(?:[^']|'')*'|\w+)
    |(?P<sign>[(),\n])""",
    re.VERBOSE | re.DOTALL,
)


def ddl_comments(sql: str) -> tuple[str, Mapping[str, str]]:
    """Return a table's comment and its columns' comments by lower-case name.

    A comment belongs to the column on its line, or, on a line of its own, to the column after it; before the opening
    bracket, to the table.
    """
    if "--" not in sql and "/*" not in sql:
        return "", {}
    table: list[str] = []
    columns: defaultdict[str, list[str]] = defaultdict(list)
    current, depth, is_start, is_fresh_line = "", 0, False, False
    for token in _TOKEN.finditer(sql):
        sign = token["sign"]
        if comment := token["comment"]:
            # Under the empty name, it waits for the next column.
            place = table if depth == 0 else columns["" if is_fresh_line else current]
            place += comment[2:].removesuffix("*/").replace("*", " ").split()
        elif name := token["name"]:
            is_fresh_line = False
            if depth == 1 and is_start:
                is_start, current = False, unquoted(name).lower()
                columns[current] += columns.pop("", [])
        elif sign == "\n":
            is_fresh_line = True
        else:
            depth += (sign == "(") - (sign == ")")
            is_start = depth == 1 if sign == "(" else is_start or (sign == "," and depth == 1)
    return " ".join(table), {name: " ".join(texts) for name, texts in columns.items() if name and texts}
