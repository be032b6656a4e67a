"""The newest date that a column holds, looked up once for as long as the data is the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from ..database.quoting import naming
from ..database.table import Limits, Table
from ..errors import TableturnError
from .dates import is_day

_SECONDS = 0.1


class Newest:
    """Newest dates of one database's columns. May be used from several threads.

    Args:
        execute: Runs a query as far as its result may leave.
        state: A key that changes whenever the data may have.
        dialect: Of the database.
    """

    def __init__(self, execute: Callable[[str, Limits], Table], state: Callable[[], str], dialect: str) -> None:
        self._execute = execute
        self._state = state
        self._dialect = dialect
        self._remembered = lru_cache(256)(self._look)

    def of(self, table: str, column: str) -> str:
        """Return the newest date as text; empty if it may not leave, or takes too long to find."""
        try:
            return self._remembered(self._state(), table, column)
        except TableturnError:
            return ""

    def _look(self, _state: str, table: str, column: str) -> str:
        quoted = naming(self._dialect).quoted
        query = f"SELECT MAX({quoted(column)}) AS newest FROM {quoted(table)}"
        try:
            result = self._execute(query, Limits(seconds=_SECONDS, rows=1))
        except TableturnError:
            return ""
        value = result.rows[0][0] if result.rows and not result.withheld else None
        # The greatest of texts that do not sort as days, as 31/12/2023, is not the newest.
        day = str(value)[:10]
        return day if is_day(day) else ""
