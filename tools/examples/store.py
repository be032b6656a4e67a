"""The example store: question-SQL pairs, found by question, by skeleton, or by a draft's SQL skeleton."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import ExampleRefused
from .backend import Backend, Row, VectorTable
from .chroma_backend import ChromaBackend
from .embedding import Embedding, HashedEmbedding
from .entry import SHARED, Entry, Verify, example_id, make_entry, meaning_of, room_of, sound
from .example import Added, Example, Found, Index, Near, Refusal, Stats
from .payload import from_json
from .rights import Standing, is_readable, verified_standing
from .rooms import BATCH, PAIRS, TABLES, Room, rebuild, write
from .seen import seen_keys, seen_pairs

if TYPE_CHECKING:
    from ..database import Database

_KEY_FIELDS: dict[Index, tuple[str, ...]] = {"skeleton": ("skeleton_1", "skeleton_2"), "sql": ("sql",)}
_FORMS = ("simplified", "rephrased", "database_schema")
"""What an example that is there already may be given anew."""

_FALLBACK = "\x00fallback"
"""The room of the fallback examples; no database can be called so."""

ENOUGH_SHARED = 50
"""Shared examples that are enough to choose from; with fewer, those of the fallback are shown too."""

_T = TypeVar("_T")


class ExampleStore:
    """Examples by key. Safe to use from several threads.

    A room holds a table of pairs, with the questions' vectors, and a table for each other index. Those have one row a
    distinct key, not one a pair, so that a thousand pairs of one kind neither crowd out the rest nor cost memory; a
    row names one pair that stands for its key. Keys are written before pairs, so a pair that is there has its keys: an
    interrupted import leaves a store that opens, answers, and is completed by importing once more.
    """

    def __init__(
        self, backend: Backend, embedding: Embedding | None = None, fallback: Callable[[], Backend] | None = None
    ) -> None:
        """Use `open`; this is for other backends.

        Args:
            backend: Where the examples are.
            embedding: How keys become vectors.
            fallback: Makes a backend of further shared examples, which are only read, and only as long as the store
                has few of its own; see `open_with_seeds`.
        """
        self._backend = backend
        self._make_fallback = cache(fallback) if fallback else None
        self.embedding: Embedding = embedding or HashedEmbedding()
        self._lock = threading.Lock()
        self._changes = [0]
        self._reader: Database | None = None
        self._standings: dict[Hashable, dict[str, Standing | None]] = {}
        self._cache: dict[Hashable, tuple[tuple[int, ...], Any]] = {}

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

    def seen_by(self, database: Database) -> ExampleStore:
        """Return this store with only those of a database's own examples that whoever opened it may read."""
        seen = copy(self)
        seen._reader = database
        return seen

    def verified(self, question: str, k: int, database: Database, identity: str) -> Iterator[list[Example]]:
        """Yield the nearest of a database's own verified examples, those that count most for whoever asks first.

        However many narrower rights have approved, they come after those of equal or wider ones (`verified_standing`).
        Only what is new since the last time is read.

        Args:
            question: To be near to.
            k: How many of each standing.
            database: As whoever asks opened it.
            identity: Its `database_identity`.
        """
        pairs = self._backend.table(identity, PAIRS)
        ids = pairs.ids() if pairs else []
        if not pairs or not ids:
            return
        key = identity, database.rights, database.schema().version
        known = self._standings.get(key, {})
        new = pairs.get([id_ for id_ in ids if id_ not in known])
        read = {id_: verified_standing(from_json(row.fields["example"]), database) for id_, row in new.items()}
        known = self._standings[key] = known | read
        vector = self.embedding([question])[0]
        for standing in sorted({each for id_ in ids if (each := known.get(id_))}, reverse=True):
            among = [id_ for id_ in ids if known.get(id_) == standing]
            yield [from_json(row.fields["example"]) for row in pairs.nearest(vector, k, among)]

    def add(self, examples: Iterable[Example], verify: Verify | None = None, *, strict: bool = True) -> Added:
        """Adds examples; those that are there already are left as they are, but for what `_FORMS` names.

        Args:
            examples: Any number; written in batches.
            verify: Runs each one's SQL on its database; see `runs_on`.
            strict: Raise at the first example that is refused. Otherwise refusals are gathered and the rest is added.

        Raises:
            ExampleRefused: SQL that is not one query or doesn't run (if `strict`). Batches before it are kept.
            ExampleStoreError: The store cannot be written.
        """
        total = Added()
        stream = iter(examples)
        while part := list(islice(stream, BATCH)):
            kept, unsound = _passing(part, sound, strict)
            unknown, simplified = self._compared(kept)
            entries, wrong = _passing(unknown, lambda example: make_entry(example, verify), strict)
            new = self._write_rooms(entries)
            for entry in simplified:
                self._rewrite(entry)
            known = len(part) - len(unsound) - len(wrong) - new - len(simplified)
            refused = (*total.refused, *unsound, *wrong)
            total = Added(total.added + new, total.known + known, refused, total.updated + len(simplified))
        return total

    def near(self, index: Index, text: str, k: int, database: str = "", *, shared: bool = True) -> list[Near]:
        """The k nearest keys, best first.

        Args:
            index: `question` compares whole questions; `skeleton` masked questions (revision chain 3.1.3), one key a
                distinct skeleton and SQL skeleton; `sql` SQL skeletons, one key each.
            text: The key to look for: a question, what `mask` gives, or an SQL skeleton.
            k: How many.
            database: Whose question it is (`database_identity`). Shared examples are always seen, others only by their
                own database.
            shared: Whether shared examples are looked through too.

        Raises:
            ExampleStoreError: The store cannot be read.
        """
        vector = self.embedding([text])[0]
        found: list[Near] = []
        own = (database,) if database else ()
        for room in (*own, *self._shared_rooms()) if shared else own:  # equally near ones: the database's own first
            table = self._visible_table(room, TABLES[index])
            for row in table.nearest(vector, k) if table and k > 0 else ():
                pair, sql = row.fields.get("pair", row.id), row.fields.get("sql", row.id)
                found.append(Near(room, index, row.id, pair, sql, row.similarity))
        return sorted(found, key=lambda hit: -hit.similarity)[:k]

    def fetch(self, hits: Sequence[Near]) -> list[Found]:
        """The examples that stand for keys, in their order, without repeats; keys whose examples are gone are skipped.

        Raises:
            ExampleStoreError: The store cannot be read.
        """
        rows: dict[tuple[str, str], Row] = {}
        for room in {hit.room for hit in hits}:
            pairs = self._visible_table(room, PAIRS)
            wanted = dict.fromkeys(hit.pair for hit in hits if hit.room == room)
            rows |= {(room, id_): row for id_, row in (pairs.get(list(wanted)) if pairs else {}).items()}
        found: dict[str, Found] = {}
        for hit in hits:
            row = rows.get((hit.room, hit.pair)) or self._other_with_key(hit)
            if row is not None:
                one = _found(row, hit.similarity)
                # Under its owner's name or shared, to a prompt it is one example.
                found.setdefault(meaning_of(one.example), one)
        return list(found.values())

    def _other_with_key(self, hit: Near) -> Row | None:
        """Another example with the same key, where the one that stood for it was removed or never written."""
        pairs = self._visible_table(hit.room, PAIRS)
        names = _KEY_FIELDS.get(hit.index)
        return next(iter(pairs.having(names, hit.key, 1)), None) if pairs and names else None

    def nearest(self, index: Index, text: str, k: int, database: str = "", *, shared: bool = True) -> list[Found]:
        """`near` and `fetch` in one: the k examples whose keys are nearest."""
        return self.fetch(self.near(index, text, k, database, shared=shared))

    def remove(self, ids: Sequence[str]) -> int:
        """Removes examples by identifier; gives how many were there.

        Raises:
            ExampleStoreError: The store cannot be written.
        """
        removed = 0
        for room in self._backend.rooms():
            pairs = self._backend.table(room, PAIRS)
            there = pairs.get(ids) if pairs else {}
            if not pairs or not there:
                continue
            pairs.remove(list(there))
            for row in there.values():
                self._drop_keys(room, pairs, row)
            removed += len(there)
        self._changed()
        return removed

    def _drop_keys(self, room: str, pairs: VectorTable, row: Row) -> None:
        """Removes the keys that a pair had and no pair has now."""
        for index, names in _KEY_FIELDS.items():
            keys = {row.fields[name] for name in names if name in row.fields}
            self._made(room, index).remove([key for key in keys if not pairs.having(names, key, 1)])

    def list(self, database: str | None = None, source: str | None = None) -> Iterator[Found]:
        """All examples, or those of databases with one short name, or of one source."""
        for room in self._backend.rooms():
            for hit in self._scan(room):
                if database in (None, hit.example.database) and source in (None, hit.example.source):
                    yield hit

    def visible(self, database: str = "") -> Iterator[Found]:
        """All examples that a database's question may see; `database` is its `database_identity`."""
        for room in dict.fromkeys((*self._shared_rooms(), database)):
            yield from self._scan(room)

    def holds_own(self, database: str) -> bool:
        """Whether a database (its `database_identity`) has examples that only its own questions may see."""
        pairs = self._backend.table(database, PAIRS) if database else None
        return pairs is not None and pairs.count() > 0

    def count(self) -> int:
        """How many examples there are."""
        return self._total("question")

    def stats(self) -> Stats:
        """The store in numbers; reads all of it."""
        databases: Counter[str] = Counter()
        sources: Counter[str] = Counter()
        shared = 0
        for hit in self.list():
            databases[hit.example.database] += 1
            sources[hit.example.source] += 1
            shared += hit.example.shared
        return Stats(databases.total(), shared, dict(databases), dict(sources), self._total("sql"), self.embedding.name)

    def reindex(self) -> int:
        """Rebuilds every index from the examples themselves; gives their number.

        Repairs a damaged index. Others may search meanwhile; what they add or remove while it ends may be lost. If it
        is interrupted, nothing has changed: run it again. (Another embedding needs another store: import the examples
        there.)

        Raises:
            ExampleStoreError: The store cannot be read or written.
        """
        total = sum(rebuild(self._backend, room, self.embedding) for room in self._backend.rooms())
        self._changed()
        return total

    def cached(self, key: Hashable, make: Callable[[], _T], database: str = "") -> _T:
        """What `make` gives, kept until the examples change that a database's questions may see.

        Of what other processes change, the number of those examples tells.
        """
        tables = [self._backend.table(room, PAIRS) for room in dict.fromkeys((SHARED, database))]
        if self._reader is not None:
            key = (key, self._reader.rights, self._reader.schema().version)
        state = (*self._changes, *(table.count() if table else 0 for table in tables))
        with self._lock:
            known = self._cache.get(key)
            if known is None or known[0] != state:
                known = self._cache[key] = (state, make())
            return known[1]

    def close(self) -> None:
        """Gives back files and connections."""
        self._backend.close()

    def __enter__(self) -> ExampleStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _compared(self, examples: Sequence[Example]) -> tuple[Sequence[Example], Sequence[Entry]]:
        """Those that are not there, and those that are with another simplified form; both without repeats.

        What is there has its keys, and is not run again.
        """
        by_room: dict[str, dict[str, Example]] = {}
        for example in examples:
            held = by_room.setdefault(room_of(example), {})
            first = held.setdefault(id_ := example_id(example), example)
            held[id_] = replace(first, **{name: getattr(example, name) or getattr(first, name) for name in _FORMS})
        unknown: list[Example] = []
        simplified: list[Entry] = []
        for room, held in by_room.items():
            pairs = self._backend.table(room, PAIRS)
            there = pairs.get(list(held)) if pairs else {}
            unknown += [example for id_, example in held.items() if id_ not in there]
            for id_, row in there.items():
                kept = from_json(row.fields["example"])
                if example_id(kept) != id_:  # of before rights counted, and approved under others
                    kept = replace(held[id_], added=kept.added)
                forms = {name: form for name in _FORMS if (form := getattr(held[id_], name))}
                if (changed := replace(kept, **forms)) != from_json(row.fields["example"]):
                    simplified.append(replace(make_entry(changed), id=id_))
        return unknown, simplified

    def _rewrite(self, entry: Entry) -> None:
        """Gives a pair that is there another example and other keys; keys first, as when it was written."""
        pairs = self._made(entry.room, "question")
        before = pairs.get([entry.id])
        self._write(entry.room, [entry])
        pairs.update([entry.id], [entry.fields])
        self._standings.clear()
        for row in before.values():
            self._drop_keys(entry.room, pairs, row)
        self._changed()

    def _write_rooms(self, entries: Sequence[Entry]) -> int:
        rooms = dict.fromkeys(entry.room for entry in entries)
        return sum(self._write(room, [entry for entry in entries if entry.room == room]) for room in rooms)

    def _write(self, room: str, entries: Sequence[Entry]) -> int:
        new = write(Room(self._backend, room), self.embedding, entries)
        if new:
            self._changed()
        return new

    def _made(self, room: str, index: Index) -> VectorTable:
        return Room(self._backend, room).made(index)

    def _shared_rooms(self) -> tuple[str, ...]:
        """Where shared examples are: the fallback too while the store has fewer than `ENOUGH_SHARED` of its own."""
        if not self._make_fallback:
            return (SHARED,)
        pairs = self._backend.table(SHARED, PAIRS)
        return (SHARED,) if pairs and pairs.count() >= ENOUGH_SHARED else (SHARED, _FALLBACK)

    def _visible_table(self, room: str, name: str) -> VectorTable | None:
        """A table to look things up in."""
        if room == _FALLBACK:
            return self._make_fallback().table(SHARED, name) if self._make_fallback else None
        table, reader = self._backend.table(room, name), self._reader
        if table is None or reader is None or room == SHARED:
            return table
        if name == PAIRS:
            return seen_pairs(table, partial(is_readable, database=reader))
        pairs = self._visible_table(room, PAIRS)
        names = next(names for index, names in _KEY_FIELDS.items() if TABLES[index] == name)
        return seen_keys(table, pairs, names) if pairs else None

    def _scan(self, room: str) -> Iterator[Found]:
        pairs = self._visible_table(room, PAIRS)
        return (_found(row) for row in (pairs.scan() if pairs else ()))

    def _total(self, index: Index) -> int:
        tables = [self._backend.table(room, TABLES[index]) for room in self._backend.rooms()]
        return sum(table.count() for table in tables if table)

    def _changed(self) -> None:
        with self._lock:
            self._changes[0] += 1


def _passing(
    examples: Sequence[Example], check: Callable[[Example], _T], strict: bool
) -> tuple[list[_T], list[Refusal]]:
    passed: list[_T] = []
    refused: list[Refusal] = []
    for example in examples:
        try:
            passed.append(check(example))
        except ExampleRefused as error:
            if strict:
                raise
            refused.append(Refusal(example, str(error)))
    return passed, refused


def _found(row: Row, similarity: float = 1.0) -> Found:
    return Found(row.id, from_json(row.fields["example"]), similarity)
