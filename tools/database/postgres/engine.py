"""PostgreSQL as an `Engine`: every query in a read-only transaction, as the session's person."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.dialects import Postgres
from sqlglot.generator import Generator

from ...errors import DatabaseUnavailable
from ..quoting import quoted
from ..server.address import Address, parted, scrubbed, without_password
from ..server.catalogue import Catalogue, Relation
from ..server.connection import ServerConnection
from ..server.engine import ServerEngine
from ..server.reading import Grammar
from ..server.remarks import remark
from ..session import Session
from .catalogue import catalogue_version, read_catalogue, readable
from .functions import FUNCTIONS
from .role import warnings

if TYPE_CHECKING:
    from .connection import PostgresConnection

_CONNECT_SECONDS = 10
_CUT = 1_000
_SCHEME = re.compile(r"^postgres(?:ql)?(?:\+\w+)?://")
_PARAMETER = re.compile(r'invalid URI query parameter: "[\w ]+"')


def _version(writer: Generator, node: exp.CurrentVersion) -> str:
    """Sqlglot's own name for it is another dialect's."""
    del node
    return writer.func("VERSION")


GRAMMAR = Grammar(Postgres(), FUNCTIONS, str.lower, writes=((exp.CurrentVersion, _version),), reserved="pg_")

# What a statement's text means, and how values are written, must not depend on how the server or the role is set up.
_SETTINGS = (
    "SET default_transaction_read_only = on; SET standard_conforming_strings = on; SET bytea_output = 'hex';"
    " SET DateStyle = 'ISO'; SET IntervalStyle = 'postgres'; SET extra_float_digits = 1; SET row_security = on"
)
_CHANGES = """
    SELECT concat_ws(' ', d.stats_reset, d.tup_inserted, d.tup_updated, d.tup_deleted)
    FROM pg_catalog.pg_stat_database d WHERE d.datname = current_database()
"""


class PostgresBackend:
    """See `Backend`."""

    name = "PostgreSQL"
    dialect = "postgres"
    grammar = GRAMMAR

    def __init__(self, address: Address, session: Session) -> None:
        """Nothing is connected yet.

        Raises:
            DatabaseUnavailable: The URL is none, or the driver is missing.
            SettingsError: The session's person can have no role.
        """
        self._address = address
        self._session = session
        self._role = address.role_of(session.identity)
        self._conninfo = _conninfo(address.url)
        self._readable = readable(address.schemas)
        self.database = ""
        self.location = ""
        self._locate()

    def under(self, session: Session) -> PostgresBackend:
        """See `Backend`."""
        return PostgresBackend(self._address, session)

    def connect(self) -> PostgresConnection:
        """See `Backend`."""
        import psycopg

        from .cells import CellAdapters
        from .connection import PostgresConnection

        path = ", ".join(map(quoted, self._address.schemas))
        try:
            connection = psycopg.connect(
                self._conninfo, autocommit=True, prepare_threshold=None, context=CellAdapters()
            )
        except psycopg.Error as error:
            message = scrubbed(str(error), [self._secret])
            raise DatabaseUnavailable(f"PostgreSQL cannot be reached: {message}") from None
        connection.execute((_SETTINGS + (f"; SET search_path = {path}" if path else "")).encode())
        return PostgresConnection(connection, self._person(), partial(remark, self._session.identity))

    def catalogue(self, connection: ServerConnection) -> Catalogue:
        """See `Backend`."""
        return read_catalogue(connection, self._readable, self._owner)

    def catalogue_version(self, connection: ServerConnection) -> str:
        """See `Backend`."""
        return catalogue_version(connection, self._readable, self._owner)

    def state(self, connection: ServerConnection) -> str:
        """See `Backend`: how many rows were ever written, by the server's statistics."""
        return "".join(str(told) for (told,) in connection.rows(_CHANGES))

    def warnings(self, connection: ServerConnection) -> tuple[str, ...]:
        """See `Backend`."""
        return warnings(connection)

    def query_log(self, connection: ServerConnection, most: int) -> tuple[str, ...]:
        """See `ServerEngine.query_log`."""
        from .query_log import read_log

        return read_log(connection, most)

    def quoted(self, name: str) -> str:
        """See `Backend`."""
        return quoted(name)

    def source(self, relation: Relation) -> str:
        """See `Backend`."""
        return f"{quoted(relation.schema)}.{quoted(relation.name)}"

    def sample(self, relation: Relation, rows: int) -> str:
        """See `Backend`."""
        listed = ", ".join(
            quoted(column.name) if column.kind in ("number", "time", "boolean") else _cut(column.name, column.type)
            for column in relation.columns
        )
        return f"SELECT {listed} FROM {self.source(relation)} LIMIT {rows}"

    @property
    def _owner(self) -> str:
        """What is kept for this session, told apart from what is kept for another."""
        return self._session.key

    @property
    def _secret(self) -> str:
        from psycopg.conninfo import conninfo_to_dict

        return str(conninfo_to_dict(self._conninfo).get("password") or "")

    def _locate(self) -> None:
        """Asks the driver, which looks into the environment and service files too, where the database is."""
        connection = self.connect()
        try:
            info = connection.info
            port = f":{info.port}" if info.port else ""
            self.database = info.dbname
            self.location = f"postgresql://{info.host}{port}/{info.dbname}"
            if self._address.schemas:
                self.location += f"?schema={','.join(self._address.schemas)}"
        finally:
            connection.close()

    def _person(self) -> str:
        """What makes a transaction the person's: settings that policies can read, and the role."""
        identity = self._session.identity
        told = {
            "user": identity.name,
            "groups": json.dumps(identity.groups),
            "claims": json.dumps(dict(identity.claims)),
        }
        # As settings that were never made read as null, they are made for nobody in particular too.
        settings = "".join(
            f"; SELECT set_config('tableturn.{name}', {_text(value)}, true)" for name, value in told.items()
        )
        return settings + (f"; SET LOCAL ROLE {quoted(self._role)}" if self._role else "")


def open_engine(url: str, session: Session) -> ServerEngine:
    """Opens the database that a URL names."""
    return ServerEngine(PostgresBackend(parted(url), session), session)


def _conninfo(url: str) -> str:
    """What libpq reads: it knows the parameters, PG* variables, service files and .pgpass."""
    try:
        import psycopg
        from psycopg.conninfo import make_conninfo
    except ImportError:
        raise DatabaseUnavailable("PostgreSQL needs its driver: pip install 'tableturn[postgres]'") from None
    try:
        return make_conninfo(
            _SCHEME.sub("postgresql://", url),
            client_encoding="UTF8",
            fallback_application_name="tableturn",
        )
    except psycopg.Error as error:
        told = _PARAMETER.search(str(error))
        raise DatabaseUnavailable(
            f"not a URL of PostgreSQL: {without_password(url)}{f': {told[0]}' if told else ''};"
            " write postgresql://user@host:5432/database"
        ) from None


def _cut(name: str, declared: str) -> str:
    column = quoted(name)
    if declared == "bytea":
        return f"substring({column} FROM 1 FOR {_CUT})"
    return f"left({column}::text, {_CUT})"


def _text(value: str) -> str:
    """A text as a literal; standard_conforming_strings is on."""
    return "'" + value.replace("'", "''") + "'"
