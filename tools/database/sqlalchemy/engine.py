"""Any database that SQLAlchemy has a dialect for, as an `Engine`.

The statement is checked as on every server, and its transaction is rolled back. Whether the server itself keeps it from
writing depends on the dialect: `warnings` says what cannot be promised. A login that can only read is needed there.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from socket import SHUT_RDWR
from typing import Any, cast

import sqlalchemy
from sqlalchemy.engine.reflection import ObjectKind
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SAWarning, SQLAlchemyError
from sqlalchemy.types import NullType
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from ...errors import DatabaseUnavailable, QueryFailed, QueryTimeout, TableturnError
from ..estimate import Estimate
from ..mysql import dialect as mysql
from ..postgres import dialect as postgres
from ..profile import ConnectionLost, EngineProfile, read_engine_profile
from ..server.address import hide_url_secrets, make_connection_error, parse_server_url, redact_message
from ..server.catalogue import Relation
from ..server.connection import Backend, BoundedRowCursor, Interrupter, ServerConnection, convert_to_cell
from ..server.engine import ServerEngine
from ..server.statement_check import StatementGrammar
from ..session import Session, compute_digest, make_comment
from ..table import Cell, Limits

Row = tuple[Cell, ...]
_KillQuery = Callable[[], None]

# Without parameters, no driver reads `%` as a placeholder.
_RUN_OPTIONS = {"no_parameters": True}
# What the drivers' errors mean, on the dialects whose codes are known.
_FAILURES = {"mysql": mysql.make_error, "mariadb": mysql.make_error, "postgresql": postgres.make_error}
_GRAMMARS = {"mysql": mysql.GRAMMAR, "postgres": postgres.GRAMMAR}
# No estimate or definition; nothing is known to be hidden.
_NOTHING_MORE = (None, "", False, False)
_STREAM_OPTIONS = {**_RUN_OPTIONS, "stream_results": True, "max_row_buffer": 100}


class SQLAlchemyConnection(ServerConnection):
    """A connection through any driver that SQLAlchemy supports."""

    errors = (SQLAlchemyError, OSError)
    inspector: sqlalchemy.Inspector

    def __init__(
        self, connection: sqlalchemy.Connection, profile: EngineProfile, session: Session, kill_query: _KillQuery
    ) -> None:
        """Set up a connection for sole use; `kill_query` makes the server end a running statement."""
        self.connection = connection
        self._profile = profile
        self._session = session
        self._result: BoundedRowCursor | None = None
        self._sent: Any = None
        driver = self.driver
        shut_down = partial(driver._sock.shutdown, SHUT_RDWR) if hasattr(driver, "_sock") else kill_query
        self._interrupter = Interrupter(kill_query, shut_down)
        self._execute_statements(*profile.setup)
        self.connection.rollback()

    def _make_comment(self) -> str:
        return make_comment(self._session.identity)

    @property
    def driver(self) -> Any:
        """The driver's own connection."""
        return self.connection.connection.driver_connection

    def read_version(self) -> str:
        version = self.connection.dialect.server_version_info
        return ".".join(map(str, version[:3])) if version else ""

    @property
    def is_usable(self) -> bool:
        return not self.connection.closed and not self.connection.invalidated

    def begin(self, seconds: float) -> None:
        self._execute_statements(*self._profile.make_begin_sql(seconds))

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

    def query(self, sql: str, limits: Limits) -> BoundedRowCursor:
        self._longest = limits.cell_bytes
        if "limit" in self._profile.statements:
            self._execute_statements(self._profile.statements["limit"].format(rows=limits.rows + 1))
        result = self.connection.exec_driver_sql(self._make_comment() + sql, execution_options=_STREAM_OPTIONS)
        self._result = BoundedRowCursor(result, map(str, result.keys()), limits)
        # PyMySQL's own result, which outlives the cursor.
        self._sent = getattr(result.cursor, "_result", None)
        return self._result

    def notes(self) -> tuple[str, ...]:
        # Those of MySQL and MariaDB, where all rows are here.
        if self._result is None or not self._result.complete:
            return ()
        return mysql.read_server_warnings(int(getattr(self._sent, "warning_count", 0)), self.rows)

    def rows(self, sql: str) -> list[Row]:
        result = self.connection.exec_driver_sql(self._make_comment() + sql, execution_options=_RUN_OPTIONS)
        return [tuple(map(convert_to_cell, row)) for row in result]

    def compile(self, sql: str) -> None:
        # A dialect without a way to have a statement only read is asked for no rows of it.
        match self.connection.dialect.name:
            case "mysql" | "mariadb":
                self.connection.execute(sqlalchemy.text("SET @tableturn = :sql"), {"sql": self._make_comment() + sql})
                self._execute_statements("PREPARE tableturn FROM @tableturn", "DEALLOCATE PREPARE tableturn")
            case "postgresql":
                self._execute_statements(f"PREPARE tableturn AS {sql}", "DEALLOCATE tableturn")
            # It may compute what needs no row, and its message quote that: with rules of what may leave, nobody asks.
            case _ if not self._session.policy.egress.restricts_columns:
                self.rows(f"SELECT 1 FROM ({sql}) AS q WHERE 1 = 0")
            case _:
                return

    def _execute_statements(self, *statements: str) -> None:
        for statement in statements:
            self.connection.exec_driver_sql(self._make_comment() + statement, execution_options=_RUN_OPTIONS)

    def estimate(self, sql: str) -> Estimate | None:
        # As the engine of its own does, where there is one for the dialect.
        match self.connection.dialect.name:
            case "postgresql":
                self._execute_statements(postgres.ALONE)
                return postgres.estimate(sql, self.rows)
            case "mysql" | "mariadb":
                statement = f"{self._make_comment()}{self._profile.statements['explain']} {sql}"
                result = self.connection.exec_driver_sql(statement, execution_options=_RUN_OPTIONS)
                return mysql.estimate([dict(line) for line in result.mappings()])
            case _:
                return None

    def make_error(self, error: Exception) -> TableturnError | ConnectionLost:
        if isinstance(error, OSError):
            return ConnectionLost(str(error))
        if isinstance(error, DBAPIError):
            if error.connection_invalidated:
                return ConnectionLost(str(error.orig))
            convert = _FAILURES.get(self.connection.dialect.name)
            if convert is not None and isinstance(error.orig, Exception):
                return convert(error.orig, self._longest)
            message = redact_message(error.orig)
            return QueryTimeout(message) if "timeout" in message.lower() else QueryFailed(message)
        return QueryFailed(redact_message(error))

    def close(self) -> None:
        try:
            if self._result is not None and not self._result.complete:
                drop_unread_rows(self.driver)
            self.connection.invalidate()
            self.connection.close()
        except (SQLAlchemyError, OSError):
            return


def drop_unread_rows(driver: Any) -> None:
    """Drop unread rows, which PyMySQL would otherwise read before closing a connection."""
    result = getattr(driver, "_result", None)
    if result is not None and hasattr(result, "unbuffered_active"):
        result.unbuffered_active = False
        driver._result = None


def read_profile_by_inspector(
    inspector: sqlalchemy.Inspector, schemas: Sequence[str | None], name: str
) -> list[tuple[Any, ...]]:
    """Return rows from a SQLAlchemy inspector in place of those of a profile statement.

    Names are looked up in the first. The version changes with names alone: more would take reading all columns.
    """
    rows: list[tuple[Any, ...]] = []
    for schema in schemas:
        schema_name = schema or inspector.default_schema_name or ""
        views = inspector.get_view_names(schema)
        match name:
            case "version":
                rows.append((schema, sorted(inspector.get_table_names(schema)), sorted(views)))
            case "relations":
                has_comments = inspector.dialect.supports_comments
                comments = inspector.get_multi_table_comment(schema, kind=ObjectKind.ANY) if has_comments else {}
                for table in _read_columns_by_table(inspector, schema):
                    shown_name = table if schema == schemas[0] else f"{schema}.{table}"
                    comment = comments.get((schema, table), {"text": None})["text"]
                    kind = "view" if table in views else "table"
                    rows.append((schema_name, table, shown_name, kind, comment, *_NOTHING_MORE))
            case "columns":
                rows += [
                    (schema_name, table, column["name"], *_read_column_declaration(column), None, "", False)
                    for table, columns in _read_columns_by_table(inspector, schema).items()
                    for column in columns
                ]
            case "keys":
                for (_, table), key in inspector.get_multi_pk_constraint(schema).items():
                    names = enumerate(key["constrained_columns"] if key else (), 1)
                    rows += [(None, schema_name, table, column, number, None, None, None) for number, column in names]
                for (_, table), references in inspector.get_multi_foreign_keys(schema).items():
                    for number, reference in enumerate(references):
                        target = reference["referred_schema"] or schema_name, reference["referred_table"]
                        ends = zip(reference["constrained_columns"], reference["referred_columns"], strict=True)
                        rows += [(number, schema_name, table, source, 0, *target, other) for source, other in ends]
            case _:  # functions that people made
                pass
    return [(compute_digest(rows),)] if name == "version" else rows


def _read_columns_by_table(inspector: sqlalchemy.Inspector, schema: str | None) -> dict[str, Sequence[Any]]:
    return {name: columns for (_, name), columns in inspector.get_multi_columns(schema, kind=ObjectKind.ANY).items()}


def _read_column_declaration(column: Any) -> tuple[str, bool, bool, str]:
    """Return a column's type, whether it is NOT NULL, whether it is computed, and its comment."""
    try:
        type_name = "" if isinstance(column["type"], NullType) else str(column["type"])
    except SQLAlchemyError:
        type_name = type(column["type"]).__name__
    return type_name, not column.get("nullable", True), bool(column.get("computed")), column.get("comment") or ""


PREFIX = "sqlalchemy+"
"""What stands before a URL that this adapter is to open though there is an engine of its own for it."""

# sqlglot's names of dialects, where SQLAlchemy has others.
_DIALECTS = {
    "postgresql": "postgres",
    "mariadb": "mysql",
    "mssql": "tsql",
    "awsathena": "trino",  # whose SQL Athena reads; sqlglot's own dialect for it is two in one
    "clickhousedb": "clickhouse",
    "cockroachdb": "postgres",
}
_METHODS = ("cancel", "interrupt")


class SQLAlchemyBackend(Backend):
    """The database of an open SQLAlchemy engine, as one session uses it."""

    name = "SQLAlchemy"
    connection = SQLAlchemyConnection

    def __init__(self, engine: sqlalchemy.Engine, schemas: Sequence[str], session: Session) -> None:
        self._engine = engine
        self._schemas: tuple[str | None, ...] = tuple(schemas) or (None,)
        self._session = session
        self.grammar = find_dialect_grammar(engine.dialect.name)
        self.dialect = _DIALECTS.get(engine.dialect.name, engine.dialect.name)
        url = engine.url
        self.database = url.database or engine.dialect.name
        port = f":{url.port}" if url.port else ""
        self.location = f"{url.get_backend_name()}://{url.host or ''}{port}/{url.database or ''}"
        self._readable = mysql.select_schemas(schemas or ((url.database,) if url.database else ()))

    def with_session(self, session: Session) -> SQLAlchemyBackend:
        return SQLAlchemyBackend(self._engine, [name for name in self._schemas if name], session)

    @property
    def kind(self) -> str:
        """The name that SQLAlchemy gives the dialect; MariaDB is known only once connected."""
        return "mariadb" if getattr(self._engine.dialect, "is_mariadb", False) else self._engine.dialect.name

    def connect(self) -> SQLAlchemyConnection:
        connection: sqlalchemy.Connection | None = None
        try:
            connection = self._engine.connect()
            package = mysql.__package__ if self.kind in ("mysql", "mariadb") else __package__
            self.profile = read_engine_profile(package or "", self.kind)
            kill_query = self._find_kill_function(connection) or (lambda: None)
            return self.connection(connection, self.profile, self._session, kill_query)
        except (SQLAlchemyError, OSError) as error:
            if connection is not None:
                connection.invalidate()  # half set up, it is nobody's
            reasons = error.orig.args if isinstance(error, DBAPIError) and error.orig else ()
            message = reasons[-1] if reasons else error
            raise make_connection_error(self.location, message, str(self._engine.url.password or "")) from None

    def _read_profile_rows(self, connection: ServerConnection, name: str) -> list[tuple[Cell, ...]]:
        if name in self.profile.statements:
            return super()._read_profile_rows(connection, name)
        sql_connection = cast("SQLAlchemyConnection", connection)
        if name == "version":  # which is asked for first
            sql_connection.inspector = sqlalchemy.inspect(sql_connection.connection)
            if self._schemas != (None,):
                self.default_schema = sql_connection.inspector.default_schema_name or ""
        with warnings.catch_warnings():
            # Types that the dialect does not know are left without a name.
            warnings.simplefilter("ignore", SAWarning)
            return read_profile_by_inspector(sql_connection.inspector, self._schemas, name)

    def warnings(self, connection: ServerConnection) -> tuple[str, ...]:
        """Return the guarantees that this dialect lacks, and the remedies."""
        gaps: list[str] = []
        begins = "".join(self.profile.begin)
        if "READ ONLY" not in begins:
            gaps.append(f"{self.kind} has no read-only transactions here: what a query changes is rolled back")
        if "time" not in begins:
            gaps.append(
                f"{self.kind} has no time limit of its own here: a query that runs too long is cancelled from outside"
            )
        if self._find_kill_function(cast("SQLAlchemyConnection", connection).connection) is None:
            gaps.append("the driver cannot cancel a running query: time limits and cancelling wait for its first row")
        gaps.append("the login's own rights are not checked: use one that can only read")
        return tuple(gaps)

    def quote_identifier(self, name: str) -> str:
        return exp.to_identifier(name, quoted=True).sql(self.dialect)

    def make_sample_sql(self, relation: Relation, rows: int) -> str:
        # Values are taken whole, for there is no common way to cut one of any type.
        table = exp.table_(relation.name, relation.schema or None, quoted=True)
        columns = [exp.column(column.name, quoted=True) for column in relation.columns]
        return exp.select(*columns).from_(table).limit(rows).sql(self.dialect)

    def _find_kill_function(self, connection: sqlalchemy.Connection) -> _KillQuery | None:
        driver: Any = connection.connection.driver_connection
        kills = self.profile.statements.get("kill")
        if kills and hasattr(driver, "thread_id"):
            kill_sql = kills.format(number=int(driver.thread_id()))

            def kill_running_query() -> None:
                with self._engine.connect() as other:
                    other.exec_driver_sql(kill_sql)

            return kill_running_query
        return next((getattr(driver, method) for method in _METHODS if hasattr(driver, method)), None)


def open_engine(url: str, session: Session) -> ServerEngine:
    """Open the database at a URL through SQLAlchemy."""
    address = parse_server_url(url.removeprefix(PREFIX), roles=False)
    kind = address.url.partition(":")[0]
    try:
        engine = sqlalchemy.create_engine(address.url, pool_size=1, max_overflow=-1)
    except NoSuchModuleError:
        is_file = kind in ("http", "https", "s3", "gs", "ftp")
        advice = "download the file" if is_file else "check the URL, or install its SQLAlchemy dialect"
        raise DatabaseUnavailable(f"{kind}:// is not the address of a known kind of database: {advice}") from None
    except ImportError as error:
        package = error.name or error
        raise DatabaseUnavailable(f"the driver of {kind} is missing: install the Python package {package}") from None
    except (ArgumentError, ValueError, TypeError):
        raise DatabaseUnavailable(f"not a database URL: {hide_url_secrets(address.url)}") from None
    return wrap_sqlalchemy_engine(engine, session, address.schemas)


def wrap_sqlalchemy_engine(engine: sqlalchemy.Engine, session: Session, schemas: Sequence[str]) -> ServerEngine:
    """Return a `ServerEngine` for an open SQLAlchemy engine, which stays open.

    `schemas` are those to read; empty for the default one.
    """
    return ServerEngine(SQLAlchemyBackend(engine, schemas, session), session)


def find_dialect_grammar(name: str) -> StatementGrammar:
    """Return the rules for statements of a dialect, given by its SQLAlchemy name."""
    key = _DIALECTS.get(name, name)
    if key in _GRAMMARS:
        return _GRAMMARS[key]
    dialect = Dialect.get(key)
    if dialect is None:
        raise DatabaseUnavailable(f"statements of {name} cannot be checked here: sqlglot has no dialect of that name")
    functions = mysql.PROFILE.functions | postgres.PROFILE.functions
    return StatementGrammar(dialect(), replace(read_engine_profile(__package__ or "", key), functions=functions))
