"""MySQL and MariaDB as an `Engine`, through SQLAlchemy and a bounded driver."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pymysql
from pymysql.constants import FIELD_TYPE
from pymysql.protocol import MysqlPacket
from sqlalchemy import create_engine
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import NullPool

from ...errors import DatabaseUnavailable
from ..server.address import ServerAddress, hide_url_secrets, parse_server_url
from ..server.connection import Backend, BoundedRowCursor, ServerConnection
from ..server.engine import ServerEngine
from ..session import Session
from ..sqlalchemy.engine import SQLAlchemyBackend, SQLAlchemyConnection, drop_unread_rows
from ..table import Limits
from .dialect import TOO_LARGE

_CONNECT_SECONDS = 10
_FLAGS = ("ssl_disabled", "ssl_verify_cert", "ssl_verify_identity")
_TRUE = ("1", "true", "yes", "on")
_FILES = "ssl_ca", "ssl_cert", "ssl_key"
_TEXTS = *_FILES, "ssl_key_password", "unix_socket", "read_default_file", "read_default_group"


class RowSizeLimitedConnection(pymysql.connections.Connection):
    """A PyMySQL connection that reads no row larger than a limit into memory."""

    largest_row = 0
    _row_bytes = 0

    def _read_packet(self, packet_type: Any = MysqlPacket) -> Any:
        self._row_bytes = 0
        parent: Any = super()
        return parent._read_packet(packet_type)

    def _read_bytes(self, num_bytes: int) -> bytes:
        # A row of 16 MB and more comes in parts.
        self._row_bytes += num_bytes
        if self.largest_row and self._row_bytes > self.largest_row:
            self._force_close()
            raise pymysql.err.DataError(TOO_LARGE, "a row is too large")
        parent: Any = super()
        return parent._read_bytes(num_bytes)

    def _force_close(self) -> None:
        drop_unread_rows(self)
        parent: Any = super()
        parent._force_close()


_INTEGERS = ("TINY", "SHORT", "LONG", "LONGLONG", "INT24", "YEAR")
DECODERS = {
    **{getattr(FIELD_TYPE, name): int for name in _INTEGERS},
    **dict.fromkeys((FIELD_TYPE.FLOAT, FIELD_TYPE.DOUBLE), float),
    **dict.fromkeys((FIELD_TYPE.DECIMAL, FIELD_TYPE.NEWDECIMAL), Decimal),
    FIELD_TYPE.BIT: int.from_bytes,
}
"""How to load the values of each type, as MySQL and MariaDB write them.

Integers and whole decimals are exact integers, other decimals the nearest float, bit fields integers, binary strings
bytes. Everything else, times and JSON, enumerations and sets, is the text that the server writes, timestamps in the
session's zone, which is the server's.
"""


class MySQLConnection(SQLAlchemyConnection):
    """A MySQL connection that refuses rows larger than the result limit."""

    def begin(self, seconds: float) -> None:
        self.driver.largest_row = 0
        super().begin(seconds)

    def query(self, sql: str, limits: Limits) -> BoundedRowCursor:
        # The columns are told first: a limit below is that of values alone.
        self.driver.largest_row = max(limits.result_bytes, 1 << 16)
        return super().query(sql, limits)


class MySQLBackend(SQLAlchemyBackend):
    """A database of a MySQL or MariaDB server."""

    connection = MySQLConnection
    make_sample_sql = Backend.make_sample_sql

    def __init__(self, address: ServerAddress, session: Session) -> None:
        try:
            url = make_url(address.url)
        except (ArgumentError, ValueError):
            raise DatabaseUnavailable(
                f"not a URL of MySQL: {hide_url_secrets(address.url)}; write mysql://user@host:3306/database"
            ) from None
        for name, value in url.query.items():
            if name not in (*_TEXTS, *_FLAGS, "charset"):
                raise DatabaseUnavailable(f"MySQL's driver has no URL parameter {name!r}")
            if name in _FILES and not Path(str(value)).exists():
                raise DatabaseUnavailable(f"there is no file {value}, which {name} in the URL names")
        flags = {name: str(url.query[name]).lower() in _TRUE for name in _FLAGS if name in url.query}
        options: dict[str, Any] = {
            **url.query,
            **flags,
            **url.translate_connect_args(username="user"),
            "conv": DECODERS,
            "charset": "utf8mb4",
            "autocommit": True,
            "local_infile": False,
            "connect_timeout": _CONNECT_SECONDS,
            "program_name": "tableturn",
        }
        super().__init__(
            create_engine(
                url.set(drivername="mysql+pymysql"),
                creator=lambda: RowSizeLimitedConnection(**options),
                poolclass=NullPool,
                pool_reset_on_return=None,
            ),
            address.schemas,
            session,
        )
        self._address = address
        self.database = url.database or "mysql"
        self.location = f"mysql://{url.host or 'localhost'}:{url.port or 3306}/{url.database or ''}"
        self.connect().close()
        self.name = "MariaDB" if self.kind == "mariadb" else "MySQL"

    def with_session(self, session: Session) -> MySQLBackend:
        return MySQLBackend(self._address, session)

    def state(self, connection: ServerConnection) -> str:
        # How many rows were written since the server was started.
        return " ".join(str(value) for _, value in self._read_profile_rows(connection, "changes"))

    def warnings(self, connection: ServerConnection) -> tuple[str, ...]:
        warnings: list[str] = []
        for match in filter(None, (_GRANT.match(str(grant)) for (grant,) in connection.rows("SHOW GRANTS"))):
            powers = {power.strip().upper() for power in _COLUMNS.sub("", match["powers"]).split(",")} - _READING
            if powers:
                power_list = ", ".join(sorted(powers)[:6])
                files = "; with FILE, it reads and writes files on the server"
                file_warning = files if powers & {"FILE", "ALL PRIVILEGES"} else ""
                warnings.append(f"the login may do more than read: {power_list} on {match['where']}{file_warning}")
        return (*warnings, _REMEDY) if warnings else ()

    def read_query_log(self, connection: ServerConnection, limit: int) -> tuple[str, ...]:
        # The server may keep no queries, or the login may not read them.
        ((setting,),) = connection.rows("SELECT @@performance_schema")
        if not int(str(setting)):
            raise DatabaseUnavailable(
                "the server records no queries: set performance_schema = ON in its configuration and restart it; or"
                " give a file of SQL to --from"
            )
        try:
            return tuple(str(query) for (query,) in connection.rows(self.profile.statements["log"].format(int(limit))))
        except DBAPIError:
            raise DatabaseUnavailable(
                "this login may not read the server's queries: GRANT SELECT ON performance_schema.* to it"
            ) from None


def open_engine(url: str, session: Session) -> ServerEngine:
    """Open the MySQL or MariaDB database at a URL."""
    return ServerEngine(MySQLBackend(parse_server_url(url, roles=False), session), session)


_GRANT = re.compile(r"^GRANT (?P<powers>.+?) ON (?:TABLE |FUNCTION |PROCEDURE )?(?P<where>\S+) TO ", re.IGNORECASE)
_COLUMNS = re.compile(r"\([^)]*\)")
_READING = {"USAGE", "SELECT", "SHOW VIEW", "SHOW DATABASES", "PROXY"}
_REMEDY = (
    "create one that can only read: CREATE USER reader IDENTIFIED BY '...'; GRANT SELECT ON my_database.* TO reader;"
)
