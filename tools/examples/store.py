"""The example store: question-SQL pairs, found by question, skeleton or SQL skeleton."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import ExampleRefused, ExampleStoreError, TableturnError
from ..sql import make_sql_skeleton
from ..sql.contradictions import find_contradiction
from ..sql.texts import read_in_any_dialect, squeeze_spaces
from .embedding import HASHED, Embedding, Vectors
from .example import (
    AddedExamples,
    CheckedExample,
    Example,
    FoundExample,
    Index,
    StoreStats,
    brief_repr,
    one_line,
    parse_example_fields,
    parse_example_json,
    to_json,
)
from .masking import mask_question
from .rights import VERIFIED, Standing, Verify, parse_approval_record, rank_example_rights, restrict_example
from .tables import ChromaBackend, Fields, MemoryBackend, Row, Table

if TYPE_CHECKING:
    from ..database import Database

PAIRS = "pairs"
SHARED = ""
"""The owner of the examples that every database's questions may see; other owners are databases."""

_TABLES: dict[Index, str] = {"question": PAIRS, "skeleton": "skeletons", "sql": "sqls"}
_KEY_FIELDS: dict[Index, tuple[str, ...]] = {"skeleton": ("skeleton_1", "skeleton_2"), "sql": ("sql",)}
_BATCH = 1_000
ENOUGH_SHARED = 50
"""Shared examples that are enough to choose from; with fewer, the built-in ones are shown too."""

_T = TypeVar("_T")


class ExampleStore:
    """A searchable store of question-SQL examples; threads may share it.

    An owner has a table of pairs, with the questions' vectors, and a table for each other index. Those have one row a
    distinct key, not one a pair, so that a thousand pairs of one kind neither crowd out the rest nor cost memory; a
    row names one pair that stands for its key. Keys are written before pairs, so a pair that is there has its keys: an
    interrupted import leaves a store that opens, answers, and is completed by importing once more.
    """

    def __init__(
        self,
        backend: MemoryBackend | ChromaBackend,
        embedding: Embedding | None = None,
        further: Callable[[], ExampleStore] | None = None,
    ) -> None:
        """Use `open`; this constructor takes tables that are already open."""
        self._backend = backend
        self._make_further = cache(further) if further else None
        self.embedding = embedding or HASHED
        self._lock = threading.Lock()
        self._reader: Database | None = None
        self._standings: dict[Hashable, dict[str, Standing | None]] = {}
        self._cache: dict[Hashable, tuple[Sequence[int], Any]] = {}

    @classmethod
    def open(
        cls,
        location: str | Path | None = None,
        embedding: Embedding | None = None,
        further: Callable[[], ExampleStore] | None = None,
    ) -> ExampleStore:
        """Open or make a store: in memory, in a folder, or at `http://host:port` of a Chroma server.

        Its keys become vectors by the embedding; the default needs no download. The shared examples of the store that
        `further` makes are found too, as long as this one has few of its own.

        Raises:
            ExampleStoreError: It cannot be opened, or was made by another version or with another embedding.
        """
        model = embedding or HASHED
        return cls(MemoryBackend() if location is None else ChromaBackend(location, model.name), model, further)

    def seen_by(self, database: Database) -> ExampleStore:
        """Return this store restricted to the examples that a database's session may read."""
        view = copy(self)
        view._reader = database
        return view

    def verified(self, question: str, k: int, database: Database, identity: str) -> Iterator[list[Example]]:
        """Yield the k nearest verified examples of each rights rank, the highest rank first.

        Only examples that are new since the last call are read. The identity is the `database_identity`.
        """
        view, pairs = self.seen_by(database), (identity, PAIRS)
        if not (ids := self._backend.list_row_ids(pairs)):
            return
        cache = self._standings.setdefault((identity, database.rights, database.schema().version), {})
        new = self._backend.get(pairs, [id_ for id_ in ids if id_ not in cache])
        for id_, row in new.items():
            hit = view._read_visible(row)
            cache[id_] = rank_example_rights(hit.example, database) if hit and hit.example.source in VERIFIED else None
        standings = {id_: standing for id_ in ids if (standing := cache.get(id_))}
        vector = self.embedding([question])[0]
        for standing in sorted(set(standings.values()), reverse=True):
            among = [id_ for id_, rank in standings.items() if rank == standing]
            rows = self._backend.find_nearest_rows(pairs, vector, k, among)
            yield [hit.example for row in rows if (hit := view._read_visible(row))]

    def add(self, examples: Iterable[Example], verify: Verify | None = None, *, strict: bool = True) -> AddedExamples:
        """Add examples that are not stored yet; `verify` is called with each new one.

        If `strict`, a refused example ends the addition, and the batches before it are kept; otherwise the others are
        added.

        Raises:
            ExampleRefused: SQL that is not one query or doesn't run (if `strict`).
            ExampleStoreError: The store cannot be written.
        """
        refusals: list[CheckedExample] = []

        def check_each_example(examples: Sequence[Example], check: Callable[[Example], _T]) -> Iterator[_T]:
            for example in examples:
                try:
                    yield check(example)
                except ExampleRefused as error:
                    if strict:
                        raise
                    refusals.append(CheckedExample(example, str(error)))

        total = additions = updates = 0
        stream = iter(examples)
        while part := list(islice(stream, _BATCH)):
            unknown, changes = self._find_new_and_changed(list(check_each_example(part, check_example)))
            entries = list(check_each_example(unknown, lambda example: make_record(example, verify)))
            additions += self.put(entries)
            for entry in changes:
                self._replace_record(entry)
            total, updates = total + len(part), updates + len(changes)
        return AddedExamples(additions, total - len(refusals) - additions - updates, tuple(refusals), updates)

    def put(self, entries: Sequence[ExampleRecord], overwritten: Sequence[str] = ()) -> int:
        """Write new records of checked examples, and all of `overwritten` tables; return the number of new ones.

        Nothing is made or written before all vectors are there: an embedding that fails leaves no table that is bound
        to it.
        """
        rows: dict[Table, dict[str, tuple[str, Fields]]] = defaultdict(dict)
        # Of several pairs with a key, the first stands for it.
        for record in reversed(entries):
            for name, id_, text, fields in record.rows:
                rows[get_owner_key(record.example), name][id_] = text, fields
        for table, of_table in rows.items():
            old_rows = {} if table[1] in overwritten else self._backend.get(table, list(of_table))
            ids = reversed(of_table) if table[1] == PAIRS else of_table
            rows[table] = {id_: of_table[id_] for id_ in ids if id_ not in old_rows}
        vectors = {table: self.embedding([text for text, _ in new.values()]) for table, new in rows.items() if new}
        for table, of_table in vectors.items():
            fields = {id_: fields for id_, (_, fields) in rows[table].items()}
            self._backend.put(table, fields, of_table, overwrite=table[1] in overwritten)
        with self._lock:
            self._cache.clear()
        return sum(len(new) for (_, name), new in rows.items() if name == PAIRS)

    def near(self, index: Index, text: str, k: int, database: str = "", *, shared: bool = True) -> list[FoundExample]:
        """Return the k examples most similar to a text by one index, best first.

        An index `question` compares whole questions, `skeleton` the keys of `mask` (revision chain 3.1.3), and `sql`
        SQL skeletons. Shared examples are searched if `shared`, others only for the database with that identity.
        """
        vector = self.embedding([text])[0]
        # Of equally near ones, the database's own come first.
        hits = self._find_nearest_of_owner(database, index, vector, k) if database else []
        if shared:
            hits += self._find_nearest_of_owner(SHARED, index, vector, k)
            if further := self._get_further_store():
                hits += further._find_nearest_of_owner(SHARED, index, vector, k)
        return sorted(hits, key=lambda hit: -hit.similarity)[:k]

    def nearest(
        self, index: Index, text: str, k: int, database: str = "", *, shared: bool = True
    ) -> list[FoundExample]:
        """Return the nearest examples as `near` does, without copies of the same example."""
        first: dict[str, FoundExample] = {}
        for hit in self.near(index, text, k, database, shared=shared):
            first.setdefault(shared_id(hit.example), hit)
        return [*first.values()]

    def remove(self, ids: Sequence[str]) -> int:
        """Remove examples by identifier; return the number removed."""
        count = 0
        for owner in self._backend.list_owners():
            rows = self._backend.get((owner, PAIRS), ids)
            self._backend.remove((owner, PAIRS), list(rows))
            self._remove_unused_keys(owner, rows.values())
            count += len(rows)
        with self._lock:
            self._cache.clear()
        return count

    def list(self, database: str | None = None, source: str | None = None) -> Iterator[FoundExample]:
        """Yield all examples, or only those of one database name or one source."""
        for owner in self._backend.list_owners():
            for hit in self._scan_examples(owner):
                if database in (None, hit.example.database) and source in (None, hit.example.source):
                    yield hit

    def visible(self, database: str = "") -> Iterator[FoundExample]:
        """Yield the examples for questions over a database, given by its identity: shared and own."""
        yield from self._scan_examples(SHARED)
        if further := self._get_further_store():
            yield from further.visible()
        if database != SHARED:
            yield from self._scan_examples(database)

    def holds_own(self, database: str) -> bool:
        """Whether the store has private examples of the database with this identity."""
        return bool(database) and self._backend.count((database, PAIRS)) > 0

    def count(self, table: str = PAIRS) -> int:
        """Return the number of examples, or of the rows of another of their tables."""
        return sum(self._backend.count((owner, table)) for owner in self._backend.list_owners())

    def stats(self) -> StoreStats:
        """Return statistics of the store; reads all examples."""
        examples = [hit.example for hit in self.list()]
        databases = Counter(example.database for example in examples)
        sources = Counter(example.source for example in examples)
        shared_count = sum(example.shared for example in examples)
        skeletons = self.count(_TABLES["sql"])
        return StoreStats(len(examples), shared_count, dict(databases), dict(sources), skeletons, self.embedding.name)

    def reindex(self) -> int:
        """Write every index again from the stored examples; return the number of examples.

        Repairs a damaged index. If it is interrupted, run it again. (Another embedding needs another store: import the
        examples there.)
        """
        for owner in self._backend.list_owners():
            ids = self._backend.list_row_ids((owner, PAIRS))
            for start in reversed(range(0, len(ids), _BATCH)):  # the first pair with a key goes on standing for it
                part = ids[start : start + _BATCH]
                rows = self._backend.get((owner, PAIRS), part)
                records = [make_record(_parse_stored_example(rows[id_]), id_=id_) for id_ in part if id_ in rows]
                self.put(records, tuple(_TABLES.values()))
        return self.count()

    def cached(self, key: Hashable, make: Callable[[Sequence[Example]], _T], database: str = "") -> _T:
        """Return the result of `make` on all visible examples, cached until the examples change.

        A change by another process is noticed if the number of examples changes.
        """
        owner = database if self.holds_own(database) else ""
        if self._reader is not None:
            key = (key, self._reader.rights, self._reader.schema().version)
        state = [self._backend.count((owner, PAIRS)) for owner in (SHARED, owner)]
        with self._lock:
            entry = self._cache.get((key, owner))
            if entry is None or entry[0] != state:
                entry = self._cache[key, owner] = (state, make([hit.example for hit in self.visible(owner)]))
            return entry[1]

    def close(self) -> None:
        """Close the store's files and connections."""
        self._backend.close()

    def __enter__(self) -> ExampleStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _get_further_store(self) -> ExampleStore | None:
        """Return the store of additional shared examples; None if this store has enough."""
        if not self._make_further or self._backend.count((SHARED, PAIRS)) >= ENOUGH_SHARED:
            return None
        return self._make_further()

    def _read_visible(self, row: Row, similarity: float = 1.0, skeleton: str = "") -> FoundExample | None:
        """Return the example of a row as the reader may see it; None if hidden from the reader."""
        example = _parse_stored_example(row)
        # Nobody's example of another database needs no look at the rights; most are such.
        if self._reader and (example.owner or example.database == self._reader.name):
            example = restrict_example(example, self._reader)
        return FoundExample(row.id, example, similarity, skeleton) if example else None

    def _find_nearest_of_owner(self, owner: str, index: Index, vector: Vectors, k: int) -> list[FoundExample]:
        """Return the k examples of an owner whose keys are nearest to a vector."""
        limit = k
        while k > 0 and (rows := self._backend.find_nearest_rows((owner, _TABLES[index]), vector, limit)):
            ids = [] if index == "question" else list({key.fields["pair"]: key for key in rows})
            first = self._backend.get((owner, PAIRS), ids)
            hits = [hit for key in rows if (hit := self._read_by_key(owner, index, key, first))]
            if len(hits) >= k or len(rows) < limit:
                return hits[:k]
            limit *= 4
        return []

    def _read_by_key(self, owner: str, index: Index, key: Row, pairs: Mapping[str, Row]) -> FoundExample | None:
        """Return the example that a key names, or another with that key if it is unreadable."""
        if index == "question":
            return self._read_visible(key, key.similarity, key.fields["sql"])
        skeleton = key.fields.get("sql", key.id)
        pair = pairs.get(key.fields["pair"])
        if pair and (hit := self._read_visible(pair, key.similarity, skeleton)):
            return hit
        limit = None if self._reader else 1
        others = self._backend.find_rows_by_value((owner, PAIRS), _KEY_FIELDS[index], key.id, limit)
        return next(filter(None, (self._read_visible(other, key.similarity, skeleton) for other in others)), None)

    def _scan_examples(self, owner: str) -> Iterator[FoundExample]:
        return filter(None, map(self._read_visible, self._backend.scan((owner, PAIRS))))

    def _find_new_and_changed(self, examples: Sequence[Example]) -> tuple[Sequence[Example], Sequence[ExampleRecord]]:
        """Return the examples that are not stored yet, and records of stored ones that changed."""
        by_owner: dict[str, dict[str, Example]] = {}
        for example in examples:
            batch = by_owner.setdefault(get_owner_key(example), {})
            first = batch.setdefault(id_ := example_id(example), example)
            batch[id_] = replace(first, **_get_example_forms(example))
        unknown: list[Example] = []
        changes: list[ExampleRecord] = []
        for owner, batch in by_owner.items():
            rows = self._backend.get((owner, PAIRS), list(batch))
            unknown += [example for id_, example in batch.items() if id_ not in rows]
            for id_, row in rows.items():
                new = old = _parse_stored_example(row)
                if example_id(old) != id_:  # of before rights counted, and approved under others
                    new = replace(batch[id_], added=old.added)
                new = replace(new, **_get_example_forms(batch[id_]))
                if new != old:
                    changes.append(make_record(new, id_=id_))
        return unknown, changes

    def _replace_record(self, record: ExampleRecord) -> None:
        """Replace a stored example and its keys, keys first."""
        owner = get_owner_key(record.example)
        before = self._backend.get((owner, PAIRS), [record.id])
        self.put([record], (PAIRS,))
        self._standings.clear()
        self._remove_unused_keys(owner, before.values())

    def _remove_unused_keys(self, owner: str, rows: Iterable[Row]) -> None:
        """Remove the keys of rows that no stored example uses any more."""
        for index, names in _KEY_FIELDS.items():
            keys = {row.fields[name] for row in rows for name in names}
            orphans = [key for key in keys if not self._backend.find_rows_by_value((owner, PAIRS), names, key, 1)]
            self._backend.remove((owner, _TABLES[index]), orphans)


def _get_example_forms(example: Example) -> dict[str, str]:
    """Return an example's simplified and rephrased questions and schema, if not empty."""
    forms = {name: getattr(example, name) for name in ("simplified", "rephrased", "database_schema")}
    return {name: form for name, form in forms.items() if form}


def _parse_stored_example(row: Row) -> Example:
    return parse_example_json(row.fields["example"])


@dataclass(frozen=True)
class ExampleRecord:
    """An example as stored: its id and its rows `(table, id, indexed text, fields)`.

    Its keys are its SQL skeleton, and its question's skeleton with that one; the simplified form's too if it differs.
    """

    id: str
    example: Example
    rows: tuple[tuple[str, str, str, Fields], ...]


def get_owner_key(example: Example) -> str:
    """Return the owner under which the store keeps an example; empty for a shared one."""
    return SHARED if example.shared else example.owner or example.database


def check_example(example: Example) -> Example:
    """Check an example's texts and SQL and return it; raise `ExampleRefused` if invalid."""
    try:
        parse_example_fields(example)
    except ExampleStoreError as error:
        raise make_refusal_error(example, error) from None
    if not all(text.strip() for text in (example.question, example.sql, example.database)):
        raise make_refusal_error(example, "an example needs a question, its SQL and the name of its database")
    if wrong := find_contradiction(example.question, example.sql):
        raise make_refusal_error(example, wrong)
    return example


def make_refusal_error(example: Example, reason: object) -> ExampleRefused:
    """Return the `ExampleRefused` error for an example, with the reason."""
    return ExampleRefused(f"refused {brief_repr(example.sql)} for {brief_repr(example.question)}: {one_line(reason)}")


def make_record(
    example: Example, verify: Verify | None = None, id_: str = "", keys: Sequence[str] = ()
) -> ExampleRecord:
    """Return the stored form of an example; raise `ExampleRefused` if the SQL is invalid.

    `keys` are the skeletons of its SQL and of its questions, where they are known already.
    """
    try:
        sql, *questions = keys or [get_sql_skeleton(example.sql)]
        if verify:
            verify(example)
    except TableturnError as error:
        raise make_refusal_error(example, error) from error
    texts = dict.fromkeys((example.question, example.simplified or example.question))
    id_, sql_id = id_ or example_id(example), _hash_texts(sql)
    skeletons = {_hash_texts(k, sql): k for k in questions or [mask_question(text, example.schema) for text in texts]}
    first, *_, last = *skeletons, *skeletons  # both, so that an update leaves none of earlier forms
    example = example if example.added else replace(example, added=datetime.now(UTC))
    fields = {"example": to_json(example), "sql": sql_id, "skeleton_1": first, "skeleton_2": last}
    rows = [("skeletons", key, text, {"pair": id_, "sql": sql_id}) for key, text in skeletons.items()]
    return ExampleRecord(
        id_, example, (*rows, ("sqls", sql_id, sql, {"pair": id_}), (PAIRS, id_, example.question, fields))
    )


def get_sql_skeleton(sql: str) -> str:
    """Return the skeleton of an SQL query; raise `SQLParseError` if not one query."""
    return make_sql_skeleton(sql, read_in_any_dialect(sql).rules.name)  # it is the same in every dialect


def _hash_texts(*parts: str) -> str:
    return hashlib.sha256("\x00".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def example_id(example: Example) -> str:
    """Return an example's id, the same for equal question, SQL, database and rights.

    Spaces and comments don't count, except spaces within literals and quoted names.
    """
    parts = (example.owner,) if example.owner and not example.shared else ()
    # What was approved without restrictions keeps the identifier that it had before rights counted.
    parts += (rights,) if (rights := parse_approval_record(example.rights).rights.key) else ()
    question, sql = " ".join(example.question.split()), squeeze_spaces(example.sql)
    return _hash_texts(*parts, example.database, question, sql)


def shared_id(example: Example) -> str:
    """Return the id of an example's shared copy, which ignores owner and rights."""
    return example_id(replace(example, shared=True, rights=""))
