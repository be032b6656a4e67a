"""Objects that are databases: data frames, and LangChain's `SQLDatabase`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import DatabaseUnavailable
from .engine import Engine
from .session import Session

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas
    from langchain_community.utilities import SQLDatabase

    DatabaseSource: TypeAlias = str | Path | pandas.DataFrame | Mapping[str, pandas.DataFrame] | SQLDatabase
    """A path or URL, data frames, or LangChain's open database."""


def open_object(given: object, session: Session) -> Engine:
    """Opens what is neither a path nor a URL.

    Raises:
        DatabaseUnavailable: It is nothing that could be asked, or shows some tables only, which no server is told.
        SettingsError: The session's permissions do not fit it.
    """
    if _is_langchains(given):
        from .sqlalchemy.engine import from_sqlalchemy

        return from_sqlalchemy(_engine_of(given), session, _schemas_of(given))
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


def _engine_of(given: Any) -> Any:
    if given._include_tables or given._ignore_tables:
        raise DatabaseUnavailable(
            "a SQLDatabase with include_tables or ignore_tables cannot be opened: its other tables could still be"
            " read on the server; give the database's URL with a role that may read only the tables that you want"
        )
    return given._engine


def _schemas_of(given: Any) -> tuple[str, ...]:
    return (given._schema,) if given._schema else ()
