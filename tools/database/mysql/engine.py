"""MySQL and MariaDB as an `Engine`: every query in a read-only transaction."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sqlglot import exp
from sqlglot.dialects import MySQL
from sqlglot.generator import Generator

from ...errors import DatabaseUnavailable, SettingsError
from ..server.address import Address, parted, scrubbed, without_password
from ..server.catalogue import Catalogue, Relation
from ..server.connection import ServerConnection
from ..server.engine import ServerEngine
from ..server.reading import Grammar
from ..server.remarks import remark
from ..session import Session
from .catalogue import catalogue_version, read_catalogue, readable
from .functions import FUNCTIONS
from .grants import warnings

if TYPE_CHECKING:
    from .connection import BoundedConnection, MySQLConnection

_CUT = 1_000
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
    FUNCTIONS,
    writes=((exp.RegexpLike, _regexp_like), (exp.JSONExtractScalar, _json_text), (exp.CurrentVersion, _version)),
)


class MySQLBackend:
    """See `Backend`."""

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
        """See `Backend`."""
        return MySQLBackend(self._address, session)

    def connect(self) -> MySQLConnection:
        """See `Backend`."""
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
        """See `Backend`."""
        return read_catalogue(connection, self._readable, self._session.key)

    def catalogue_version(self, connection: ServerConnection) -> str:
        """See `Backend`."""
        return catalogue_version(connection, self._readable, self._session.key)

    def state(self, connection: ServerConnection) -> str:
        """See `Backend`: how many rows were written since the server was started."""
        counters = f"SHOW GLOBAL STATUS WHERE Variable_name IN {_CHANGES[self.name]}"
        return " ".join(str(told) for _, told in connection.rows(counters))

    def warnings(self, connection: ServerConnection) -> tuple[str, ...]:
        """See `Backend`."""
        return warnings(connection)

    def query_log(self, connection: ServerConnection, most: int) -> tuple[str, ...]:
        """See `ServerEngine.query_log`."""
        from .query_log import read_log

        return read_log(connection, most)

    def quoted(self, name: str) -> str:
        """See `Backend`."""
        return "`" + name.replace("`", "``") + "`"

    def source(self, relation: Relation) -> str:
        """See `Backend`."""
        return f"{self.quoted(relation.schema)}.{self.quoted(relation.name)}"

    def sample(self, relation: Relation, rows: int) -> str:
        """See `Backend`."""
        listed = ", ".join(
            self.quoted(column.name)
            if column.kind in ("number", "time", "boolean")
            else f"LEFT({self.quoted(column.name)}, {_CUT})"
            for column in relation.columns
        )
        return f"SELECT {listed} FROM {self.source(relation)} LIMIT {rows}"

    def _connected(self) -> BoundedConnection:
        from .cells import DECODERS
        from .connection import BoundedConnection

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
