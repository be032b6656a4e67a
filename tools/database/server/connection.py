"""The parts of a server's engine that differ by server."""

from __future__ import annotations

import json
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime
from datetime import time as time_of_day
from decimal import Decimal
from functools import partial
from math import isfinite
from typing import Any

from ...errors import DatabaseUnavailable, ResultTooLarge, TableturnError
from ..estimate import Estimate
from ..fetch import Cursor, Row, Sink, fetch
from ..profile import ConnectionLost, EngineProfile
from ..quoting import quote
from ..schema import ColumnSchema
from ..session import Session
from ..table import Cell, Limits, Table
from .catalogue import Catalogue, Relation, read_catalogue, read_version
from .statement_check import StatementGrammar

_AGAIN_SECONDS = 0.5
_HANG_UP_SECONDS = 3.0


class Interrupter:
    """An interrupter that ends a running statement from a thread, over a new connection.

    Of what it is given, one asks the server to, and one hangs up, later; both may raise, and are then tried again.
    """

    def __init__(self, ask: Callable[[], None], hang_up: Callable[[], None]) -> None:
        self._ask = ask
        self._hang_up = hang_up
        self._first = 0.0
        self._last = 0.0

    def interrupt(self) -> None:
        """Try to end the statement in a new thread; callers repeat this until it has ended."""
        now = time.monotonic()
        self._first = self._first or now
        if now - self._last >= _AGAIN_SECONDS:
            self._last = now
            threading.Thread(target=self._try_interrupt, args=(now,), name="tableturn-interrupt", daemon=True).start()

    def _try_interrupt(self, now: float) -> None:
        with suppress(Exception):
            (self._hang_up if now - self._first > _HANG_UP_SECONDS else self._ask)()


def convert_to_cell(value: Any) -> Cell:
    """Convert a value of a database driver to a cell.

    Truth values are 1 and 0, whole decimals exact integers, other decimals the nearest float; times are ISO text, with
    their zone where they have one; lists, structs and maps JSON; numbers that are none (`nan`, `inf`) and everything
    else the text that Python makes of it.
    """
    match value:
        case None | str() | bytes():
            return value
        case float():
            return value if isfinite(value) else str(value)
        case int():
            return int(value)
        case bytearray() | memoryview():
            return bytes(value)
        case list() | tuple() | dict():
            return json.dumps(_convert_to_json_value(value), ensure_ascii=False)
        case _:
            return _convert_scalar(value)


def _convert_to_json_value(value: Any) -> Any:
    """Convert a value to JSON types only; keys of mappings become texts."""
    if isinstance(value, dict):
        return {str(key): _convert_to_json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_convert_to_json_value(item) for item in value]
    return value if value is None or isinstance(value, str | int | float) else _convert_scalar(value)


def _convert_scalar(value: Any) -> int | float | str:
    match value:
        case Decimal():
            return int(value) if value.as_tuple().exponent == 0 else float(value)
        case datetime():
            return value.isoformat(" ")
        case date() | time_of_day():
            return value.isoformat()
        case _:
            return str(value)


CUT = 1_000
"""Characters of a value that samples are taken of."""

SHORT = ("number", "time", "boolean")
"""Kinds of columns whose values samples show whole."""


class BoundedRowCursor:
    """A cursor over the rows of a driver as cells, each of limited length.

    `complete` tells whether all rows are taken, so that nothing is left to be heard of the server.
    """

    def __init__(self, cursor: Any, columns: Iterable[str], limits: Limits) -> None:
        self.description = [(name,) for name in columns]
        self.complete = False
        self._cursor = cursor
        self._longest = limits.cell_bytes
        self._rows_left = limits.rows + 1

    def fetchmany(self, size: int, /) -> list[Row]:
        batch = [tuple(map(convert_to_cell, row)) for row in self._cursor.fetchmany(size) or ()]
        if any(isinstance(value, str | bytes) and len(value) > self._longest for row in batch for value in row):
            raise ResultTooLarge(f"a value has more than {self._longest:,} bytes: select less of it")
        self._rows_left -= len(batch)
        self.complete = len(batch) < size or (self._rows_left <= 0 and self._cursor.fetchone() is None)
        return batch


class ServerConnection(ABC):
    """A server connection for one thread at a time; only `interrupt` may come from another."""

    errors: tuple[type[Exception], ...] = ()  # what the driver raises
    _interrupter: Interrupter
    _longest = Limits().cell_bytes  # bytes of the longest value that the last query may give

    @property
    def is_usable(self) -> bool:
        """Whether another transaction can begin on the connection."""
        return True

    @abstractmethod
    def read_version(self) -> str:
        """Return the server's version."""

    @abstractmethod
    def begin(self, seconds: float) -> None:
        """Begin a read-only transaction as the session's person, with `seconds` per statement."""

    def end(self) -> None:  # noqa: B027 - not every connection has what to end
        """Roll back the transaction; never raise an error."""

    def query(self, sql: str, limits: Limits) -> Cursor:
        """Run a checked statement, for at most one row more than `limits.rows`.

        No value longer than `limits.cell_bytes` is taken from the server.
        """
        raise NotImplementedError

    def fetch(self, sql: str, limits: Limits, sink: Sink | None, start: float) -> Table:
        """Run a checked statement that was received at `start`, and return the result."""
        table = fetch(self.query(sql, limits), limits, sink, start)
        return replace(table, notes=self.notes())

    def notes(self) -> tuple[str, ...]:
        """Return the server's remarks on the last query, available once all rows are read."""
        return ()

    @abstractmethod
    def rows(self, sql: str) -> list[tuple[Cell, ...]]:
        """Run one of tableturn's own statements and return all rows."""

    @abstractmethod
    def compile(self, sql: str) -> None:
        """Have the server compile a statement without running it; raise the same errors as `query`."""

    def estimate(self, sql: str) -> Estimate | None:
        """Estimate the cost of a statement from the server's plan; None if it is unknown."""
        del sql

    @abstractmethod
    def make_error(self, error: Exception) -> TableturnError | ConnectionLost:
        """Return the typed error for an error that the driver raised."""

    def interrupt(self) -> None:
        """End the running statement from another thread; return at once."""
        self._interrupter.interrupt()

    def close(self) -> None:  # noqa: B027
        """Close the connection; never raise."""


class Backend(ABC):
    """A database on one kind of server, as one session uses it.

    Attributes:
        grammar: What its dialect allows.
        dialect: Sqlglot's name of it.
        patience: How many times as long as on a usual server our own questions may take.
        keeps_permissions: Whether it keeps allow and deny lists itself.
        profile: What the server is told and asked, unless it is asked in another way.
        default_schema: Where schemas are chosen, the one that the login looks names up in elsewhere.
    """

    name: str
    database: str
    location: str
    grammar: StatementGrammar
    dialect: str
    profile: EngineProfile
    patience = 1.0
    keeps_permissions = False
    default_schema: str | None = None
    _session: Session
    _readable = ""  # what the profile's statements say to what may be read

    @abstractmethod
    def with_session(self, session: Session) -> Backend:
        """Return the same backend for another session."""

    @abstractmethod
    def connect(self) -> ServerConnection:
        """Open a new connection.

        Raises:
            DatabaseUnavailable: The server cannot be reached, or refuses.
        """

    def catalogue(self, connection: ServerConnection) -> Catalogue:
        """Return the catalogue of the tables that the session may read."""
        return read_catalogue(partial(self._read_profile_rows, connection), self._session.key)

    def catalogue_version(self, connection: ServerConnection) -> str:
        """Return, quickly, a key that changes whenever the catalogue changes."""
        return read_version(partial(self._read_profile_rows, connection), self._session.key)

    def _read_profile_rows(self, connection: ServerConnection, name: str) -> list[tuple[Cell, ...]]:
        """Return the rows of one of the profile's statements, given its name."""
        return connection.rows(self.profile.statements[name].format(readable=self._readable))

    def state(self, connection: ServerConnection) -> str:
        """Return a key that changes with the contents; empty if no cheap key exists."""
        del connection
        return ""

    @abstractmethod
    def warnings(self, connection: ServerConnection) -> tuple[str, ...]:
        """Return warnings about rights that the login should not have."""

    def read_query_log(self, connection: ServerConnection, limit: int) -> tuple[str, ...]:
        del connection, limit
        raise DatabaseUnavailable(f"{self.name} has no query log that can be read: give a file of SQL instead")

    def check_text(self, statement: str) -> None:
        """Raise `QueryRejected` if the server would read a statement differently from the check."""
        del statement

    def quote_identifier(self, name: str) -> str:
        """Return a name as a quoted SQL identifier."""
        return quote(name, self.dialect)

    def source(self, relation: Relation) -> str:
        """Return a table's name as SQL, qualified with the schema's name."""
        name = self.quote_identifier(relation.name)
        return f"{self.quote_identifier(relation.schema)}.{name}" if relation.schema else name

    def make_sample_sql(self, relation: Relation, rows: int) -> str:
        """Return a query for the first rows of a table, with long values shortened."""
        column_list = ", ".join(map(self.shorten_column, relation.columns))
        return f"SELECT {column_list} FROM {self.source(relation)} LIMIT {int(rows)}"

    def shorten_column(self, column: ColumnSchema) -> str:
        """Return an SQL expression for a column, with long values shortened."""
        name = self.quote_identifier(column.name)
        return name if column.kind in SHORT else f"left({name}, {CUT})"
