"""The protocol of engines, the kinds of databases, and the choice of an engine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from ..errors import DatabaseUnavailable, QueryError, SettingsError
from .estimate import Estimate
from .fetch import Sink
from .schema import Schema, TableSchema
from .session import Session
from .table import Limits, Table
from .watchdog import Cancellation

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas
    from langchain_community.utilities import SQLDatabase

    DatabaseSource: TypeAlias = str | Path | pandas.DataFrame | Mapping[str, pandas.DataFrame] | SQLDatabase
    """A path or URL, data frames, or LangChain's open database."""


class QueryTooComplex(Exception):
    """The error for a query that takes too much time or memory to compile."""


class Engine(Protocol):
    """The protocol of an open database under one session, safe to use from many threads.

    The suite `tests/tools/database/conformance` says, for every engine, what these methods promise.

    Attributes:
        name: The engine's name, as prompts and messages give it: `SQLite`, `PostgreSQL`.
        dialect: The SQL that it reads, by sqlglot's name: `sqlite`, `postgres`.
        version: The engine's version; empty where it does not say.
        database: The database's short name.
        location: Where the database is, the same for everybody who opens it; never with a password.
        warnings: What the login may do that it should not, what cannot be promised or was guessed here, and what to do.
    """

    name: str
    dialect: str
    version: str
    database: str
    location: str
    warnings: tuple[str, ...]

    def state(self) -> str:
        """Return a key that changes whenever the database may have changed; empty if unknown."""
        ...

    def with_session(self, session: Session) -> Engine:
        """Return the same database for another session.

        Raises:
            SettingsError: The session's permissions name what the database does not have, or cannot be kept here.
        """
        ...

    def schema(self) -> Schema:
        """Return the schema that the session may read, with row counts and samples.

        Raises:
            DatabaseUnavailable: The database is gone, damaged or locked.
        """
        ...

    def execute(self, sql: str, limits: Limits, cancellation: Cancellation | None, sink: Sink | None = None) -> Table:
        """Run a read-only statement; a sink, if given, receives the rows instead of the table.

        Raises:
            QueryError: It may not run, failed, ran out of time, or gave too much.
            DatabaseUnavailable: The database is gone or damaged.
        """
        ...

    def translate(self, sql: str) -> str:
        """Return a query with functions and operators that only others have written as this one's."""
        ...

    def compile_check(self, sql: str, tables: Sequence[TableSchema]) -> QueryError | None:
        """Compile a query and return any error; raise `QueryTooComplex` if this takes too long."""
        ...

    def estimate(self, sql: str) -> Estimate | None:
        """Return the engine's estimate of a query's cost without running it; None if unknown.

        Raises:
            QueryError: The engine would not run it.
            DatabaseUnavailable: The database is gone or damaged.
        """
        ...

    def close(self) -> None:
        """Close all connections; running queries end by themselves."""
        ...


ENGINES: dict[str, str] = {
    "sqlite": ".sqlite.engine",
    "postgresql": ".postgres.engine",
    "postgres": ".postgres.engine",
    "mysql": ".mysql.engine",
    "mariadb": ".mysql.engine",
    "duckdb": ".duckdb.opening",
    "sc": ".spark.engine",
}
"""The module of each engine, by the backend's name in a URL. It has `open_engine(url, session)`."""

_ANY_OTHER = ".sqlalchemy.engine"
ONLY_FILES = "there are no guesses to change: only files of tables, such as sales.csv, have them"

Opener = Callable[..., Engine]
Compiles = Callable[[str, Sequence[TableSchema]], QueryError | None]


def open_engine(source: str | Path | object, session: Session, otherwise: Iterable[str] = ()) -> Engine:
    """Open a database from a path, a URL or an object such as a data frame.

    Raises:
        DatabaseUnavailable: There is no engine of that kind, or it cannot open the database.
        SettingsError: The session's permissions do not fit the database.
    """
    if not isinstance(source, str | os.PathLike):
        if otherwise:
            raise SettingsError(ONLY_FILES)
        return _open_database_object(source, session)
    text = os.fspath(cast("str | os.PathLike[str]", source))
    if not text.strip():
        raise DatabaseUnavailable("no database is named: give its path or URL, as in --db shop.db")
    if "://" in text:
        # In front of the backend's name, `sqlalchemy+` asks for the adapter.
        backend = text.partition("://")[0].partition("+")[0].lower()
    else:
        from .duckdb.sources import is_duckdb_source

        backend = "duckdb" if is_duckdb_source(text) else "sqlite"
    name = ENGINES.get(backend, _ANY_OTHER)
    options: dict[str, Any] = {}
    if otherwise:
        from .duckdb.notices import validate_guesses

        if backend != "duckdb":
            raise SettingsError(ONLY_FILES)
        options["reversals"] = validate_guesses(otherwise)
    try:
        return cast("Opener", import_module(name, __package__).open_engine)(text, session, **options)
    except ImportError:
        extra = name.split(".")[1]
        raise DatabaseUnavailable(f"{backend}:// needs its driver: pip install 'tableturn[{extra}]'") from None


def _open_database_object(source: object, session: Session) -> Engine:
    # By its class's name, for importing the class takes a second and warns of the package's end.
    classes = ((kind.__module__.partition(".")[0], kind.__name__) for kind in type(source).__mro__)
    if ("langchain_community", "SQLDatabase") in classes:
        from .sqlalchemy.engine import wrap_sqlalchemy_engine

        theirs: Any = source
        if theirs._include_tables or theirs._ignore_tables:
            raise DatabaseUnavailable(
                "a SQLDatabase with include_tables or ignore_tables cannot be opened: its other tables could still be"
                " read on the server; give the database's URL with a role that may read only the tables that you want"
            )
        return wrap_sqlalchemy_engine(theirs._engine, session, (theirs._schema,) if theirs._schema else ())
    from .duckdb.engine import open_data_frames
    from .duckdb.tables import collect_data_frames

    frames = collect_data_frames(source)
    if frames is None:
        raise DatabaseUnavailable(
            f"an object of type {type(source).__name__} is not a database: "
            "give a path, a URL, data frames or a SQLDatabase"
        )
    return open_data_frames(frames, session)


def get_compile_check(dialect: str) -> Compiles | None:
    """Return a function that checks queries against a schema alone; None if not possible.

    None if only an open database can tell.
    """
    if dialect != "sqlite":
        return None
    return cast("Compiles", import_module(".sqlite.compile_check", __package__).find_compile_error)
