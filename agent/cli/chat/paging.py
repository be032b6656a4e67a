"""Paging through all rows of an answer, those beyond what it holds too."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ....tools.errors import SettingsError

if TYPE_CHECKING:
    from ....tools.database import Cancellation
    from ...answers.answer import Answer
    from ...sqlagent import SQLAgent

PAGE = 20
"""Rows of a page."""

_AHEAD = 10
"""So many times the rows that are wanted are read, so that the next pages are at hand."""


@dataclass(frozen=True)
class Page:
    """Rows to show.

    Attributes:
        headings: Names of the columns.
        rows: The rows.
        first: The number of the first one, from 1.
        of: How many there are, or are known of.
        more: Whether there are more than are known of.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    first: int
    of: int
    more: bool

    @property
    def caption(self) -> str:
        """Which rows these are."""
        last = self.first + len(self.rows) - 1
        return f"rows {self.first:,} to {last:,} of {self.of:,}{' or more' if self.more else ''}"


class Pages:
    """The rows of an answer, a page at a time.

    What the answer does not hold is read by running its query anew under the limits of exports.
    """

    def __init__(self, agent: SQLAgent, answer: Answer) -> None:
        self._agent = agent
        self._answer = answer
        self._rows: tuple[tuple[object, ...], ...] = answer.rows
        self._complete = not answer.truncated
        self._more = answer.truncated
        self._shown = (0, min(PAGE, len(answer.rows)))

    def now(self) -> Page:
        """The page that was shown last."""
        return self._page(*self._shown)

    def next(self, count: int, cancellation: Cancellation) -> Page:
        """The next rows.

        Raises:
            SettingsError: There are none.
            TableturnError: The query cannot be run anew.
        """
        first = self._shown[1]
        return self.part(first, first + count, cancellation)

    def part(self, first: int, last: int, cancellation: Cancellation) -> Page:
        """The rows from number `first`, counted from 0, up to `last`.

        Raises:
            SettingsError: There are none.
            TableturnError: The query cannot be run anew.
        """
        if last > len(self._rows) and not self._complete:
            self._read(last * _AHEAD, cancellation)
        last = min(last, len(self._rows))
        if first >= last:
            raise SettingsError(f"there are no more rows: the last one is number {len(self._rows):,}")
        self._shown = (first, last)
        return self._page(first, last)

    def _page(self, first: int, last: int) -> Page:
        return Page(self._answer.headings, self._rows[first:last], first + 1, len(self._rows), self._more)

    def _read(self, rows: int, cancellation: Cancellation) -> None:
        with tempfile.TemporaryFile() as file:
            found = self._agent.export(self._answer, file, "jsonl", rows=rows, cancellation=cancellation)
            file.seek(0)
            self._rows = tuple(tuple(json.loads(line).values()) for line in file)
        self._more = found.truncated
        self._complete = not found.truncated or found.rows < rows
