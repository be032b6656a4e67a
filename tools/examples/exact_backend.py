"""Vector tables in plain memory with exact search: for the shipped seeds, and the measure of approximate search."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import numpy as np

from .backend import SIMILARITY_DECIMALS, Fields, Row
from .embedding import Vectors


class ExactTable:
    """See `VectorTable`. The matrix is stacked when it is first searched, not at every addition."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fields: dict[str, Fields] = {}
        self._vectors: dict[str, Vectors] = {}
        self._matrix: Vectors | None = None
        self._ids: tuple[str, ...] = ()

    def add(self, ids: Sequence[str], vectors: Vectors, fields: Sequence[Fields]) -> None:
        with self._lock:
            for id_, vector, row in zip(ids, vectors, fields, strict=True):
                if id_ not in self._fields:
                    self._fields[id_] = dict(row)
                    self._vectors[id_] = vector
            self._matrix = None

    def update(self, ids: Sequence[str], fields: Sequence[Fields]) -> None:
        with self._lock:
            for id_, row in zip(ids, fields, strict=True):
                self._fields[id_] = {**self._fields[id_], **row}

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        with self._lock:
            return {id_: Row(id_, self._fields[id_]) for id_ in ids if id_ in self._fields}

    def having(self, names: Sequence[str], value: str, limit: int) -> list[Row]:
        with self._lock:
            rows = (Row(id_, row) for id_, row in self._fields.items() if any(row.get(name) == value for name in names))
            return [row for row, _ in zip(rows, range(limit), strict=False)]

    def nearest(self, vector: Vectors, k: int, among: Sequence[str] | None = None) -> list[Row]:
        """See `VectorTable.nearest`; equally near rows in the order in which they came."""
        with self._lock:
            if not self._fields:
                return []
            if self._matrix is None:
                self._ids = tuple(self._vectors)
                self._matrix = np.stack([self._vectors[id_] for id_ in self._ids])
            # Not by BLAS, whose threads spin for longer than they compute.
            similarities = np.einsum("ij,j->i", self._matrix, vector).round(SIMILARITY_DECIMALS)
            best = np.argsort(-similarities, kind="stable")
            if among is not None:
                wanted = frozenset(among)
                best = [i for i in best if self._ids[i] in wanted]
            return [Row(self._ids[i], self._fields[self._ids[i]], float(similarities[i])) for i in best[:k]]

    def remove(self, ids: Sequence[str]) -> None:
        with self._lock:
            for id_ in ids:
                self._fields.pop(id_, None)
                self._vectors.pop(id_, None)
            self._matrix = None

    def scan(self) -> Iterator[Row]:
        """See `VectorTable.scan`; rows added meanwhile are not shown."""
        with self._lock:
            rows = [Row(id_, fields) for id_, fields in self._fields.items()]
        return iter(rows)

    def ids(self) -> list[str]:
        with self._lock:
            return list(self._fields)

    def count(self) -> int:
        return len(self._fields)


class ExactBackend:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tables: dict[tuple[str, str], ExactTable] = {}

    def table(self, room: str, name: str, create: bool = False) -> ExactTable | None:
        with self._lock:
            if create:
                return self._tables.setdefault((room, name), ExactTable())
            return self._tables.get((room, name))

    def rooms(self) -> list[str]:
        with self._lock:
            return sorted({room for room, _ in self._tables})

    def clear(self, room: str, names: Sequence[str]) -> None:
        with self._lock:
            for name in names:
                self._tables.pop((room, name), None)

    def replace(self, room: str, name: str, by: str) -> None:
        with self._lock:
            if (room, by) in self._tables:
                self._tables[room, name] = self._tables.pop((room, by))

    def close(self) -> None:
        with self._lock:
            self._tables.clear()
