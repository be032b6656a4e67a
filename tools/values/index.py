"""The value index of a database: which of its values a question mentions, in the database's spelling."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from rapidfuzz import fuzz, process, utils

from ..database.table import Limits
from ..errors import QueryError
from .build import DEFAULT_BOUNDS, IndexBounds, fill
from .finder import find
from .match import ValueMatch
from .place import cache_folder, open_store
from .store import Store, StoredColumn

if TYPE_CHECKING:
    from ..database import Database


class ValueIndex:
    """Finds a database's values. Built on first use, kept in the user's cache folder; threads may share one."""

    def __init__(self, database: Database, folder: Path, bounds: IndexBounds) -> None:
        self._database = database
        self._bounds = bounds
        self._folder = folder
        self._lock = threading.RLock()
        self._store: Store | None = None
        self._columns: dict[tuple[str, str], StoredColumn] = {}
        self._by_id: dict[int, StoredColumn] = {}
        self._complete = False

    @classmethod
    def open(cls, database: Database, *, cache: Path | None = None, bounds: IndexBounds = DEFAULT_BOUNDS) -> ValueIndex:
        """The index of a database; nothing is read before the first look-up.

        Args:
            database: Whose values; columns that it hides are not in the index.
            cache: Folder for index files; by default `TABLETURN_CACHE` or the user's cache folder.
            bounds: Limits of time and size.
        """
        return cls(database, cache or cache_folder(), bounds)

    def find(self, question: str, limit: int = 10) -> tuple[ValueMatch, ...]:
        """The values that a question mentions, best first.

        Args:
            question: As asked.
            limit: How many at most.
        """
        with self._lock:
            store = self._ready()
            return tuple(find(question, store, self._by_id, self._database.schema())[:limit])

    def holds(self, table: str, column: str, text: str) -> bool:
        """Whether a column holds exactly this text; names in any case."""
        with self._lock:
            store = self._ready()
            known = self._columns.get((table.lower(), column.lower()))
            if known is not None and known.state != "waiting":
                if store.held(known.id, text):
                    return True
                if known.state == "whole":
                    return False
        return self._database_holds(table, column, text)

    def nearest(self, table: str, column: str, text: str, limit: int = 3) -> tuple[str, ...]:
        """The column's values nearest to a text, nearest first; empty if none is near.

        Args:
            table: In any case.
            column: In any case.
            text: What was looked for.
            limit: How many at most.
        """
        with self._lock:
            store = self._ready()
            known = self._columns.get((table.lower(), column.lower()))
            choices = store.in_column(known.id, 50_000) if known else []
        near = process.extract(
            text, choices, scorer=fuzz.WRatio, processor=utils.default_process, limit=limit, score_cutoff=60
        )
        return tuple(choice for choice, _, _ in near)

    def _database_holds(self, table: str, column: str, text: str) -> bool:
        quoted = "'" + text.replace("'", "''") + "'"
        name = '"' + column.replace('"', '""') + '"'
        source = '"' + table.replace('"', '""') + '"'
        if self._database.schema().column(table, column) is None:
            return False
        try:
            found = self._database.execute(f"SELECT 1 FROM {source} WHERE {name} = {quoted} LIMIT 1", Limits(rows=1))
        except QueryError:
            return False
        return bool(found.rows)

    def _ready(self) -> Store:
        """The store, built further within the bound of time if it isn't complete yet."""
        if self._store is None:
            self._store = open_store(self._database, self._folder)
        if not self._complete:
            self._complete = fill(self._store, self._database, self._bounds)
            self._columns = {(c.table.lower(), c.name.lower()): c for c in self._store.columns()}
            self._by_id = {column.id: column for column in self._columns.values()}
        return self._store
