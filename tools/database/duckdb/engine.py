"""DuckDB as an `Engine`: its own files, files of tables, and data frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...errors import DatabaseUnavailable
from ..server.engine import ServerEngine
from ..session import Session
from ..table import Cell
from .sources import sources

try:
    from .backend import DuckDBBackend
    from .instance import Contents
    from .tables import fingerprint
except ImportError as error:
    if error.name != "duckdb":
        raise
    raise DatabaseUnavailable("files and DuckDB databases need duckdb: pip install 'tableturn[duckdb]'") from None

if TYPE_CHECKING:
    import pandas

_PART_ROWS = 200_000


class DuckDBEngine(ServerEngine):
    """One DuckDB file, some files of tables, or data frames, under one session; see `Engine`."""

    rows_by_person = False

    def __init__(self, backend: DuckDBBackend, session: Session) -> None:
        """See `ServerEngine`."""
        super().__init__(backend, session)
        self._duckdb = backend

    def under(self, session: Session) -> DuckDBEngine:
        """See `Engine`."""
        return DuckDBEngine(self._duckdb.under(session), session)

    def close(self) -> None:
        """See `Engine`."""
        super().close()
        self._duckdb.close()

    def state(self) -> str:
        """See `Engine`: the files' sizes and times, or what is in the frames."""
        self._pool.check_open()
        return self._duckdb.state_of_contents()

    def distinct_values(self, table: str, column: str, limit: int, seconds: float) -> tuple[Cell, ...]:
        """See `Engine`: of a large file that has to be taken apart, the values of its first rows."""
        relation = self._fresh().find(table)
        if relation is None or relation.shown not in self._duckdb.instance().slow:
            return super().distinct_values(table, column, limit, seconds)
        name, source = self._duckdb.quoted(column), self._duckdb.source(relation)
        part = f"(SELECT {name} FROM {source} LIMIT {_PART_ROWS}) AS part"
        return self._values(
            f"SELECT DISTINCT {name} FROM {part} WHERE {name} IS NOT NULL LIMIT {int(limit)}", limit, seconds
        )


def open_engine(url: str, session: Session) -> DuckDBEngine:
    """Opens what a path, a pattern or a URL names."""
    found = sources(url)
    return DuckDBEngine(DuckDBBackend(found.name, found.location, Contents(found), session), session)


def open_frames(frames: Mapping[str, pandas.DataFrame], session: Session) -> DuckDBEngine:
    """Opens data frames, as they are now, as the tables of a database."""
    state = fingerprint(frames)
    contents = Contents(frames=dict(frames), state_of_frames=state)
    name = next(iter(frames)) if len(frames) == 1 else "frames"
    return DuckDBEngine(DuckDBBackend(name, f"frames:{state}", contents, session), session)
