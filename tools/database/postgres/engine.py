"""PostgreSQL as an `Engine`: queries in read-only transactions, as the session's person."""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from math import isfinite
from typing import Any, cast

import psycopg
from psycopg import pq
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Loader
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.string import ByteaLoader

from ...errors import DatabaseUnavailable, TableturnError
from ..estimate import Estimate
from ..fetch import Row, RowCursor
from ..profile import ConnectionLost
from ..quoting import literal, quote
from ..schema import ColumnSchema
from ..server.address import ServerAddress, hide_url_secrets, make_connection_error, parse_server_url
from ..server.connection import CUT, SHORT, Backend, Interrupter, ServerConnection
from ..server.engine import ServerEngine
from ..session import Session, make_comment
from ..table import Cell, Limits
from .dialect import ALONE, GRAMMAR, PROFILE, TOO_LARGE, estimate, make_error

_SCHEME = re.compile(r"^postgres(?:ql)?(?:\+\w+)?://")
_PARAMETER = re.compile(r'invalid URI query parameter: "[\w ]+"')

_CHUNK = 100
_CANCEL_SECONDS = 2.0


class PostgresConnection(ServerConnection):
    """A PostgreSQL connection whose statements are limited by the server."""

    errors = (psycopg.Error, OSError)

    def __init__(self, connection: psycopg.Connection[Row], session: str, remark: Callable[[], str]) -> None:
        self._connection = connection
        self._session = session
        self._remark = remark
        self._stream: Generator[Row] | None = None
        self._interrupter = Interrupter(lambda: connection.cancel_safe(timeout=_CANCEL_SECONDS), self._disconnect)

    def read_version(self) -> str:
        version = self._connection.info.server_version
        return f"{version // 10_000}.{version % 10_000}"

    @property
    def is_usable(self) -> bool:
        return self._connection.info.transaction_status == pq.TransactionStatus.IDLE

    def begin(self, seconds: float) -> None:
        self._connection.execute((self._remark() + "; ".join(PROFILE.make_begin_sql(seconds)) + self._session).encode())

    def end(self) -> None:
        try:
            if self._stream is not None:
                self._stream.close()
            if self._connection.info.transaction_status != pq.TransactionStatus.IDLE:
                self._connection.execute(f"{self._remark()}ROLLBACK".encode())
        except psycopg.Error:
            self.close()
        self._stream = None

    def query(self, sql: str, limits: Limits) -> RowCursor:
        self._longest = limits.cell_bytes
        description = self._describe_result(sql)
        columns = [(description.fname(index) or b"").decode("utf-8", "replace") for index in range(description.nfields)]
        types = [description.ftype(at) for at in range(description.nfields)]
        statement = (self._remark() + limit_rows(sql, types, limits)).encode()
        chunk = max(1, min(_CHUNK, limits.result_bytes // max(1, limits.cell_bytes)))
        self._stream = stream = cast("Generator[Row]", self._connection.cursor().stream(statement, size=chunk))
        return RowCursor(columns, _stream_limited_rows(stream, limits.rows + 1))

    def rows(self, sql: str) -> list[Row]:
        return self._connection.execute((self._remark() + sql).encode()).fetchall()

    def compile(self, sql: str) -> None:
        self._describe_result(sql)

    def estimate(self, sql: str) -> Estimate | None:
        self._connection.execute((self._remark() + ALONE).encode())
        return estimate(sql, self.rows)

    def make_error(self, error: Exception) -> TableturnError | ConnectionLost:
        return make_error(error, self._longest) if isinstance(error, psycopg.Error) else ConnectionLost(str(error))

    def close(self) -> None:
        self._connection.close()

    def _describe_result(self, sql: str) -> Any:
        """Return the result columns of a single statement without running it."""
        server = self._connection.pgconn
        for result in (server.prepare(b"", (self._remark() + sql).encode()), server.describe_prepared(b"")):
            if result.status != pq.ExecStatus.COMMAND_OK:
                raise psycopg.errors.error_from_result(result, encoding="utf-8")
        return result

    def _disconnect(self) -> None:
        with socket.socket(fileno=os.dup(self._connection.fileno())) as sock:
            sock.shutdown(socket.SHUT_RDWR)


def _stream_limited_rows(stream: Generator[Row], limit: int) -> Iterator[Row]:
    for number, row in enumerate(stream, 1):
        if number == limit:
            # Hear the server out: closing a result that has not ended would need a second connection.
            next(stream, None)
        # The last column tells only that the row is not too large.
        yield row[:-1]


# Types whose values have a few bytes, or a few thousand digits: truth values, integers, floats, numerics, times, UUIDs.
_SHORT = frozenset({16, 18, 20, 21, 23, 26, 700, 701, 790, 1082, 1083, 1114, 1184, 1186, 1266, 1700, 2950, 2278, 19})
_LENGTH_TYPES = frozenset({17, 25, 1042, 1043})


def limit_rows(sql: str, types: Sequence[int], limits: Limits) -> str:
    """Return the statement limited to the wanted rows, with an added last column of nulls.

    Whole rows have to be taken from the server, and a value may have a gigabyte. So the server itself is made to fail
    on a row that is too large, before it sends it.
    """
    names = [f"c{number}" for number in range(1, len(types) + 1)]
    sizes = [
        f"coalesce(octet_length({name if kind in _LENGTH_TYPES else f'{name}::text'}), 0)"
        for name, kind in zip(names, types, strict=True)
        if kind not in _SHORT
    ]
    fields = ", ".join(names)
    size_check = "NULL::integer"
    if sizes:
        too_large = f"greatest({', '.join(sizes)}) > {int(limits.cell_bytes)}"
        if len(sizes) > 1:
            too_large += f" OR {' + '.join(f'{size}::bigint' for size in sizes)} > {int(limits.result_bytes)}"
        # A text that depends on a row, for the server computes casts of constants before it looks at a condition.
        size_check = f"CASE WHEN {too_large} THEN concat('{TOO_LARGE}', {sizes[0]})::integer END"
    return (
        f"SELECT {fields}, {size_check} FROM (SELECT * FROM ({sql}) AS s({fields}) LIMIT {int(limits.rows) + 1})"
        f" AS r({fields})"
    )


def _decode_number(data: bytes) -> int | float | str:
    is_short = len(data) < 1_000 and data.lstrip(b"-").isdigit()
    return int(data) if is_short else _decode_float(data)


def _decode_float(data: bytes) -> float | str:
    value = float(data)
    return value if isfinite(value) else data.decode()


_BYTEA = 17
# By the types' numbers in the server's catalogue; 0 stands for all others.
_DECODERS: dict[int, Callable[[bytes], Cell]] = {
    0: lambda data: data.decode("utf-8", "replace"),
    **dict.fromkeys((20, 21, 23, 26), int),
    **dict.fromkeys((700, 701), _decode_float),
    1700: _decode_number,
    16: lambda data: int(data == b"t"),
}


class CellAdapters:
    """Adapters for psycopg that load the values of each type as cells.

    Integers and whole numerics are exact integers, other numerics the nearest float, truth values 1 and 0, bytea bytes.
    Everything else, times and arrays, JSON and UUIDs, ranges and values of types that the database defines, is the text
    that the server writes, times with the zone that it has; so are numbers that are none (`NaN`, `Infinity`).
    """

    def __init__(self) -> None:
        self.connection = None
        self.adapters = AdaptersMap()
        for number, decode in _DECODERS.items():
            self.adapters.register_loader(number, _make_cell_loader(decode))
        self.adapters.register_loader(_BYTEA, ByteaLoader)


def _make_cell_loader(decode: Callable[[bytes], Cell]) -> type[Loader]:
    class CellLoader(Loader):
        def load(self, data: Buffer) -> Cell:
            return decode(bytes(data))

    return CellLoader


class PostgresBackend(Backend):
    """A database of a PostgreSQL server, queried as the session's person."""

    name = "PostgreSQL"
    dialect = "postgres"
    grammar = GRAMMAR
    profile = PROFILE

    def __init__(self, address: ServerAddress, session: Session) -> None:
        self._address = address
        self._session = session
        self._role = address.resolve_person_role(session.identity)
        self._conninfo = _make_connection_string(address.url)
        schemas = ", ".join(map(literal, address.schemas))
        self._readable = PROFILE.statements["readable"].format(only=f"AND n.nspname IN ({schemas})" if schemas else "")
        # The driver, which looks into the environment and service files too, knows where the database is.
        with self._open_driver_connection() as connection:
            info = connection.info
            port = f":{info.port}" if info.port else ""
            query = f"?schema={','.join(address.schemas)}" if address.schemas else ""
            if address.schemas:
                ((path,),) = connection.execute("SELECT coalesce((current_schemas(false))[1], '')").fetchall()
                self.default_schema = str(path)
            self.database = info.dbname
            self.location = f"postgresql://{info.host}{port}/{info.dbname}{query}"

    def with_session(self, session: Session) -> PostgresBackend:
        return PostgresBackend(self._address, session)

    def connect(self) -> PostgresConnection:
        connection = self._open_driver_connection()
        path = ", ".join(map(quote, self._address.schemas))
        statements = (f"SET search_path = {path}",) if path else ()
        connection.execute("; ".join((*PROFILE.setup, *statements)).encode())
        return PostgresConnection(connection, self._build_settings_sql(), partial(make_comment, self._session.identity))

    def state(self, connection: ServerConnection) -> str:
        # How many rows were ever written, by the server's statistics.
        return "".join(str(value) for (value,) in self._read_profile_rows(connection, "changes"))

    def warnings(self, connection: ServerConnection) -> tuple[str, ...]:
        warnings = [str(text) for _, text in self._read_profile_rows(connection, "powers")]
        return (*warnings, _REMEDY) if warnings else ()

    def read_query_log(self, connection: ServerConnection, limit: int) -> tuple[str, ...]:
        # The extension may not be there, or not loaded, or the login may not read it.
        views = connection.rows(PROFILE.statements["log_view"])
        if not views:
            raise DatabaseUnavailable(
                "the server records no queries of this database: run CREATE EXTENSION pg_stat_statements in it; if"
                f" that is not enough, {_LOAD}"
            )
        try:
            return tuple(
                str(query) for (query,) in connection.rows(PROFILE.statements["log"].format(views[0][0], int(limit)))
            )
        except psycopg.errors.ObjectNotInPrerequisiteState:
            raise DatabaseUnavailable(f"pg_stat_statements is not loaded: {_LOAD}") from None
        except psycopg.errors.InsufficientPrivilege:
            raise DatabaseUnavailable(f"this login may not read {views[0][0]}: GRANT SELECT on it") from None

    def shorten_column(self, column: ColumnSchema) -> str:
        name = quote(column.name)
        if column.kind in SHORT:
            return name
        return f"substring({name} FROM 1 FOR {CUT})" if column.type == "bytea" else f"left({name}::text, {CUT})"

    def _open_driver_connection(self) -> psycopg.Connection[Row]:
        try:
            return psycopg.connect(self._conninfo, autocommit=True, prepare_threshold=None, context=CellAdapters())
        except psycopg.Error as error:
            password = str(conninfo_to_dict(self._conninfo).get("password") or "")
            raise make_connection_error(hide_url_secrets(self._address.url), error, password) from None

    def _build_settings_sql(self) -> str:
        """Return SQL that sets the person's policy settings and role for a transaction."""
        identity = self._session.identity
        groups, claims = json.dumps(identity.groups), json.dumps(dict(identity.claims))
        # As settings that were never made read as null, they are made for nobody in particular too.
        settings = "".join(
            f"; SELECT set_config('tableturn.{name}', {literal(value)}, true)"
            for name, value in (("user", identity.name), ("groups", groups), ("claims", claims))
        )
        return settings + (f"; SET LOCAL ROLE {quote(self._role)}" if self._role else "")


def open_engine(url: str, session: Session) -> ServerEngine:
    """Open the PostgreSQL database at a URL."""
    return ServerEngine(PostgresBackend(parse_server_url(url), session), session)


def _make_connection_string(url: str) -> str:
    try:
        # By libpq, which knows the parameters, PG* variables, service files and .pgpass.
        url_of_libpq = _SCHEME.sub("postgresql://", url)
        return make_conninfo(url_of_libpq, client_encoding="UTF8", fallback_application_name="tableturn")
    except psycopg.Error as error:
        match = _PARAMETER.search(str(error))
        raise DatabaseUnavailable(
            f"not a URL of PostgreSQL: {hide_url_secrets(url)}{f': {match[0]}' if match else ''};"
            " write postgresql://user@host:5432/database"
        ) from None


_REMEDY = (
    "create one that can only read: CREATE ROLE reader LOGIN PASSWORD '...';"
    " GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;"
)


_LOAD = (
    "set shared_preload_libraries = 'pg_stat_statements' in postgresql.conf and restart the server; "
    "or give a file of SQL to --from"
)
