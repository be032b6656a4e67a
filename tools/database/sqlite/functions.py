"""The SQL functions that a query may call; `data/profile.toml` lists them."""

from __future__ import annotations

import sqlite3
from contextlib import suppress

from ..profile import read_engine_profile

PROFILE = read_engine_profile(__package__ or "")

FULL_TEXT_FUNCTIONS = frozenset({"bm25", "highlight", "match", "matchinfo", "offsets", "snippet"})
"""Those that take a full-text table; names in lower case."""

TABLE_FUNCTIONS = frozenset({"json_each", "json_tree"})
"""Those that stand in FROM."""


def declare_table_functions(connection: sqlite3.Connection) -> None:
    """Call each table function once, so that SQLite declares it."""
    # They come into being on first use, which the guard would refuse.
    for name in sorted(TABLE_FUNCTIONS):
        # A table of that name takes its place.
        with suppress(sqlite3.OperationalError):
            connection.execute(f"SELECT 1 FROM {name}('[]')").close()
