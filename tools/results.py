"""Comparison of query results by the rules of a strict evaluator."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
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


class Undecided(Exception):
    """The work limit of a comparison is used up."""


class WorkLimit:
    """A work limit that comparisons share, in cells looked at."""

    def __init__(self, cells: int) -> None:
        self._left = cells

    def spend(self, cells: int) -> None:
        """Subtract `cells`; raise `Undecided` if too few are left."""
        self._left -= cells
        if self._left < 0:
            raise Undecided


def same_result(a: Rows, b: Rows, ordered: bool = False, ties: Sequence[Hashable] | None = None) -> bool:
    """Whether `b` gives the same answer as `a`, the gold result if there is one.

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
    """Compare as `same_result` does; None if it would take more than `work`."""
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
    if ordered:
        groupings = [_number_runs(ties)] if ties is not None else _guess_ties(rows_a, left)
    work = work or WorkLimit(_WORK_CELLS + _WORK_LOOKS * len(rows_a) * len(rows_a[0]))
    try:
        return any(columns_match(left, right, groups, work) for groups in groupings)
    except Undecided:
        return None


def label_cells(cells: Iterable[Cell]) -> dict[Cell, int]:
    """Return a label per distinct value; equal labels mean equal values.

    Integers are equal to floats of the same value; two different integers are never equal, however large; text, bytes,
    numbers and NULL are never equal to one another.
    """
    distinct = set(cells)
    numbers = sorted(cell for cell in distinct if isinstance(cell, int | float))
    labels: dict[Cell, int] = {}
    label = 0
    for before, number in pairwise([*numbers[:1], *numbers]):
        label += not _are_close(before, number)
        labels[number] = label
    others = (cell for cell in distinct if not isinstance(cell, int | float))
    return labels | {cell: place for place, cell in enumerate(others, label + 1)}


def _are_close(a: int | float, b: int | float) -> bool:
    if all(isinstance(number, int) or (number.is_integer() and abs(number) < 2**53) for number in (a, b)):
        return a == b
    return math.isclose(a, b, rel_tol=_RELATIVE_TOLERANCE, abs_tol=_ABSOLUTE_TOLERANCE)


def _number_runs(ties: Sequence[Hashable]) -> Column:
    """Return the numbers of the runs of equal labels."""
    return tuple(number for number, (_, run) in enumerate(groupby(ties)) for _ in run)


def _guess_ties(rows: Sequence[Sequence[Cell]], columns: Sequence[Column]) -> Iterator[Column]:
    """Yield possible groupings of tied rows: none, and the runs of each sorted column."""
    yield tuple(range(len(rows)))
    known: set[Column] = set()
    for index, labels in enumerate(columns):
        groups = _number_runs(labels)
        # A constant column says nothing about the order: it would let every order pass.
        if groups[-1] == 0 or groups in known:
            continue
        keys = [_order_key(row[index]) for row in rows]
        if all(a <= b for a, b in pairwise(keys)) or all(a >= b for a, b in pairwise(keys)):
            known.add(groups)
            yield groups


def _order_key(value: Cell) -> tuple[int, int | float | str | bytes]:
    """Return a key in SQLite's order: NULL, numbers, text, bytes."""
    if isinstance(value, str | bytes):
        return 2 + isinstance(value, bytes), value
    return (0, 0) if value is None else (1, value)


def columns_match(left: Sequence[Column], right: Sequence[Column], groups: Column, work: WorkLimit) -> bool:
    """Whether some assignment of columns makes the two multisets of rows equal.

    Columns are told apart by refinement: a column by the rows that its values stand in, a row by the columns that its
    values stand in, until nothing new is learned. Where columns are still alike, one is assigned on trial, which tells
    rows apart, and refinement goes on from there. No permutations are enumerated.

    Rows are compared within equal labels of `groups`, one for each position: all zero compares whole results, all
    different compares row by row. Where it would take more work than it may, `Undecided` is raised.
    """
    if len(left) != len(right):
        return False
    return _same_rows(left, right, groups, groups) or _can_match(left, right, groups, groups, work)


def _can_match(
    left: Sequence[Column], right: Sequence[Column], rows_a: Column, rows_b: Column, work: WorkLimit
) -> bool:
    """Whether the remaining columns can be assigned, given labels of the rows so far."""
    colours = _refine(left, right, rows_a, rows_b, work)
    if colours is None:
        return False
    alike: dict[int, list[int]] = defaultdict(list)
    for position, colour in enumerate(colours[1]):
        alike[colour].append(position)
    if len(alike) == len(right):
        return _same_rows(left, [right[alike[colour][0]] for colour in colours[0]], rows_a, rows_b)
    chosen = min(range(len(left)), key=lambda position: len(alike[colours[0][position]]))
    rest = [*left[:chosen], *left[chosen + 1 :]]
    # Columns with the same contents are interchangeable: one of them is enough to try.
    for position in {right[position]: position for position in alike[colours[0][chosen]]}.values():
        next_rows = _recolour(zip(rows_a, left[chosen], strict=True), zip(rows_b, right[position], strict=True))
        if next_rows and _can_match(rest, [*right[:position], *right[position + 1 :]], *next_rows, work):
            return True
    return False


def _same_rows(left: Sequence[Column], right: Sequence[Column], rows_a: Column, rows_b: Column) -> bool:
    return Counter(zip(rows_a, *left, strict=True)) == Counter(zip(rows_b, *right, strict=True))


def _refine(
    left: Sequence[Column], right: Sequence[Column], rows_a: Column, rows_b: Column, work: WorkLimit
) -> tuple[Column, Column] | None:
    """Return colours of both results' columns, equal for columns that can match, or None."""
    before = 0
    while True:
        work.spend(len(left) * len(rows_a))
        columns = _recolour(_sign_columns(left, rows_a), _sign_columns(right, rows_b))
        if columns is None or len(set(columns[0])) == len(columns[0]):
            return columns
        rows = _recolour(_sign_rows(left, columns[0], rows_a), _sign_rows(right, columns[1], rows_b))
        if rows is None:
            return None
        rows_a, rows_b = rows
        colours = len(set(columns[0])) + len(set(rows_a))
        if colours == before:
            return columns
        before = colours


def _sign_columns(columns: Sequence[Column], rows: Column) -> Iterator[object]:
    """Yield a signature per column: its values, each with the colour of its row."""
    return (tuple(sorted(zip(rows, column, strict=True))) for column in columns)


def _sign_rows(columns: Sequence[Column], colours: Column, rows: Column) -> Iterator[object]:
    """Yield a signature per row: its colour, and its values with their columns' colours."""
    cells = zip(*columns, strict=True)
    return ((row, *sorted(zip(colours, values, strict=True))) for row, values in zip(rows, cells, strict=True))


def _recolour(a: Iterable[object], b: Iterable[object]) -> tuple[Column, Column] | None:
    """Return numbers for equal things; None if `a` and `b` are different multisets."""
    numbers: dict[object, int] = {}
    left, right = (tuple(numbers.setdefault(thing, len(numbers)) for thing in things) for things in (a, b))
    return (left, right) if Counter(left) == Counter(right) else None
