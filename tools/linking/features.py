"""Evidence as named features, one number an item: what the forests read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .evidence import Evidence, Past
from .shape import Shape
from .vocabulary import Mention, Mentioned, Shares

Features = Mapping[str, Shares]


def table_features(e: Evidence, shape: Shape) -> Features:
    """The first stage's features, of tables."""
    explained, exclusive, new = _explained(e, shape)
    by_columns = {
        "column_said": shape.best_column(e.columns.share),
        "own_part_said": shape.best_column(e.own_parts.share),
        "column_associated": shape.best_column(e.columns.associated),
        "value": shape.best_column(e.value),
        "value_share": shape.best_column(e.value_share),
        "explained": explained,
        "exclusive": exclusive,
    }
    last = e.tables_before.last
    neighbour, bridge = shape.best_neighbours(e.tables.share)
    neighbour_exclusive, bridge_exclusive = shape.best_neighbours(exclusive)
    neighbour_last, bridge_last = shape.best_neighbours(last)
    return {
        **_of_names(e.tables, e.tables_before),
        **by_columns,
        **{f"{name}_most": _relative(share) for name, share in by_columns.items()},
        "new": new,
        "new_most": _relative(new),
        "columns_said": shape.sum_columns(e.columns.share),
        "column_place": 1 - shape.best_column(1 - e.columns.position),
        "column_before": shape.best_column(e.columns_before.before),
        "column_latest": shape.best_column(e.columns_before.latest),
        "neighbour_value": shape.best_neighbours(by_columns["value"])[0],
        "neighbour": neighbour,
        "bridge": bridge,
        "neighbour_exclusive": neighbour_exclusive,
        "bridge_exclusive": bridge_exclusive,
        "neighbour_last": neighbour_last,
        "bridge_last": bridge_last,
        "last_count": np.full(shape.tables, last.sum()),
        "last_said": np.full(shape.tables, float((last * e.tables.share).max(initial=0.0))),
        "others_said": np.full(shape.tables, float(((1 - last) * e.tables.share).max(initial=0.0))),
        "star_last": e.star_last,
        **{f"{role}_last": shape.best_column(used) for role, used in e.roles.items()},
        "columns_last": shape.sum_columns(e.columns_before.last),
        "leaving": shape.leaving,
        "arriving": shape.arriving,
        "size": shape.sizes,
        "place": np.arange(shape.tables) / max(shape.tables, 1),
        **of_turn(e, shape.tables, shape),
    }


def table_features_again(e: Evidence, shape: Shape, tables: Shares, columns: Shares) -> Features:
    """The second stage's, in the light of what the first gave tables and columns."""
    neighbour, bridge = shape.best_neighbours(tables)
    by_columns = shape.best_column(columns)
    keyed = shape.best_column(columns * shape.keys)
    own = shape.best_column(columns * (1 - shape.keys))
    ranks = np.empty(shape.tables)
    ranks[np.argsort(-tables, kind="stable")] = np.arange(shape.tables)
    return {
        **table_features(e, shape),
        "p": tables,
        "p_rank": ranks,
        "p_most": _relative(tables),
        "p_sum": np.full(shape.tables, tables.sum()),
        "p_best_other": _best_other(tables),
        "p_column": by_columns,
        "p_column_most": _relative(by_columns),
        "p_key": keyed,
        "p_own": own,
        "p_columns": shape.sum_columns(columns),
        "p_neighbour": neighbour,
        "p_bridge": bridge,
        "p_last": np.full(shape.tables, float((tables * e.tables_before.last).max(initial=0.0))),
        "p_new": np.full(shape.tables, float((tables * (1 - e.tables_before.last)).max(initial=0.0))),
    }


def column_features(e: Evidence, shape: Shape, tables: Shares) -> Features:
    """The first stage's features of columns, in the light of their tables' probabilities."""
    table = tables[shape.table_of]
    count = len(table)
    joins, key = np.zeros(count), shape.keys
    np.maximum.at(joins, shape.end_columns, tables[shape.end_tables] * tables[shape.end_others])
    contested, contested_sum = _contested(e.columns.mentions, table)
    namesake = np.zeros(shape.same_name.max(initial=-1) + 1)
    np.maximum.at(namesake, shape.same_name, table)
    in_table = {
        "said": e.columns.share,
        "own_part": e.own_parts.share,
        "associated": e.columns.associated_sum,
        "value": e.value,
    }
    best = {name: shape.best_column(share)[shape.table_of] for name, share in in_table.items()}
    return {
        "table": table,
        "table_most": _relative(table),
        "tables_sum": np.full(count, tables.sum()),
        **_of_names(e.columns, e.columns_before),
        "own_part_said": e.own_parts.share,
        "own_part_head": e.own_parts.head,
        "own_part_place": e.own_parts.position,
        **{f"{name}_in_table": best[name] for name in in_table},
        **{f"{name}_less": best[name] - share for name, share in in_table.items()},
        "table_said": e.tables.share[shape.table_of],
        "table_place": e.tables.position[shape.table_of],
        "contested": contested,
        "contested_sum": contested_sum,
        "namesake": table / np.maximum(namesake[shape.same_name], 1e-6),
        "value": e.value,
        "value_share": e.value_share,
        "value_and_table": e.value * table,
        "value_elsewhere": np.full(count, e.value.max(initial=0.0)) * (e.value == 0),
        **{f"{role}_last": used for role, used in e.roles.items()},
        "table_last": e.tables_before.last[shape.table_of],
        "star_last": e.star_last[shape.table_of],
        "columns_last": shape.sum_columns(e.columns_before.last)[shape.table_of],
        "usual": e.usual,
        "primary": shape.primary,
        "key": key,
        "joins": joins,
        "display": shape.display,
        "place": shape.position.astype(float),
        "size": shape.sizes[shape.table_of],
        **{str(kind): flags for kind, flags in shape.kinds.items()},
        **of_turn(e, count, shape),
    }


def column_features_again(e: Evidence, shape: Shape, tables: Shares, columns: Shares) -> Features:
    """The second stage's, with the tables' final probabilities and the first stage's of columns."""
    best = shape.best_column(columns)[shape.table_of]
    own = columns * (1 - shape.keys)
    total, total_own = shape.sum_columns(columns), shape.sum_columns(own)
    sisters = np.zeros(shape.same_name.max(initial=-1) + 1)
    np.maximum.at(sisters, shape.same_name, columns)
    shown = shape.sum_columns(columns * shape.display)[shape.table_of]
    return {
        **column_features(e, shape, tables),
        "p": columns,
        "p_less": best - columns,
        "p_others": total[shape.table_of] - columns,
        "p_own_others": total_own[shape.table_of] - own,
        "p_all": np.full(len(columns), columns.sum()),
        "p_most": _relative(columns),
        "p_sister": columns / np.maximum(sisters[shape.same_name], 1e-6),
        "p_display": shown,
    }


def star_features(e: Evidence, shape: Shape, tables: Shares) -> Features:
    """Features of `table.*`."""
    return {
        "table": tables,
        "table_most": _relative(tables),
        "asked": e.turn["all_columns"] * tables,
        "last": e.star_last,
        "column_said": shape.best_column(e.columns.share),
        "own_part_said": shape.best_column(e.own_parts.share),
        "column_associated": shape.best_column(e.columns.associated),
        "value": shape.best_column(e.value),
        "size": shape.sizes,
        **of_turn(e, shape.tables, shape),
    }


def _of_names(mentioned: Mentioned, past: Past) -> Features:
    return {
        "said": mentioned.share,
        "said_wholly": (mentioned.share > 0.99).astype(float),
        "said_most": _relative(mentioned.share),
        "head": mentioned.head,
        "said_place": mentioned.position,
        "associated": mentioned.associated,
        "associated_sum": mentioned.associated_sum,
        "associated_most": _relative(mentioned.associated_sum),
        **vars(past),
    }


def of_turn(e: Evidence, count: int, shape: Shape) -> Features:
    """Features of the whole turn, the same for all items."""
    turn = {
        **e.turn,
        "tables": float(shape.tables),
        "surprise": _surprise(e.tables_before),
        "columns_surprise": _surprise(e.columns_before),
        "tables_wholly_said": float((e.tables.share > 0.99).sum()),
        "columns_wholly_said": float((e.columns.share > 0.99).sum()),
        "tables_last": float(e.tables_before.last.sum()),
    }
    return {name: np.full(count, number) for name, number in turn.items()}


def _surprise(before: Past) -> float:
    """How far the latest past SQL is from what the linker had found: SQL of another source is better evidence."""
    return float(np.abs(before.last - before.likely_last).max(initial=0.0))


def _explained(e: Evidence, shape: Shape) -> tuple[Shares, Shares, Shares]:
    """How much of the question's schema words each table accounts for.

    Returns:
        The share of words that its name or its columns' names hold; the same with each word shared among the tables
        that hold it; and this for the words only that no table of the latest past SQL holds.
    """
    holders: dict[str, set[int]] = {}
    for mention in e.tables.mentions:
        holders.setdefault(mention.stem, set()).update(mention.holders.tolist())
    for mention in e.columns.mentions:
        holders.setdefault(mention.stem, set()).update(shape.table_of[mention.holders].tolist())
    explained, exclusive, new = (np.zeros(shape.tables) for _ in range(3))
    for held in holders.values():
        numbers = np.fromiter(held, dtype=np.intp)
        explained[numbers] += 1 / len(holders)
        exclusive[numbers] += 1 / len(held)
        if not e.tables_before.last[numbers].any():
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


def _best_other(shares: Shares) -> Shares:
    """The best of all the others."""
    if len(shares) < 2:
        return np.zeros(len(shares))
    second, first = np.partition(shares, -2)[-2:]
    return np.where(shares == first, second, first)


def _relative(shares: Shares) -> Shares:
    """Shares as part of the greatest."""
    greatest = shares.max(initial=0.0)
    return shares / greatest if greatest > 0 else shares
