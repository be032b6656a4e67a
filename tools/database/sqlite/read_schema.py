"""Schemas of files: names and keys as declared, counts and samples from tables.

Work is counted in steps of SQLite's virtual machine and in bytes that are read, never in seconds: what is found of a
database is the same however busy the machine is, and so is the prompt that shows it.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from ..codes import Rows, make_code_table_rows
from ..column_kinds import infer_column_kind
from ..egress import Egress, SchemaEgress
from ..fetch import estimate_rows_size
from ..profiling import add_inferred_keys_and_codes, add_statistics
from ..quoting import quote, unquote
from ..schema import ColumnSchema, ForeignKey, Schema, TableSchema
from ..session import compute_digest
from ..table import Cell
from ..watchdog import WATCHDOG, RunningQuery
from .catalogue import FileCatalogue
from .connection import SQLITE_ERRORS
from .visibility import DeclaredTable

_LONGEST_CELL = 1_000_000
_HIDDEN_BY_MODULE = 1
_ROWS = 1_000
_ROWS_A_FETCH = 250
_BYTES = 4_000_000
_CUT = 1_000
_LONGEST = 100_000_000
# One table must not use up what the others are to have: a few tenths of a second, and a few seconds for all.
_STEPS_A_QUERY = 4_000_000
_STEPS = 60_000_000
_STEPS_AT_ONCE = 1_000
# About as long as a step takes to read.
_BYTES_A_STEP = 100
# Of a smaller file, SQLite counts rows page by page, which takes no steps at all.
_COUNTED_PAGEWISE = 500_000_000
# For what hangs in a single step; no other query runs into it, on whatever machine.
_SECONDS = 120.0


def read_schema(
    connection: sqlite3.Connection, contents: sqlite3.Connection, name: str, catalogue: FileCatalogue, egress: Egress
) -> Schema:
    """Return the schema of a database file's visible tables, with counts and samples.

    Args:
        connection: For the structure, which a guarded connection doesn't tell.
        contents: A guarded connection: nothing hidden can get into a sample. What it can't read is left out.
        name: The database's short name.
        catalogue: Its tables and what of them may be seen.
        egress: Columns of which nothing may leave are not looked at: what they hold cannot show in what others do.
    """
    contents.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_CELL)
    pages, size = (connection.execute(f"PRAGMA {pragma}").fetchone()[0] for pragma in ("page_count", "page_size"))
    bare = [_read_declared_table(connection, entry, catalogue) for entry in catalogue.visible]
    keys = _read_foreign_keys(connection, {table.name.lower(): table for table in bare})
    leaving = SchemaEgress(egress, Schema(name, tuple(bare), tuple(keys)))
    profiler = TableProfiler(
        contents, pages * size, leaving.is_withheld, egress.restricts_columns or catalogue.visibility.restricted
    )
    tables: list[TableSchema] = []
    for table in bare:
        try:
            tables.append(profiler.profile_table(table))
        except SQLITE_ERRORS as error:
            if "locked" in str(error):
                raise
            # A view on what is hidden or gone, and a virtual table whose module is missing, no query can read.
            if table.kind == "table":
                tables.append(table)
    names = {table.name for table in tables}
    keys = tuple(key for key in keys if names.issuperset((key.table, key.ref_table)))
    table_columns = [(table.name, [column.name for column in table.columns]) for table in tables]
    version = compute_digest(catalogue.version, [entry.sql for entry in catalogue.visible], table_columns)
    schema = Schema(name, tuple(tables), keys, version)
    return add_inferred_keys_and_codes(schema, profiler.rows, profiler.count_distinct_values, profiler.is_column_subset)


def _read_declared_table(connection: sqlite3.Connection, entry: DeclaredTable, catalogue: FileCatalogue) -> TableSchema:
    """Return a table as declared, without hidden columns."""
    try:
        rows = connection.execute(f"PRAGMA table_xinfo({quote(entry.name)})").fetchall()
    except SQLITE_ERRORS:
        rows = []
    visibility = catalogue.visibility
    comment, comments = parse_ddl_comments(entry.sql) if entry.kind == "table" else ("", {})
    comment, comments = visibility.select_comments(entry.name, comment, comments)
    # Part of a key would tell that there is another part.
    whole_key = all(visibility.shows(entry.name, row[1]) for row in rows if row[5])
    columns = tuple(
        ColumnSchema(
            name,
            type_name or "",
            infer_column_kind(type_name or "", ()),
            key if whole_key else 0,
            bool(not_null) and (whole_key or not key),
            hidden_code > _HIDDEN_BY_MODULE,
            comments.get(name.lower(), ""),
        )
        for _, name, type_name, not_null, _, key, hidden_code in rows
        if hidden_code != _HIDDEN_BY_MODULE and visibility.shows(entry.name, name)
    )
    definition = entry.sql if entry.kind == "view" else ""
    return TableSchema(entry.name, columns, entry.kind, comment=comment, definition=definition)


def _read_foreign_keys(connection: sqlite3.Connection, tables: Mapping[str, TableSchema]) -> list[ForeignKey]:
    """Return each visible foreign key once, with names as declared."""
    keys: dict[ForeignKey, None] = {}
    for table in tables.values():
        rows = connection.execute(f"PRAGMA foreign_key_list({quote(table.name)})").fetchall()
        for _, pairs in groupby(sorted(rows, key=lambda row: (-row[0], row[1])), key=itemgetter(0)):
            _, _, (ref_name, *_), names, ref_names, *_ = zip(*pairs, strict=True)
            if ref_table := tables.get(ref_name.lower()):
                columns = [table.column(name) for name in names]
                # Without names, the primary key is meant.
                key_names = [name for name in ref_names if name is not None] or ref_table.primary_key
                ref_columns = [ref_table.column(name) for name in key_names]
                source, other = (tuple(column.name for column in side if column) for side in (columns, ref_columns))
                if len(source) == len(names) == len(other):
                    keys[ForeignKey(table.name, source, ref_table.name, other)] = None
    return list(keys)


_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))
    |(?P<name>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|'(?:[^']|'')*'|\w+)
    |(?P<sign>[(),\n])""",
    re.VERBOSE | re.DOTALL,
)


def parse_ddl_comments(sql: str) -> tuple[str, Mapping[str, str]]:
    """Return a table's comment, and its columns' comments by lower-case column name.

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
            comments = table if depth == 0 else columns["" if is_fresh_line else current]
            comments += comment[2:].removesuffix("*/").replace("*", " ").split()
        elif name := token["name"]:
            is_fresh_line = False
            if depth == 1 and is_start:
                is_start, current = False, unquote(name).lower()
                columns[current] += columns.pop("", [])
        elif sign == "\n":
            is_fresh_line = True
        else:
            depth += (sign == "(") - (sign == ")")
            is_start = depth == 1 if sign == "(" else is_start or (sign == "," and depth == 1)
    return " ".join(table), {name: " ".join(texts) for name, texts in columns.items() if name and texts}


@dataclass
class TableProfiler:
    """A table profiler with a work limit; tables after the limit have samples, but no counts.

    Attributes:
        connection: Guarded, so that nothing hidden can show in a sample, and reading text leniently.
        unread: Whether nothing of a (table, column) may be looked at.
        sorts: Whether samples are sorted: the order in which values were met can be that of what is not looked at.
        rows: Those of tables that have few, by the table's name.
    """

    connection: sqlite3.Connection
    file_bytes: int
    unread: Callable[[str, str], bool]
    sorts: bool
    rows: dict[str, Rows] = field(default_factory=dict[str, Rows])
    _steps_left: int = _STEPS
    _steps_done: int = 0  # steps of the last query
    _deadline: float = field(default_factory=lambda: time.monotonic() + _SECONDS)

    def profile_table(self, table: TableSchema) -> TableSchema:
        """Return a table with facts found in the values of its readable columns."""
        name = quote(table.name)
        columns = [column for column in table.columns if not self.unread(table.name, column.name)]
        if not columns:
            self.connection.execute(f"SELECT 1 FROM {name} LIMIT 0")
            return replace(table, row_count=self._count_table_rows(name))
        names = [column.name for column in columns]
        rows, complete = self._read_first_rows(name, names)
        row_count = len(rows) if complete else self._count_table_rows(name)
        if complete:
            self.rows[table.name] = make_code_table_rows(names, rows)
        steps = (row_count or 0) * estimate_rows_size(rows) // max(len(rows), 1) // _BYTES_A_STEP
        value_lists = tuple(zip(*rows[:_ROWS], strict=True)) or ((),) * len(columns)
        profiles: dict[str, ColumnSchema] = {}
        for column, values in zip(columns, value_lists, strict=True):
            # What is declared here says little: values tell more of a kind.
            profile = add_statistics(replace(column, kind="other"), values, complete=complete)
            if self.sorts:
                samples = sorted(profile.samples, key=lambda cell: (type(cell).__name__, cell))
                profile = replace(profile, samples=tuple(samples))
            if not complete and row_count is not None:
                count = self._fetch_single_number(f"SELECT count(DISTINCT {quote(column.name)}) FROM {name}", steps)
                profile = replace(profile, distinct=count)
            profiles[column.name] = profile
        every = tuple(profiles.get(column.name, column) for column in table.columns)
        return replace(table, columns=every, row_count=row_count)

    def count_distinct_values(self, table: str, column: str) -> tuple[int, int] | None:
        """Return the number of a table's first rows and of a column's distinct values in them."""
        if self.unread(table, column):
            return None
        subquery = f"(SELECT {quote(column)} AS v FROM {quote(table)} LIMIT {_ROWS})"
        return self._fetch_first_row(f"SELECT count(*), count(DISTINCT v) FROM {subquery}")

    def is_column_subset(self, table: str, column: str, ref_table: str, ref_column: str) -> bool:
        """Whether `ref_column` has every value of `column`'s first rows; False if there are none."""
        if self.unread(table, column) or self.unread(ref_table, ref_column):
            return False
        name, ref_name = quote(column), quote(ref_column)
        # IN makes an index of what has none, once.
        sql = (
            f"SELECT count(*) > 0 AND sum(v IN (SELECT {ref_name} FROM {quote(ref_table)})) = count(*)"
            f" FROM (SELECT DISTINCT {name} AS v FROM (SELECT {name} FROM {quote(table)} LIMIT {_ROWS})"
            f" WHERE {name} IS NOT NULL)"
        )
        return bool(self._fetch_single_number(sql))

    def _read_first_rows(self, table: str, columns: Sequence[str]) -> tuple[list[tuple[Cell, ...]], bool]:
        """Return the first rows of a table within the limits, and whether these are all rows."""
        names = list(map(quote, columns))
        try:
            return self._fetch_rows_within_limits(table, names)
        except sqlite3.DataError:
            # Values too long to be taken whole.
            before = self.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
            cut_sql = "CASE WHEN typeof({0}) IN ('text', 'blob') THEN substr({0}, 1, {1}) ELSE {0} END"
            try:
                return self._fetch_rows_within_limits(table, [cut_sql.format(name, _CUT) for name in names])[0], False
            finally:
                self.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, before)

    def _fetch_rows_within_limits(self, table: str, columns: Sequence[str]) -> tuple[list[tuple[Cell, ...]], bool]:
        rows: list[tuple[Cell, ...]] = []
        size = 0
        with self._limit_query_steps(_STEPS_A_QUERY):  # samples are to be had of the last table too
            try:
                cursor = self.connection.execute(f"SELECT {', '.join(columns)} FROM {table} LIMIT {_ROWS + 1}")
                while size < _BYTES:
                    batch: list[tuple[Cell, ...]] = cursor.fetchmany(_ROWS_A_FETCH)
                    rows += batch
                    if len(batch) < _ROWS_A_FETCH:
                        return rows, len(rows) <= _ROWS
                    size += estimate_rows_size(batch)
                cursor.close()
            except SQLITE_ERRORS:
                # Too much work: what was read until then will do.
                if self._steps_done <= _STEPS_A_QUERY:
                    raise
        return rows, False

    def _count_table_rows(self, table: str) -> int | None:
        rows = table if self.file_bytes <= _COUNTED_PAGEWISE else f"(SELECT 1 FROM {table} LIMIT -1)"
        return self._fetch_single_number(f"SELECT count(*) FROM {rows}")

    def _fetch_single_number(self, sql: str, steps: int = 0) -> int | None:
        row = self._fetch_first_row(sql, steps)
        return row and row[0]

    def _fetch_first_row(self, sql: str, steps: int = 0) -> Any:
        """Return the first row of a query; None if the query takes too much work."""
        if steps > min(_STEPS_A_QUERY, self._steps_left):
            return None
        self._steps_left -= steps
        with self._limit_query_steps(min(_STEPS_A_QUERY, self._steps_left)), suppress(*SQLITE_ERRORS):
            try:
                return self.connection.execute(sql).fetchone()
            finally:
                self._steps_left -= self._steps_done
        return None

    @contextmanager
    def _limit_query_steps(self, limit: int) -> Generator[None]:
        """Stop a query that takes more than `limit` virtual machine steps in a block."""
        self._steps_done = 0

        def count_steps_and_check_limit() -> bool:
            self._steps_done += _STEPS_AT_ONCE
            return self._steps_done > limit  # to SQLite, true means to stop

        with WATCHDOG.watch(RunningQuery(self.connection.interrupt, self._deadline)):
            self.connection.set_progress_handler(count_steps_and_check_limit, _STEPS_AT_ONCE)
            try:
                yield
            finally:
                self.connection.set_progress_handler(None, _STEPS_AT_ONCE)
