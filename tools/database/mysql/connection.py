"""One connection to MySQL or MariaDB: transactions that only read, results taken row by row."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pymysql
from pymysql.connections import MAX_PACKET_LEN
from pymysql.constants import FIELD_TYPE
from pymysql.converters import escape_string
from pymysql.cursors import DictCursor, SSCursor

from ...errors import TableturnError
from ..estimate import Estimate
from ..profile import ConnectionLost
from ..server.catalogue import Catalogue
from ..server.connection import BoundedRows, Interrupter, ServerConnection
from ..table import Cell, Limits
from .engine import PROFILE, TOO_LARGE, diagnostics, estimate, failure

Row = tuple[Cell, ...]


class BoundedConnection(pymysql.connections.Connection):
    """A driver's connection that takes no row past a limit into memory."""

    largest_row = 0
    _held = 0

    def _read_bytes(self, num_bytes: int) -> bytes:
        """A row of 16 MB and more comes in parts of that size, the last of which is shorter."""
        self._held = self._held + num_bytes if num_bytes == MAX_PACKET_LEN else 0
        if self.largest_row and self._held > self.largest_row:
            driver: Any = self
            driver._force_close()
            raise pymysql.err.DataError(TOO_LARGE, "a row is too large")
        inherited: Any = super()
        return inherited._read_bytes(num_bytes)


class MySQLConnection(ServerConnection):
    """A connection whose rows come one by one."""

    errors = (pymysql.err.Error, OSError)

    def __init__(self, connection: BoundedConnection, kill: Callable[[int], None], remark: Callable[[], str]) -> None:
        self._connection = connection
        self._remark = remark
        self._result: BoundedRows | None = None
        self._sent: SSCursor | None = None
        self._limits = Limits()
        self._set: dict[str, int] = {}
        number = connection.thread_id()
        driver: Any = connection
        self._interrupter = Interrupter(lambda: kill(number), self._hang_up)
        told = str(driver.server_version)
        self.is_mariadb = "mariadb" in told.lower()
        self._kind = "mariadb" if self.is_mariadb else "mysql"
        self._version = told.removeprefix("5.5.5-").split("-")[0]

    def read_version(self) -> str:
        return self._version

    @property
    def usable(self) -> bool:
        return bool(self._connection.open)

    def begin(self, seconds: float) -> None:
        # In seconds on MariaDB, which knows fractions, in milliseconds on MySQL.
        milliseconds = max(1, round(seconds * 1_000))
        if self._set.get("time") != milliseconds:
            asked = PROFILE.statements[f"timeout_{self._kind}"]
            self._do(asked.format(milliseconds=milliseconds, seconds=milliseconds / 1_000))
            self._set["time"] = milliseconds
        self._limit_rows(None)
        for statement in PROFILE.begin:
            self._do(statement)

    def end(self) -> None:
        try:
            if self._result is not None and not self._result.complete:
                # There may be any number of further rows: hang up rather than hear them all.
                self.close()
            elif self._connection.open:
                self._connection.rollback()
        except (pymysql.err.Error, OSError):
            self.close()
        self._result = None

    def query(self, sql: str, limits: Limits) -> BoundedRows:
        self._limits = limits
        self._limit_rows(limits.rows + 1)
        self._connection.largest_row = limits.result_bytes
        cursor = self._connection.cursor(SSCursor)
        cursor.execute(self._remark() + sql)
        self._result = BoundedRows(cursor, [entry[0] for entry in cursor.description or ()], limits)
        self._sent = cursor
        return self._result

    def notes(self) -> tuple[str, ...]:
        # Its warnings, where it has sent all rows.
        if self._result is None or self._sent is None or not self._result.complete:
            return ()
        return diagnostics(self._sent.warning_count, self.rows)

    def rows(self, sql: str) -> list[Row]:
        with self._connection.cursor() as cursor:
            cursor.execute(self._remark() + sql)
            return [tuple(row) for row in cursor.fetchall()]

    def compile(self, sql: str) -> None:
        self._do(f"PREPARE tableturn FROM '{escape_string(self._remark() + sql)}'")
        self._do("DEALLOCATE PREPARE tableturn")

    def estimate(self, sql: str, catalogue: Catalogue) -> Estimate | None:
        del catalogue
        with self._connection.cursor(DictCursor) as cursor:
            cursor.execute(f"{self._remark()}{PROFILE.statements[f'explain_{self._kind}']} {sql}")
            return estimate(cursor.fetchall())

    def failure(self, error: Exception) -> TableturnError | ConnectionLost:
        return failure(error, self._limits.cell_bytes)

    def close(self) -> None:
        # The driver's own `close` would hear all rows that are left.
        connected: Any = self._connection
        if connected._result is not None:
            connected._result.unbuffered_active = False
            connected._result = None
        connected._force_close()

    def _limit_rows(self, rows: int | None) -> None:
        """The server stops after so many rows where the statement itself has no lower limit."""
        wanted = rows or 2**64 - 1
        if self._set.get("sql_select_limit", 2**64 - 1) != wanted:
            self._do(f"SET SESSION sql_select_limit = {wanted}")
            self._set["sql_select_limit"] = wanted

    def _do(self, sql: str) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(self._remark() + sql)

    def _hang_up(self) -> None:
        connected: Any = self._connection
        connected._sock.shutdown(socket.SHUT_RDWR)


_INTEGERS = (
    FIELD_TYPE.TINY,
    FIELD_TYPE.SHORT,
    FIELD_TYPE.LONG,
    FIELD_TYPE.LONGLONG,
    FIELD_TYPE.INT24,
    FIELD_TYPE.YEAR,
)


def _decimal(text: str) -> int | float:
    return int(text) if text.lstrip("-").isdigit() else float(text)


def _bits(data: bytes) -> int:
    return int.from_bytes(data, "big")


DECODERS = {
    **dict.fromkeys(_INTEGERS, int),
    FIELD_TYPE.FLOAT: float,
    FIELD_TYPE.DOUBLE: float,
    FIELD_TYPE.DECIMAL: _decimal,
    FIELD_TYPE.NEWDECIMAL: _decimal,
    FIELD_TYPE.BIT: _bits,
}
"""How to load the values of each type, as MySQL and MariaDB write them.

Integers and whole decimals are exact integers, other decimals the nearest float, bit fields integers, binary strings
bytes. Everything else, times and JSON, enumerations and sets, is the text that the server writes, timestamps in the
session's zone, which is the server's.
"""
