"""Ties that a gold query's LIMIT cuts through: which of the tied rows the engine returns is arbitrary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...tools.database.table import Cell, Table
from ...tools.results import same_result

_Row = tuple[Cell, ...]

CANDIDATES = 1_000
"""Rows past the gold's that are looked at; of a tie with more of them, the others do not count as right."""


@dataclass(frozen=True)
class Cutoff:
    """A tie at a gold query's limit.

    Attributes:
        rows: The gold's rows before the tie.
        tied: All rows of the tie, among them those that the gold gave.
        ties: A label for each gold row, by its sort keys.
    """

    rows: Sequence[_Row]
    tied: Sequence[_Row]
    ties: Sequence[tuple[object, ...]]

    @classmethod
    def of(cls, ties: Sequence[tuple[object, ...]], unlimited: Table) -> Cutoff | None:
        """The tie that the gold's last row is in; None where the limit leaves none of its rows out.

        Args:
            ties: A label for each gold row, its sort keys.
            unlimited: The gold without its limit, with the sort keys as last columns; perhaps cut off further down.
        """
        keys = len(ties[-1])
        before = sum(label != ties[-1] for label in ties)
        tied = [row[:-keys] for row in unlimited.rows if row[-keys:] == ties[-1]]
        if len(tied) <= len(ties) - before:
            return None
        return cls([row[:-keys] for row in unlimited.rows[:before]], tied, ties)

    def allows(self, table: Table) -> bool:
        """Whether a result is the gold's but for other rows of the tie."""
        return any(
            same_result([*self.rows, *chosen], table, ordered=True, ties=self.ties) for chosen in self._choices(table)
        )

    def _choices(self, table: Table) -> Iterator[Sequence[_Row]]:
        """Rows of the tie that the result may contain: each alone, or those that it does contain."""
        wanted = len(self.ties) - len(self.rows)
        if wanted == 1:
            yield from ([row] for row in self.tied)
            return
        there = Counter(self.tied) & Counter(table.rows)
        if there.total() >= wanted:
            yield list(there.elements())[:wanted]
