"""Small random databases of a given schema, foreign keys respected."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from ...tools.database.names import quoted
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
    made: dict[tuple[str, str], list[Cell]] = {}
    for table in _parents_first(schema):
        _fill(connection, table, schema, constants, shape, generator, made)
    respect_keys(connection, schema, generator)
    for table in schema.tables:
        if table.kind == "virtual":
            _fill(connection, table, schema, constants, shape, generator, made)
            # A full-text table of another one's content holds that and nothing else.
            with suppress(sqlite3.Error):
                connection.execute(f"INSERT INTO {quoted(table.name)} ({quoted(table.name)}) VALUES ('rebuild')")
    connection.execute("COMMIT")
    return connection


def _parents_first(schema: Schema) -> list[TableSchema]:
    """Tables so that those referred to come first, as far as references don't go round."""
    left = [table for table in schema.tables if table.kind == "table"]
    ordered: list[TableSchema] = []
    while left:
        waiting = {table.name.lower() for table in left}
        ready = [
            table
            for table in left
            if not any(
                key.table.lower() == table.name.lower() and key.ref_table.lower() in waiting - {table.name.lower()}
                for key in schema.foreign_keys
            )
        ] or left[:1]
        ordered += ready
        left = [table for table in left if table not in ready]
    return ordered


def _fill(
    connection: sqlite3.Connection,
    table: TableSchema,
    schema: Schema,
    constants: Mapping[str, Sequence[Cell]],
    shape: Shape,
    generator: random.Random,
    made: dict[tuple[str, str], list[Cell]],
) -> None:
    columns = [column for column in table.columns if not column.generated]
    pools = [
        _pool(table, column, schema, constants.get(column.name.lower(), ()), shape, generator, made)
        for column in columns
    ]
    names = ", ".join(quoted(column.name) for column in columns)
    name = quoted(table.name)
    insert = f"INSERT OR IGNORE INTO {name} ({names}) VALUES ({', '.join('?' * len(columns))})"
    for _ in range(generator.randint(max(shape.rows // 2, 1), shape.rows)):
        row = [
            None if _may_be_null(column) and generator.random() < shape.nulls else generator.choice(pool)
            for column, pool in zip(columns, pools, strict=True)
        ]
        # Text in an integer key is an error, which IGNORE does not cover.
        with suppress(sqlite3.Error):
            connection.execute(insert, row)
    for column in columns:
        with suppress(sqlite3.Error):
            values = f"SELECT DISTINCT {quoted(column.name)} FROM {name} WHERE {quoted(column.name)} IS NOT NULL"
            made[table.name.lower(), column.name.lower()] = [row[0] for row in connection.execute(values)]


def _may_be_null(column: ColumnSchema) -> bool:
    return not column.not_null and not column.primary_key


def _pool(
    table: TableSchema,
    column: ColumnSchema,
    schema: Schema,
    constants: Sequence[Cell],
    shape: Shape,
    generator: random.Random,
    made: Mapping[tuple[str, str], list[Cell]],
) -> list[Cell]:
    """What a column's values are drawn from; as often from each part as the shape says."""
    parents = [
        parent
        for key in schema.foreign_keys
        for own, other in zip(key.columns, key.ref_columns, strict=True)
        if key.table.lower() == table.name.lower() and own.lower() == column.name.lower()
        if (parent := made.get((key.ref_table.lower(), other.lower())))
    ]
    if parents:
        return [value for value in parents[0] if all(value in parent for parent in parents)] or parents[0]
    others = _others(column, shape.variety, generator)
    if column.primary_key:
        return [*others, *constants, *(_numbered(column, number) for number in range(1, shape.rows + 1))]
    if not constants:
        return others
    some = generator.sample(list(constants), min(len(constants), max(shape.variety, 3)))
    times = max(round(len(others) * shape.constants / (1 - shape.constants) / len(some)), 1)
    return others + some * times


def _numbered(column: ColumnSchema, number: int) -> Cell:
    return f"{_WORDS[number % len(_WORDS)]}{number}" if column.kind == "text" else number


def _others(column: ColumnSchema, variety: int, generator: random.Random) -> list[Cell]:
    """The original's own sample values, so that formats are right, and made-up ones."""
    samples = generator.sample(column.samples, min(len(column.samples), variety))
    numbers = [sample for sample in samples if isinstance(sample, int | float)]
    if column.kind == "number" or (samples and len(numbers) == len(samples)):
        return [*samples, *(generator.randint(0, 2 * variety) for _ in range(variety))]
    return [*samples, *generator.sample(_WORDS, min(variety, len(_WORDS)))]
