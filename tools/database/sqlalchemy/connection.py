"""One connection through SQLAlchemy: a transaction that is rolled back, results taken row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlalchemy
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from ...errors import QueryFailed, QueryTimeout, TableturnError
from ..estimate import Estimate
from ..mysql import dialect as mysql
from ..postgres import dialect as postgres
from ..profile import ConnectionLost, Profile
from ..server.catalogue import Catalogue
from ..server.cells import cell
from ..server.connection import BoundedRows, Interrupter, ServerConnection
from ..table import Cell, Limits

Row = tuple[Cell, ...]

# Without parameters, no driver reads `%` as a placeholder.
_PLAIN = {"no_parameters": True}
# What the drivers' errors mean, on the dialects whose codes are known.
_FAILURES = {"mysql": mysql.failure, "mariadb": mysql.failure, "postgresql": postgres.failure}
_STREAMED = {**_PLAIN, "stream_results": True, "max_row_buffer": 100}


class SQLAlchemyConnection(ServerConnection):
    """A connection of any driver that SQLAlchemy knows."""

    errors = (SQLAlchemyError, OSError)

    def __init__(
        self,
        connection: sqlalchemy.Connection,
        profile: Profile,
        interrupter: Interrupter,
        remark: Callable[[], str],
        private: bool,
    ) -> None:
        """Set a connection up that is to be used by this alone.

        Args:
            connection: The connection.
            profile: What it is told.
            interrupter: Ends what runs on it.
            remark: Gives the comment before a statement.
            private: Whether there is something in the database that may not leave.
        """
        self.connection = connection
        self._profile = profile
        self._remark = remark
        self._private = private
        self._result: BoundedRows | None = None
        self._sent: Any = None
        self._longest = Limits().cell_bytes
        self._interrupter = interrupter
        self._do(*profile.setup)
        if profile.modes:
            kept = "CONCAT(',', @@SESSION.sql_mode, ',')"
            for mode in profile.modes:
                kept = f"REPLACE({kept}, ',{mode},', ',')"
            self._do(f"SET SESSION sql_mode = TRIM(BOTH ',' FROM {kept})")
        self.connection.rollback()

    @property
    def driver(self) -> Any:
        """The driver's own connection."""
        return self.connection.connection.driver_connection

    def read_version(self) -> str:
        told = self.connection.dialect.server_version_info
        return ".".join(map(str, told[:3])) if told else ""

    @property
    def usable(self) -> bool:
        return not self.connection.closed and not self.connection.invalidated

    def begin(self, seconds: float) -> None:
        self._do(*self._profile.begins(seconds))

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
        if "limit" in self._profile.statements:
            self._do(self._profile.statements["limit"].format(rows=limits.rows + 1))
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
        match self.connection.dialect.name:
            case "postgresql":
                self._do(postgres.ALONE)
                return postgres.estimate(sql, self.rows)
            case "mysql" | "mariadb":
                explained = f"{self._remark()}{self._profile.statements['explain']} {sql}"
                result = self.connection.exec_driver_sql(explained, execution_options=_PLAIN)
                return mysql.estimate([dict(line) for line in result.mappings()])
            case _:
                return None

    def failure(self, error: Exception) -> TableturnError | ConnectionLost:
        if isinstance(error, OSError):
            return ConnectionLost(str(error))
        if isinstance(error, DBAPIError):
            if error.connection_invalidated:
                return ConnectionLost(str(error.orig))
            known = _FAILURES.get(self.connection.dialect.name)
            if known is not None and isinstance(error.orig, Exception):
                return known(error.orig, self._longest)
            message = " ".join(str(error.orig).split())[:300]
            return QueryTimeout(message) if "timeout" in message.lower() else QueryFailed(message)
        return QueryFailed(" ".join(str(error).split())[:300])

    def close(self) -> None:
        try:
            if self._result is not None and not self._result.complete:
                forget_rows(self.driver)
            self.connection.invalidate()
            self.connection.close()
        except (SQLAlchemyError, OSError):
            return


def forget_rows(driver: Any) -> None:
    """Leave the rows that are left: PyMySQL's connections hear them all before they close."""
    result = getattr(driver, "_result", None)
    if result is not None and hasattr(result, "unbuffered_active"):
        result.unbuffered_active = False
        driver._result = None
