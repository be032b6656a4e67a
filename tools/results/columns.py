"""Matching the columns of two results jointly, by content."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TypeAlias

Column: TypeAlias = tuple[int, ...]
"""Labels of a column's values, row by row."""


class Undecided(Exception):
    """The work that a comparison may take is used up: a matrix made to be hard."""


class Work:
    """What comparisons may still take, in cells looked at; some microseconds each."""

    def __init__(self, cells: int) -> None:
        self._left = cells

    def spend(self, cells: int) -> None:
        """Take off so many.

        Raises:
            Undecided: There are not so many left.
        """
        self._left -= cells
        if self._left < 0:
            raise Undecided


def columns_match(left: Sequence[Column], right: Sequence[Column], groups: Column, work: Work) -> bool:
    """Whether some assignment of columns makes the two multisets of rows equal.

    Args:
        left: One result's columns.
        right: The other's; as many, as long.
        groups: A label for each position; rows are compared within equal labels only. All zero compares whole results;
            all different compares row by row.
        work: What it may take; used up as it goes.

    Raises:
        Undecided: It would take more.

    Columns are told apart by refinement: a column by the rows that its values stand in, a row by the columns that its
    values stand in, until nothing new is learned. Where columns are still alike, one is assigned on trial, which tells
    rows apart, and refinement goes on from there. No permutations are enumerated.
    """
    if len(left) != len(right):
        return False
    if _same_rows(left, right, groups, groups):
        return True
    return _match(left, right, groups, groups, work)


def _match(left: Sequence[Column], right: Sequence[Column], rows_a: Column, rows_b: Column, work: Work) -> bool:
    """Whether the columns that are left can be assigned, given labels of the rows as assigned so far."""
    colours = _refine(left, right, rows_a, rows_b, work)
    if colours is None:
        return False
    alike: dict[int, list[int]] = defaultdict(list)
    for position, colour in enumerate(colours[1]):
        alike[colour].append(position)
    if len(alike) == len(right):
        return _same_rows(left, [right[alike[colour][0]] for colour in colours[0]], rows_a, rows_b)
    chosen = min(range(len(left)), key=lambda position: len(alike[colours[0][position]]))
    rest = _without(left, chosen)
    # Columns with the same contents are interchangeable: one of them is enough to try.
    for position in {right[position]: position for position in alike[colours[0][chosen]]}.values():
        next_a, next_b = _recolour(
            list(zip(rows_a, left[chosen], strict=True)), list(zip(rows_b, right[position], strict=True))
        )
        if Counter(next_a) == Counter(next_b) and _match(rest, _without(right, position), next_a, next_b, work):
            return True
    return False


def _same_rows(left: Sequence[Column], right: Sequence[Column], rows_a: Column, rows_b: Column) -> bool:
    return Counter(zip(rows_a, *left, strict=True)) == Counter(zip(rows_b, *right, strict=True))


def _without(columns: Sequence[Column], position: int) -> list[Column]:
    return [*columns[:position], *columns[position + 1 :]]


def _refine(
    left: Sequence[Column], right: Sequence[Column], rows_a: Column, rows_b: Column, work: Work
) -> tuple[Column, Column] | None:
    """Colours for the columns of both results; only columns of one colour can match. None if no match is possible."""
    known = 0
    while True:
        work.spend(len(left) * len(rows_a))
        columns_a, columns_b = _recolour(_columns_seen(left, rows_a), _columns_seen(right, rows_b))
        if Counter(columns_a) != Counter(columns_b):
            return None
        if len(set(columns_a)) == len(columns_a):
            return columns_a, columns_b
        rows_a, rows_b = _recolour(_rows_seen(left, columns_a, rows_a), _rows_seen(right, columns_b, rows_b))
        if Counter(rows_a) != Counter(rows_b):
            return None
        now = len(set(columns_a)) + len(set(rows_a))
        if now == known:
            return columns_a, columns_b
        known = now


def _columns_seen(columns: Sequence[Column], rows: Column) -> list[object]:
    """What tells a column from another: its values, each with the colour of its row."""
    return [tuple(sorted(zip(rows, column, strict=True))) for column in columns]


def _rows_seen(columns: Sequence[Column], colours: Column, rows: Column) -> list[object]:
    """What tells a row from another: its colour so far, and its values, each with the colour of its column."""
    cells = zip(*columns, strict=True)
    return [(row, *sorted(zip(colours, values, strict=True))) for row, values in zip(rows, cells, strict=True)]


def _recolour(a: Sequence[object], b: Sequence[object]) -> tuple[Column, Column]:
    names: dict[object, int] = {}
    return tuple(names.setdefault(x, len(names)) for x in a), tuple(names.setdefault(x, len(names)) for x in b)
