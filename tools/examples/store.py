"""The example store: question-SQL pairs, found by question, by skeleton, or by a draft's SQL skeleton."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Literal

import numpy as np

from ..errors import ExampleRefused, TableturnError
from .backend import Backend, Row, VectorTable
from .chroma_backend import ChromaBackend
from .embedding import Embedding, HashedEmbedding
from .example import Example
from .keys import Keys, digest, example_id, keys_of
from .payload import from_json, to_json

Verify = Callable[[Example], object]
"""Runs an example's SQL on its database; raises a `TableturnError` where it doesn't run."""

Index = Literal["question", "skeleton", "sql"]
"""What a lookup goes by."""

SHARED = ""
"""The room of the examples that every database's questions may see; other rooms are named by their database."""

_PAIRS = "pairs"
_KEYS: dict[Index, str] = {"skeleton": "skeletons", "sql": "sqls"}
_KEY_FIELDS: dict[Index, tuple[str, ...]] = {"skeleton": ("skeleton_1", "skeleton_2"), "sql": ("sql",)}
_BATCH = 1_000


@dataclass(frozen=True)
class Found:
    """An example that a lookup found; `similarity` is the cosine of the two keys."""

    id: str
    example: Example
    similarity: float


@dataclass(frozen=True)
class Refusal:
    """An example that was not added, and why."""

    example: Example
    reason: str


@dataclass(frozen=True)
class Added:
    """What an addition did: examples written, those that were there already, and those refused."""

    added: int = 0
    known: int = 0
    refused: tuple[Refusal, ...] = ()


@dataclass(frozen=True)
class Stats:
    """A store in numbers.

    Attributes:
        examples: All of them.
        shared: Those that every database's questions may see.
        by_database: Examples a database.
        by_source: Examples a source.
        sql_skeletons: Distinct ones, by room.
        embedding: Name of the embedding.
    """

    examples: int
    shared: int
    by_database: dict[str, int]
    by_source: dict[str, int]
    sql_skeletons: int
    embedding: str


@dataclass(frozen=True)
class _Entry:
    id: str
    example: Example
    keys: Keys
    skeleton_ids: tuple[str, ...]
    sql_id: str

    @property
    def room(self) -> str:
        return SHARED if self.example.shared else self.example.database

    def fields(self) -> dict[str, str]:
        ids = {f"skeleton_{n}": id for n, id in enumerate(self.skeleton_ids, 1)}
        return {"example": to_json(self.example), "sql": self.sql_id, **ids}


class ExampleStore:
    """Examples by key. Safe to use from several threads.

    A room holds one table of pairs (with the questions' vectors) and one table for each other key. The key tables
    have one row a distinct key, not one a pair, so that a thousand pairs of one kind neither crowd out the rest nor
    cost memory; a row names one pair that stands for its key. Key rows are written before pairs and each addition
    completes whatever is missing of its examples, so an interrupted import leaves a store that opens, answers, and
    is completed by importing again.
    """

    def __init__(self, backend: Backend, embedding: Embedding | None = None) -> None:
        """Use `open`; this is for other backends."""
        self._backend = backend
        self.embedding: Embedding = embedding or HashedEmbedding()
        self.version = 0

    @classmethod
    def open(cls, location: str | Path | None = None, embedding: Embedding | None = None) -> ExampleStore:
        """Opens a store, making it if there is none.

        Args:
            location: None for memory, a folder, or `http://host:port` of a Chroma server.
            embedding: How keys become vectors; the default needs no download.

        Raises:
            ExampleStoreError: It cannot be opened, or was made by another version or with another embedding.
        """
        chosen = embedding or HashedEmbedding()
        return cls(ChromaBackend(location, chosen.name), chosen)

    def add(self, examples: Iterable[Example], verify: Verify | None = None, strict: bool = True) -> Added:
        """Adds examples; those that are there already are left as they are.

        Args:
            examples: Any number; written in batches.
            verify: Runs each one's SQL on its database.
            strict: Raise at the first example that is refused. Otherwise refusals are counted and the rest is added.

        Raises:
            ExampleRefused: SQL that is not one query, or doesn't run (and `strict`).
            ExampleStoreError: The store cannot be written.
        """
        total = Added()
        stream = iter(examples)
        while part := list(islice(stream, _BATCH)):
            total = self._add_batch(part, verify, strict, total)
        return total

    def _add_batch(self, examples: list[Example], verify: Verify | None, strict: bool, before: Added) -> Added:
        entries: dict[str, _Entry] = {}
        refused: list[Refusal] = []
        for example in examples:
            try:
                entry = _entry(example, verify)
            except ExampleRefused as error:
                if strict:
                    raise
                refused.append(Refusal(example, str(error)))
            else:
                entries.setdefault(entry.id, entry)
        added = 0
        for room in sorted({entry.room for entry in entries.values()}):
            added += self._write(room, [entry for entry in entries.values() if entry.room == room])
        known = len(examples) - len(refused) - added
        return Added(before.added + added, before.known + known, (*before.refused, *refused))

    def _write(self, room: str, entries: list[_Entry]) -> int:
        pairs = self._made(room, _PAIRS)
        self._write_keys(
            self._made(room, _KEYS["skeleton"]),
            {
                id: (text, entry.id)
                for entry in entries
                for id, text in zip(entry.skeleton_ids, entry.keys.skeletons, strict=True)
            },
        )
        self._write_keys(
            self._made(room, _KEYS["sql"]), {entry.sql_id: (entry.keys.sql, entry.id) for entry in entries}
        )
        there = pairs.get([entry.id for entry in entries])
        new = [entry for entry in entries if entry.id not in there]
        if new:
            vectors = self.embedding([entry.keys.question for entry in new])
            pairs.add([entry.id for entry in new], vectors, [entry.fields() for entry in new])
            self.version += 1
        return len(new)

    def _write_keys(self, table: VectorTable, keys: dict[str, tuple[str, str]]) -> None:
        there = table.get(list(keys))
        new = {id: key for id, key in keys.items() if id not in there}
        if new:
            vectors = self.embedding([text for text, _ in new.values()])
            table.add(list(new), vectors, [{"pair": pair} for _, pair in new.values()])

    def _made(self, room: str, name: str) -> VectorTable:
        table = self._backend.table(room, name, create=True)
        assert table is not None
        return table

    def nearest(self, index: Index, text: str, k: int, database: str = "") -> list[Found]:
        """The k examples whose key is nearest, best first.

        Args:
            index: `question` compares whole questions; `skeleton` question skeletons (of the question or its
                simplified form; revision chain 3.1.3) and `sql` SQL skeletons, one example a distinct key.
            text: The key to look for, of that kind.
            k: How many.
            database: Whose question it is. Shared examples are always seen, others only by their own database.

        Raises:
            ExampleStoreError: The store cannot be read.
        """
        vector = self.embedding([text])[0]
        rooms = [SHARED, database] if database else [SHARED]
        found = [hit for room in rooms for hit in self._nearest_in(room, index, vector, k)]
        found.sort(key=lambda hit: -hit.similarity)
        return list({hit.id: hit for hit in reversed(found)}.values())[::-1][:k] if len(rooms) > 1 else found[:k]

    def _nearest_in(self, room: str, index: Index, vector: np.ndarray, k: int) -> list[Found]:
        table = self._backend.table(room, _KEYS.get(index, _PAIRS))
        pairs = self._backend.table(room, _PAIRS)
        if table is None or pairs is None or k < 1:
            return []
        rows = table.nearest(vector, k)
        if index == "question":
            return [_found(row, row.similarity) for row in rows]
        held = pairs.get([row.fields["pair"] for row in rows])
        found: dict[str, Found] = {}
        for row in rows:
            pair = held.get(row.fields["pair"]) or next(iter(pairs.having(_KEY_FIELDS[index], row.id, 1)), None)
            if pair is not None and pair.id not in found:
                found[pair.id] = _found(pair, row.similarity)
        return list(found.values())

    def remove(self, ids: Sequence[str]) -> int:
        """Removes examples by identifier; gives how many were there."""
        removed = 0
        for room in self._backend.rooms():
            pairs = self._backend.table(room, _PAIRS)
            there = pairs.get(ids) if pairs else {}
            if pairs is None or not there:
                continue
            pairs.remove(list(there))
            for index, names in _KEY_FIELDS.items():
                keys = {row.fields[name] for row in there.values() for name in names if name in row.fields}
                dead = [key for key in keys if not pairs.having(names, key, 1)]
                self._made(room, _KEYS[index]).remove(dead)
            removed += len(there)
        self.version += 1
        return removed

    def list(self, database: str | None = None, source: str | None = None) -> Iterator[Found]:
        """All examples with their identifiers, those of one database or source where asked for."""
        for room in self._backend.rooms():
            pairs = self._backend.table(room, _PAIRS)
            for row in pairs.scan() if pairs else ():
                hit = _found(row, 1.0)
                if database in (None, hit.example.database) and source in (None, hit.example.source):
                    yield hit

    def visible(self, database: str = "") -> Iterator[Found]:
        """All examples that a database's question may see."""
        for room in dict.fromkeys((SHARED, database)):
            pairs = self._backend.table(room, _PAIRS)
            yield from (_found(row, 1.0) for row in (pairs.scan() if pairs else ()))

    def count(self) -> int:
        """How many examples there are."""
        tables = [self._backend.table(room, _PAIRS) for room in self._backend.rooms()]
        return sum(table.count() for table in tables if table)

    def stats(self) -> Stats:
        """The store in numbers; reads all of it."""
        databases: Counter[str] = Counter()
        sources: Counter[str] = Counter()
        shared = 0
        for hit in self.list():
            databases[hit.example.database] += 1
            sources[hit.example.source] += 1
            shared += hit.example.shared
        tables = [self._backend.table(room, _KEYS["sql"]) for room in self._backend.rooms()]
        skeletons = sum(table.count() for table in tables if table)
        return Stats(sum(databases.values()), shared, dict(databases), dict(sources), skeletons, self.embedding.name)

    def reindex(self) -> int:
        """Builds the key tables anew from the pairs; gives the number of examples.

        The way out after a change of masking rules. (Another embedding needs a new store: export and import.)
        """
        total = 0
        for room in self._backend.rooms():
            pairs = self._made(room, _PAIRS)
            self._backend.clear(room, list(_KEYS.values()))
            stream = pairs.scan()
            while part := list(islice(stream, _BATCH)):
                entries = [_entry(from_json(row.fields["example"]), None) for row in part]
                for entry in entries:
                    pairs.update(entry.id, entry.fields())
                self._write(room, entries)
                total += len(part)
        self.version += 1
        return total

    def close(self) -> None:
        """Gives back files and connections."""
        self._backend.close()

    def __enter__(self) -> ExampleStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _entry(example: Example, verify: Verify | None) -> _Entry:
    try:
        keys = keys_of(example)
        if verify:
            verify(example)
    except TableturnError as error:
        raise ExampleRefused(f"refused {example.sql!r} for {example.question!r}: {error}") from error
    stamped = example if example.added else replace(example, added=datetime.now(UTC))
    skeleton_ids = tuple(digest(skeleton, keys.sql) for skeleton in keys.skeletons)
    return _Entry(example_id(example), stamped, keys, skeleton_ids, digest(keys.sql))


def _found(row: Row, similarity: float) -> Found:
    return Found(row.id, from_json(row.fields["example"]), similarity)
