"""Small integers that stand for a result's values: equal labels mean equal values, numbers within a tolerance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from ..database.table import Cell

RELATIVE_TOLERANCE = 1e-8
"""Far above what summing in another order costs a double, far below what a person would call another answer."""

ABSOLUTE_TOLERANCE = 1e-9
"""For what cancels to almost zero."""


def label_cells(cells: Iterable[Cell]) -> dict[tuple[type, Cell], int]:
    """A label for each distinct value, by `cell_key`.

    Integers are equal to floats of the same value; two different integers are never equal, however large; text, bytes,
    numbers and NULL are never equal to one another.
    """
    keys = set(map(cell_key, cells))
    labels: dict[tuple[type, Cell], int] = {}
    numbers = sorted((value, kind) for kind, value in keys if isinstance(value, int | float))
    label = 0
    previous: int | float | None = None
    for value, _ in numbers:
        if previous is not None and not _close(previous, value):
            label += 1
        labels[float, value] = label
        previous = value
    for key in keys:
        if key[0] is not float:
            label += 1
            labels[key] = label
    return labels


def cell_key(cell: Cell) -> tuple[type, Cell]:
    """A key under which values of one kind are told apart exactly; 1 and 1.0 have the same."""
    if isinstance(cell, int | float):
        return float, cell
    return type(cell), cell


def monotone(values: Sequence[Cell]) -> bool:
    """Whether the values only rise or only fall, in SQLite's order: NULL, numbers, text, bytes."""
    keys = [_order_key(value) for value in values]
    rises = all(a <= b for a, b in pairwise(keys))
    return rises or all(a >= b for a, b in pairwise(keys))


def _close(a: int | float, b: int | float) -> bool:
    if _whole(a) and _whole(b):
        return a == b
    return math.isclose(a, b, rel_tol=RELATIVE_TOLERANCE, abs_tol=ABSOLUTE_TOLERANCE)


def _whole(number: int | float) -> bool:
    return isinstance(number, int) or (number.is_integer() and abs(number) < 2**53)


def _order_key(value: Cell) -> tuple[int, int | float | str | bytes]:
    if value is None:
        return 0, 0
    if isinstance(value, int | float):
        return 1, value
    return (2, value) if isinstance(value, str) else (3, value)
