"""One connection through SQLAlchemy: a transaction that is rolled back, results taken row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlalchemy
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from ...errors import QueryFailed, QueryTimeout, TableturnError
from ..estimate import Estimate
from ..mysql import engine as mysql
from ..postgres import engine as postgres
from ..profile import ConnectionLost
from ..server.catalogue import Catalogue
from ..server.cells import cell
from ..server.connection import BoundedRows, Interrupter, ServerConnection
from ..table import Cell, Limits

Row = tuple[Cell, ...]

# Without parameters, no driver reads `%` as a placeholder.
_PLAIN = {"no_parameters": True}
_STREAMED = {**_PLAIN, "stream_results": True, "max_row_buffer": 100}


class SQLAlchemyConnection(ServerConnection):
    """A connection of any driver that SQLAlchemy knows."""

    errors = (SQLAlchemyError, OSError)

    def __init__(
        self,
        connection: sqlalchemy.Connection,
        begins: Callable[[float], tuple[str, ...]],
        ends: Callable[[], None] | None,
        failed: Callable[[Exception, int], TableturnError | ConnectionLost] | None,
        remark: Callable[[], str],
        private: bool,
    ) -> None:
        """Wraps a connection.

        Args:
            connection: To be used by this alone.
            begins: Statements before each transaction, where the dialect has any, by the seconds that it may take.
            ends: Ends, on another connection, what runs on this one; None where nothing can.
            failed: What the driver's errors mean, where the dialect has codes for them.
            remark: Gives the comment before a statement.
            private: Whether there is something in the database that may not leave.
        """
        self.connection = connection
        self._begins = begins
        self._failed = failed
        self._remark = remark
        self._private = private
        self._result: BoundedRows | None = None
        self._sent: Any = None
        self._longest = Limits().cell_bytes
        self._interrupter = Interrupter(ends or _nothing, ends or _nothing)

    def read_version(self) -> str:
        told = self.connection.dialect.server_version_info
        return ".".join(map(str, told)) if told else ""

    @property
    def usable(self) -> bool:
        return not self.connection.closed and not self.connection.invalidated

    def begin(self, seconds: float) -> None:
        for statement in self._begins(seconds):
            self.connection.exec_driver_sql(self._remark() + statement)

    def end(self) -> None:
        try:
            if self._result is not None and not self._result.complete:
                # A driver may want to hear all rows that are left.
                self.close()
            elif not self.connection.closed:
                self.connection.rollback()
        except (SQLAlchemyError, OSError):
            self.close()
        self._result = None

    def query(self, sql: str, limits: Limits) -> BoundedRows:
        self._longest = limits.cell_bytes
        result = self.connection.exec_driver_sql(self._remark() + sql, execution_options=_STREAMED)
        self._result = BoundedRows(result, map(str, result.keys()), limits)
        # PyMySQL's own result, which outlives the cursor.
        self._sent = getattr(result.cursor, "_result", None)
        return self._result

    def notes(self) -> tuple[str, ...]:
        # Those of MySQL and MariaDB, where all rows are here.
        if self._result is None or not self._result.complete:
            return ()
        return mysql.diagnostics(int(getattr(self._sent, "warning_count", 0)), self.rows)

    def rows(self, sql: str) -> list[Row]:
        result = self.connection.exec_driver_sql(self._remark() + sql, execution_options=_PLAIN)
        return [tuple(map(cell, row)) for row in result]

    def compile(self, sql: str) -> None:
        # A dialect without a way to have a statement only read is asked for no rows of it.
        match self.connection.dialect.name:
            case "mysql" | "mariadb":
                self.connection.execute(sqlalchemy.text("SET @tableturn = :sql"), {"sql": self._remark() + sql})
                self._do("PREPARE tableturn FROM @tableturn", "DEALLOCATE PREPARE tableturn")
            case "postgresql":
                self._do(f"PREPARE tableturn AS {sql}", "DEALLOCATE tableturn")
            case "sqlite":
                self._do(f"EXPLAIN {sql}")
            # It may compute what needs no row, and its message quote that: with rules of what may leave, nobody asks.
            case _ if not self._private:
                self.rows(f"SELECT 1 FROM ({sql}) AS q WHERE 1 = 0")
            case _:
                return

    def _do(self, *statements: str) -> None:
        for statement in statements:
            self.connection.exec_driver_sql(self._remark() + statement, execution_options=_PLAIN)

    def estimate(self, sql: str, catalogue: Catalogue) -> Estimate | None:
        # As the engine of its own does, where there is one for the dialect.
        del catalogue
        kind = self.connection.dialect.name
        if kind == "postgresql":
            self.connection.exec_driver_sql(self._remark() + postgres.ALONE)
            return postgres.estimate(sql, self.rows)
        if kind in ("mysql", "mariadb"):
            is_mariadb = getattr(self.connection.dialect, "is_mariadb", False)
            asks = mysql.PROFILE.statements["explain_mariadb" if is_mariadb else "explain_mysql"]
            result = self.connection.exec_driver_sql(f"{self._remark()}{asks} {sql}", execution_options=_PLAIN)
            return mysql.estimate([dict(line) for line in result.mappings()])
        return None

    def failure(self, error: Exception) -> TableturnError | ConnectionLost:
        if isinstance(error, DBAPIError):
            if error.connection_invalidated:
                return ConnectionLost(str(error.orig))
            if self._failed is not None and isinstance(error.orig, Exception):
                return self._failed(error.orig, self._longest)
            message = " ".join(str(error.orig).split())[:300]
            return QueryTimeout(message) if "timeout" in message.lower() else QueryFailed(message)
        return QueryFailed(" ".join(str(error).split())[:300])

    def close(self) -> None:
        try:
            if self._result is not None and not self._result.complete:
                _forget_rows(self.connection)
            self.connection.invalidate()
            self.connection.close()
        except (SQLAlchemyError, OSError):
            return


def _nothing() -> None:
    return None


def _forget_rows(connection: sqlalchemy.Connection) -> None:
    """PyMySQL's connections hear all rows that are left before they close."""
    held: Any = connection.connection.driver_connection
    result = getattr(held, "_result", None)
    if result is not None and hasattr(result, "unbuffered_active"):
        result.unbuffered_active = False
        held._result = None
