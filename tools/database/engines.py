"""Which engine opens which database. An engine's module is imported when a database of its kind is opened."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import cast

from ..errors import QueryError
from .engine import Engine
from .schema import TableSchema
from .session import Session

ENGINES: dict[str, str] = {
    "sqlite": ".sqlite.engine",
    "postgresql": ".postgres.engine",
    "postgres": ".postgres.engine",
    "mysql": ".mysql.engine",
    "mariadb": ".mysql.engine",
    "duckdb": ".duckdb.engine",
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
        from .objects import open_object

        return open_object(source, session)
    text = os.fspath(cast("str | os.PathLike[str]", source))
    module = import_module(ENGINES.get(_backend(text), _ANY_OTHER), __package__)
    return cast("Opener", module.open_engine)(text, session)


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
