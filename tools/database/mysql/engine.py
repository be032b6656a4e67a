"""MySQL and MariaDB as an `Engine`: every query in a read-only transaction."""

from __future__ import annotations

import re
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sqlglot import exp
from sqlglot.dialects import MySQL
from sqlglot.generator import Generator

from ...errors import DatabaseUnavailable, SettingsError
from ..server.address import Address, parted, scrubbed, without_password
from ..server.catalogue import Catalogue
from ..server.connection import Backend, ServerConnection
from ..server.engine import ServerEngine
from ..server.lists import read_lists
from ..server.reading import Grammar
from ..server.remarks import remark
from ..session import Session
from .catalogue import Asks, catalogue_version, read_catalogue, readable

if TYPE_CHECKING:
    from .connection import BoundedConnection, MySQLConnection

_CONNECT_SECONDS = 10
_TEXTS = frozenset(
    {"ssl_ca", "ssl_cert", "ssl_key", "ssl_key_password", "unix_socket", "read_default_file", "read_default_group"}
)
_FLAGS = frozenset({"ssl_disabled", "ssl_verify_cert", "ssl_verify_identity"})
_IGNORED = frozenset({"charset"})

# What a statement's text means must not depend on how the server is set up; locks are not waited for.
_MODES = (
    "ANSI_QUOTES",
    "NO_BACKSLASH_ESCAPES",
    "PIPES_AS_CONCAT",
    "HIGH_NOT_PRECEDENCE",
    "ANSI",
    "ORACLE",
    "MSSQL",
    "DB2",
    "MAXDB",
    "POSTGRESQL",
)
_SETTINGS = (
    "SET SESSION TRANSACTION READ ONLY",
    "SET SESSION lock_wait_timeout = 1, innodb_lock_wait_timeout = 1, group_concat_max_len = 1000000",
)
# MariaDB counts rows by what storage engines are asked for, temporary tables apart; MySQL doesn't keep these apart.
_CHANGES = {
    "MariaDB": "('Handler_write', 'Handler_update', 'Handler_delete')",
    "MySQL": "('Innodb_rows_inserted', 'Innodb_rows_updated', 'Innodb_rows_deleted')",
}


def _regexp_like(writer: Generator, node: exp.RegexpLike) -> str:
    """As an operator, which MariaDB has too."""
    if node.args.get("flag"):
        return writer.func("REGEXP_LIKE", node.this, node.expression, node.args["flag"])
    return writer.binary(node, "REGEXP")


def _version(writer: Generator, node: exp.CurrentVersion) -> str:
    """Sqlglot's own name for it is another dialect's."""
    del node
    return writer.func("VERSION")


def _json_text(writer: Generator, node: exp.JSONExtractScalar) -> str:
    """As functions, for MariaDB lacks `->>`."""
    return writer.func("JSON_UNQUOTE", writer.func("JSON_EXTRACT", node.this, node.expression))


GRAMMAR = Grammar(
    MySQL(),
    read_lists(__package__ or "").functions,
    writes=((exp.RegexpLike, _regexp_like), (exp.JSONExtractScalar, _json_text), (exp.CurrentVersion, _version)),
)


class MySQLBackend(Backend):
    """A database of a MySQL or MariaDB server."""

    dialect = "mysql"
    grammar = GRAMMAR

    def __init__(self, address: Address, session: Session) -> None:
        """Nothing is connected yet.

        Raises:
            DatabaseUnavailable: The URL is none, or the driver is missing.
            SettingsError: The URL takes on roles.
        """
        from sqlalchemy.engine import make_url
        from sqlalchemy.exc import ArgumentError

        if address.role:
            raise SettingsError("switching to a person's role works only on PostgreSQL: leave `role` out of the URL")
        if find_spec("pymysql") is None:
            raise DatabaseUnavailable("MySQL and MariaDB need their driver: pip install 'tableturn[mysql]'")
        try:
            url = make_url(address.url)
        except (ArgumentError, ValueError):
            raise DatabaseUnavailable(
                f"not a URL of MySQL: {without_password(address.url)}; write mysql://user@host:3306/database"
            ) from None
        self._address = address
        self._session = session
        self._options = _options(dict(url.query))
        self._options.update(
            {name: value for name, value in url.translate_connect_args().items() if name != "username"}
        )
        if url.username:
            self._options["user"] = url.username
        self.database = url.database or "mysql"
        self.location = f"mysql://{url.host or 'localhost'}:{url.port or 3306}/{url.database or ''}"
        named = (url.database,) if url.database else ()
        self._readable = readable(address.schemas or named)
        self.name = "MySQL"
        connection = self.connect()
        self.name = "MariaDB" if connection.is_mariadb else "MySQL"
        connection.close()

    def under(self, session: Session) -> MySQLBackend:
        return MySQLBackend(self._address, session)

    def connect(self) -> MySQLConnection:
        import pymysql

        from .connection import MySQLConnection

        try:
            connection = self._connected()
            with connection.cursor() as cursor:
                for statement in (*_SETTINGS, _mode_setting()):
                    cursor.execute(statement)
        except (pymysql.err.Error, OSError) as error:
            message = scrubbed(str(error.args[-1] if error.args else error), [str(self._options.get("password") or "")])
            raise DatabaseUnavailable(f"{self.name} cannot be reached: {message}") from None
        return MySQLConnection(connection, self._kill, partial(remark, self._session.identity))

    def catalogue(self, connection: ServerConnection) -> Catalogue:
        return read_catalogue(connection, self._readable, self._session.key)

    def catalogue_version(self, connection: ServerConnection) -> str:
        return catalogue_version(connection, self._readable, self._session.key)

    def state(self, connection: ServerConnection) -> str:
        # How many rows were written since the server was started.
        counters = f"SHOW GLOBAL STATUS WHERE Variable_name IN {_CHANGES[self.name]}"
        return " ".join(str(told) for _, told in connection.rows(counters))

    def warnings(self, connection: ServerConnection) -> tuple[str, ...]:
        return _warnings(connection)

    def query_log(self, connection: ServerConnection, most: int) -> tuple[str, ...]:
        return _read_log(connection, most)

    def _connected(self) -> BoundedConnection:
        from .connection import DECODERS, BoundedConnection

        options: dict[str, Any] = {
            **self._options,
            "conv": DECODERS,
            "charset": "utf8mb4",
            "autocommit": True,
            "local_infile": False,
            "connect_timeout": _CONNECT_SECONDS,
            "program_name": "tableturn",
        }
        return BoundedConnection(**options)

    def _kill(self, number: int) -> None:
        connection = self._connected()
        try:
            with connection.cursor() as cursor:
                cursor.execute(f"KILL QUERY {int(number)}")
        finally:
            connection.close()


def open_engine(url: str, session: Session) -> ServerEngine:
    """Opens the database that a URL names."""
    return ServerEngine(MySQLBackend(parted(url), session), session)


def _mode_setting() -> str:
    """The server's own mode, less what changes how a statement is read."""
    kept = "CONCAT(',', @@SESSION.sql_mode, ',')"
    for mode in _MODES:
        kept = f"REPLACE({kept}, ',{mode},', ',')"
    return f"SET SESSION sql_mode = TRIM(BOTH ',' FROM {kept})"


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
_COLUMNS = re.compile(r"\([^)]*\)")
_READING = {"USAGE", "SELECT", "SHOW VIEW", "SHOW DATABASES", "PROXY"}


def _warnings(connection: Asks) -> tuple[str, ...]:
    """One line for each grant of more than reading, and one with the remedy."""
    found: list[str] = []
    for (grant,) in connection.rows("SHOW GRANTS"):
        given = _GRANT.match(str(grant))
        if given is None:
            continue
        powers = {power.strip().upper() for power in _COLUMNS.sub("", given["powers"]).split(",")} - _READING
        if powers:
            files = (
                "; with FILE, it reads and writes files on the server" if powers & {"FILE", "ALL PRIVILEGES"} else ""
            )
            listed = ", ".join(sorted(powers)[:6])
            found.append(f"the login may do more than read: {listed} on {given['where']}{files}")
    if found:
        found.append(
            "create one that can only read: CREATE USER reader IDENTIFIED BY '...';"
            " GRANT SELECT ON my_database.* TO reader;"
        )
    return tuple(found)


_QUERIES = """
    SELECT DIGEST_TEXT FROM performance_schema.events_statements_summary_by_digest
    WHERE SCHEMA_NAME = DATABASE() AND DIGEST_TEXT IS NOT NULL ORDER BY COUNT_STAR DESC LIMIT {}
"""


def _read_log(connection: Asks, most: int) -> tuple[str, ...]:
    # The server may keep no queries, or the login may not read them.
    import pymysql

    ((kept,),) = connection.rows("SELECT @@performance_schema")
    if not int(str(kept)):
        raise DatabaseUnavailable(
            "the server records no queries: set performance_schema = ON in its configuration and restart it; or give a "
            "file of SQL to --from"
        )
    try:
        return tuple(str(query) for (query,) in connection.rows(_QUERIES.format(int(most))))
    except pymysql.err.OperationalError:
        raise DatabaseUnavailable(
            "this login may not read the server's queries: GRANT SELECT ON performance_schema.* to it"
        ) from None
