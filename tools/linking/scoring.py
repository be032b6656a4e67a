"""From evidence to probabilities: two logistic models, tables first, then columns in the light of their tables.

The second stage sees the tables' probabilities, so that keys that join two probable tables become probable, and
columns of improbable tables don't.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from ..database import ForeignKey, Schema
from .evidence import Evidence, Names
from .vocabulary import Shares

Features = Mapping[str, npt.NDArray[np.float64]]
"""Named features, each with one number an item."""


@dataclass(frozen=True)
class Shape:
    """A schema's structure as arrays of numbers of tables and columns.

    Attributes:
        table_of: Each column's table.
        primary: Whether a column is in its table's primary key.
        key_columns: Each end of each foreign key: its column,
        key_others: and the table at the other end.
        key_tables: and its own table.
    """

    table_of: npt.NDArray[np.intp]
    primary: npt.NDArray[np.float64]
    key_columns: npt.NDArray[np.intp]
    key_others: npt.NDArray[np.intp]
    key_tables: npt.NDArray[np.intp]

    @classmethod
    def of(cls, schema: Schema, names: Names) -> Shape:
        """The shape of a schema."""
        table_of = [names.table_number[table] for table, _ in names.columns]
        primary = [float(bool(column.primary_key)) for table in schema.tables for column in table.columns]
        ends = [end for key in schema.foreign_keys for end in _ends(key, names)]
        columns, others, tables = np.array(ends, dtype=np.intp).reshape(-1, 3).T
        return cls(np.array(table_of, dtype=np.intp), np.array(primary), columns, others, tables)


def _ends(key: ForeignKey, names: Names) -> Iterator[tuple[int, int, int]]:
    """Both ends of a key, column by column: the column, the other table, the column's table."""
    near, far = names.schema.table(key.table), names.schema.table(key.ref_table)
    if near is None or far is None:
        return
    for table, columns, other in ((near, key.columns, far), (far, key.ref_columns, near)):
        for column in filter(None, map(table.column, columns)):
            number = names.column_number[(table.name, column.name)]
            yield number, names.table_number[other.name], names.table_number[table.name]


def score(evidence: Evidence, shape: Shape) -> tuple[Shares, Shares, Shares]:
    """Probabilities of tables, columns and `table.*`."""
    weights = _weights()
    tables = _logistic(table_features(evidence, shape), weights["tables"])
    columns = _logistic(column_features(evidence, shape, tables), weights["columns"])
    stars = _logistic(star_features(evidence, shape, tables), weights["stars"])
    return np.maximum(tables, _per_table(columns, shape, len(tables))), columns, stars


def table_features(e: Evidence, shape: Shape) -> Features:
    """The first stage's features."""
    count = len(e.table_said)
    said_columns = _per_table(e.column_said, shape, count)
    return {
        "said": e.table_said,
        "said_wholly": (e.table_said > 0.99).astype(float),
        "said_most": _relative(e.table_said),
        "column_said": said_columns,
        "column_said_wholly": (said_columns > 0.99).astype(float),
        "column_said_most": _relative(said_columns),
        "value": _per_table(e.value, shape, count),
        "before": e.table_before,
        "column_before": _per_table(e.column_before, shape, count),
        "last": e.table_last,
        "last_and_points_back": e.table_last * e.points_back,
        "last_but_others_said": e.table_last * (1 - e.table_said) * e.table_said.max(initial=0.0),
        "earlier": e.table_earlier,
        "neighbour_said": _over_keys(e.table_said, shape, count),
        "neighbour_last": _over_keys(e.table_last, shape, count),
        "first": np.full(count, float(e.first)),
        "few_tables": np.full(count, 1 / max(count, 1)),
    }


def column_features(e: Evidence, shape: Shape, tables: Shares) -> Features:
    """The second stage's features."""
    table = tables[shape.table_of]
    joins = np.zeros(len(e.column_said))
    np.maximum.at(joins, shape.key_columns, tables[shape.key_tables] * tables[shape.key_others])
    key = np.zeros(len(e.column_said))
    key[shape.key_columns] = 1.0
    most_in_table = _per_table(e.column_said, shape, len(tables))[shape.table_of]
    return {
        "table": table,
        "table_logit": np.log((table + 1e-3) / (1 - table + 1e-3)),
        "said": e.column_said,
        "said_wholly": (e.column_said > 0.99).astype(float),
        "said_most": _relative(e.column_said),
        "said_and_table": e.column_said * table,
        "said_most_in_table": e.column_said * (e.column_said >= most_in_table),
        "value": e.value,
        "value_and_table": e.value * table,
        "before": e.column_before,
        "before_and_table": e.column_before * table,
        "last": e.column_last,
        "last_and_points_back": e.column_last * e.points_back,
        "last_and_others_said": e.column_last * e.column_said.max(initial=0.0),
        "earlier": e.column_earlier,
        "primary": shape.primary,
        "primary_and_table": shape.primary * table,
        "key": key,
        "joins": joins,
        "count_and_table": e.count * table,
        "all_columns": np.full(len(key), float(e.all_columns)),
        "first": np.full(len(key), float(e.first)),
    }


def star_features(e: Evidence, shape: Shape, tables: Shares) -> Features:
    """Features of `table.*`."""
    return {
        "table": tables,
        "asked": e.all_columns * tables,
        "last": e.star_last,
        "last_and_points_back": e.star_last * e.points_back,
        "column_said": _per_table(e.column_said, shape, len(tables)),
        "count": e.count * tables,
    }


def _per_table(columns: Shares, shape: Shape, count: int) -> Shares:
    """The best of each table's columns."""
    best = np.zeros(count)
    np.maximum.at(best, shape.table_of, columns)
    return best


def _over_keys(tables: Shares, shape: Shape, count: int) -> Shares:
    """The best of each table's neighbours by foreign keys."""
    best = np.zeros(count)
    np.maximum.at(best, shape.key_tables, tables[shape.key_others])
    return best


def _relative(shares: Shares) -> Shares:
    """Shares as part of the greatest."""
    greatest = shares.max(initial=0.0)
    return shares / greatest if greatest > 0 else shares


def _logistic(features: Features, weights: Mapping[str, float]) -> Shares:
    logit = sum((weights[name] * value for name, value in features.items()), start=np.array(weights["bias"]))
    return 1 / (1 + np.exp(-logit))


@cache
def _weights() -> Mapping[str, Mapping[str, float]]:
    return json.loads((files(__package__ or "") / "data" / "weights.json").read_text("utf-8"))
