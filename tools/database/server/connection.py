"""What an engine that talks to a server has to do for itself; the rest is in `server.engine`."""

from __future__ import annotations

from typing import Protocol

from ...errors import TableturnError
from ..estimate import Estimate
from ..fetch import Cursor
from ..session import Session
from ..table import Cell, Limits
from .catalogue import Catalogue, Relation
from .reading import Grammar


class ConnectionLost(Exception):
    """The server hung up, or went away, before it had answered."""


class ServerConnection(Protocol):
    """One connection, used by one thread at a time; only `interrupt` may be called from another."""

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """What the driver raises."""
        ...

    @property
    def version(self) -> str:
        """The server's version."""
        ...

    @property
    def usable(self) -> bool:
        """Whether another transaction may be begun on it."""
        ...

    def begin(self, seconds: float) -> None:
        """Begins a read-only transaction as the session's person, each statement of which may take so long."""
        ...

    def end(self) -> None:
        """Rolls the transaction back; never raises."""
        ...

    def query(self, sql: str, limits: Limits) -> Cursor:
        """Runs a statement that was read and written by `Reader`, which gives one row more than `limits.rows` at most.

        No value longer than `limits.cell_bytes` is taken from the server.
        """
        ...

    def notes(self) -> tuple[str, ...]:
        """What the server remarks on the query that ran last, once its rows are taken; often nothing."""
        ...

    def rows(self, sql: str) -> list[tuple[Cell, ...]]:
        """All rows of a statement of our own."""
        ...

    def compile(self, sql: str) -> None:
        """Has the server read a statement without running it; raises what `query` would."""
        ...

    def estimate(self, sql: str, catalogue: Catalogue) -> Estimate | None:
        """What the server's plan of a statement tells of its cost; None where that is not known."""
        ...

    def failure(self, error: Exception) -> TableturnError | ConnectionLost:
        """What one of `errors` means."""
        ...

    def interrupt(self) -> None:
        """Ends what runs, from another thread; returns at once."""
        ...

    def close(self) -> None:
        """Closes it; never raises."""
        ...


class Backend(Protocol):
    """A kind of server, one database of it, and who is asking."""

    @property
    def name(self) -> str:
        """See `Engine`."""
        ...

    @property
    def database(self) -> str:
        """See `Engine`."""
        ...

    @property
    def location(self) -> str:
        """See `Engine`."""
        ...

    @property
    def grammar(self) -> Grammar:
        """What its dialect allows."""
        ...

    @property
    def dialect(self) -> str:
        """Sqlglot's name of it."""
        ...

    def under(self, session: Session) -> Backend:
        """The same for another session."""
        ...

    def connect(self) -> ServerConnection:
        """A new connection.

        Raises:
            DatabaseUnavailable: The server cannot be reached, or refuses.
        """
        ...

    def catalogue(self, connection: ServerConnection) -> Catalogue:
        """What the session may read."""
        ...

    def catalogue_version(self, connection: ServerConnection) -> str:
        """Changes whenever the catalogue does; cheap."""
        ...

    def state(self, connection: ServerConnection) -> str:
        """See `Engine`; cheap."""
        ...

    def warnings(self, connection: ServerConnection) -> tuple[str, ...]:
        """What the login may do that it should not."""
        ...

    def quoted(self, name: str) -> str:
        """A name as an SQL identifier."""
        ...

    def source(self, relation: Relation) -> str:
        """A table's name with its schema's, as SQL."""
        ...

    def sample(self, relation: Relation, rows: int) -> str:
        """A query for the first rows of a table, all columns, with long values cut."""
        ...
