"""Named tables of vectors, each row with a few text fields: what a store needs, and such tables in plain memory."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from .embedding import Vectors

Fields = Mapping[str, str]
"""A row's text fields by name."""

REBUILT_SUFFIX = "-anew"
"""Ends the names of tables that are built to replace others. Where the other is gone, such a table replaces it."""

SIMILARITY_DECIMALS = 4
"""Rows whose similarity differs beyond are equally near: the last bits of a sum differ by processor."""


@dataclass(frozen=True)
class Row:
    """A stored row; its similarity is the cosine to the vector that was looked for, 1 if there was none."""

    id: str
    fields: Fields
    similarity: float = 1.0


class MemoryTable:
    """Rows by identifier, with exact search; `ChromaTable` has the same methods. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: dict[str, Row] = {}
        self._vectors: dict[str, Vectors] = {}
        self._matrix: Vectors | None = None  # stacked when it is first searched, not at every addition

    def put(self, ids: Sequence[str], vectors: Vectors, fields: Sequence[Fields]) -> None:
        """Write rows, over those of these identifiers that are there. No identifier comes twice."""
        with self._lock:
            self._rows |= {id_: Row(id_, dict(row)) for id_, row in zip(ids, fields, strict=True)}
            self._vectors |= dict(zip(ids, vectors, strict=True))
            self._matrix = None

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        """Return the rows that are there, by identifier; no identifier is asked for twice."""
        with self._lock:
            return {id_: self._rows[id_] for id_ in ids if id_ in self._rows}

    def having(self, names: Sequence[str], value: str, limit: int) -> list[Row]:
        """Return rows in which one of the named fields is `value`."""
        return list(islice((row for row in self.scan() if value in map(row.fields.get, names)), limit))

    def nearest(self, vector: Vectors, k: int, among: Sequence[str] | None = None) -> list[Row]:
        """Return the k rows nearest to a vector of shape (dimensions,), best first; fewer if there are fewer.

        Equally near rows come in the order in which they were added.

        Args:
            vector: Where to look.
            k: How many.
            among: Identifiers of rows that are there, to look among these alone; None for all rows.
        """
        with self._lock:
            if not self._rows:
                return []
            if self._matrix is None:
                self._matrix = np.stack(list(self._vectors.values()))
            ids, wanted = list(self._vectors), None if among is None else frozenset(among)
            # Not by BLAS, whose threads spin for longer than they compute.
            similarities = np.einsum("ij,j->i", self._matrix, vector).round(SIMILARITY_DECIMALS)
            best = (i for i in np.argsort(-similarities, kind="stable") if wanted is None or ids[i] in wanted)
            return [Row(ids[i], self._rows[ids[i]].fields, float(similarities[i])) for i in islice(best, k)]

    def remove(self, ids: Sequence[str]) -> None:
        """Remove rows; unknown identifiers are passed over."""
        with self._lock:
            for id_ in ids:
                self._rows.pop(id_, None)
                self._vectors.pop(id_, None)
            self._matrix = None

    def scan(self) -> Iterator[Row]:
        """Yield all rows, in the order in which they came; those added meanwhile are not among them."""
        with self._lock:
            return iter(list(self._rows.values()))

    def ids(self) -> list[str]:
        """Return the identifiers of all rows."""
        return list(self._rows)

    def count(self) -> int:
        """Count the rows."""
        return len(self._rows)


class MemoryBackend:
    """Tables under two-part names: a room and what it holds; `ChromaBackend` has the same methods."""

    def __init__(self) -> None:
        self._tables: dict[tuple[str, str], MemoryTable] = {}

    def find(self, room: str, name: str) -> MemoryTable | None:
        """Return a table; None if it doesn't exist."""
        return self._tables.get((room, name))

    def make(self, room: str, name: str) -> MemoryTable:
        """Return a table, made if it doesn't exist."""
        return self._tables.setdefault((room, name), MemoryTable())

    def rooms(self) -> list[str]:
        """Return the rooms that have a table, in alphabetical order."""
        return sorted({room for room, _ in list(self._tables)})

    def clear(self, room: str, names: Sequence[str]) -> None:
        """Remove tables of a room, where they exist."""
        for name in names:
            self._tables.pop((room, name), None)

    def replace(self, room: str, name: str, by: str) -> None:
        """Replace one table of a room by another; nothing where there is no other."""
        if (table := self._tables.pop((room, by), None)) is not None:
            self._tables[room, name] = table

    def close(self) -> None:
        """Give back what the tables hold; the backend is not used afterwards."""
        self._tables.clear()
