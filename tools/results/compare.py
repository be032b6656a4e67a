"""Whether two results give the same answer, as a strict evaluator sees it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import chain, groupby
from typing import TypeAlias

from ..database.table import Cell, Table
from .cells import label_cells, monotone
from .columns import Column, Undecided, Work, columns_match

Rows: TypeAlias = Table | Sequence[Sequence[Cell]]
"""A result: a table, or its bare rows."""


# Seconds, not minutes, for matrices made to be hard; any result of an ordinary query takes a few looks at each cell.
_WORK_CELLS = 300_000
_WORK_LOOKS = 12


def same_result(a: Rows, b: Rows, ordered: bool = False, ties: Sequence[Hashable] | None = None) -> bool:
    """Whether `b` gives the same answer as `a` (the gold result, where one is).

    Rows are a multiset: repeated rows count. Columns may come in any order and under any name, and are matched
    jointly by content: one assignment of columns must make whole rows equal. Numbers are equal within a tolerance,
    integers to floats; NULL is equal to NULL only.

    Args:
        a: The result that sets the order.
        b: The other one.
        ordered: Whether the order of rows counts, up to ties.
        ties: One label for each row of `a`; neighbours with the same label are tied in its order. Without it, ties are
            read off `a`: where some column only rises or only falls, rows with equal values there count as tied;
            where none does, none are tied.

    Whether matrices made to be hard are the same in another order of columns may take too long to find out: they
    count as different (`compare_results` tells).
    """
    return compare_results(a, b, ordered, ties) is True


def compare_results(
    a: Rows, b: Rows, ordered: bool = False, ties: Sequence[Hashable] | None = None, work: Work | None = None
) -> bool | None:
    """As `same_result`, but None where it would take too long to find out.

    Args:
        a: The result that sets the order.
        b: The other one.
        ordered: Whether the order of rows counts, up to ties.
        ties: One label for each row of `a`.
        work: What it may take, for several comparisons together; in proportion to the results if None.
    """
    try:
        return _compare(a, b, ordered, ties, work or _work_for(a))
    except Undecided:
        return None


def _work_for(result: Rows) -> Work:
    """What comparing with a result may take: a few seconds, unless it is large."""
    rows = _rows(result)
    return Work(_WORK_CELLS + _WORK_LOOKS * len(rows) * (len(rows[0]) if rows else 0))


def _compare(a: Rows, b: Rows, ordered: bool, ties: Sequence[Hashable] | None, work: Work) -> bool:
    rows_a, rows_b = _rows(a), _rows(b)
    if len(rows_a) != len(rows_b) or not _same_width(a, b):
        return False
    if not rows_a:
        return True
    labels = label_cells(chain.from_iterable(chain(rows_a, rows_b)))
    left = [tuple(labels[cell] for cell in column) for column in zip(*rows_a, strict=True)]
    right = [tuple(labels[cell] for cell in column) for column in zip(*rows_b, strict=True)]
    if not ordered:
        return columns_match(left, right, (0,) * len(rows_a), work)
    groups = [_groups(ties)] if ties is not None else _likely_ties(rows_a, left)
    return any(columns_match(left, right, group, work) for group in groups)


def _rows(result: Rows) -> Sequence[Sequence[Cell]]:
    return result.rows if isinstance(result, Table) else result


def _same_width(a: Rows, b: Rows) -> bool:
    widths: list[set[int]] = []
    for result in (a, b):
        widths.append({len(result.columns)} if isinstance(result, Table) else {len(row) for row in result})
    known = [width for width in widths if width]
    return all(len(width) == 1 for width in known) and (len(known) < 2 or known[0] == known[1])


def _groups(ties: Sequence[Hashable]) -> Column:
    """Numbers for runs of equal labels."""
    return tuple(number for number, (_, run) in enumerate(groupby(ties)) for _ in run)


def _likely_ties(rows: Sequence[Sequence[Cell]], columns: Sequence[Column]) -> Iterator[Column]:
    """The ways in which rows may be tied: for each column that could be the key, its runs; and none at all."""
    yield tuple(range(len(rows)))
    seen: set[Column] = set()
    for index, labels in enumerate(columns):
        groups = _groups(labels)
        # A constant column says nothing about the order: it would let every order pass.
        if groups[-1] == 0 or groups in seen or not monotone([row[index] for row in rows]):
            continue
        seen.add(groups)
        yield groups
