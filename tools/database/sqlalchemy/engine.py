"""Any database that SQLAlchemy has a dialect for, as an `Engine`.

The statement is checked as on every server, and its transaction is rolled back. Whether the server itself keeps it from
writing depends on the dialect: `warnings` says what cannot be promised. A login that can only read is needed there.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from socket import SHUT_RDWR
from typing import Any, cast

import sqlalchemy
from sqlalchemy.engine.reflection import ObjectKind
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SAWarning, SQLAlchemyError
from sqlalchemy.types import NullType
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from ...errors import DatabaseUnavailable
from ..column_kinds import column_kind
from ..mysql import dialect as mysql
from ..postgres import dialect as postgres
from ..profile import Profile, read_profile
from ..schema import ColumnSchema, ForeignKey
from ..server.address import parted, scrubbed, without_password
from ..server.catalogue import Catalogue, Relation
from ..server.connection import Backend, Interrupter, ServerConnection
from ..server.engine import ServerEngine
from ..server.reading import Grammar
from ..session import Session, digest, remark
from .connection import SQLAlchemyConnection

_Key = tuple[str | None, str]


def names_version(connection: sqlalchemy.Connection, schemas: Sequence[str | None], owner: str) -> str:
    """Changes with the names of tables and views: more would take reading all columns."""
    inspector = sqlalchemy.inspect(connection)
    names = [
        (schema, sorted(inspector.get_table_names(schema)), sorted(inspector.get_view_names(schema)))
        for schema in schemas
    ]
    return digest(names, owner)


def read_catalogue(connection: sqlalchemy.Connection, schemas: Sequence[str | None], owner: str) -> Catalogue:
    """What the inspector sees of some schemas (None is the default one); names are looked up in the first."""
    with warnings.catch_warnings():
        # Types that the dialect does not know are left without a name.
        warnings.simplefilter("ignore", SAWarning)
        return _read(connection, schemas, owner)


def _read(connection: sqlalchemy.Connection, schemas: Sequence[str | None], owner: str) -> Catalogue:
    version = names_version(connection, schemas, owner)
    inspector = sqlalchemy.inspect(connection)
    default = inspector.default_schema_name or ""
    relations: dict[_Key, Relation] = {}
    keys: list[ForeignKey] = []
    for schema in schemas:
        views = set(inspector.get_view_names(schema))
        primary: dict[Any, Any] = inspector.get_multi_pk_constraint(schema)
        for name, columns in _columns(inspector, schema).items():
            keyed: list[str] = (primary.get((schema, name)) or {}).get("constrained_columns") or []
            relations[schema, name] = Relation(
                schema or default,
                name,
                name if schema == schemas[0] else f"{schema}.{name}",
                tuple(_column(column, keyed) for column in columns),
                "view" if name in views else "table",
            )
    for schema in schemas:
        for (_, name), references in inspector.get_multi_foreign_keys(schema).items():
            for reference in references:
                target = relations.get((reference["referred_schema"] or schema, reference["referred_table"]))
                source = relations.get((schema, name))
                if source is not None and target is not None:
                    ends = tuple(reference["constrained_columns"]), tuple(reference["referred_columns"])
                    keys.append(ForeignKey(source.shown, ends[0], target.shown, ends[1]))
    return Catalogue(version, tuple(relations.values()), tuple(keys))


def _columns(inspector: sqlalchemy.Inspector, schema: str | None) -> dict[str, Sequence[Any]]:
    """The columns of tables and views; views whose definition the login may not see are left out."""
    try:
        return {
            name: columns for (_, name), columns in inspector.get_multi_columns(schema, kind=ObjectKind.ANY).items()
        }
    except DBAPIError as error:
        if error.connection_invalidated:
            raise
    # Some dialects read the columns of a view out of its definition, and one that is denied ends it for all.
    found: dict[str, Sequence[Any]] = {
        name: columns for (_, name), columns in inspector.get_multi_columns(schema, kind=ObjectKind.TABLE).items()
    }
    for name in inspector.get_view_names(schema):
        try:
            found[name] = inspector.get_columns(name, schema)
        except DBAPIError as error:
            if error.connection_invalidated:
                raise
    return found


def _column(column: Any, keyed: Sequence[str]) -> ColumnSchema:
    declared = _declared(column["type"])
    name: str = column["name"]
    return ColumnSchema(
        name,
        declared,
        column_kind(declared, ()),
        primary_key=keyed.index(name) + 1 if name in keyed else 0,
        not_null=not column.get("nullable", True),
        generated=bool(column.get("computed")),
        comment=column.get("comment") or "",
    )


def _declared(type_: Any) -> str:
    if isinstance(type_, NullType):
        return ""
    try:
        return str(type_)
    except SQLAlchemyError:
        return type(type_).__name__


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
    """A database that an open engine of SQLAlchemy leads to."""

    name = "SQLAlchemy"
    connection = SQLAlchemyConnection

    def __init__(self, engine: sqlalchemy.Engine, schemas: Sequence[str], session: Session) -> None:
        self._engine = engine
        self._schemas: tuple[str | None, ...] = tuple(schemas) or (None,)
        self._session = session
        self.grammar = _grammar(engine.dialect.name)
        self.dialect = _DIALECTS.get(engine.dialect.name, engine.dialect.name)
        url = engine.url
        self.database = url.database or engine.dialect.name
        port = f":{url.port}" if url.port else ""
        self.location = f"{url.get_backend_name()}://{url.host or ''}{port}/{url.database or ''}"

    def under(self, session: Session) -> SQLAlchemyBackend:
        return SQLAlchemyBackend(self._engine, [name for name in self._schemas if name], session)

    @property
    def kind(self) -> str:
        """SQLAlchemy's name of the dialect; whether a server is MariaDB's is known once a connection was made."""
        return "mariadb" if getattr(self._engine.dialect, "is_mariadb", False) else self._engine.dialect.name

    @property
    def profile(self) -> Profile:
        """What the server is told and asked."""
        package = mysql.__package__ if self.kind in ("mysql", "mariadb") else __package__
        return read_profile(package or "", self.kind)

    def connect(self) -> SQLAlchemyConnection:
        try:
            connection = self._engine.connect()
        except (SQLAlchemyError, OSError) as error:
            told = str(error.orig.args[-1] if isinstance(error, DBAPIError) and error.orig else error)
            message = scrubbed(told, [str(self._engine.url.password or "")])
            raise DatabaseUnavailable(f"{self.location} cannot be reached: {message}") from None
        ends = self._ends(connection)
        driver: Any = connection.connection.driver_connection
        hang_up = partial(driver._sock.shutdown, SHUT_RDWR) if hasattr(driver, "_sock") else ends
        return self.connection(
            connection,
            self.profile,
            Interrupter(ends or _nothing, hang_up or _nothing),
            partial(remark, self._session.identity),
            self._session.policy.egress.restricts,
        )

    def catalogue(self, connection: ServerConnection) -> Catalogue:
        return read_catalogue(_held(connection), self._schemas, self._session.key)

    def catalogue_version(self, connection: ServerConnection) -> str:
        return names_version(_held(connection), self._schemas, self._session.key)

    def warnings(self, connection: ServerConnection) -> tuple[str, ...]:
        """Tell what cannot be promised on this dialect, and what to do."""
        found: list[str] = []
        begins = "".join(self.profile.begin)
        if "READ ONLY" not in begins:
            found.append(f"{self.kind} has no read-only transactions here: what a query changes is rolled back")
        if "time" not in begins:
            found.append(
                f"{self.kind} has no time limit of its own here: a query that runs too long is cancelled from outside"
            )
        if self._ends(_held(connection)) is None:
            found.append("the driver cannot cancel a running query: time limits and cancelling wait for its first row")
        found.append("the login's own rights are not checked: use one that can only read")
        return tuple(found)

    def quoted(self, name: str) -> str:
        return exp.to_identifier(name, quoted=True).sql(self.dialect)

    def sample(self, relation: Relation, rows: int) -> str:
        # Values are taken whole, for there is no common way to cut one of any type.
        listed = ", ".join(self.quoted(column.name) for column in relation.columns)
        query = sqlalchemy.select(sqlalchemy.text(listed)).select_from(sqlalchemy.text(self.source(relation)))
        return str(query.limit(rows).compile(dialect=self._engine.dialect, compile_kwargs={"literal_binds": True}))

    def _ends(self, connection: sqlalchemy.Connection) -> Callable[[], None] | None:
        held: Any = connection.connection.driver_connection
        kills = self.profile.statements.get("kill")
        if kills and hasattr(held, "thread_id"):
            ended = kills.format(number=int(held.thread_id()))

            def kill() -> None:
                with self._engine.connect() as other:
                    other.exec_driver_sql(ended)

            return kill
        return next((getattr(held, method) for method in _METHODS if hasattr(held, method)), None)


def open_engine(url: str, session: Session) -> ServerEngine:
    """Opens the database that a URL names."""
    address = parted(url.removeprefix(PREFIX), roles=False)
    try:
        engine = sqlalchemy.create_engine(address.url, pool_size=1, max_overflow=-1)
    except NoSuchModuleError:
        kind = address.url.partition(":")[0]
        raise DatabaseUnavailable(
            f"there is no engine for {kind}: install the SQLAlchemy dialect of that name"
        ) from None
    except ImportError as error:
        raise DatabaseUnavailable(f"the driver of {address.url.partition(':')[0]} is missing: {error}") from None
    except (ArgumentError, ValueError, TypeError):
        raise DatabaseUnavailable(f"not a database URL: {without_password(address.url)}") from None
    return from_sqlalchemy(engine, session, address.schemas)


def from_sqlalchemy(
    engine: sqlalchemy.Engine, session: Session | None = None, schemas: Sequence[str] = ()
) -> ServerEngine:
    """An open SQLAlchemy engine, such as the one in LangChain's `SQLDatabase`, as an `Engine`.

    Args:
        engine: It is left open when the `Engine` is closed.
        session: Who asks under which policy.
        schemas: Those to read; empty for the default one.
    """
    asked = session or Session()
    return ServerEngine(SQLAlchemyBackend(engine, schemas, asked), asked)


def _nothing() -> None:
    return None


def _grammar(name: str) -> Grammar:
    known = _DIALECTS.get(name, name)
    for grammar in (mysql.GRAMMAR, postgres.GRAMMAR):
        if known == type(grammar.dialect).__name__.lower():
            return grammar
    read = Dialect.get(known)
    if read is None:
        raise DatabaseUnavailable(f"statements of {name} cannot be checked here: sqlglot has no dialect of that name")
    return Grammar(read(), mysql.PROFILE.functions | postgres.PROFILE.functions)


def _held(connection: ServerConnection) -> sqlalchemy.Connection:
    return cast("SQLAlchemyConnection", connection).connection
