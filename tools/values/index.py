"""The value index of a database, built on first use in the cache folder."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import TypeVar

from sqlglot import exp

from ..database import Database, Limits
from ..errors import QueryError
from ..folders import cache_folder
from ..words import fold, key, stem_word
from .match import IndexedValues, ValueMatch, find_nearest_values
from .store import IndexBounds, ValueStore, fill_value_store, list_columns_to_index

R = TypeVar("R")

_STEM = 3  # first letters of a word that its stem has too


class ValueIndex:
    """A searchable index of a database's values, built on first use; threads may share it.

    Every look-up raises `DatabaseUnavailable` if the database's file is gone or damaged. Names are taken in any case.

    Examples:
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
        self._index: IndexedValues | None = None
        self._complete = False

    @classmethod
    def open(cls, database: Database, *, cache: Path | None = None, bounds: IndexBounds | None = None) -> ValueIndex:
        """Open the value index of a database; read nothing before the first look-up.

        Args:
            database: Whose values; columns that it hides are not in the index.
            cache: Folder for index files; by default `TABLETURN_CACHE` or the user's cache folder.
            bounds: Limits of time and size. While the index is incomplete, each look-up goes on building it.
        """
        return cls(database, cache or cache_folder(), bounds or IndexBounds())

    def find(self, question: str, limit: int = 10) -> tuple[ValueMatch, ...]:
        """Return the values that a question mentions, best first."""
        return self._query_value_store(lambda index: index.find(question)[:limit])

    def find_values_with_prefix(self, text: str, limit: int = 10) -> tuple[tuple[str, str, str], ...]:
        """Return `(table, column, value)` of values that begin with a text, ignoring case."""
        *full_words, last = [fold(word) for word in text.split()] or [""]
        start, begun = key([*map(stem_word, full_words), last[:_STEM]]), text.casefold()

        def find_stored_values(index: IndexedValues) -> tuple[tuple[str, str, str], ...]:
            matches = [value for value in index.store.find_by_prefix(start) if value.text.casefold().startswith(begun)]
            places = [(index.columns[value.column], value.text) for value in matches[:limit]]
            return tuple((column.table, column.name, text) for column, text in places)

        return self._query_value_store(find_stored_values) if start else ()

    def holds(self, table: str, column: str, text: str) -> bool:
        """Whether a column contains exactly `text`, as the database engine compares texts.

        True for a column whose values may not leave, False for an unknown one.
        """

        def check_stored_values(index: IndexedValues) -> bool | None:
            entry = index.by_name.get((table.lower(), column.lower()))
            if entry and index.store.holds(entry.id, text):
                return True
            return False if entry and entry.state == "whole" else None

        present = self._query_value_store(check_stored_values)
        return self._has_value(table, column, exp.EQ, text) if present is None else present

    def matches(self, table: str, column: str, pattern: str, *, any_case: bool = False) -> bool:
        """Whether a column has a value LIKE the pattern, or ILIKE with `any_case`.

        True if the look-up takes too long, or if the column's values may not leave.
        """
        return self._has_value(table, column, exp.ILike if any_case else exp.Like, pattern)

    def nearest(self, table: str, column: str, text: str, limit: int = 3) -> tuple[str, ...]:
        """Return the column's values most similar to a text, most similar first."""
        place = table.lower(), column.lower()
        return self._query_value_store(lambda index: find_nearest_values(index, place, text, limit))

    def _has_value(self, table: str, column: str, comparison: type[exp.EQ | exp.Like | exp.ILike], text: str) -> bool:
        """Whether the engine finds a value in a column; True if the column may not be read."""
        leaving = self._database.leaving()
        table_schema, column_schema = leaving.schema.table(table), leaving.schema.column(table, column)
        if not table_schema or not column_schema:
            return False
        if (table_schema.name, column_schema.name) in leaving.column_levels:
            return True
        condition = comparison(this=exp.column(column_schema.name, quoted=True), expression=exp.Literal.string(text))
        query = exp.select("1").from_(exp.table_(*table_schema.path[::-1], quoted=True)).where(condition).limit(1)
        try:
            return bool(self._database.execute(query.sql(leaving.schema.dialect, copy=False), Limits(rows=1)).rows)
        except QueryError:
            return True  # what could not be looked up is not said to be missing

    def _query_value_store(self, ask: Callable[[IndexedValues], R]) -> R:
        """Query the value store after filling it further; rebuild a damaged store."""
        with self._lock:
            try:
                return ask(self._open_indexed_values())
            except sqlite3.DatabaseError:
                self._close_value_store(remove=True)
                return ask(self._open_indexed_values())

    def _open_indexed_values(self) -> IndexedValues:
        database, state = self._database, _make_contents_key(self._database)
        if self._index is None or state != self._state:
            self._close_value_store()
            self._index, self._state = (IndexedValues(_open_store(database, self._folder), database.schema()), state)
        if not self._complete:
            # Another process may be building, or the disk be full: what is there has to do.
            with suppress(sqlite3.OperationalError):
                self._complete = fill_value_store(self._index.store, database, self._bounds)
            self._index = IndexedValues(self._index.store, database.schema())
        return self._index

    def _close_value_store(self, *, remove: bool = False) -> None:
        if self._index is not None:
            self._index.store.close(remove=remove)
        self._index = None
        self._complete = False


def _open_store(database: Database, folder: Path) -> ValueStore:
    """Open the current index file of a database, or an index in memory; remove old files."""
    schema = database.schema()
    columns = list_columns_to_index(schema, database.leaving().column_levels)
    # Who asks and what they may see are part of the name: nothing that was read under wider rights is found under
    # narrower ones, be they rights to columns, which change the list, or to rows, which only the engine knows.
    owner = _hash_strings(*filter(None, (database.location, database.session.key)), repr(columns))
    path = folder / "values" / f"{owner}-{_hash_strings(_make_contents_key(database), schema.version)}.sqlite"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for other in path.parent.glob(f"{owner}-*"):
            if not other.name.startswith(path.stem):
                other.unlink(missing_ok=True)
        return ValueStore(path, columns)
    except (OSError, sqlite3.OperationalError):  # it is no damage that the disk is full or the file locked
        return ValueStore(":memory:", columns)
    except sqlite3.DatabaseError:
        path.unlink(missing_ok=True)
        return ValueStore(path, columns)


def _make_contents_key(database: Database) -> str:
    """Return a key that changes whenever the contents of the database may have changed."""
    return database.engine.state() or date.today().isoformat()


def _hash_strings(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:24]
