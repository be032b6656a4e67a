"""Writing examples with their keys into a room's tables, and building those rebuilt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from .backend import REBUILT_SUFFIX, Backend, VectorTable
from .embedding import Embedding, Vectors
from .entry import Entry, make_entry
from .example import Index
from .payload import from_json

PAIRS = "pairs"
TABLES: dict[Index, str] = {"question": PAIRS, "skeleton": "skeletons", "sql": "sqls"}
BATCH = 1_000
_Rows = dict[str, tuple[str, dict[str, str]]]
"""Text and fields by identifier."""


@dataclass(frozen=True)
class Room:
    """A room's tables by what they index; made when something is written.

    Attributes:
        mark: Added to the tables' names.
    """

    backend: Backend
    name: str
    mark: str = ""

    def find(self, index: Index) -> VectorTable | None:
        """A table, where it exists."""
        return self.backend.table(self.name, TABLES[index] + self.mark)

    def made(self, index: Index) -> VectorTable:
        """A table, made where it doesn't exist."""
        table = self.backend.table(self.name, TABLES[index] + self.mark, create=True)
        assert table is not None
        return table


def write(room: Room, embedding: Embedding, entries: Sequence[Entry]) -> int:
    """Writes what of the entries is not there; gives how many pairs were new.

    Nothing is made or written before all vectors are there: an embedding that fails leaves no table that is bound to
    it. Keys are written before pairs, so that a pair that is there has its keys.
    """
    skeletons = {
        id_: (text, {"pair": entry.id, "sql": entry.sql_id})
        for entry in reversed(entries)
        for id_, text in entry.skeletons.items()
    }
    sqls = {entry.sql_id: (entry.sql, {"pair": entry.id}) for entry in reversed(entries)}
    pairs = {entry.id: (entry.example.question, entry.fields) for entry in entries}
    rows: dict[Index, _Rows] = {"skeleton": skeletons, "sql": sqls, "question": pairs}
    missing: dict[Index, _Rows] = {index: _missing(room.find(index), wanted) for index, wanted in rows.items()}
    texts: dict[Index, list[str]] = {index: [text for text, _ in new.values()] for index, new in missing.items() if new}
    vectors: dict[Index, Vectors] = {index: embedding(of_index) for index, of_index in texts.items()}
    for index, of_index in vectors.items():
        new = missing[index]
        room.made(index).add(list(new), of_index, [fields for _, fields in new.values()])
    return len(missing["question"])


def _missing(table: VectorTable | None, wanted: _Rows) -> _Rows:
    there = table.get(list(wanted)) if table else {}
    return {id_: row for id_, row in wanted.items() if id_ not in there}


def rebuild(backend: Backend, name: str, embedding: Embedding) -> int:
    """Rebuilds all tables of a room from its pairs, then replaces the old ones; gives how many pairs there are.

    Until then everybody finds the old ones, and an interruption changes nothing.
    """
    rebuilt = Room(backend, name, REBUILT_SUFFIX)
    backend.clear(name, [table + REBUILT_SUFFIX for table in TABLES.values()])
    pairs = Room(backend, name).find("question")
    if pairs is None:
        return 0
    _copy(pairs, rebuilt, embedding)
    if pairs.count() != rebuilt.made("question").count():  # somebody wrote meanwhile
        _copy(pairs, rebuilt, embedding)
    for table in reversed(TABLES.values()):  # pairs last: they have their keys
        backend.replace(name, table, table + REBUILT_SUFFIX)
    return Room(backend, name).made("question").count()


def _copy(pairs: VectorTable, to: Room, embedding: Embedding) -> None:
    stream = pairs.scan()
    while part := list(islice(stream, BATCH)):
        write(to, embedding, [make_entry(from_json(row.fields["example"])) for row in part])
