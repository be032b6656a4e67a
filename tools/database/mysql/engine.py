"""MySQL and MariaDB as an `Engine`: SQLAlchemy's, over a driver that is set up and bounded."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import pymysql
from pymysql.connections import MAX_PACKET_LEN
from pymysql.constants import FIELD_TYPE
from sqlalchemy import create_engine
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import NullPool

from ...errors import DatabaseUnavailable
from ..server.address import Address, parted, without_password
from ..server.catalogue import Catalogue, read_catalogue, read_version
from ..server.connection import BoundedRows, ServerConnection
from ..server.engine import ServerEngine
from ..session import Session
from ..sqlalchemy.connection import SQLAlchemyConnection, forget_rows
from ..sqlalchemy.engine import SQLAlchemyBackend
from ..table import Cell, Limits
from .dialect import TOO_LARGE

_SYSTEM = "('information_schema', 'performance_schema', 'mysql', 'sys')"
_CONNECT_SECONDS = 10
_TEXTS = frozenset(
    {"ssl_ca", "ssl_cert", "ssl_key", "ssl_key_password", "unix_socket", "read_default_file", "read_default_group"}
)
_FLAGS = frozenset({"ssl_disabled", "ssl_verify_cert", "ssl_verify_identity"})
_IGNORED = frozenset({"charset"})


class BoundedConnection(pymysql.connections.Connection):
    """A driver's connection that takes no row past a limit into memory."""

    largest_row = 0
    _held = 0

    def _read_bytes(self, num_bytes: int) -> bytes:
        """A row of 16 MB and more comes in parts of that size, the last of which is shorter."""
        self._held = self._held + num_bytes if num_bytes == MAX_PACKET_LEN else 0
        if self.largest_row and self._held > self.largest_row:
            forget_rows(self)
            driver: Any = self
            driver._force_close()
            raise pymysql.err.DataError(TOO_LARGE, "a row is too large")
        inherited: Any = super()
        return inherited._read_bytes(num_bytes)


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


class MySQLConnection(SQLAlchemyConnection):
    """A connection whose driver takes no row that is larger than a result may be."""

    def query(self, sql: str, limits: Limits) -> BoundedRows:
        self.driver.largest_row = limits.result_bytes
        return super().query(sql, limits)


class MySQLBackend(SQLAlchemyBackend):
    """A database of a MySQL or MariaDB server."""

    connection = MySQLConnection

    def __init__(self, address: Address, session: Session) -> None:
        try:
            url = make_url(address.url)
        except (ArgumentError, ValueError):
            raise DatabaseUnavailable(
                f"not a URL of MySQL: {without_password(address.url)}; write mysql://user@host:3306/database"
            ) from None
        options: dict[str, Any] = {
            **_options(dict(url.query)),
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
                url.set(drivername="mysql+pymysql"), creator=lambda: BoundedConnection(**options), poolclass=NullPool
            ),
            (),
            session,
        )
        self._address = address
        self.database = url.database or "mysql"
        self.location = f"mysql://{url.host or 'localhost'}:{url.port or 3306}/{url.database or ''}"
        named = (url.database,) if url.database else ()
        listed = ", ".join(
            "'" + name.replace("\\", "\\\\").replace("'", "''") + "'" for name in address.schemas or named
        )
        self._readable = f"TABLE_SCHEMA {f'IN ({listed})' if listed else f'NOT IN {_SYSTEM}'}"
        self.connect().close()
        self.name = "MariaDB" if self.kind == "mariadb" else "MySQL"

    def under(self, session: Session) -> MySQLBackend:
        return MySQLBackend(self._address, session)

    def catalogue(self, connection: ServerConnection) -> Catalogue:
        return read_catalogue(partial(self._ask, connection), self._session.key)

    def catalogue_version(self, connection: ServerConnection) -> str:
        return read_version(partial(self._ask, connection), self._session.key)

    def state(self, connection: ServerConnection) -> str:
        # How many rows were written since the server was started.
        return " ".join(str(told) for _, told in self._ask(connection, "changes"))

    def warnings(self, connection: ServerConnection) -> tuple[str, ...]:
        """One line for each grant of more than reading, and one with the remedy."""
        found: list[str] = []
        for (grant,) in connection.rows("SHOW GRANTS"):
            given = _GRANT.match(str(grant))
            if given is None:
                continue
            powers = {power.strip().upper() for power in _LISTED_COLUMNS.sub("", given["powers"]).split(",")} - _READING
            if powers:
                files = (
                    "; with FILE, it reads and writes files on the server"
                    if powers & {"FILE", "ALL PRIVILEGES"}
                    else ""
                )
                listed = ", ".join(sorted(powers)[:6])
                found.append(f"the login may do more than read: {listed} on {given['where']}{files}")
        if found:
            found.append(
                "create one that can only read: CREATE USER reader IDENTIFIED BY '...';"
                " GRANT SELECT ON my_database.* TO reader;"
            )
        return tuple(found)

    def query_log(self, connection: ServerConnection, most: int) -> tuple[str, ...]:
        # The server may keep no queries, or the login may not read them.
        ((kept,),) = connection.rows("SELECT @@performance_schema")
        if not int(str(kept)):
            raise DatabaseUnavailable(
                "the server records no queries: set performance_schema = ON in its configuration and restart it; or"
                " give a file of SQL to --from"
            )
        try:
            return tuple(str(query) for (query,) in connection.rows(self.profile.statements["log"].format(int(most))))
        except DBAPIError:
            raise DatabaseUnavailable(
                "this login may not read the server's queries: GRANT SELECT ON performance_schema.* to it"
            ) from None

    def _ask(self, connection: ServerConnection, name: str) -> list[tuple[Cell, ...]]:
        return connection.rows(self.profile.statements[name].format(readable=self._readable))


def open_engine(url: str, session: Session) -> ServerEngine:
    """Opens the database that a URL names."""
    return ServerEngine(MySQLBackend(parted(url, roles=False), session), session)


def _options(query: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a URL that the driver takes."""
    options: dict[str, Any] = {}
    for name, value in query.items():
        if name in _TEXTS:
            options[name] = value
        elif name in _FLAGS:
            options[name] = str(value).lower() in ("1", "true", "yes", "on")
        elif name not in _IGNORED:
            raise DatabaseUnavailable(f"MySQL's driver knows no parameter {name!r} in a URL")
    return options


_GRANT = re.compile(r"^GRANT (?P<powers>.+?) ON (?:TABLE |FUNCTION |PROCEDURE )?(?P<where>\S+) TO ", re.IGNORECASE)
_LISTED_COLUMNS = re.compile(r"\([^)]*\)")
_READING = {"USAGE", "SELECT", "SHOW VIEW", "SHOW DATABASES", "PROXY"}
