"""Small integers that stand for a result's values: equal labels mean equal values, numbers within a tolerance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from ..database.table import Cell

RELATIVE_TOLERANCE = 1e-8
"""Far above what summing in another order costs a double, far below what a person would call another answer."""

ABSOLUTE_TOLERANCE = 1e-12
"""For what cancels to almost zero; small numbers of their own are told apart."""


def label_cells(cells: Iterable[Cell]) -> dict[Cell, int]:
    """A label for each distinct value.

    Integers are equal to floats of the same value; two different integers are never equal, however large; text, bytes,
    numbers and NULL are never equal to one another.
    """
    distinct = set(cells)
    labels: dict[Cell, int] = {}
    label = 0
    previous: int | float | None = None
    for number in sorted(cell for cell in distinct if isinstance(cell, int | float)):
        if previous is not None and not _close(previous, number):
            label += 1
        labels[number] = label
        previous = number
    for cell in distinct:
        if not isinstance(cell, int | float):
            label += 1
            labels[cell] = label
    return labels


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
