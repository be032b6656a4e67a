"""Evidence as named features, one number per item: the inputs of forests and net."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..derived import cache_in_first_argument
from .evidence import LinkingEvidence, PastMentions
from .vocabulary import MentionScores, NameMention, Shares

Features = Mapping[str, Shares | float]  # a number is that of all items


@cache_in_first_argument
def build_first_table_features(e: LinkingEvidence) -> Features:
    """Return the features of tables for the first stage."""
    shape, last = e.shape, e.tables_before.last
    explained, exclusive, new = _compute_explained_words(e)
    by_columns = {**_build_best_features(e), "value_share": shape.max_by_table(e.value_share), "explained": explained}
    by_columns["exclusive"] = exclusive
    beside = {"": e.tables.share, "_exclusive": exclusive, "_last": last}
    return {
        **_build_name_features(e.tables, e.tables_before),
        **by_columns,
        **{f"{name}_most": _scale_to_greatest(share) for name, share in by_columns.items()},
        "new": new,
        "new_most": _scale_to_greatest(new),
        "columns_said": shape.sum_columns_by_table(e.columns.share),
        "column_place": 1 - shape.max_by_table(1 - e.columns.position),
        "column_before": shape.max_by_table(e.columns_before.before),
        "column_latest": shape.max_by_table(e.columns_before.latest),
        "neighbour_value": shape.get_best_neighbour_values(by_columns["value"])[0],
        **{
            f"{place}{name}": best
            for name, shares in beside.items()
            for place, best in zip(("neighbour", "bridge"), shape.get_best_neighbour_values(shares), strict=True)
        },
        "last_count": last.sum(),
        "last_said": (last * e.tables.share).max(initial=0.0),
        "others_said": ((1 - last) * e.tables.share).max(initial=0.0),
        "star_last": e.star_last,
        **{f"{role}_last": shape.max_by_table(used) for role, used in e.roles.items()},
        "columns_last": shape.sum_columns_by_table(e.columns_before.last),
        "leaving": shape.leaving,
        "arriving": shape.arriving,
        "size": shape.sizes,
        "place": np.arange(shape.tables) / max(shape.tables, 1),
        **_build_turn_features(e),
    }


def build_second_table_features(e: LinkingEvidence, tables: Shares, columns: Shares) -> Features:
    """Return the features of tables for the second stage, with first-stage probabilities."""
    shape, last = e.shape, e.tables_before.last
    neighbour, bridge = shape.get_best_neighbour_values(tables)
    by_columns = shape.max_by_table(columns)
    ranks = np.empty(shape.tables)
    ranks[np.argsort(-tables, kind="stable")] = np.arange(shape.tables)
    # The best of all the others.
    second, first = np.partition(tables, -2)[-2:] if shape.tables > 1 else (0.0, 0.0)
    return {
        **build_first_table_features(e),
        "p": tables,
        "p_rank": ranks,
        "p_most": _scale_to_greatest(tables),
        "p_sum": tables.sum(),
        "p_best_other": np.where(tables == first, second, first),
        "p_column": by_columns,
        "p_column_most": _scale_to_greatest(by_columns),
        "p_key": shape.max_by_table(columns * shape.keys),
        "p_own": shape.max_by_table(columns * (1 - shape.keys)),
        "p_columns": shape.sum_columns_by_table(columns),
        "p_neighbour": neighbour,
        "p_bridge": bridge,
        "p_last": (tables * last).max(initial=0.0),
        "p_new": (tables * (1 - last)).max(initial=0.0),
    }


def build_first_column_features(e: LinkingEvidence, tables: Shares) -> Features:
    """Return the features of columns for the first stage, with their tables' probabilities."""
    shape = e.shape
    table = tables[shape.table_of]
    joins = np.zeros(len(table))
    np.maximum.at(joins, shape.end_columns, tables[shape.end_tables] * tables[shape.end_others])
    contested, contested_sum = _compute_mention_shares(e.columns.mentions, table)
    in_table = {
        "said": e.columns.share,
        "own_part": e.own_parts.share,
        "associated": e.columns.associated_sum,
        "value": e.value,
    }
    best = {name: shape.max_by_table(share)[shape.table_of] for name, share in in_table.items()}
    return {
        "table": table,
        "table_most": _scale_to_greatest(table),
        "tables_sum": tables.sum(),
        **_build_name_features(e.columns, e.columns_before),
        "own_part_said": e.own_parts.share,
        "own_part_head": e.own_parts.head,
        "own_part_place": e.own_parts.position,
        **{f"{name}_in_table": best[name] for name in in_table},
        **{f"{name}_less": best[name] - share for name, share in in_table.items()},
        "table_said": e.tables.share[shape.table_of],
        "table_place": e.tables.position[shape.table_of],
        "contested": contested,
        "contested_sum": contested_sum,
        "namesake": _scale_to_best_namesake(e, table),
        "value": e.value,
        "value_share": e.value_share,
        "value_and_table": e.value * table,
        "value_elsewhere": e.value.max(initial=0.0) * (e.value == 0),
        **{f"{role}_last": used for role, used in e.roles.items()},
        "table_last": e.tables_before.last[shape.table_of],
        "star_last": e.star_last[shape.table_of],
        "columns_last": shape.sum_columns_by_table(e.columns_before.last)[shape.table_of],
        "usual": e.usual,
        "primary": shape.primary,
        "key": shape.keys,
        "joins": joins,
        "display": shape.display,
        "place": shape.position.astype(float),
        "size": shape.sizes[shape.table_of],
        **{str(kind): flags for kind, flags in shape.kinds.items()},
        **_build_turn_features(e),
    }


def build_second_column_features(e: LinkingEvidence, tables: Shares, columns: Shares) -> Features:
    """Return the features of columns for the second stage, with final table probabilities."""
    shape = e.shape
    own = columns * (1 - shape.keys)
    return {
        **build_first_column_features(e, tables),
        "p": columns,
        "p_less": shape.max_by_table(columns)[shape.table_of] - columns,
        "p_others": shape.sum_columns_by_table(columns)[shape.table_of] - columns,
        "p_own_others": shape.sum_columns_by_table(own)[shape.table_of] - own,
        "p_all": columns.sum(),
        "p_most": _scale_to_greatest(columns),
        "p_sister": _scale_to_best_namesake(e, columns),
        "p_display": shape.sum_columns_by_table(columns * shape.display)[shape.table_of],
    }


def build_star_features(e: LinkingEvidence, tables: Shares) -> Features:
    """Return the features of `table.*`, which stands for all columns of a table."""
    return {
        "table": tables,
        "table_most": _scale_to_greatest(tables),
        "asked": e.turn["all_columns"] * tables,
        "last": e.star_last,
        **_build_best_features(e),
        "size": e.shape.sizes,
        **_build_turn_features(e),
    }


def _build_best_features(e: LinkingEvidence) -> dict[str, Shares]:
    """Return the best feature values among each table's columns."""
    by_columns = {
        "column_said": e.columns.share,
        "own_part_said": e.own_parts.share,
        "column_associated": e.columns.associated,
        "value": e.value,
    }
    return {name: e.shape.max_by_table(share) for name, share in by_columns.items()}


def _build_name_features(mentioned: MentionScores, past: PastMentions) -> Features:
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


@cache_in_first_argument
def _build_turn_features(e: LinkingEvidence) -> Features:
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


def _compute_explained_words(e: LinkingEvidence) -> tuple[Shares, Shares, Shares]:
    """Return the share of the question's schema words that each table explains.

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


def _compute_mention_shares(mentions: Sequence[NameMention], table: Shares) -> tuple[Shares, Shares]:
    """Return each column's best and total share of mentioned words, by its table's probability."""
    best, total = np.zeros((2, len(table)))
    for mention in mentions:
        share = mention.share * table[mention.holders] / max(table[mention.holders].sum(), 1e-6)
        best[mention.holders] = np.maximum(best[mention.holders], share)
        total[mention.holders] += share
    return best, total


def _scale_to_best_namesake(e: LinkingEvidence, columns: Shares) -> Shares:
    """Return shares relative to the greatest among columns of the same name."""
    best = np.zeros(e.shape.same_name.max(initial=-1) + 1)
    np.maximum.at(best, e.shape.same_name, columns)
    return columns / np.maximum(best[e.shape.same_name], 1e-6)


def _scale_to_greatest(shares: Shares) -> Shares:
    """Return shares relative to the greatest share."""
    greatest = shares.max(initial=0.0)
    return shares / greatest if greatest > 0 else shares
