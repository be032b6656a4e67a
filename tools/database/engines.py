"""The choice of an engine for a database; an engine's module is imported when it is needed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ..errors import DatabaseUnavailable, QueryError
from .engine import Engine
from .schema import TableSchema
from .session import Session

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas
    from langchain_community.utilities import SQLDatabase

    DatabaseSource: TypeAlias = str | Path | pandas.DataFrame | Mapping[str, pandas.DataFrame] | SQLDatabase
    """A path or URL, data frames, or LangChain's open database."""


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

Opener = Callable[[str, Session], Engine]
Compiles = Callable[[str, Sequence[TableSchema]], QueryError | None]


def open_engine(source: str | Path | object, session: Session) -> Engine:
    """Open the database that a path or a URL names, or that an object is.

    Raises:
        DatabaseUnavailable: There is no engine of that kind, or it cannot open the database.
        SettingsError: The session's permissions do not fit the database.
    """
    if not isinstance(source, str | os.PathLike):
        return _open_object(source, session)
    text = os.fspath(cast("str | os.PathLike[str]", source))
    if "://" in text:
        # In front of the backend's name, `sqlalchemy+` asks for the adapter.
        backend = text.partition("://")[0].partition("+")[0].lower()
    else:
        from .duckdb.sources import names_files

        backend = "duckdb" if names_files(text) else "sqlite"
    name = ENGINES.get(backend, _ANY_OTHER)
    try:
        return cast("Opener", import_module(name, __package__).open_engine)(text, session)
    except ImportError:
        extra = name.split(".")[1]
        raise DatabaseUnavailable(f"{backend}:// needs its driver: pip install 'tableturn[{extra}]'") from None


def _open_object(given: object, session: Session) -> Engine:
    # By its class's name, for importing the class takes a second and warns of the package's end.
    classes = ((kind.__module__.partition(".")[0], kind.__name__) for kind in type(given).__mro__)
    if ("langchain_community", "SQLDatabase") in classes:
        from .sqlalchemy.engine import from_sqlalchemy

        theirs: Any = given
        if theirs._include_tables or theirs._ignore_tables:
            raise DatabaseUnavailable(
                "a SQLDatabase with include_tables or ignore_tables cannot be opened: its other tables could still be"
                " read on the server; give the database's URL with a role that may read only the tables that you want"
            )
        return from_sqlalchemy(theirs._engine, session, (theirs._schema,) if theirs._schema else ())
    from .duckdb.engine import open_frames
    from .duckdb.tables import frames_of

    frames = frames_of(given)
    if frames is None:
        raise DatabaseUnavailable(
            f"a {type(given).__name__} is not a database: give a path, a URL, data frames or a SQLDatabase"
        )
    return open_frames(frames, session)


def compile_check(dialect: str) -> Compiles | None:
    """Return a function that tells, from a schema alone, why an engine would refuse a query.

    None if only an open database can tell.
    """
    if dialect != "sqlite":
        return None
    return cast("Compiles", import_module(".sqlite.compile_check", __package__).refusal)
