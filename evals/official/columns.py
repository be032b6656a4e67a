"""Finding the order of columns under which two results are the same, without trying every order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence


def some_column_order(
    left: Sequence[tuple[Hashable, ...]], right: Sequence[tuple[Hashable, ...]], *, ordered: bool
) -> bool:
    """Whether permuting the columns of `right` gives `left`, as a list of rows or, if not `ordered`, as a multiset.

    Columns are chosen from left to right, and after each the rows cut to the chosen columns must agree already, so that
    a wrong choice is dropped at once.

    Args:
        left: At least one row.
        right: As many rows, as wide as those of `left`.
        ordered: Whether the order of rows counts.
    """
    width = len(left[0])
    columns = list(zip(*right, strict=True))
    wanted = [_signature(column, ordered=ordered) for column in zip(*left, strict=True)]
    offered = [_signature(column, ordered=ordered) for column in columns]
    candidates = [[place for place in range(width) if offered[place] == signature] for signature in wanted]
    if not all(candidates):
        return False
    if ordered:
        # Equal lists per column make equal rows: only a distinct partner for each column remains to be found, and
        # equal columns are interchangeable.
        return Counter(wanted) == Counter(offered)
    return _extend([], candidates, columns, left)


def _signature(column: Sequence[Hashable], *, ordered: bool) -> Hashable:
    return tuple(column) if ordered else frozenset(Counter(column).items())


def _extend(
    chosen: list[int],
    candidates: Sequence[Sequence[int]],
    columns: Sequence[Sequence[Hashable]],
    left: Sequence[tuple[Hashable, ...]],
) -> bool:
    if len(chosen) == len(candidates):
        return True
    depth = len(chosen) + 1
    wanted = Counter(row[:depth] for row in left)
    tried: set[tuple[Hashable, ...]] = set()
    for place in candidates[depth - 1]:
        column = tuple(columns[place])
        if place in chosen or column in tried:
            continue
        tried.add(column)
        picked = [columns[index] for index in (*chosen, place)]
        if Counter(zip(*picked, strict=True)) == wanted and _extend([*chosen, place], candidates, columns, left):
            return True
    return False
