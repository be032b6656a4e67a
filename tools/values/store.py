"""The index file: a SQLite database with values by column, key and word.

Keys sit in an ordinary B-tree: a question's word groups are looked up in microseconds however many values there are.
Words sit in FTS5 (values that hold a word) and, forwards and backwards, in a B-tree (words that begin or end alike,
for typos). A trigram index was not chosen: its posting lists grow with the values, its look-ups with them.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Container, Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import Any, Literal

from ..database import Database, Schema
from ..errors import QueryError
from ..words import key, stems

FORMAT = 4  # raised whenever the layout or the words' treatment changes; a file of another format is rebuilt
_ROWS = 2_000  # most rows of one look-up

_LAYOUT = (
    "CREATE TABLE col(id INTEGER PRIMARY KEY, tbl TEXT, name TEXT, state TEXT, held INTEGER DEFAULT 0)",
    "CREATE TABLE val(id INTEGER PRIMARY KEY, col INTEGER, text TEXT, key TEXT)",
    "CREATE UNIQUE INDEX val_text ON val(col, text)",
    "CREATE INDEX val_key ON val(key)",
    "CREATE VIRTUAL TABLE val_words USING fts5(body, content='', detail=none, columnsize=0, tokenize='unicode61')",
    "CREATE TABLE word(size INTEGER, word TEXT, back TEXT, PRIMARY KEY (size, word)) WITHOUT ROWID",
    "CREATE INDEX word_back ON word(size, back)",
)


@dataclass(frozen=True)
class StoredValue:
    """A column value as stored in the value index."""

    id: int
    column: int
    text: str
    key: str


@dataclass(frozen=True)
class StoredColumn:
    """A column of the value index, with its fill state."""

    id: int
    table: str
    name: str
    state: str  # `waiting`, `whole` (all its values are in), or `part` (it has more, or longer ones, than are kept)
    value_count: int  # how many of its values are in


class ValueStore:
    """An open index file, for one thread at a time; several processes may have it open."""

    def __init__(self, path: Path | str, columns: Sequence[tuple[str, str]]) -> None:
        """Open the file, made for these columns if new; raise `DatabaseError` if it is damaged."""
        self._path = path
        self._db = sqlite3.connect(path, timeout=5.0, isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA synchronous=OFF")  # a damaged index is rebuilt: speed matters more
        self._db.execute("PRAGMA cache_size=-64000")
        if not self._read_format_version():
            with self._db:
                self._db.execute("BEGIN IMMEDIATE")
                if not self._read_format_version():  # no other process was faster
                    for statement in _LAYOUT:
                        self._db.execute(statement)
                    self._db.execute(f"PRAGMA user_version={FORMAT}")
                    self._db.executemany("INSERT INTO col(tbl, name, state) VALUES (?, ?, 'waiting')", columns)
        if self._read_format_version() != FORMAT:
            raise sqlite3.DatabaseError("the index file has another format")

    def _read_format_version(self) -> int:
        return self._db.execute("PRAGMA user_version").fetchone()[0]

    def close(self, *, remove: bool = False) -> None:
        """Close the index file; delete the file if `remove` is set."""
        self._db.close()
        if remove and self._path != ":memory:":
            Path(self._path).unlink(missing_ok=True)

    def list_columns(self) -> list[StoredColumn]:
        return list(starmap(StoredColumn, self._db.execute("SELECT id, tbl, name, state, held FROM col ORDER BY id")))

    def add_values(self, column: int, count: int, texts: Sequence[str], state: str) -> None:
        """Add values of a column and set its state, unless another process was faster."""
        rows = [(text, stems(text)) for text in texts]
        long_stems = sorted({part for _, parts in rows for part in parts if len(part) > 3})
        words = ((len(word), word, word[::-1]) for word in long_stems)
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            before = self._db.execute("SELECT state, held FROM col WHERE id = ?", (column,)).fetchone()
            if before != ("waiting", count):
                return
            (first,) = self._db.execute("SELECT coalesce(max(id), 0) + 1 FROM val").fetchone()
            values = ((first + i, column, text, key(parts)) for i, (text, parts) in enumerate(rows))
            self._db.executemany("INSERT INTO val VALUES (?, ?, ?, ?)", values)
            bodies = ((first + i, " ".join(parts)) for i, (_, parts) in enumerate(rows))
            self._db.executemany("INSERT INTO val_words(rowid, body) VALUES (?, ?)", bodies)
            self._db.executemany("INSERT OR IGNORE INTO word VALUES (?, ?, ?)", words)
            self._db.execute("UPDATE col SET state = ?, held = ? WHERE id = ?", (state, count + len(rows), column))

    def holds(self, column: int, text: str) -> bool:
        """Whether the stored values of a column include exactly this text."""
        return bool(self._db.execute("SELECT 1 FROM val WHERE col = ? AND text = ?", (column, text)).fetchone())

    def find_values_by_field(
        self, field: Literal["id", "key"], keys: Collection[str] | Collection[int]
    ) -> list[StoredValue]:
        """Return the stored values with these ids or keys, up to the row limit."""
        return self._read_stored_values(f"WHERE {field} IN ({','.join('?' * len(keys))}) LIMIT {_ROWS}", *keys)

    def find_by_prefix(self, start: str) -> list[StoredValue]:
        """Return stored values whose keys begin with `start`, sorted by key."""
        condition = f"WHERE key >= ? AND key < ? ORDER BY key LIMIT {_ROWS}"
        return self._read_stored_values(condition, start, start + "\U0010ffff")

    def list_values(self, column: int, limit: int) -> list[str]:
        """Return up to `limit` values of a column, in the order of its rows."""
        return self._read_first_column("SELECT text FROM val WHERE col = ? LIMIT ?", column, limit)

    def _read_stored_values(self, condition: str, *parameters: str | int) -> list[StoredValue]:
        rows = self._db.execute(f"SELECT id, col, text, key FROM val {condition}", parameters)
        return list(starmap(StoredValue, rows))

    def find_value_ids_by_words(self, words: Sequence[str], limit: int) -> list[int]:
        """Return the ids of the stored values that contain all of these words."""
        query = " AND ".join(f'"{word}"' for word in words)
        return self._read_first_column("SELECT rowid FROM val_words WHERE val_words MATCH ? LIMIT ?", query, limit)

    def has_word_stem(self, word: str) -> bool:
        """Whether a stored value contains this word stem of four letters or more."""
        return bool(self._read_first_column("SELECT 1 FROM word WHERE size = ? AND word = ?", len(word), word))

    def find_similar_words(self, word: str, tolerance: int) -> set[str]:
        """Return words of similar length that share the first or the last half of a word."""
        sizes = ",".join(str(size) for size in range(len(word) - tolerance, len(word) + tolerance + 1))
        alike: set[str] = set()
        for name, text in (("word", word), ("back", word[::-1])):
            query = f"SELECT word FROM word WHERE size IN ({sizes}) AND {name} >= ? AND {name} < ? LIMIT {_ROWS}"
            start = text[: len(word) // 2]
            alike.update(self._read_first_column(query, start, start + "\U0010ffff"))
        return alike

    def _read_first_column(self, query: str, *parameters: str | int) -> list[Any]:
        """Return the first column of a query's rows."""
        return [first for (first,) in self._db.execute(query, parameters)]


# Filling it: columns are read and stored one after another, within bounds of work and size. How far one call goes is
# counted in rows and values, not in seconds, so that what a question finds does not depend on how busy the machine is.
# Time alone ends what hangs.

_CHUNK = 10_000  # values stored at once; some tenths of a second
_STORING = 20  # what storing a value takes, in rows read
_UNCOUNTED = 100_000  # rows of a table that nobody has counted


@dataclass(frozen=True)
class IndexBounds:
    """Limits on the time and size of the value index."""

    # How far one call goes on building; the next goes on from there. A row that is read counts one, a value that is
    # stored `_STORING`: about two seconds on a machine with nothing else to do.
    work: int = 2_000_000
    seconds: float = 15.0  # how long one call may go on in any case
    read_seconds: float = 5.0  # for reading one column; of one that takes longer, a part is held
    values: int = 2_000_000  # distinct values held altogether; about 200 bytes of disk each
    text_length: int = 150  # longer texts are prose, which questions don't mention as a whole


def list_columns_to_index(schema: Schema, withheld: Container[tuple[str, str]] = ()) -> list[tuple[str, str]]:
    """Return the columns of tables that may contain text and are not withheld."""
    return [
        (table.name, column.name)
        for table in schema.tables
        if table.kind != "view"
        for column in table.columns
        if column.kind not in ("number", "binary") or any(isinstance(sample, str) for sample in column.samples)
        if (table.name, column.name) not in withheld
    ]


def fill_value_store(store: ValueStore, database: Database, bounds: IndexBounds) -> bool:
    """Index waiting columns up to the work limit; return whether all columns are filled."""
    budget, until = bounds.work, time.monotonic() + bounds.seconds
    columns = store.list_columns()
    total = sum(column.value_count for column in columns)
    waiting = [column for column in columns if column.state == "waiting"]
    schema = database.schema()
    for column in waiting:
        table = schema.table(column.table)
        budget -= _UNCOUNTED if table is None or table.row_count is None else table.row_count
        texts, state = _read_texts(database, column, bounds.values - total + column.value_count, bounds)
        total += len(texts) - column.value_count
        for start in range(column.value_count, max(len(texts), column.value_count + 1), _CHUNK):
            chunk, last = texts[start : start + _CHUNK], start + _CHUNK >= len(texts)
            store.add_values(column.id, start, chunk, state if last else "waiting")
            budget -= _STORING * len(chunk)
            if (budget < 0 or time.monotonic() > until) and not (last and column is waiting[-1]):
                return False
    return True


def _read_texts(database: Database, column: StoredColumn, limit: int, bounds: IndexBounds) -> tuple[list[str], str]:
    """Return distinct texts of a column, with `whole` if these are all values, else `part`."""
    if limit <= 0:
        return [], "part"
    began = time.monotonic()
    try:
        values = database.distinct_values(column.table, column.name, limit + 1, bounds.read_seconds)
    except QueryError:
        return [], "part"
    in_time = time.monotonic() - began < bounds.read_seconds
    texts = list(dict.fromkeys(value for value in values if isinstance(value, str)))
    short_texts = [text for text in texts if 0 < len(text) <= bounds.text_length][:limit]
    return short_texts, "whole" if in_time and len(short_texts) == len(values) <= limit else "part"
