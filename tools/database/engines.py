"""Which engine opens which database. An engine's module is imported when a database of its kind is opened."""

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
    """Opens the database that a path or a URL names, or that an object is.

    Raises:
        DatabaseUnavailable: There is no engine of that kind, or it cannot open the database.
        SettingsError: The session's permissions do not fit the database.
    """
    if not isinstance(source, str | os.PathLike):
        return _open_object(source, session)
    text = os.fspath(cast("str | os.PathLike[str]", source))
    name = ENGINES.get(_backend(text), _ANY_OTHER)
    try:
        return cast("Opener", import_module(name, __package__).open_engine)(text, session)
    except ImportError:
        raise DatabaseUnavailable(
            f"{_backend(text)}:// needs its driver: pip install 'tableturn[{name.split('.')[1]}]'"
        ) from None


def _open_object(given: object, session: Session) -> Engine:
    """Open what is neither a path nor a URL."""
    if _is_langchains(given):
        from .sqlalchemy.engine import from_sqlalchemy

        held: Any = given
        if held._include_tables or held._ignore_tables:
            raise DatabaseUnavailable(
                "a SQLDatabase with include_tables or ignore_tables cannot be opened: its other tables could still be"
                " read on the server; give the database's URL with a role that may read only the tables that you want"
            )
        return from_sqlalchemy(held._engine, session, (held._schema,) if held._schema else ())
    from .duckdb.tables import frames_of

    frames = frames_of(given)
    if frames is None:
        raise DatabaseUnavailable(
            f"a {type(given).__name__} is not a database: give a path, a URL, data frames or a SQLDatabase"
        )
    from .duckdb.engine import open_frames

    return open_frames(frames, session)


def _is_langchains(given: object) -> bool:
    """By its class's name, for importing the class takes a second and warns of the package's end."""
    classes = ((kind.__module__.partition(".")[0], kind.__name__) for kind in type(given).__mro__)
    return ("langchain_community", "SQLDatabase") in classes


def _backend(text: str) -> str:
    """The name before `://` and `+driver`; in front of it, `sqlalchemy+` asks for the adapter."""
    if "://" not in text:
        from .duckdb.sources import names_files

        return "duckdb" if names_files(text) else "sqlite"
    return text.partition("://")[0].partition("+")[0].lower()


def compile_check(dialect: str) -> Compiles | None:
    """How to ask, with nothing but a schema, whether an engine of that dialect would accept a query.

    None where only an open database can tell: see `Engine.compile_check`.
    """
    if dialect != "sqlite":
        return None
    module = import_module(".sqlite.compile_check", __package__)
    return cast("Compiles", module.refusal)
