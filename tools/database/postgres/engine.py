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
from ..schema import ColumnSchema
from ..server.address import Address, parted, scrubbed, without_password
from ..server.catalogue import Catalogue
from ..server.connection import CUT, SHORT, Backend, ServerConnection
from ..server.engine import ServerEngine
from ..server.lists import read_lists
from ..server.reading import Grammar
from ..server.remarks import remark
from ..session import Session
from .catalogue import Asks, catalogue_version, read_catalogue, readable

if TYPE_CHECKING:
    from .connection import PostgresConnection

_CONNECT_SECONDS = 10
_SCHEME = re.compile(r"^postgres(?:ql)?(?:\+\w+)?://")
_PARAMETER = re.compile(r'invalid URI query parameter: "[\w ]+"')


def _version(writer: Generator, node: exp.CurrentVersion) -> str:
    """Sqlglot's own name for it is another dialect's."""
    del node
    return writer.func("VERSION")


GRAMMAR = Grammar(
    Postgres(),
    read_lists(__package__ or "").functions,
    str.lower,
    writes=((exp.CurrentVersion, _version),),
    reserved="pg_",
)

# What a statement's text means, and how values are written, must not depend on how the server or the role is set up.
_SETTINGS = (
    "SET default_transaction_read_only = on; SET standard_conforming_strings = on; SET bytea_output = 'hex';"
    " SET DateStyle = 'ISO'; SET IntervalStyle = 'postgres'; SET extra_float_digits = 1; SET row_security = on"
)
_CHANGES = """
    SELECT concat_ws(' ', d.stats_reset, d.tup_inserted, d.tup_updated, d.tup_deleted)
    FROM pg_catalog.pg_stat_database d WHERE d.datname = current_database()
"""


class PostgresBackend(Backend):
    """A database of a PostgreSQL server, as the session's person."""

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
        return PostgresBackend(self._address, session)

    def connect(self) -> PostgresConnection:
        import psycopg

        from .connection import CellAdapters, PostgresConnection

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
        return read_catalogue(connection, self._readable, self._session.key)

    def catalogue_version(self, connection: ServerConnection) -> str:
        return catalogue_version(connection, self._readable, self._session.key)

    def state(self, connection: ServerConnection) -> str:
        # How many rows were ever written, by the server's statistics.
        return "".join(str(told) for (told,) in connection.rows(_CHANGES))

    def warnings(self, connection: ServerConnection) -> tuple[str, ...]:
        return _warnings(connection)

    def query_log(self, connection: ServerConnection, most: int) -> tuple[str, ...]:
        return _read_log(connection, most)

    def cut(self, column: ColumnSchema) -> str:
        name = quoted(column.name)
        if column.kind in SHORT:
            return name
        return f"substring({name} FROM 1 FOR {CUT})" if column.type == "bytea" else f"left({name}::text, {CUT})"

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


def _text(value: str) -> str:
    """A text as a literal; standard_conforming_strings is on."""
    return "'" + value.replace("'", "''") + "'"


_GROUPS = {
    "pg_read_server_files": "read files on the server",
    "pg_write_server_files": "write files on the server",
    "pg_execute_server_program": "run programs on the server",
    "pg_write_all_data": "write to every table",
    "pg_signal_backend": "end other people's queries",
}

_POWERS = """
    SELECT rolname, rolsuper, rolcreaterole OR rolcreatedb OR rolreplication, rolbypassrls
    FROM pg_catalog.pg_roles WHERE rolname = current_user
"""

_WRITES = """
    SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'f') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
      AND pg_catalog.has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
"""

_UNBOUND = """
    SELECT count(*) FROM pg_catalog.pg_class c
    WHERE c.relrowsecurity AND NOT row_security_active(c.oid) AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
"""

_REMEDY = (
    "create one that can only read: CREATE ROLE reader LOGIN PASSWORD '...';"
    " GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;"
)


def _warnings(connection: Asks) -> tuple[str, ...]:
    """Return one line for each thing that the role may do beside reading, and one with the remedy."""
    ((role, super_, manages, _),) = connection.rows(_POWERS)
    found: list[str] = []
    if super_:
        found.append(f"the role {role} is a superuser")
    else:
        if manages:
            found.append(f"the role {role} may create roles or databases, or replicate")
        groups = connection.rows(
            "SELECT rolname FROM pg_catalog.pg_roles WHERE rolname IN "
            f"({', '.join(map(repr, _GROUPS))}) AND pg_has_role(oid, 'USAGE') ORDER BY rolname"
        )
        found += [f"the role {role} may {_GROUPS[str(group)]} ({group})" for (group,) in groups]
        ((tables,),) = connection.rows(_WRITES)
        if tables:
            found.append(f"the role {role} may write to {tables} tables")
    ((unbound,),) = connection.rows(_UNBOUND)
    if unbound:
        found.append(f"row-level policies of {unbound} tables do not apply to the role {role}")
    return (*found, _REMEDY) if found else ()


_WHERE = """
    SELECT format('%I.%I', n.nspname, c.relname)
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname = 'pg_stat_statements' ORDER BY c.relkind = 'v' DESC LIMIT 1
"""
_QUERIES = """
    SELECT s.query FROM {} s JOIN pg_catalog.pg_database d ON d.oid = s.dbid
    WHERE d.datname = current_database() ORDER BY s.calls DESC LIMIT {}
"""
_LOAD = (
    "set shared_preload_libraries = 'pg_stat_statements' in postgresql.conf and restart the server; "
    "or give a file of SQL to --from"
)


def _read_log(connection: Asks, most: int) -> tuple[str, ...]:
    # The extension may not be there, or not loaded, or the login may not read it.
    import psycopg

    found = connection.rows(_WHERE)
    if not found:
        raise DatabaseUnavailable(
            "the server records no queries of this database: run CREATE EXTENSION pg_stat_statements in it; if that "
            f"is not enough, {_LOAD}"
        )
    try:
        return tuple(str(query) for (query,) in connection.rows(_QUERIES.format(found[0][0], int(most))))
    except psycopg.errors.ObjectNotInPrerequisiteState:
        raise DatabaseUnavailable(f"pg_stat_statements is not loaded: {_LOAD}") from None
    except psycopg.errors.InsufficientPrivilege:
        raise DatabaseUnavailable(f"this login may not read {found[0][0]}: GRANT SELECT on it") from None
