"""Which tables a query uses as a whole: the sets worth comparing, and what speaks for each.

A table's own probability knows little of what other tables already explain. Of two tables that hold a word of the
question one is enough, and a table that joins two others is needed though nothing names it: sets of tables show this.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
import numpy.typing as npt

from .evidence import Evidence
from .features import Features, of_turn
from .shape import Shape
from .vocabulary import Mention, Shares

Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.intp]

_TABLES = 6
_MOST = 4
_SETS = 14
_SURE = 0.003
"""Probabilities are taken to lie this far from 0 and 1."""


@dataclass(frozen=True)
class TableSets:
    """Sets of tables.

    Attributes:
        tables: The numbers of the most probable tables.
        members: Of each set (row), which of them (column) it holds.
        score: How much of what each set holds is expected to be used, were its tables independent: 1 less the
            expected redundancy of Track-SQL's equation 11.
    """

    tables: Numbers
    members: Flags
    score: Shares

    @classmethod
    def of(cls, e: Evidence, tables: Shares) -> TableSets:
        """The sets of least expected redundancy; the one that the latest past SQL used is among them."""
        last = e.tables_before.last > 0
        top = np.argsort(-(tables + _SURE * last), kind="stable")[:_TABLES]
        p = np.clip(tables[top], _SURE, 1 - _SURE)
        members = _subsets(len(top))
        score = np.exp(~members @ np.log(1 - p)) * (members @ p) / members.sum(axis=1)
        chosen = np.argsort(-score, kind="stable")[:_SETS]
        again = np.flatnonzero((members == last[top]).all(axis=1))
        chosen = np.union1d(chosen, again)
        return cls(top, members[chosen], score[chosen])

    def redundancy(self, used: Shares) -> Shares:
        """Equation 11 of each set, given 1 for the tables that are used."""
        gold = used[self.tables] > 0
        if gold.sum() < used.sum():
            return np.ones(len(self.members))
        missing = (gold & ~self.members).any(axis=1)
        return np.where(missing, 1.0, (self.members & ~gold).sum(axis=1) / self.members.sum(axis=1))


@cache
def _subsets(count: int) -> Flags:
    """All sets of 1 to `_MOST` of so many tables."""
    chosen = [some for size in range(1, _MOST + 1) for some in combinations(range(count), size)]
    members = np.zeros((len(chosen), count), dtype=bool)
    for row, some in zip(members, chosen, strict=True):
        row[list(some)] = True
    return members


def set_features(e: Evidence, shape: Shape, tables: Shares, columns: Shares, sets: TableSets) -> Features:
    """Features of sets, given what the stages before gave tables and columns."""
    members, top = sets.members, sets.tables
    p = np.clip(tables[top], _SURE, 1 - _SURE)
    # The least probable table of each set, and the most probable one that it leaves out.
    low = np.where(members, p, 2.0).argmin(axis=1)
    high = np.where(members, -1.0, p).argmax(axis=1)
    return {
        **_of_probabilities(sets, tables, p),
        **_of_keys(members, _joined(shape, top), low, high),
        **_of_words(e, shape, sets, low, high),
        **_of_tables(members, _by_table(e, shape, columns, top), low, high),
        **_of_past(members, e.tables_before.last, top),
        **of_turn(e, len(members), shape),
    }


def _of_probabilities(sets: TableSets, tables: Shares, p: Shares) -> Features:
    members, count = sets.members, len(sets.members)
    odds = np.asarray(members @ np.log(p / (1 - p)), dtype=np.float64)
    first = np.sort(np.append(p, (0.0, 0.0)))[::-1]
    return {
        "size": members.sum(axis=1).astype(float),
        "score": sets.score,
        "score_most": sets.score / sets.score.max(),
        "odds": odds,
        "odds_less": odds - odds.max(),
        "rank": np.argsort(np.argsort(-sets.score, kind="stable"), kind="stable").astype(float),
        "p_least": _least(p, members),
        "p_mean": members @ p / members.sum(axis=1),
        "p_out": _most(p, ~members),
        "p_out_sum": ~members @ p,
        "p_all": np.full(count, tables.sum()),
        **{f"p_{number}": np.full(count, first[number]) for number in range(3)},
    }


def _of_keys(members: Flags, joined: Flags, low: Numbers, high: Numbers) -> Features:
    rows = np.arange(len(members))
    without, with_ = members.copy(), members.copy()
    without[rows, low], with_[rows, high] = False, True
    parts = _parts(members, joined)
    return {
        "parts": parts,
        "joins": ((members @ joined.astype(float)) * members).sum(axis=1) / 2,
        "low_joins": np.where(members.sum(axis=1) > 1, _parts(without, joined), 0) - parts,
        "high_joins": _parts(with_, joined) - parts,
    }


def _of_words(e: Evidence, shape: Shape, sets: TableSets, low: Numbers, high: Numbers) -> Features:
    """Which words and values of the question the sets hold, and which only one of their tables does."""
    members, rows = sets.members, np.arange(len(sets.members))
    named, held = _words(e, shape, sets.tables)
    found: dict[str, Shares] = {}
    for name, words in (("named", named), ("held", held), ("valued", _valued(e, shape, sets.tables))):
        covered = (members @ words.T).sum(axis=1).astype(float)
        found |= {name: covered, f"{name}_left": len(words) - covered}
    for name, words in (("named", named), ("held", held)):
        unique, gained = _covered(members, words)
        found |= {
            f"unique_{name}_least": _least(unique, members),
            f"gained_{name}_most": _most(gained, ~members),
            f"low_unique_{name}": unique[rows, low],
            f"high_gained_{name}": gained[rows, high],
            f"unique_{name}_sum": unique.sum(axis=1),
        }
    return {**found, "held_share": found["held"] / max(1, len(held))}


def _of_tables(members: Flags, by_table: Features, low: Numbers, high: Numbers) -> Features:
    outside = ~members[np.arange(len(members)), high]
    return {
        **{f"low_{name}": share[low] for name, share in by_table.items()},
        **{f"high_{name}": np.where(outside, share[high], 0) for name, share in by_table.items()},
        **{f"{name}_least": _least(share, members) for name, share in by_table.items()},
        **{f"{name}_out": _most(share, ~members) for name, share in by_table.items()},
        "own_sum": members @ by_table["own_sum"],
        "own_sum_out": ~members @ by_table["own_sum"],
        "said_sum": members @ by_table["said"],
    }


def _of_past(members: Flags, used: Shares, top: Numbers) -> Features:
    size, again, count = members.sum(axis=1), members @ used[top], used.sum()
    same = (size == again) & (count == again)
    return {"in_last": again, "new": size - again, "left": count - again, "same": same.astype(float)}


def _by_table(e: Evidence, shape: Shape, columns: Shares, top: Numbers) -> Features:
    own = columns * (1 - shape.keys)
    shares = {
        "own": shape.best_column(own),
        "own_sum": shape.sum_columns(own),
        "key": shape.best_column(columns * shape.keys),
        "columns": shape.sum_columns(columns),
        "value": shape.best_column(e.value),
        "value_share": shape.best_column(e.value_share),
        "said": e.tables.share,
        "head": e.tables.head,
        "associated": e.tables.associated,
        "latest": e.tables_before.latest_said,
        "column_latest": shape.best_column(e.columns_before.latest_said),
        "last": e.tables_before.last,
        "likely": e.tables_before.likely_last,
        "columns_in": shape.sizes,
        "leaving": shape.leaving,
        "arriving": shape.arriving,
    }
    return {name: share[top] for name, share in shares.items()}


def _joined(shape: Shape, top: Numbers) -> Flags:
    """Which of some tables a foreign key joins directly."""
    place = np.full(shape.tables, -1)
    place[top] = np.arange(len(top))
    ends, others = place[shape.end_tables], place[shape.end_others]
    inside = (ends >= 0) & (others >= 0) & (ends != others)
    joined = np.zeros((len(top), len(top)), dtype=bool)
    joined[ends[inside], others[inside]] = True
    return joined


def _words(e: Evidence, shape: Shape, top: Numbers) -> tuple[Flags, Flags]:
    """Of each word of the question that the schema holds, which of some tables hold it: in their names, or at all."""

    def flags(mention: Mention, tables: Numbers) -> None:
        found = held.setdefault(mention.stem, np.zeros(shape.tables, dtype=bool))
        found[tables] = True

    held: dict[str, Flags] = {}
    for mention in e.tables.mentions:
        flags(mention, mention.holders)
    named = np.array([found[top] for found in held.values()], dtype=bool).reshape(-1, len(top))
    for mention in e.columns.mentions:
        flags(mention, shape.table_of[mention.holders])
    return named, np.array([found[top] for found in held.values()], dtype=bool).reshape(-1, len(top))


def _valued(e: Evidence, shape: Shape, top: Numbers) -> Flags:
    """Of each value that the question mentions, which of some tables hold it."""
    return np.array([np.isin(top, shape.table_of[held]) for held in e.value_holders], dtype=bool).reshape(-1, len(top))


def _covered(members: Flags, words: Flags) -> tuple[Shares, Shares]:
    """By set and table: how many words only that table of the set holds; how many that none of the set does."""
    holders = members.astype(float) @ words.T
    return (
        ((holders == 1).astype(float) @ words) * members,
        ((holders == 0).astype(float) @ words),
    )


def _parts(members: Flags, joined: Flags) -> Shares:
    """How many parts a set falls into that no foreign key connects."""
    reached = (joined | np.eye(len(joined), dtype=bool)) & members[:, None, :] & members[:, :, None]
    for _ in range(2):  # paths of up to four keys: sets are smaller
        reached = reached @ reached
    sizes = reached.sum(axis=2)
    return np.where(members, 1 / np.maximum(sizes, 1), 0).sum(axis=1).round()


def _least(shares: Shares, members: Flags) -> Shares:
    return np.where(members, shares, np.inf).min(axis=1)


def _most(shares: Shares, members: Flags) -> Shares:
    return np.where(members, shares, 0.0).max(axis=1)
