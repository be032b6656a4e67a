"""Past turns made of templates over a schema, each with how its rows are to be compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, zip_longest
from random import Random

from ...tools.database import ColumnSchema, Database, Schema, TableSchema
from ...tools.database.quoting import naming

IN_VAIN = (
    "What is the carbon footprint of each sale?",
    "What will next year's turnover be?",
)
"""Questions that were declined: no column says."""


@dataclass(frozen=True)
class Turn:
    """A past turn.

    Attributes:
        sql: Empty where it was declined.
        ordered: Whether the order of its rows counts.
    """

    question: str
    sql: str
    ordered: bool = False


def turns(database: Database, count: int, random: Random) -> list[Turn]:
    """So many turns, the declined ones first; every query gives rows."""
    schema = database.schema()
    tables = [table for table in schema.tables if table.kind == "table" and table.row_count]
    random.shuffle(tables)
    made = zip_longest(*([turn for table in tables for turn in kind(table, schema, random)] for kind in _TEMPLATES))
    queries = dict.fromkeys(turn for group in made for turn in group if turn is not None)
    running = (turn for turn in queries if database.execute(turn.sql).rows)
    declined = [Turn(question, "") for question in IN_VAIN]
    return declined + list(islice(running, count - len(declined)))


def _counts(table: TableSchema, schema: Schema, random: Random) -> Iterator[Turn]:
    yield Turn(f"How many {table.name}?", f"SELECT count(*) FROM {_q(table.name)}")


def _groups(table: TableSchema, schema: Schema, random: Random) -> Iterator[Turn]:
    for column in _of(table, "text"):
        if 1 < (column.distinct or 0) < 200:
            name = _q(column.name)
            sql = f"SELECT {name}, count(*) FROM {_q(table.name)} GROUP BY {name} HAVING count(*) > 1"
            yield Turn(f"{table.name} by {column.name}", sql)


def _totals(table: TableSchema, schema: Schema, random: Random) -> Iterator[Turn]:
    for column in _of(table, "number"):
        call = random.choice(["sum", "avg", "max", "min"])
        sql = f"SELECT {call}({_q(column.name)}) FROM {_q(table.name)} AS t"
        yield Turn(f"The {call} of {column.name} of {table.name}", sql)


def _filters(table: TableSchema, schema: Schema, random: Random) -> Iterator[Turn]:
    for column in _of(table, "text"):
        texts = [value for value in column.samples if isinstance(value, str) and value.strip()]
        if texts:
            value = random.choice(texts).replace("'", "''")
            sql = f"SELECT count(*) FROM {_q(table.name)} WHERE {_q(column.name)} = '{value}'"
            yield Turn(f"How many {table.name} with {column.name} {value}?", sql)


def _tops(table: TableSchema, schema: Schema, random: Random) -> Iterator[Turn]:
    """The first rows by a number; the key makes the order certain."""
    keys = [_q(name) for name in table.primary_key]
    for column in _of(table, "number"):
        if keys:
            shown, own = ", ".join(keys), _q(column.name)
            sql = f"SELECT {shown}, {own} FROM {_q(table.name)} ORDER BY {own} DESC, {shown} LIMIT 5"
            yield Turn(f"The top {table.name} by {column.name}", sql, ordered=True)


def _periods(table: TableSchema, schema: Schema, random: Random) -> Iterator[Turn]:
    for column in _of(table, "time"):
        name = _q(column.name)
        yield Turn(
            f"{table.name} by year of {column.name}",
            f"SELECT substr({name}, 1, 4) AS year, count(*) FROM {_q(table.name)} GROUP BY year ORDER BY year",
            ordered=True,
        )


def _joins(table: TableSchema, schema: Schema, random: Random) -> Iterator[Turn]:
    for key in schema.foreign_keys:
        parent = schema.table(key.ref_table)
        if (
            key.table != table.name
            or len(key.columns) != 1
            or parent is None
            or parent is table
            or not parent.row_count
        ):
            continue
        labels = _of(parent, "text")
        if not labels:
            continue
        label = random.choice(labels)
        yield Turn(
            f"How many {table.name} for each {label.name} of {parent.name}?",
            f"SELECT p.{_q(label.name)}, count(*) FROM {_q(table.name)} AS c JOIN {_q(parent.name)} AS p "
            f"ON c.{_q(key.columns[0])} = p.{_q(key.ref_columns[0])} GROUP BY p.{_q(label.name)}",
        )
        yield Turn(
            f"Which {parent.name} have no {table.name}?",
            f"SELECT count(*) FROM {_q(parent.name)} WHERE {_q(key.ref_columns[0])} NOT IN "
            f"(SELECT {_q(key.columns[0])} FROM {_q(table.name)} WHERE {_q(key.columns[0])} IS NOT NULL)",
        )


def _shares(table: TableSchema, schema: Schema, random: Random) -> Iterator[Turn]:
    for column in _of(table, "number"):
        name = _q(column.name)
        yield Turn(
            f"{table.name} above the average {column.name}",
            f"WITH mean AS (SELECT avg({name}) AS value FROM {_q(table.name)}) "
            f"SELECT count(*) FROM {_q(table.name)}, mean WHERE {name} > mean.value",
        )


_TEMPLATES = (_counts, _groups, _totals, _joins, _filters, _tops, _periods, _shares)


def _of(table: TableSchema, kind: str) -> list[ColumnSchema]:
    return [column for column in table.columns if column.kind == kind and not column.primary_key]


def _q(name: str) -> str:
    return naming().written(name)
