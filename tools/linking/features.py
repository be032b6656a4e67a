"""Evidence as named features, one number per item: the inputs of forests and net."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..derived import derived
from .evidence import Evidence, PastMentions
from .vocabulary import Mention, MentionShares, Shares

Features = Mapping[str, Shares | float]  # a number is that of all items


@derived
def table_features(e: Evidence) -> Features:
    """Return the first stage's features, of tables."""
    shape, last = e.shape, e.tables_before.last
    explained, exclusive, new = _explain_words(e)
    by_columns = {**_best_column_features(e), "value_share": shape.best_column(e.value_share), "explained": explained}
    by_columns["exclusive"] = exclusive
    beside = {"": e.tables.share, "_exclusive": exclusive, "_last": last}
    return {
        **_name_features(e.tables, e.tables_before),
        **by_columns,
        **{f"{name}_most": _scale_to_greatest(share) for name, share in by_columns.items()},
        "new": new,
        "new_most": _scale_to_greatest(new),
        "columns_said": shape.sum_columns(e.columns.share),
        "column_place": 1 - shape.best_column(1 - e.columns.position),
        "column_before": shape.best_column(e.columns_before.before),
        "column_latest": shape.best_column(e.columns_before.latest),
        "neighbour_value": shape.best_neighbours(by_columns["value"])[0],
        **{
            f"{place}{name}": best
            for name, shares in beside.items()
            for place, best in zip(("neighbour", "bridge"), shape.best_neighbours(shares), strict=True)
        },
        "last_count": last.sum(),
        "last_said": (last * e.tables.share).max(initial=0.0),
        "others_said": ((1 - last) * e.tables.share).max(initial=0.0),
        "star_last": e.star_last,
        **{f"{role}_last": shape.best_column(used) for role, used in e.roles.items()},
        "columns_last": shape.sum_columns(e.columns_before.last),
        "leaving": shape.leaving,
        "arriving": shape.arriving,
        "size": shape.sizes,
        "place": np.arange(shape.tables) / max(shape.tables, 1),
        **_turn_features(e),
    }


def table_features_again(e: Evidence, tables: Shares, columns: Shares) -> Features:
    """Return the second stage's features of tables, with the first stage's probabilities."""
    shape, last = e.shape, e.tables_before.last
    neighbour, bridge = shape.best_neighbours(tables)
    by_columns = shape.best_column(columns)
    ranks = np.empty(shape.tables)
    ranks[np.argsort(-tables, kind="stable")] = np.arange(shape.tables)
    # The best of all the others.
    second, first = np.partition(tables, -2)[-2:] if shape.tables > 1 else (0.0, 0.0)
    return {
        **table_features(e),
        "p": tables,
        "p_rank": ranks,
        "p_most": _scale_to_greatest(tables),
        "p_sum": tables.sum(),
        "p_best_other": np.where(tables == first, second, first),
        "p_column": by_columns,
        "p_column_most": _scale_to_greatest(by_columns),
        "p_key": shape.best_column(columns * shape.keys),
        "p_own": shape.best_column(columns * (1 - shape.keys)),
        "p_columns": shape.sum_columns(columns),
        "p_neighbour": neighbour,
        "p_bridge": bridge,
        "p_last": (tables * last).max(initial=0.0),
        "p_new": (tables * (1 - last)).max(initial=0.0),
    }


def column_features(e: Evidence, tables: Shares) -> Features:
    """Return the first stage's features of columns, given their tables' probabilities."""
    shape = e.shape
    table = tables[shape.table_of]
    joins = np.zeros(len(table))
    np.maximum.at(joins, shape.end_columns, tables[shape.end_tables] * tables[shape.end_others])
    contested, contested_sum = _share_mentions(e.columns.mentions, table)
    in_table = {
        "said": e.columns.share,
        "own_part": e.own_parts.share,
        "associated": e.columns.associated_sum,
        "value": e.value,
    }
    best = {name: shape.best_column(share)[shape.table_of] for name, share in in_table.items()}
    return {
        "table": table,
        "table_most": _scale_to_greatest(table),
        "tables_sum": tables.sum(),
        **_name_features(e.columns, e.columns_before),
        "own_part_said": e.own_parts.share,
        "own_part_head": e.own_parts.head,
        "own_part_place": e.own_parts.position,
        **{f"{name}_in_table": best[name] for name in in_table},
        **{f"{name}_less": best[name] - share for name, share in in_table.items()},
        "table_said": e.tables.share[shape.table_of],
        "table_place": e.tables.position[shape.table_of],
        "contested": contested,
        "contested_sum": contested_sum,
        "namesake": _compare_namesakes(e, table),
        "value": e.value,
        "value_share": e.value_share,
        "value_and_table": e.value * table,
        "value_elsewhere": e.value.max(initial=0.0) * (e.value == 0),
        **{f"{role}_last": used for role, used in e.roles.items()},
        "table_last": e.tables_before.last[shape.table_of],
        "star_last": e.star_last[shape.table_of],
        "columns_last": shape.sum_columns(e.columns_before.last)[shape.table_of],
        "usual": e.usual,
        "primary": shape.primary,
        "key": shape.keys,
        "joins": joins,
        "display": shape.display,
        "place": shape.position.astype(float),
        "size": shape.sizes[shape.table_of],
        **{str(kind): flags for kind, flags in shape.kinds.items()},
        **_turn_features(e),
    }


def column_features_again(e: Evidence, tables: Shares, columns: Shares) -> Features:
    """Return the second stage's features of columns, with the tables' final probabilities."""
    shape = e.shape
    own = columns * (1 - shape.keys)
    return {
        **column_features(e, tables),
        "p": columns,
        "p_less": shape.best_column(columns)[shape.table_of] - columns,
        "p_others": shape.sum_columns(columns)[shape.table_of] - columns,
        "p_own_others": shape.sum_columns(own)[shape.table_of] - own,
        "p_all": columns.sum(),
        "p_most": _scale_to_greatest(columns),
        "p_sister": _compare_namesakes(e, columns),
        "p_display": shape.sum_columns(columns * shape.display)[shape.table_of],
    }


def star_features(e: Evidence, tables: Shares) -> Features:
    """Return features of `table.*`."""
    return {
        "table": tables,
        "table_most": _scale_to_greatest(tables),
        "asked": e.turn["all_columns"] * tables,
        "last": e.star_last,
        **_best_column_features(e),
        "size": e.shape.sizes,
        **_turn_features(e),
    }


def _best_column_features(e: Evidence) -> dict[str, Shares]:
    """Return the best feature values among each table's columns."""
    by_columns = {
        "column_said": e.columns.share,
        "own_part_said": e.own_parts.share,
        "column_associated": e.columns.associated,
        "value": e.value,
    }
    return {name: e.shape.best_column(share) for name, share in by_columns.items()}


def _name_features(mentioned: MentionShares, past: PastMentions) -> Features:
    return {
        "said": mentioned.share,
        "said_wholly": (mentioned.share > 0.99).astype(float),
        "said_most": _scale_to_greatest(mentioned.share),
        "head": mentioned.head,
        "said_place": mentioned.position,
        "associated": mentioned.associated,
        "associated_sum": mentioned.associated_sum,
        "associated_most": _scale_to_greatest(mentioned.associated_sum),
        **vars(past),
    }


@derived
def _turn_features(e: Evidence) -> Features:
    """Return features of the whole turn, the same for all items."""
    return {
        **e.turn,
        "tables": float(e.shape.tables),
        # How far the latest past SQL is from what the linker had found: SQL of another source is better evidence.
        **{
            name: np.abs(before.last - before.likely_last).max(initial=0.0)
            for name, before in (("surprise", e.tables_before), ("columns_surprise", e.columns_before))
        },
        "tables_wholly_said": (e.tables.share > 0.99).sum(),
        "columns_wholly_said": (e.columns.share > 0.99).sum(),
        "tables_last": e.tables_before.last.sum(),
    }


def _explain_words(e: Evidence) -> tuple[Shares, Shares, Shares]:
    """Return how much of the question's schema words each table accounts for.

    First the share of words that its name or its columns' names hold; then the same with each word shared among the
    tables that hold it; then this for the words only that no table of the latest past SQL holds.
    """
    holders: dict[str, set[int]] = {}
    for mention in e.tables.mentions:
        holders.setdefault(mention.stem, set()).update(mention.holders.tolist())
    for mention in e.columns.mentions:
        holders.setdefault(mention.stem, set()).update(e.shape.table_of[mention.holders].tolist())
    explained, exclusive, new = np.zeros((3, e.shape.tables))
    for tables in holders.values():
        numbers = np.fromiter(tables, dtype=np.intp)
        explained[numbers] += 1 / len(holders)
        exclusive[numbers] += 1 / len(tables)
        if not e.tables_before.last[numbers].any():
            new[numbers] += 1 / len(tables)
    return explained, np.minimum(exclusive, 3.0), np.minimum(new, 3.0)


def _share_mentions(mentions: Sequence[Mention], table: Shares) -> tuple[Shares, Shares]:
    """Return each column's best and total share of mentioned words, by its table's probability."""
    best, total = np.zeros((2, len(table)))
    for mention in mentions:
        share = mention.share * table[mention.holders] / max(table[mention.holders].sum(), 1e-6)
        best[mention.holders] = np.maximum(best[mention.holders], share)
        total[mention.holders] += share
    return best, total


def _compare_namesakes(e: Evidence, columns: Shares) -> Shares:
    """Return shares relative to the greatest among columns of the same name."""
    best = np.zeros(e.shape.same_name.max(initial=-1) + 1)
    np.maximum.at(best, e.shape.same_name, columns)
    return columns / np.maximum(best[e.shape.same_name], 1e-6)


def _scale_to_greatest(shares: Shares) -> Shares:
    """Return shares relative to the greatest."""
    greatest = shares.max(initial=0.0)
    return shares / greatest if greatest > 0 else shares
