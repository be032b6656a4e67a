"""Evidence as named features, one number an item: what the scoring models read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .evidence import Evidence
from .shape import Shape
from .vocabulary import Mention, Shares

Features = Mapping[str, Shares]


def table_features(e: Evidence, shape: Shape) -> Features:
    """The first stage's features, of tables."""
    explained, exclusive, new = _explained(e, shape)
    column_said = shape.best_column(e.column_said)
    neighbour, bridge = shape.best_neighbours(e.table_said)
    neighbour_exclusive, bridge_exclusive = shape.best_neighbours(exclusive)
    return {
        "said": e.table_said,
        "said_wholly": _wholly(e.table_said),
        "said_most": _relative(e.table_said),
        "column_said": column_said,
        "column_said_wholly": _wholly(column_said),
        "column_said_most": _relative(column_said),
        "own_part_said": shape.best_column(e.own_part_said),
        "explained": explained,
        "explained_most": _relative(explained),
        "exclusive": exclusive,
        "exclusive_most": _relative(exclusive),
        "new": new,
        "value": shape.best_column(e.value),
        "before": e.table_before,
        "column_before": shape.best_column(e.column_before),
        "last": e.table_last,
        "last_and_points_back": e.table_last * e.points_back,
        "last_but_others_said": e.table_last * (1 - e.table_said) * e.table_said.max(initial=0.0),
        "last_alone": e.table_last / max(1.0, e.table_last.sum()),
        "earlier": e.table_earlier,
        "neighbour": neighbour,
        "bridge": bridge,
        "neighbour_exclusive": neighbour_exclusive,
        "bridge_exclusive": bridge_exclusive,
        "neighbour_last": shape.best_neighbours(e.table_last)[0],
        "first": np.full(shape.tables, float(e.first)),
        "points_back": np.full(shape.tables, float(e.points_back)),
        "few_tables": np.full(shape.tables, 1 / max(shape.tables, 1)),
    }


def column_features(e: Evidence, shape: Shape, tables: Shares) -> Features:
    """The second stage's features, of columns in the light of their tables' probabilities."""
    table = tables[shape.table_of]
    count = len(table)
    joins, key = np.zeros(count), np.zeros(count)
    np.maximum.at(joins, shape.end_columns, tables[shape.end_tables] * tables[shape.end_others])
    key[shape.end_columns] = 1.0
    most_in_table = shape.best_column(e.column_said)[shape.table_of]
    contested, contested_sum = _contested(e.column_mentions, table)
    namesake = np.zeros(shape.same_name.max(initial=-1) + 1)
    np.maximum.at(namesake, shape.same_name, table)
    return {
        "table": table,
        "table_logit": np.log((table + 1e-3) / (1 - table + 1e-3)),
        "table_most": _relative(table),
        "said": e.column_said,
        "said_wholly": _wholly(e.column_said),
        "said_most": _relative(e.column_said),
        "said_and_table": e.column_said * table,
        "said_most_in_table": e.column_said * (e.column_said >= most_in_table),
        "others_in_table_said": most_in_table * (e.column_said < most_in_table),
        "own_part_said": e.own_part_said,
        "own_part_said_and_table": e.own_part_said * table,
        "contested": contested,
        "contested_sum": contested_sum,
        "namesake": table / np.maximum(namesake[shape.same_name], 1e-6),
        "value": e.value,
        "value_and_table": e.value * table,
        "value_elsewhere": np.full(count, e.value.max(initial=0.0)) * (e.value == 0),
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
        "first_place": (shape.place == 0).astype(float),
        "second_place": (shape.place == 1).astype(float),
        "count_and_table": e.count * table,
        "number": shape.kinds["number"],
        "number_and_measures": shape.kinds["number"] * e.measures,
        "time": shape.kinds["time"],
        "time_and_times": shape.kinds["time"] * e.times,
        "all_columns": np.full(count, float(e.all_columns)),
        "points_back": np.full(count, float(e.points_back)),
        "first": np.full(count, float(e.first)),
    }


def star_features(e: Evidence, shape: Shape, tables: Shares) -> Features:
    """Features of `table.*`."""
    return {
        "table": tables,
        "asked": e.all_columns * tables,
        "last": e.star_last,
        "last_and_points_back": e.star_last * e.points_back,
        "column_said": shape.best_column(e.column_said),
        "own_part_said": shape.best_column(e.own_part_said),
        "count": e.count * tables,
    }


def _explained(e: Evidence, shape: Shape) -> tuple[Shares, Shares, Shares]:
    """How much of the question's schema words each table accounts for.

    Returns:
        The share of words that its name or its columns' names hold; the same with each word shared among the tables
        that hold it; and this for the words only that no table of the latest past SQL holds.
    """
    holders: dict[str, set[int]] = {}
    for mention in e.table_mentions:
        holders.setdefault(mention.stem, set()).update(mention.holders.tolist())
    for mention in e.column_mentions:
        holders.setdefault(mention.stem, set()).update(shape.table_of[mention.holders].tolist())
    explained, exclusive, new = (np.zeros(shape.tables) for _ in range(3))
    for held in holders.values():
        numbers = np.fromiter(held, dtype=np.intp)
        explained[numbers] += 1 / len(holders)
        exclusive[numbers] += 1 / len(held)
        if not e.table_last[numbers].any():
            new[numbers] += 1 / len(held)
    return explained, np.minimum(exclusive, 3.0), np.minimum(new, 3.0)


def _contested(mentions: Sequence[Mention], table: Shares) -> tuple[Shares, Shares]:
    """Each word's mention shared among the columns that hold it, by their tables' probabilities: best and sum."""
    best, total = np.zeros(len(table)), np.zeros(len(table))
    for mention in mentions:
        share = mention.share * table[mention.holders] / max(table[mention.holders].sum(), 1e-6)
        best[mention.holders] = np.maximum(best[mention.holders], share)
        total[mention.holders] += share
    return best, total


def _wholly(shares: Shares) -> Shares:
    return (shares > 0.99).astype(float)


def _relative(shares: Shares) -> Shares:
    """Shares as part of the greatest."""
    greatest = shares.max(initial=0.0)
    return shares / greatest if greatest > 0 else shares
