"""The tables of a database's own examples as one person may see them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from .backend import Fields, Row, VectorTable
from .embedding import Vectors
from .example import Example
from .payload import from_json

_PAGE = 1_000


class SeenTable:
    """A table without the rows that a person may not see; nothing else tells that they are there.

    Args:
        table: All rows.
        select: Returns the rows that may be seen.
    """

    def __init__(self, table: VectorTable, select: Callable[[Sequence[Row]], list[Row]]) -> None:
        self._table = table
        self._select = select

    def nearest(self, vector: Vectors, k: int, among: Sequence[str] | None = None) -> list[Row]:
        """See `VectorTable.nearest`."""
        wanted = k
        while True:
            rows = self._table.nearest(vector, wanted, among)
            seen = self._select(rows)
            if len(seen) >= k or len(rows) < wanted:
                return seen[:k]
            wanted *= 4

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        return {row.id: row for row in self._select(list(self._table.get(ids).values()))}

    def having(self, names: Sequence[str], value: str, limit: int) -> list[Row]:
        return self._select(self._table.having(names, value, max(self._table.count(), 1)))[:limit]

    def scan(self) -> Iterator[Row]:
        rows = self._table.scan()
        while page := list(islice(rows, _PAGE)):
            yield from self._select(page)

    def ids(self) -> list[str]:
        return [row.id for row in self.scan()]

    def count(self) -> int:
        return sum(1 for _ in self.scan())

    def add(self, ids: Sequence[str], vectors: Vectors, fields: Sequence[Fields]) -> None:
        self._table.add(ids, vectors, fields)

    def update(self, ids: Sequence[str], fields: Sequence[Fields]) -> None:
        self._table.update(ids, fields)

    def remove(self, ids: Sequence[str]) -> None:
        self._table.remove(ids)


def seen_pairs(table: VectorTable, readable: Callable[[Example], object]) -> SeenTable:
    """Return a table of pairs with those that may be read."""
    return SeenTable(table, lambda rows: [row for row in rows if readable(from_json(row.fields["example"]))])


def seen_keys(table: VectorTable, pairs: VectorTable, names: Sequence[str]) -> SeenTable:
    """Return a table of keys with those that a pair that may be read has, and that pair.

    Args:
        table: All keys.
        pairs: The pairs that may be read.
        names: The fields of a pair that name its keys.
    """

    def select(rows: Sequence[Row]) -> list[Row]:
        first = pairs.get([row.fields.get("pair", row.id) for row in rows])
        return [row for key in rows if (row := key if key.fields.get("pair") in first else other(key)) is not None]

    def other(key: Row) -> Row | None:
        pair = next(iter(pairs.having(names, key.id, 1)), None)
        return replace(key, fields={**key.fields, "pair": pair.id}) if pair else None

    return SeenTable(table, select)
