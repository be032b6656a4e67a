"""Matching the columns of two results jointly, by content."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TypeAlias

Column: TypeAlias = tuple[int, ...]
"""Labels of a column's values, row by row."""


def columns_match(left: Sequence[Column], right: Sequence[Column], groups: Column) -> bool:
    """Whether some assignment of columns makes the two multisets of rows equal.

    Args:
        left: One result's columns.
        right: The other's; as many, as long.
        groups: A label for each position; rows are compared within equal labels only. All zero compares whole results;
            all different compares row by row.

    The columns are told apart by refinement first: a column by the rows that its values stand in, a row by the columns
    that its values stand in, until nothing new is learned. What is still alike is then tried, column by column, each
    choice checked against whole partial rows. Rows are soon all different, and from there each choice is forced: no
    enumeration of permutations.
    """
    if len(left) != len(right):
        return False
    if Counter(zip(groups, *left, strict=True)) == Counter(zip(groups, *right, strict=True)):
        return True
    colours = _refine(left, right, groups)
    if colours is None:
        return False
    choices: dict[int, list[Column]] = defaultdict(list)
    for column, colour in zip(right, colours[1], strict=True):
        choices[colour].append(column)
    # Few choices first: they cost nothing, and tell rows apart for the rest.
    todo = sorted(zip(left, colours[0], strict=True), key=lambda item: len(choices[item[1]]))
    return _assign(todo, choices, groups, groups)


def _assign(
    todo: Sequence[tuple[Column, int]], choices: dict[int, list[Column]], rows_a: Column, rows_b: Column
) -> bool:
    """Whether the columns still to do can be assigned, given labels of the partial rows so far."""
    if not todo:
        return True
    (column, colour), rest = todo[0], todo[1:]
    for candidate in dict.fromkeys(choices[colour]):
        names: dict[tuple[int, int], int] = {}
        next_a = tuple(names.setdefault(pair, len(names)) for pair in zip(rows_a, column, strict=True))
        next_b = tuple(names.setdefault(pair, len(names)) for pair in zip(rows_b, candidate, strict=True))
        if Counter(next_a) != Counter(next_b):
            continue
        choices[colour].remove(candidate)
        if _assign(rest, choices, next_a, next_b):
            return True
        choices[colour].append(candidate)
    return False


def _refine(left: Sequence[Column], right: Sequence[Column], groups: Column) -> tuple[Column, Column] | None:
    """Colours for the columns of both results; only columns of one colour can match. None if no match is possible."""
    rows_a, rows_b = groups, groups
    known = 0
    while True:
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
