"""Small random databases of a given schema, foreign keys respected."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from ...tools.database.quoting import quoted
from ...tools.database.schema import ColumnSchema, Schema, TableSchema
from ...tools.database.table import Cell
from .keys import respect_keys
from .memory import blank

_WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath")


@dataclass(frozen=True)
class Shape:
    """What a random database is like.

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


def random_shape(generator: random.Random) -> Shape:
    """A shape between tiny and small."""
    return Shape(
        rows=generator.choice((2, 5, 12, 30, 60)),
        nulls=generator.choice((0.0, 0.0, 0.15)),
        constants=generator.choice((0.3, 0.6, 0.9)),
        variety=generator.choice((2, 5, 20)),
    )


def generate(
    ddl: Sequence[str],
    schema: Schema,
    constants: Mapping[str, Sequence[Cell]],
    shape: Shape,
    generator: random.Random,
) -> sqlite3.Connection:
    """A database in memory.

    Args:
        ddl: CREATE statements of the original; one that this SQLite cannot run is passed over.
        schema: The original's, with sample values.
        constants: Values by column name in lower case (`column_constants`).
        shape: What it is like.
        generator: Decides everything else: the same one gives the same database.
    """
    connection = blank()
    for statement in ddl:
        with suppress(sqlite3.Error, sqlite3.Warning):
            connection.execute(statement)
    connection.execute("BEGIN")
    filling = _Filling(connection, schema, constants, shape, generator)
    for table in _parents_first(schema):
        filling.fill(table)
    respect_keys(connection, schema, generator)
    for table in schema.tables:
        if table.kind == "virtual":
            filling.fill(table)
            # A full-text table of another one's content holds that and nothing else.
            with suppress(sqlite3.Error):
                connection.execute(f"INSERT INTO {quoted(table.name)} ({quoted(table.name)}) VALUES ('rebuild')")
    connection.execute("COMMIT")
    return connection


def _parents_first(schema: Schema) -> list[TableSchema]:
    """Tables so that those referred to come first, as far as references make no cycle."""
    left = [table for table in schema.tables if table.kind == "table"]
    ordered: list[TableSchema] = []
    while left:
        names = {table.name.lower() for table in left}
        ready = [
            table
            for table in left
            if not any(
                key.table.lower() == table.name.lower() and key.ref_table.lower() in names - {table.name.lower()}
                for key in schema.foreign_keys
            )
        ] or left[:1]
        ordered += ready
        left = [table for table in left if table not in ready]
    return ordered


class _Filling:
    """Fills the tables of one database."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        schema: Schema,
        constants: Mapping[str, Sequence[Cell]],
        shape: Shape,
        generator: random.Random,
    ) -> None:
        self._connection = connection
        self._schema = schema
        self._constants = constants
        self._shape = shape
        self._random = generator
        self._values: dict[tuple[str, str], list[Cell]] = {}

    def fill(self, table: TableSchema) -> None:
        """Inserts random rows, at least one."""
        columns = [column for column in table.columns if not column.generated]
        pools = [self._pool(table, column) for column in columns]
        names = ", ".join(quoted(column.name) for column in columns)
        name = quoted(table.name)
        insert = f"INSERT OR IGNORE INTO {name} ({names}) VALUES ({', '.join('?' * len(columns))})"
        for _ in range(self._random.randint(max(self._shape.rows // 2, 1), self._shape.rows)):
            row = [self._value(column, pool) for column, pool in zip(columns, pools, strict=True)]
            # Text in an integer key is an error, which IGNORE does not cover.
            with suppress(sqlite3.Error):
                self._connection.execute(insert, row)
        for column in columns:
            with suppress(sqlite3.Error):
                distinct = f"SELECT DISTINCT {quoted(column.name)} FROM {name} WHERE {quoted(column.name)} IS NOT NULL"
                found = [row[0] for row in self._connection.execute(distinct)]
                self._values[table.name.lower(), column.name.lower()] = found

    def _value(self, column: ColumnSchema, pool: Sequence[Cell]) -> Cell:
        may_be_null = not column.not_null and not column.primary_key
        return None if may_be_null and self._random.random() < self._shape.nulls else self._random.choice(pool)

    def _pool(self, table: TableSchema, column: ColumnSchema) -> list[Cell]:
        """What a column's values are drawn from; as often from each part as the shape says."""
        parents = [
            parent
            for key in self._schema.foreign_keys
            for own, other in zip(key.columns, key.ref_columns, strict=True)
            if key.table.lower() == table.name.lower() and own.lower() == column.name.lower()
            if (parent := self._values.get((key.ref_table.lower(), other.lower())))
        ]
        if parents:
            return [value for value in parents[0] if all(value in parent for parent in parents)] or parents[0]
        constants = self._constants.get(column.name.lower(), ())
        others = _others(column, self._shape.variety, self._random)
        if column.primary_key:
            return [*others, *constants, *(_numbered(column, number) for number in range(1, self._shape.rows + 1))]
        if not constants:
            return others
        some = self._random.sample(list(constants), min(len(constants), max(self._shape.variety, 3)))
        share = self._shape.constants / (1 - self._shape.constants)
        return others + some * max(round(len(others) * share / len(some)), 1)


def _others(column: ColumnSchema, variety: int, generator: random.Random) -> list[Cell]:
    """The original's own sample values, so that formats are right, and made-up ones."""
    samples = generator.sample(column.samples, min(len(column.samples), variety))
    numbers = [sample for sample in samples if isinstance(sample, int | float)]
    if column.kind == "number" or (samples and len(numbers) == len(samples)):
        return [*samples, *(generator.randint(0, 2 * variety) for _ in range(variety))]
    return [*samples, *generator.sample(_WORDS, min(variety, len(_WORDS)))]


def _numbered(column: ColumnSchema, number: int) -> Cell:
    return f"{_WORDS[number % len(_WORDS)]}{number}" if column.kind == "text" else number
