"""Comparison of query results by the rules of a strict evaluator."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain, groupby, pairwise
from typing import TypeAlias

from .database.table import Cell, Table

Rows: TypeAlias = Table | Sequence[Sequence[Cell]]
Column: TypeAlias = tuple[int, ...]  # labels of a column's values, row by row

# Far above what summing in another order costs a double, far below what a person would call another answer; small
# numbers of their own are told apart from what cancels to almost zero.
_RELATIVE_TOLERANCE, _ABSOLUTE_TOLERANCE = 1e-8, 1e-12

# Seconds, not minutes, for matrices made to be hard; any result of an ordinary query takes a few looks at each cell.
_WORK_CELLS, _WORK_LOOKS = 300_000, 12


class ComparisonLimitExceeded(Exception):
    """The work limit of a comparison is used up before a decision."""


class WorkLimit:
    """A work limit shared by comparisons, as a number of cells to examine."""

    def __init__(self, cells: int) -> None:
        self._cells_left = cells

    def spend(self, cells: int) -> None:
        """Subtract `cells` from the limit; raise an error if too few are left."""
        self._cells_left -= cells
        if self._cells_left < 0:
            raise ComparisonLimitExceeded


def same_result(a: Rows, b: Rows, ordered: bool = False, ties: Sequence[Hashable] | None = None) -> bool:
    """Whether the results `a` and `b` are equal; `a` is the gold result if there is one.

    Rows are a multiset: repeated rows count. Columns may come in any order and under any name, and are matched
    jointly by content: one assignment of columns must make whole rows equal. Numbers are equal within a tolerance,
    integers to floats; NULL is equal to NULL only. Where it would take too long to find out, they count as different.

    If `ordered`, the order of rows counts, up to ties: `ties` has one label for each row of `a`, and neighbours with
    the same label are tied in its order. Without it, ties are read off `a`: where some column only rises or only falls,
    rows with equal values there count as tied; where none does, none are tied.
    """
    return compare_results(a, b, ordered, ties) is True


def compare_results(
    a: Rows, b: Rows, ordered: bool = False, ties: Sequence[Hashable] | None = None, work: WorkLimit | None = None
) -> bool | None:
    """Compare two results; return None if the comparison exceeds the work limit."""
    rows_a, rows_b = (result.rows if isinstance(result, Table) else result for result in (a, b))
    # Bare rows may be none, and tell nothing of their columns.
    widths = [{len(result.columns)} if isinstance(result, Table) else set(map(len, result)) for result in (a, b)]
    if len(rows_a) != len(rows_b) or len(set().union(*widths)) > 1:
        return False
    if not rows_a:
        return True
    labels = label_cells(chain.from_iterable(chain(rows_a, rows_b)))
    left, right = (
        [tuple(labels[cell] for cell in column) for column in zip(*rows, strict=True)] for rows in (rows_a, rows_b)
    )
    groupings: Iterable[Column] = [(0,) * len(rows_a)]
    if ordered and ties is not None:
        groupings = [_number_runs_of_equal_labels(ties)]
    elif ordered:  # without ties, then by each sorted column; a constant one would let every order pass
        columns = [column for column in left if len(set(column)) > 1]
        rising = [column for column in columns if column in (tuple(sorted(column)), tuple(sorted(column)[::-1]))]
        groupings = dict.fromkeys([tuple(range(len(rows_a))), *map(_number_runs_of_equal_labels, rising)])
    work = work or WorkLimit(_WORK_CELLS + _WORK_LOOKS * len(rows_a) * len(rows_a[0]))
    try:
        return any(can_match_columns(left, right, groups, work) for groups in groupings)
    except ComparisonLimitExceeded:
        return None


def label_cells(cells: Iterable[Cell]) -> dict[Cell, int]:
    """Return a number per distinct value, in SQLite's order; equal values get equal numbers.

    Integers are equal to floats of the same value; two different integers are never equal, however large; text, bytes,
    numbers and NULL are never equal to one another.
    """
    distinct = set(cells)
    numbers = sorted(cell for cell in distinct if isinstance(cell, int | float))
    texts = sorted(cell for cell in distinct if isinstance(cell, str))
    blobs = sorted(cell for cell in distinct if isinstance(cell, bytes))
    labels, label = dict[Cell, int]({None: 0}), 1
    for before, number in pairwise([*numbers[:1], *numbers]):
        label += not _are_nearly_equal(before, number)
        labels[number] = label
    return labels | {cell: place for place, cell in enumerate([*texts, *blobs], label + 1)}


def _are_nearly_equal(a: int | float, b: int | float) -> bool:
    if all(isinstance(number, int) or (number.is_integer() and abs(number) < 2**53) for number in (a, b)):
        return a == b
    return math.isclose(a, b, rel_tol=_RELATIVE_TOLERANCE, abs_tol=_ABSOLUTE_TOLERANCE)


def _number_runs_of_equal_labels(ties: Sequence[Hashable]) -> Column:
    """Number the runs of equal neighbouring labels; return one number per label."""
    return tuple(number for number, (_, run) in enumerate(groupby(ties)) for _ in run)


def can_match_columns(left: Sequence[Column], right: Sequence[Column], groups: Column, work: WorkLimit) -> bool:
    """Whether columns can be paired so that both results have the same multiset of rows.

    Columns are told apart by the rows that their values stand in. Where columns are alike, one is assigned on trial,
    which tells rows apart, and so more columns. No permutations are enumerated.

    Rows are compared within equal labels of `groups`, one for each position: all zero compares whole results, all
    different compares row by row. If that takes too much work, `ComparisonLimitExceeded` is raised.
    """
    if len(left) != len(right):
        return False
    as_they_stand = _assign_colours(zip(groups, *left, strict=True), zip(groups, *right, strict=True))
    return as_they_stand is not None or _can_match_rest(left, right, groups, groups, work)


def _can_match_rest(
    left: Sequence[Column], right: Sequence[Column], rows_a: Column, rows_b: Column, work: WorkLimit
) -> bool:
    """Whether the remaining columns can be paired, given the row labels so far."""
    work.spend(len(left) * len(rows_a))
    results = ((left, rows_a), (right, rows_b))
    colours = _assign_colours(*([tuple(sorted(zip(rows, one, strict=True))) for one in side] for side, rows in results))
    if colours is None:
        return False
    by_colour: dict[int, list[int]] = defaultdict(list)
    for position, colour in enumerate(colours[1]):
        by_colour[colour].append(position)
    if len(by_colour) == len(right):
        paired = [right[by_colour[colour][0]] for colour in colours[0]]
        return _assign_colours(zip(rows_a, *left, strict=True), zip(rows_b, *paired, strict=True)) is not None
    index = min(range(len(left)), key=lambda position: len(by_colour[colours[0][position]]))
    others = [*left[:index], *left[index + 1 :]]
    # Columns with the same contents are interchangeable: one of them is enough to try.
    for position in {right[position]: position for position in by_colour[colours[0][index]]}.values():
        next_rows = _assign_colours(zip(rows_a, left[index], strict=True), zip(rows_b, right[position], strict=True))
        if next_rows and _can_match_rest(others, [*right[:position], *right[position + 1 :]], *next_rows, work):
            return True
    return False


def _assign_colours(a: Iterable[object], b: Iterable[object]) -> tuple[Column, Column] | None:
    """Return equal numbers for equal items; None if `a` and `b` are different multisets."""
    numbers: dict[object, int] = {}
    left, right = (tuple(numbers.setdefault(item, len(numbers)) for item in items) for items in (a, b))
    return (left, right) if Counter(left) == Counter(right) else None
