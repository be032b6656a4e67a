"""The cache of a schema, which decides when counts and samples are read again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from ..errors import DatabaseUnavailable
from .schema import Schema

# Reading takes at most one part in so many of the time, however often the contents change.
_SHARE = 20


@dataclass(frozen=True)
class _CacheEntry:
    catalogue: object
    schema: Schema
    state: str
    end: float
    seconds: float

    @cached_property
    def has_empty_table(self) -> bool:
        """Whether a table had no rows."""
        return any(table.row_count == 0 for table in self.schema.tables)


class SchemaCache:
    """A schema cache, refreshed by one thread at a time after the contents have changed."""

    def __init__(
        self, state: Callable[[], str], pause: float = 0.0, is_outdated: Callable[[Schema], bool] = lambda _: False
    ) -> None:
        """Make an empty cache; `state` returns a key that changes with the contents.

        Where `state` cannot tell, the contents count as changed every hour. Between two readings are
        `pause` seconds at least, unless a schema with an empty table `is_outdated`.
        """
        self._state = state
        self._pause = pause
        self._is_outdated = is_outdated
        self._lock = threading.Lock()
        self._last: _CacheEntry | None = None

    def get(self, catalogue: object, read: Callable[[bool], Schema]) -> Schema:
        """Return the cached schema of a catalogue, reading it again if it is outdated."""
        entry = self._find_cached_schema(catalogue)
        if entry is not None and not self._is_refresh_due(entry):
            return entry.schema
        if not self._lock.acquire(blocking=entry is None):
            assert entry is not None
            return entry.schema
        try:
            latest = self._find_cached_schema(catalogue)
            if latest is None or latest is entry:
                latest = self._last = self._read_schema(catalogue, entry, read)
            return latest.schema
        finally:
            self._lock.release()

    def _find_cached_schema(self, catalogue: object) -> _CacheEntry | None:
        last = self._last
        return last if last is not None and (last.catalogue is catalogue or last.catalogue == catalogue) else None

    def _read_schema(self, catalogue: object, entry: _CacheEntry | None, read: Callable[[bool], Schema]) -> _CacheEntry:
        start = time.monotonic()
        try:
            state = self._read_database_state()
            schema = replace(read(entry is not None), counted_at=time.time())
        except DatabaseUnavailable:
            if entry is None:
                raise
            return replace(entry, end=time.monotonic())
        end = time.monotonic()
        return _CacheEntry(catalogue, schema, state, end, end - start)

    def _is_refresh_due(self, entry: _CacheEntry) -> bool:
        if time.monotonic() - entry.end < max(self._pause, _SHARE * entry.seconds):
            return entry.has_empty_table and self._is_outdated(entry.schema)
        return self._read_database_state() != entry.state

    def _read_database_state(self) -> str:
        return self._state() or time.strftime("%Y-%m-%d %H")
