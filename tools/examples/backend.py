"""What a store needs of a vector database: named tables of vectors, each row with a few text fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from .embedding import Vectors

Fields = Mapping[str, str]
"""A row's text fields by name."""

REBUILT_SUFFIX = "-anew"
"""Ends the names of tables that are built to replace others. Where the other is gone, such a table replaces it."""

SIMILARITY_DECIMALS = 4
"""Rows whose similarity differs beyond are equally near: the last bits of a sum differ by processor."""


@dataclass(frozen=True)
class Row:
    """A stored row.

    Attributes:
        similarity: Cosine to the vector that was asked for; 1 where the row was not found by a vector.
    """

    id: str
    fields: Fields
    similarity: float = 1.0


class VectorTable(Protocol):
    """Rows of a vector and text fields, by identifier. Safe to use from several threads."""

    def add(self, ids: Sequence[str], vectors: Vectors, fields: Sequence[Fields]) -> None:
        """Writes rows; one whose identifier is there already is left as it is. No identifier comes twice."""
        ...

    def update(self, ids: Sequence[str], fields: Sequence[Fields]) -> None:
        """Sets fields of rows that are there; vectors stay."""
        ...

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        """The rows that are there, by identifier."""
        ...

    def having(self, names: Sequence[str], value: str, limit: int) -> list[Row]:
        """Rows in which one of the named fields is `value`."""
        ...

    def nearest(self, vector: Vectors, k: int, among: Sequence[str] | None = None) -> list[Row]:
        """The k nearest to a vector of shape (dimensions,), best first; fewer if there are fewer.

        Args:
            vector: Where to look.
            k: How many.
            among: Identifiers of rows that are there, to look among these alone; None for all rows.
        """
        ...

    def remove(self, ids: Sequence[str]) -> None:
        """Removes rows; unknown identifiers are passed over."""
        ...

    def scan(self) -> Iterator[Row]:
        """All rows, in the order in which they came."""
        ...

    def ids(self) -> list[str]:
        """The identifiers of all rows."""
        ...

    def count(self) -> int:
        """How many rows there are."""
        ...


class Backend(Protocol):
    """A set of vector tables under two-part names: a room and what it holds."""

    def table(self, room: str, name: str, create: bool = False) -> VectorTable | None:
        """A table; None where it doesn't exist and is not to be made."""
        ...

    def rooms(self) -> list[str]:
        """Rooms that have a table, in alphabetical order."""
        ...

    def clear(self, room: str, names: Sequence[str]) -> None:
        """Removes tables of a room, where they exist."""
        ...

    def replace(self, room: str, name: str, by: str) -> None:
        """Replaces one table of a room by another; nothing where there is no other."""
        ...

    def close(self) -> None:
        """Gives back files and connections; the backend is not used afterwards."""
        ...
