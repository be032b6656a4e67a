"""What an engine that talks to a server has to do for itself; the rest is in `server.engine`."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

from ...errors import DatabaseUnavailable, ResultTooLarge, TableturnError
from ..estimate import Estimate
from ..fetch import Cursor, Row
from ..profile import ConnectionLost
from ..quoting import quoted
from ..schema import ColumnSchema
from ..session import Session
from ..table import Cell, Limits
from .catalogue import Catalogue, Relation
from .cells import cell
from .reading import Grammar

_AGAIN_SECONDS = 0.5
_HANG_UP_SECONDS = 3.0


class Interrupter:
    """Asks in a thread of its own, for a new connection takes time, and the watchdog looks after other queries too."""

    def __init__(self, ask: Callable[[], None], hang_up: Callable[[], None]) -> None:
        """Both may raise: then it is tried again."""
        self._ask = ask
        self._hang_up = hang_up
        self._first = 0.0
        self._last = 0.0

    def interrupt(self) -> None:
        """Called again and again until the statement has ended."""
        now = time.monotonic()
        self._first = self._first or now
        if now - self._last < _AGAIN_SECONDS:
            return
        self._last = now
        chosen = self._hang_up if now - self._first > _HANG_UP_SECONDS else self._ask
        threading.Thread(target=_quietly, args=(chosen,), name="tableturn-interrupt", daemon=True).start()


def _quietly(ask: Callable[[], None]) -> None:
    try:
        ask()
    except Exception:  # noqa: BLE001 - a driver's error: the next try asks again, the last one hangs up
        return


CUT = 1_000
"""Characters of a value that samples are taken of."""

SHORT = ("number", "time", "boolean")
"""Kinds of columns whose values samples show whole."""


class BoundedRows:
    """What a driver's cursor gives, as cells, none of them longer than it may be; a cursor for `fetch`.

    Attributes:
        description: See `Cursor`.
        complete: Whether all rows are taken, so that nothing is left to be heard of the server.
    """

    def __init__(self, cursor: Any, columns: Iterable[str], limits: Limits) -> None:
        self.description = [(name,) for name in columns]
        self.complete = False
        self._cursor = cursor
        self._longest = limits.cell_bytes
        self._left = limits.rows + 1

    def fetchmany(self, size: int, /) -> list[Row]:
        """Return at most so many further rows."""
        part = [tuple(map(cell, row)) for row in self._cursor.fetchmany(size) or ()]
        if any(isinstance(value, str | bytes) and len(value) > self._longest for row in part for value in row):
            raise ResultTooLarge(f"a value has more than {self._longest:,} bytes: select less of it")
        self._left -= len(part)
        self.complete = len(part) < size or (self._left <= 0 and self._cursor.fetchone() is None)
        return part


class ServerConnection(ABC):
    """One connection, used by one thread at a time; only `interrupt` may be called from another.

    Attributes:
        errors: What the driver raises.
    """

    errors: tuple[type[Exception], ...] = ()
    _interrupter: Interrupter

    @property
    def usable(self) -> bool:
        """Whether another transaction may be begun on it."""
        return True

    @abstractmethod
    def read_version(self) -> str:
        """Return the server's version."""

    @abstractmethod
    def begin(self, seconds: float) -> None:
        """Begin a read-only transaction as the session's person, each statement of which may take so long."""

    @abstractmethod
    def end(self) -> None:
        """Roll the transaction back; never raises."""

    @abstractmethod
    def query(self, sql: str, limits: Limits) -> Cursor:
        """Run a statement that was read and written by `Reader`, which gives one row more than `limits.rows` at most.

        No value longer than `limits.cell_bytes` is taken from the server.
        """

    def notes(self) -> tuple[str, ...]:
        """Return what the server remarks on the query that ran last, once its rows are taken; often nothing."""
        return ()

    @abstractmethod
    def rows(self, sql: str) -> list[tuple[Cell, ...]]:
        """Return all rows of a statement of our own."""

    @abstractmethod
    def compile(self, sql: str) -> None:
        """Have the server read a statement without running it; raises what `query` would."""

    def estimate(self, sql: str, catalogue: Catalogue) -> Estimate | None:
        """Return what the server's plan of a statement tells of its cost; None where that is not known."""
        del sql, catalogue

    @abstractmethod
    def failure(self, error: Exception) -> TableturnError | ConnectionLost:
        """Return what one of `errors` means."""

    def interrupt(self) -> None:
        """End what runs, from another thread; returns at once."""
        self._interrupter.interrupt()

    @abstractmethod
    def close(self) -> None:
        """Close it; never raises."""


class Backend(ABC):
    """A kind of server, one database of it, and who is asking.

    Attributes:
        name: See `Engine`.
        database: See `Engine`.
        location: See `Engine`.
        grammar: What its dialect allows.
        dialect: Sqlglot's name of it.
        patience: How many times as long as on a usual server our own questions may take.
        keeps_permissions: Whether it keeps allow and deny lists itself.
    """

    name: str
    database: str
    location: str
    grammar: Grammar
    dialect: str
    patience = 1.0
    keeps_permissions = False

    @abstractmethod
    def under(self, session: Session) -> Backend:
        """Return the same for another session."""

    @abstractmethod
    def connect(self) -> ServerConnection:
        """Open a new connection.

        Raises:
            DatabaseUnavailable: The server cannot be reached, or refuses.
        """

    @abstractmethod
    def catalogue(self, connection: ServerConnection) -> Catalogue:
        """Return what the session may read."""

    @abstractmethod
    def catalogue_version(self, connection: ServerConnection) -> str:
        """Return what changes whenever the catalogue does; cheap."""

    def state(self, connection: ServerConnection) -> str:
        """See `Engine`; cheap. Without a common way to tell, it never changes."""
        del connection
        return ""

    @abstractmethod
    def warnings(self, connection: ServerConnection) -> tuple[str, ...]:
        """Return what the login may do that it should not."""

    def query_log(self, connection: ServerConnection, most: int) -> tuple[str, ...]:
        """See `ServerEngine.query_log`."""
        del connection, most
        raise DatabaseUnavailable(f"{self.name} keeps no queries that could be read: give a file of SQL")

    def check_text(self, statement: str) -> None:
        """Raise `QueryRejected` for a statement that the server would make something else of than what was checked."""
        del statement

    def quoted(self, name: str) -> str:
        """Return a name as an SQL identifier."""
        return quoted(name, self.dialect)

    def source(self, relation: Relation) -> str:
        """Return a table's name with its schema's, as SQL."""
        name = self.quoted(relation.name)
        return f"{self.quoted(relation.schema)}.{name}" if relation.schema else name

    def sample(self, relation: Relation, rows: int) -> str:
        """Return a query for the first rows of a table, all columns, with long values cut."""
        listed = ", ".join(map(self.cut, relation.columns))
        return f"SELECT {listed} FROM {self.source(relation)} LIMIT {int(rows)}"

    def cut(self, column: ColumnSchema) -> str:
        """Return a column as SQL, of long values the beginning."""
        name = self.quoted(column.name)
        return name if column.kind in SHORT else f"left({name}, {CUT})"
