"""Suite builder: mutants, random databases, and the fewest databases that kill most mutants.

Random databases are of the schema of the original and hold what queries compare columns with. The folder of a suite is
always a new one.
"""

from __future__ import annotations

import json
import random
import sqlite3
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from sqlglot import exp

from ....tools.database import Database, Permissions
from ....tools.database.fetch import fetch
from ....tools.database.quoting import quote
from ....tools.database.schema import ColumnSchema, ForeignKey, Schema, TableSchema
from ....tools.database.sqlite.catalogue import FileState, read_catalogue
from ....tools.database.sqlite.connection import guard_connection
from ....tools.database.table import Cell, Limits
from ....tools.errors import DatabaseUnavailable, ResultTooLarge, SettingsError, SQLParseError
from ....tools.results import same_result
from ....tools.sql.parse import parse
from ...metrics.judging import find_row_order
from ...official.execution import decode_ignoring_errors, open_database_read_only
from ..bench.gold import Rows
from .mutants import generate_query_mutants

MANIFEST = "suite.json"  # says which files of a suite's folder are its own
_CANDIDATES = 60
"""Random databases tried for a schema."""

_IDLE = 15
"""Candidates in a row that kill no further mutant, after which no more are tried."""

Pair = tuple[str, str]
"""A gold query and one of its mutants."""


@dataclass(frozen=True)
class SuiteReport:
    """The size of a built suite and its kill rate.

    Attributes:
        database: The schema's name.
        golds: Distinct gold queries that run.
        mutants: Their mutants that run.
        killed: Mutants whose result differs from their gold's on some database of the suite.
        databases: Databases in the suite, the original included.
        seconds: Time to build it.
        survivors: Mutants that no database distinguishes from their gold, some of which mean the same.
    """

    database: str
    golds: int
    mutants: int
    killed: int
    databases: int
    seconds: float
    survivors: tuple[Pair, ...]


def build_suite(original: Path, golds: Sequence[str], out: Path) -> SuiteReport:
    """Build a schema's test suite of databases in the official layout, in `out/NAME`.

    Args:
        original: The schema's database; copied as the suite's first.
        golds: Gold queries, run for reading only; those that write or fail are passed over.
        out: Folder of suites.

    Raises:
        DatabaseUnavailable: The original cannot be used.
        SettingsError: The suite cannot be written, or its folder is there already.
    """
    start = time.perf_counter()
    name = original.stem
    check_output_folder(name, out)
    with Database.open(original) as database:
        schema = database.schema()
    first = copy_database(original, schema)
    runs = [gold for gold in dict.fromkeys(golds) if run_query(first.copy, gold) is not None]
    pairs = [
        (gold, mutant)
        for gold in runs
        for mutant in generate_query_mutants(gold, schema)
        if run_query(first.copy, mutant) is not None
    ]
    killed = _find_killed_mutants(first.copy, pairs)
    left = survivors = [pair for pair in pairs if pair not in killed]
    generator = random.Random(f"{name}:0")  # noqa: S311 - the same suite each time
    constants = collect_column_constants(runs, schema)
    # Random databases that each kill some mutant more.
    candidates: list[sqlite3.Connection] = []
    idle = 0
    for _ in range(_CANDIDATES):
        if not survivors or idle >= _IDLE:
            break
        candidate = install_guard(generate(first.ddl, schema, constants, choose_shape(generator), generator))
        killed = _find_killed_mutants(candidate, survivors)
        idle = 0 if killed else idle + 1
        if killed:
            candidates.append(candidate)
            survivors = [pair for pair in survivors if pair not in killed]
    # As few of them as kill as many: greedily the one that kills most of what is left.
    mortal = set(left).difference(survivors)
    kills = [_find_killed_mutants(candidate, [pair for pair in left if pair in mortal]) for candidate in candidates]
    chosen: list[sqlite3.Connection] = []
    while mortal:
        best = max(range(len(kills)), key=lambda place: len(kills[place] & mortal))
        chosen.append(candidates[best])
        mortal -= kills[best]
    _write_suite(name, [first.copy, *chosen], out)
    return SuiteReport(
        database=name,
        golds=len(runs),
        mutants=len(pairs),
        killed=len(pairs) - len(survivors),
        databases=1 + len(chosen),
        seconds=round(time.perf_counter() - start, 2),
        survivors=tuple(survivors),
    )


def build_random_suite(original: Path, golds: Sequence[str], out: Path, count: int) -> None:
    """Build a test suite of the original database and `count - 1` random ones.

    Raises:
        DatabaseUnavailable: The original cannot be used.
        SettingsError: As for `build_suite`.
    """
    with Database.open(original) as database:
        schema = database.schema()
    first = copy_database(original, schema)
    constants = collect_column_constants(golds, schema)
    generator = random.Random(f"{original.stem}:0")  # noqa: S311 - the same suite each time
    drawn = (generate(first.ddl, schema, constants, choose_shape(generator), generator) for _ in range(count - 1))
    _write_suite(original.stem, [first.copy, *drawn], out)


def _find_killed_mutants(database: sqlite3.Connection, pairs: Sequence[Pair]) -> set[Pair]:
    """Return the pairs whose mutant's result differs from the gold query's."""
    killed: set[Pair] = set()
    for gold, group in groupby(pairs, key=itemgetter(0)):
        expected = run_query(database, gold)
        if expected is None:
            continue
        ordered = find_row_order(gold).ordered
        for pair in group:
            got = run_query(database, pair[1])
            if got is not None and not same_result(expected, got, ordered):
                killed.add(pair)
    return killed


def check_output_folder(name: str, out: Path) -> None:
    """Raise a SettingsError if the suite's folder already exists."""
    if (out / name).exists():
        raise SettingsError(f"{out / name} already exists: choose another --out, or move it away")


def _write_suite(name: str, databases: Sequence[sqlite3.Connection], out: Path) -> None:
    """Write the databases of a test suite and a manifest into a new folder."""
    check_output_folder(name, out)
    folder = out / name
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out, prefix=".suite-") as temporary:
            made = Path(temporary) / "made"
            made.mkdir()
            for number, database in enumerate(databases):
                path = made / (f"{name}_{number:03}.sqlite" if number else f"{name}.sqlite")
                with closing(sqlite3.connect(path)) as target:
                    database.backup(target)
                    # A write-ahead log would have readers leave files beside it.
                    target.execute("PRAGMA journal_mode = DELETE")
            names = sorted(path.name for path in made.iterdir())
            (made / MANIFEST).write_text(json.dumps({"files": names}, indent=1) + "\n", encoding="utf-8")
            made.rename(folder)
    except (OSError, sqlite3.Error) as error:
        raise SettingsError(f"{folder} cannot be used for a suite: {error}") from error


_STEPS = 2_000_000
"""Virtual machine steps that a query on a small database may take; a mutant without its join conditions takes more."""

_CHECKS = 100

_LIMITS = Limits(rows=2_000, result_bytes=50_000_000)
"""A query with more rows tells nothing here. Steps end a query first, so that the same one ends everywhere."""

_WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath")


@dataclass(frozen=True)
class OriginalDatabase:
    """A copy of the database that a suite is built for.

    Attributes:
        copy: The copy, sealed.
        ddl: CREATE statements of its tables, views and indexes. Triggers would write what nobody chose; the tables in
            which full-text tables keep their content are made by these.
    """

    copy: sqlite3.Connection
    ddl: tuple[str, ...]


def _open_empty_database() -> sqlite3.Connection:
    """Open an empty database in memory."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.text_factory = decode_ignoring_errors
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LIMITS.cell_bytes)
    return connection


def copy_database(path: Path, schema: Schema) -> OriginalDatabase:
    """Copy a database into memory.

    Raises:
        DatabaseUnavailable: It cannot be read.
    """
    copy = _open_empty_database()
    try:
        with closing(open_database_read_only(path)) as source:
            source.backup(copy)
        definitions: list[tuple[str, str]] = copy.execute(
            "SELECT tbl_name, sql FROM sqlite_master WHERE type IN ('table', 'view', 'index') AND sql IS NOT NULL"
            " ORDER BY type = 'index', rowid"
        ).fetchall()
        shown = {table.name.lower() for table in schema.tables}
        return OriginalDatabase(install_guard(copy), tuple(sql for table, sql in definitions if table.lower() in shown))
    except sqlite3.Error as error:
        copy.close()
        raise DatabaseUnavailable(f"{path} cannot be used: {error}") from error


def install_guard(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Install the statement guard on a connection, and return the connection."""
    return guard_connection(connection, read_catalogue(connection, FileState(0, 0, 0, 0), Permissions())).sqlite


def run_query(database: sqlite3.Connection, sql: str) -> Rows | None:
    """Return a query's rows; None if the query fails, is refused, or costs too much."""
    budget = iter(range(_CHECKS))
    database.set_progress_handler(lambda: next(budget, None) is None, _STEPS // _CHECKS)
    try:
        with closing(database.execute(sql)) as cursor:
            result = fetch(cursor, _LIMITS) if cursor.description else None
    except (sqlite3.Error, sqlite3.Warning, ResultTooLarge, ValueError, MemoryError):
        return None
    return None if result is None or result.truncated else result.rows


def collect_column_constants(queries: Iterable[str], schema: Schema) -> dict[str, list[Cell]]:
    """Return the constants that queries compare with each column, and neighbouring values."""
    found: dict[str, dict[Cell, None]] = defaultdict(dict)
    known = {column.name.lower() for table in schema.tables for column in table.columns}
    for sql in queries:
        try:
            tree = parse(sql).tree
        except SQLParseError:
            continue
        for node in tree.find_all(exp.Binary, exp.Between, exp.In, exp.Like):
            parts = [part for part in node.iter_expressions() if not isinstance(part, exp.Query)]
            columns = {part.name.lower() for part in parts if isinstance(part, exp.Column)} & known
            for part in parts:
                # SQLite takes a double-quoted word that is no column for a string.
                is_word = isinstance(part, exp.Column) and part.this.quoted and part.name.lower() not in known
                if not is_word and not isinstance(part, exp.Literal):
                    continue
                texts, text = list[Cell](), part.name
                if is_word or part.is_string:
                    # What a slightly different pattern or case would match, and the number that it may spell.
                    text = text.replace("%", "").replace("_", " ")
                    texts = [text, f"{text}x", f"x{text}", text.swapcase()]
                if not texts or text.lstrip("-").isdigit():
                    number = float(text) if not texts and not part.is_int else int(text)
                    texts += [number, number + 1, number - 1]
                for name in columns:
                    found[name].update(dict.fromkeys(texts))
    return {name: list(values) for name, values in found.items()}


@dataclass(frozen=True)
class DatabaseShape:
    """The parameters of a random database.

    Attributes:
        rows: Rows a table at most.
        nulls: Share of NULL in columns that allow it.
        constants: Share of values taken from the queries' constants, where a column has any.
        variety: How many other values a column chooses from: few make ties and repeated rows.
    """

    rows: int
    nulls: float
    constants: float
    variety: int


def choose_shape(generator: random.Random) -> DatabaseShape:
    """Choose a random shape for a database, between tiny and small."""
    return DatabaseShape(
        rows=generator.choice((2, 5, 12, 30, 60)),
        nulls=generator.choice((0.0, 0.0, 0.15)),
        constants=generator.choice((0.3, 0.6, 0.9)),
        variety=generator.choice((2, 5, 20)),
    )


def generate(
    ddl: Sequence[str],
    schema: Schema,
    constants: Mapping[str, Sequence[Cell]],
    shape: DatabaseShape,
    generator: random.Random,
) -> sqlite3.Connection:
    """Generate a random database in memory.

    Args:
        ddl: CREATE statements of the original; one that this SQLite cannot run is passed over.
        schema: The original's, with sample values.
        constants: Values by column name in lower case (`collect_column_constants`).
        shape: What it is like.
        generator: Decides everything else: the same one gives the same database.
    """
    connection = _open_empty_database()
    for statement in ddl:
        with suppress(sqlite3.Error, sqlite3.Warning):
            connection.execute(statement)
    connection.execute("BEGIN")
    filling = _RandomRowGenerator(connection, schema, constants, shape, generator)
    # Tables that are referred to come first, as far as references make no cycle.
    left = [table for table in schema.tables if table.kind == "table"]
    references = {(key.table.lower(), key.ref_table.lower()) for key in schema.foreign_keys}
    while left:
        waiting = {table.name.lower() for table in left}
        held = {child for child, parent in references if parent in waiting - {child}}
        ready = [table for table in left if table.name.lower() not in held] or left[:1]
        for table in ready:
            filling.insert_random_rows(table)
        left = [table for table in left if table not in ready]
    _repair_foreign_keys(connection, schema, generator)
    for table in schema.tables:
        if table.kind == "virtual":
            filling.insert_random_rows(table)
            # A full-text table of another one's content holds that and nothing else.
            with suppress(sqlite3.Error):
                connection.execute(f"INSERT INTO {quote(table.name)} ({quote(table.name)}) VALUES ('rebuild')")
    connection.execute("COMMIT")
    return connection


@dataclass
class _RandomRowGenerator:
    """A generator of random rows for the tables of one database."""

    connection: sqlite3.Connection
    schema: Schema
    constants: Mapping[str, Sequence[Cell]]
    shape: DatabaseShape
    chance: random.Random
    values: dict[tuple[str, str], list[Cell]] = field(default_factory=dict[tuple[str, str], list[Cell]])

    def insert_random_rows(self, table: TableSchema) -> None:
        """Insert random rows into a table, at least one."""
        columns = [column for column in table.columns if not column.generated]
        pools = [self._collect_column_values(table, column) for column in columns]
        name, names = quote(table.name), [quote(column.name) for column in columns]
        insert = f"INSERT OR IGNORE INTO {name} ({', '.join(names)}) VALUES ({', '.join('?' * len(columns))})"
        for _ in range(self.chance.randint(max(self.shape.rows // 2, 1), self.shape.rows)):
            row: list[Cell] = []
            for column, pool in zip(columns, pools, strict=True):
                may_be_null = not column.not_null and not column.primary_key
                is_null = may_be_null and self.chance.random() < self.shape.nulls
                row.append(None if is_null else self.chance.choice(pool))
            # Text in an integer key is an error, which IGNORE does not cover.
            with suppress(sqlite3.Error):
                self.connection.execute(insert, row)
        for column in names:
            with suppress(sqlite3.Error):
                rows = self.connection.execute(f"SELECT DISTINCT {column} FROM {name} WHERE {column} IS NOT NULL")
                self.values[name.lower(), column.lower()] = [row[0] for row in rows]

    def _collect_column_values(self, table: TableSchema, column: ColumnSchema) -> list[Cell]:
        """Return the values from which a column's cells are chosen, mixed as the shape says."""
        parents = [
            parent
            for key in self.schema.foreign_keys
            for own, other in zip(key.columns, key.ref_columns, strict=True)
            if key.table.lower() == table.name.lower() and own.lower() == column.name.lower()
            if (parent := self.values.get((quote(key.ref_table).lower(), quote(other).lower())))
        ]
        if parents:
            return [value for value in parents[0] if all(value in parent for parent in parents)] or parents[0]
        constants = self.constants.get(column.name.lower(), ())
        # The original's own samples, so that formats are right, and made-up ones.
        variety = self.shape.variety
        others = list(self.chance.sample(column.samples, min(len(column.samples), variety)))
        if column.kind == "number" or (others and all(isinstance(sample, int | float) for sample in others)):
            others += [self.chance.randint(0, 2 * variety) for _ in range(variety)]
        else:
            others += self.chance.sample(_WORDS, min(variety, len(_WORDS)))
        if column.primary_key:
            is_text = column.kind == "text"
            numbers = range(1, self.shape.rows + 1)
            return [*others, *constants, *(f"{_WORDS[n % len(_WORDS)]}{n}" if is_text else n for n in numbers)]
        if not constants:
            return others
        some = self.chance.sample(list(constants), min(len(constants), max(variety, 3)))
        share = self.shape.constants / (1 - self.shape.constants)
        return others + some * max(round(len(others) * share / len(some)), 1)


def _repair_foreign_keys(connection: sqlite3.Connection, schema: Schema, generator: random.Random) -> None:
    """Repair rows with broken references: point them elsewhere, set NULL or delete them.

    Keys that are only inferred are pointed, but no row is deleted for them.
    """
    for key in schema.foreign_keys:
        with suppress(sqlite3.Error):
            _repoint_orphans(connection, schema, key, generator)
    declared = [key for key in schema.foreign_keys if not key.inferred]
    # A deleted row may have been referred to.
    while any(_remove_broken_references(connection, schema, key) for key in declared):
        pass


def _match_orphans(key: ForeignKey) -> str:
    """Return the SQL condition that a row's foreign key matches no parent row.

    The parent's collation and affinity count: the parent's column is on the left, and `+` removes the other's affinity.
    """
    own = [f"{quote(key.table)}.{quote(name)}" for name in key.columns]
    given = " AND ".join(f"{name} IS NOT NULL" for name in own)
    same = " AND ".join(f"parent.{quote(other)} = +{name}" for name, other in zip(own, key.ref_columns, strict=True))
    return f"{given} AND NOT EXISTS (SELECT 1 FROM {quote(key.ref_table)} AS parent WHERE {same})"


def _repoint_orphans(connection: sqlite3.Connection, schema: Schema, key: ForeignKey, generator: random.Random) -> None:
    """Point the rows with a broken foreign key to random existing parents."""
    others = [quote(name) for name in key.ref_columns]
    held = " AND ".join(f"{name} IS NOT NULL" for name in others)
    parents: list[tuple[Cell, ...]] = connection.execute(
        f"SELECT DISTINCT {', '.join(others)} FROM {quote(key.ref_table)} WHERE {held}"
    ).fetchall()
    table, identity = quote(key.table), ["rowid"]
    try:
        connection.execute(f"SELECT rowid FROM {table} LIMIT 0").close()
    except sqlite3.Error:
        declared = schema.table(key.table)
        identity = [quote(column) for column in declared.primary_key] if declared else []
    orphans = connection.execute(f"SELECT {', '.join(identity)} FROM {table} WHERE {_match_orphans(key)}").fetchall()
    changes = ", ".join(f"{quote(own)} = ?" for own in key.columns)
    row = " AND ".join(f"{part} IS ?" for part in identity)
    for orphan in orphans if parents else ():
        update = f"UPDATE OR IGNORE {table} SET {changes} WHERE {row}"
        connection.execute(update, (*generator.choice(parents), *orphan))


def _remove_broken_references(connection: sqlite3.Connection, schema: Schema, key: ForeignKey) -> bool:
    """Set broken references to NULL or delete their rows; return whether there were any."""
    table = quote(key.table)
    before = connection.total_changes
    columns = [column for name in key.columns if (column := schema.column(key.table, name))]
    free = next((column.name for column in columns if not (column.not_null or column.primary_key)), None)
    with suppress(sqlite3.Error):
        if free is not None:
            connection.execute(f"UPDATE OR IGNORE {table} SET {quote(free)} = NULL WHERE {_match_orphans(key)}")
    with suppress(sqlite3.Error):
        connection.execute(f"DELETE FROM {table} WHERE {_match_orphans(key)}")
    return connection.total_changes > before
