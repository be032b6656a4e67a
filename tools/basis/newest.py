"""The newest date that a column holds, looked up once for as long as the data is the same."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from ..database.quoting import naming
from ..database.table import Limits, Table
from ..errors import TableturnError
from .dates import is_day

_SECONDS = 0.1
_KEPT = 256


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
        self._known: OrderedDict[tuple[str, str, str], str] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, table: str, column: str) -> str:
        """The newest date as text; empty where it may not leave, or takes too long to find."""
        try:
            key = (self._state(), table, column)
            with self._lock:
                if key in self._known:
                    return self._known[key]
            found = self._look(table, column)
        except TableturnError:
            return ""
        with self._lock:
            self._known[key] = found
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return found

    def _look(self, table: str, column: str) -> str:
        schema, _, name = ("", "", table) if self._dialect == "sqlite" else table.rpartition(".")
        quoted = naming(self._dialect).quoted
        source = ".".join(quoted(part) for part in (schema, name) if part)
        query = f"SELECT MAX({quoted(column)}) AS newest FROM {source}"
        try:
            result = self._execute(query, Limits(seconds=_SECONDS, rows=1))
        except TableturnError:
            return ""
        value = result.rows[0][0] if result.rows and not result.withheld else None
        # The greatest of texts that do not sort as days, as 31/12/2023, is not the newest.
        day = str(value)[:10]
        return day if is_day(day) else ""
