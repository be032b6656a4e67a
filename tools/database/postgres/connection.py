"""One connection to PostgreSQL: transactions that only read, results taken row by row."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Generator, Sequence
from itertools import islice
from typing import Any, cast

import psycopg
from psycopg import pq

from ...errors import TableturnError
from ..estimate import Estimate
from ..server.catalogue import Catalogue
from ..server.connection import ConnectionLost
from ..server.interrupting import Interrupter
from ..table import Cell, Limits
from .bounds import bounded
from .failures import failure
from .plan import ALONE, estimate

_CHUNK = 100
_LOCK_MILLISECONDS = 1_000
_CANCEL_SECONDS = 2.0

Row = tuple[Cell, ...]


class Rows:
    """The rows that the server sends; a cursor for `fetch`."""

    def __init__(self, columns: Sequence[str], rows: Generator[Row], most: int) -> None:
        self.description = [(column,) for column in columns]
        self._rows = rows
        self._left = most

    def fetchmany(self, size: int) -> list[Row]:
        """The next rows; the last column tells only that the row was not too large."""
        part = [row[:-1] for row in islice(self._rows, size)]
        self._left -= len(part)
        if self._left <= 0:
            # Hear the server out: closing a result that has not ended would need a second connection.
            next(self._rows, None)
        return part

    def close(self) -> None:
        """Takes no more of them."""
        self._rows.close()


class PostgresConnection:
    """See `ServerConnection`."""

    errors = (psycopg.Error, OSError)

    def __init__(self, connection: psycopg.Connection[Row], session: str, remark: Callable[[], str]) -> None:
        """Wraps a connection in autocommit.

        Args:
            connection: To be used by this alone.
            session: What makes a transaction the session's person's.
            remark: Gives the comment before a statement.
        """
        self._connection = connection
        self._session = session
        self._remark = remark
        self._result: Rows | None = None
        self._longest = Limits().cell_bytes
        self._interrupter = Interrupter(lambda: connection.cancel_safe(timeout=_CANCEL_SECONDS), self._hang_up)
        version = connection.info.server_version
        self.version = f"{version // 10_000}.{version % 10_000}"

    @property
    def info(self) -> psycopg.ConnectionInfo:
        """Where it leads."""
        return self._connection.info

    @property
    def usable(self) -> bool:
        """See `ServerConnection`."""
        return self._connection.info.transaction_status == pq.TransactionStatus.IDLE

    def begin(self, seconds: float) -> None:
        """See `ServerConnection`."""
        limit = max(1, round(seconds * 1_000))
        self._connection.execute(
            f"{self._remark()}BEGIN READ ONLY;"
            f" SET LOCAL statement_timeout = {limit}; SET LOCAL lock_timeout = {_LOCK_MILLISECONDS};"
            f" SET LOCAL idle_in_transaction_session_timeout = {limit + 30_000}{self._session}".encode()
        )

    def end(self) -> None:
        """See `ServerConnection`."""
        try:
            if self._result is not None:
                self._result.close()
            if self._connection.info.transaction_status != pq.TransactionStatus.IDLE:
                self._connection.execute(f"{self._remark()}ROLLBACK".encode())
        except psycopg.Error:
            self.close()
        self._result = None

    def query(self, sql: str, limits: Limits) -> Rows:
        """See `ServerConnection`."""
        self._longest = limits.cell_bytes
        described = self._described(sql)
        columns = [(described.fname(at) or b"").decode("utf-8", "replace") for at in range(described.nfields)]
        types = [described.ftype(at) for at in range(described.nfields)]
        cursor = self._connection.cursor()
        statement = (self._remark() + bounded(sql, types, limits)).encode()
        chunk = max(1, min(_CHUNK, limits.result_bytes // max(1, limits.cell_bytes)))
        rows = cast("Generator[Row]", cursor.stream(statement, size=chunk))
        self._result = Rows(columns, rows, limits.rows + 1)
        return self._result

    def notes(self) -> tuple[str, ...]:
        """See `ServerConnection`: there are none."""
        return ()

    def rows(self, sql: str) -> list[Row]:
        """See `ServerConnection`."""
        return self._connection.execute((self._remark() + sql).encode()).fetchall()

    def compile(self, sql: str) -> None:
        """See `ServerConnection`."""
        self._described(sql)

    def estimate(self, sql: str, catalogue: Catalogue) -> Estimate | None:
        """See `ServerConnection`."""
        del catalogue
        self._connection.execute((self._remark() + ALONE).encode())
        return estimate(sql, self.rows)

    def failure(self, error: Exception) -> TableturnError | ConnectionLost:
        """See `ServerConnection`."""
        return failure(error, self._longest) if isinstance(error, psycopg.Error) else ConnectionLost(str(error))

    def interrupt(self) -> None:
        """See `ServerConnection`."""
        self._interrupter.interrupt()

    def close(self) -> None:
        """See `ServerConnection`."""
        self._connection.close()

    def _described(self, sql: str) -> Any:
        """The result's columns, told by the server without running the statement, which has to be a single one."""
        server = self._connection.pgconn
        for result in (server.prepare(b"", (self._remark() + sql).encode()), server.describe_prepared(b"")):
            if result.status != pq.ExecStatus.COMMAND_OK:
                raise psycopg.errors.error_from_result(result, encoding="utf-8")
        return result

    def _hang_up(self) -> None:
        with socket.socket(fileno=os.dup(self._connection.fileno())) as connected:
            connected.shutdown(socket.SHUT_RDWR)
