"""The value index of a database: which of its values a question mentions, in the database's spelling."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeVar

from ..database import Database, Limits
from ..errors import QueryError
from ..folders import cache_folder
from .build import DEFAULT_BOUNDS, IndexBounds, fill
from .finder import find
from .known import Known
from .match import ValueMatch
from .nearest import nearest
from .place import database_state, open_store
from .store import Store, StoredColumn

R = TypeVar("R")


class ValueIndex:
    """Finds a database's values. Built on first use, kept in the user's cache folder; threads may share one.

    Example:
        >>> index = ValueIndex.open(Database.open("shop.db"))
        >>> [(m.column, m.value) for m in index.find("orders of french customers")]
        [('country', 'France')]
    """

    def __init__(self, database: Database, folder: Path, bounds: IndexBounds) -> None:
        """Use `ValueIndex.open`."""
        self._database = database
        self._bounds = bounds
        self._folder = folder
        self._lock = threading.Lock()
        self._state = ""
        self._store: Store | None = None
        self._known = Known()
        self._by_name: dict[tuple[str, str], StoredColumn] = {}
        self._complete = False

    @classmethod
    def open(cls, database: Database, *, cache: Path | None = None, bounds: IndexBounds = DEFAULT_BOUNDS) -> ValueIndex:
        """The index of a database; nothing is read before the first look-up.

        Args:
            database: Whose values; columns that it hides are not in the index.
            cache: Folder for index files; by default `TABLETURN_CACHE` or the user's cache folder.
            bounds: Limits of time and size. While the index is incomplete, each look-up goes on building it.
        """
        return cls(database, cache or cache_folder(), bounds)

    def find(self, question: str, limit: int = 10) -> tuple[ValueMatch, ...]:
        """The values that a question mentions, best first.

        Args:
            question: As asked.
            limit: How many at most.

        Raises:
            DatabaseUnavailable: The database's file is gone or damaged.
        """
        return self._ask(lambda store: tuple(find(question, store, self._known)[:limit]))

    def holds(self, table: str, column: str, text: str) -> bool:
        """Whether a column holds exactly this text.

        Args:
            table: In any case.
            column: In any case; of an unknown one, the answer is no.
            text: Compared as SQLite compares: a number's digits find the number.

        Raises:
            DatabaseUnavailable: The database's file is gone or damaged.
        """
        indexed = self._ask(lambda store: self._indexed(store, table, column, text))
        return self._database_has(table, column, "=", text) if indexed is None else indexed

    def matches(self, table: str, column: str, pattern: str) -> bool:
        """Whether a column has a value that is LIKE the pattern; no where that takes too long to say.

        Args:
            table: In any case.
            column: In any case; of an unknown one, the answer is no.
            pattern: With `%` and `_`, as LIKE takes them.

        Raises:
            DatabaseUnavailable: The database's file is gone or damaged.
        """
        return self._database_has(table, column, "LIKE", pattern)

    def nearest(self, table: str, column: str, text: str, limit: int = 3) -> tuple[str, ...]:
        """The column's values nearest to a text, nearest first; empty if none is near.

        Args:
            table: In any case.
            column: In any case.
            text: What was looked for.
            limit: How many at most.

        Raises:
            DatabaseUnavailable: The database's file is gone or damaged.
        """

        def ask(store: Store) -> tuple[str, ...]:
            known = self._by_name.get((table.lower(), column.lower()))
            return nearest(store, known, text, limit) if known else ()

        return self._ask(ask)

    def _indexed(self, store: Store, table: str, column: str, text: str) -> bool | None:
        """Whether the index holds a text; None where it cannot tell."""
        known = self._by_name.get((table.lower(), column.lower()))
        if known is None:
            return None
        if store.held(known.id, text):
            return True
        return False if known.state == "whole" else None

    def _database_has(self, table: str, column: str, compared: Literal["=", "LIKE"], text: str) -> bool:
        if self._database.schema().column(table, column) is None:
            return False
        quoted = text.replace("'", "''")
        name, source = (part.replace('"', '""') for part in (column, table))
        sql = f'SELECT 1 FROM "{source}" WHERE "{name}" {compared} \'{quoted}\' LIMIT 1'
        try:
            return bool(self._database.execute(sql, Limits(rows=1)).rows)
        except QueryError:
            return False

    def _ask(self, ask: Callable[[Store], R]) -> R:
        """Asks the store, built further if it is not complete; one that proves damaged is built anew."""
        with self._lock:
            try:
                return ask(self._ready())
            except sqlite3.DatabaseError:
                self._close(remove=True)
                return ask(self._ready())

    def _ready(self) -> Store:
        state = database_state(self._database)
        if self._store is None or state != self._state:
            self._close()
            self._store = open_store(self._database, self._folder)
            self._state = state
        if not self._complete:
            self._fill(self._store)
        return self._store

    def _fill(self, store: Store) -> None:
        try:
            self._complete = fill(store, self._database, self._bounds)
        except sqlite3.OperationalError:
            self._complete = False  # another process is building, or the disk is full: what is there has to do
        self._known = Known.of(store, self._database.schema())
        self._by_name = {(c.table.lower(), c.name.lower()): c for c in self._known.columns.values()}

    def _close(self, *, remove: bool = False) -> None:
        if self._store is not None:
            self._store.close(remove=remove)
        self._store = None
        self._complete = False
