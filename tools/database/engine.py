"""The protocol of engines, which are kinds of databases; each has a folder of its own.

`tests/tools/database/conformance` says, for every engine, what these methods promise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..errors import QueryError
from .estimate import Estimate
from .fetch import Sink
from .schema import Schema, TableSchema
from .session import Session
from .table import Cell, Limits, Table
from .watchdog import Cancellation


class TooComplex(Exception):
    """A query would take too long, or too much memory, to compile."""


class Engine(Protocol):
    """One open database under one session. May be used from any number of threads.

    Attributes:
        name: The engine's name, as prompts and messages give it: `SQLite`, `PostgreSQL`.
        dialect: The SQL that it reads, by sqlglot's name: `sqlite`, `postgres`.
        version: The engine's version; empty where it does not say.
        database: The database's short name.
        location: Where the database is, the same for everybody who opens it; never with a password.
        warnings: What the login may do that it should not, what cannot be promised or was guessed here, and what to do.
    """

    name: str
    dialect: str
    version: str
    database: str
    location: str
    warnings: tuple[str, ...]

    def state(self) -> str:
        """Return a key that changes when the contents may have changed; empty if that is unknown."""
        ...

    def under(self, session: Session) -> Engine:
        """Return the same database for another session.

        Raises:
            SettingsError: The session's permissions name what the database does not have, or cannot be kept here.
        """
        ...

    def schema(self) -> Schema:
        """Return tables, columns, keys, counts and samples of what the session may read.

        Raises:
            DatabaseUnavailable: The database is gone, damaged or locked.
        """
        ...

    def execute(self, sql: str, limits: Limits, cancellation: Cancellation | None, sink: Sink | None = None) -> Table:
        """Run one reading statement; a sink takes the rows as they come, instead of the table.

        Raises:
            QueryError: It may not run, failed, ran out of time, or gave too much.
            DatabaseUnavailable: The database is gone or damaged.
        """
        ...

    def distinct_values(self, table: str, column: str, limit: int, seconds: float) -> tuple[Cell, ...]:
        """Return distinct non-null values of a column, named as declared; may raise `QueryFailed`."""
        ...

    def compile_check(self, sql: str, tables: Sequence[TableSchema]) -> QueryError | None:
        """Return why the engine would refuse a query; raise `TooComplex` if telling takes too long."""
        ...

    def estimate(self, sql: str) -> Estimate | None:
        """Return the cost of a query by the engine's plan, without running it; None if unknown.

        Raises:
            QueryError: The engine would not run it.
            DatabaseUnavailable: The database is gone or damaged.
        """
        ...

    def close(self) -> None:
        """Close what is open; queries that still run end by themselves."""
        ...
