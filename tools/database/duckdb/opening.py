"""Opens files; the process that DuckDB runs in starts first, and loads it while the engine is loaded here."""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ...errors import DatabaseUnavailable
from ...forkserver import available
from ..session import Session
from .reading import NURSERY

if TYPE_CHECKING:
    from .engine import DuckDBEngine


def open_engine(url: str, session: Session) -> DuckDBEngine:
    """Opens what a path, a pattern or a URL names."""
    if find_spec("duckdb") is None:
        raise DatabaseUnavailable("files and DuckDB databases need duckdb: pip install 'tableturn[duckdb]'")
    if available():
        with suppress(OSError):  # the first query says so
            NURSERY.start(wait=False)
    from .engine import open_files

    return open_files(url, session)
