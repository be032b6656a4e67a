"""The index file: a SQLite database of its own, which holds values by column, by key and by word.

Keys sit in an ordinary B-tree: a question's word groups are looked up in microseconds however many values there are.
Words sit in FTS5 (values that hold a word) and, forwards and backwards, in a B-tree (words that begin or end alike,
for typos). A trigram index was not chosen: its posting lists grow with the values, its look-ups with them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby, starmap
from pathlib import Path
from typing import Any

from ..words import initials, key, stems

FORMAT = 3
"""Raised whenever the layout or the words' treatment changes; a file of another format is rebuilt."""

_ROWS = 2_000
"""Most rows of one look-up."""

_LAYOUT = (
    "CREATE TABLE col(id INTEGER PRIMARY KEY, tbl TEXT, name TEXT, state TEXT, held INTEGER DEFAULT 0)",
    "CREATE TABLE val(id INTEGER PRIMARY KEY, col INTEGER, text TEXT, key TEXT, initials TEXT)",
    "CREATE UNIQUE INDEX val_text ON val(col, text)",
    "CREATE INDEX val_key ON val(key)",
    "CREATE INDEX val_initials ON val(initials) WHERE initials IS NOT NULL",
    "CREATE VIRTUAL TABLE val_words USING fts5(body, content='', detail=none, columnsize=0, tokenize='unicode61')",
    "CREATE VIRTUAL TABLE vocabulary USING fts5vocab('val_words', 'row')",
    "CREATE TABLE word(size INTEGER, word TEXT, back TEXT, PRIMARY KEY (size, word)) WITHOUT ROWID",
    "CREATE INDEX word_back ON word(size, back)",
)


@dataclass(frozen=True)
class Stored:
    """A value of a column, as stored."""

    id: int
    column: int
    text: str
    key: str


@dataclass(frozen=True)
class StoredColumn:
    """An indexed column.

    Attributes:
        state: `waiting`, `whole` (all its values are in), or `part` (it has more, or longer ones, than are kept).
        held: How many of its values are in.
    """

    id: int
    table: str
    name: str
    state: str
    held: int


class Store:
    """An open index file. Not for several threads at once; several processes may have it open."""

    def __init__(self, path: Path | str, columns: Sequence[tuple[str, str]]) -> None:
        """Opens the file, laying it out for these columns where it is new.

        Raises:
            sqlite3.DatabaseError: If it is no index file, or a damaged one.
        """
        self._path = path
        self._db = sqlite3.connect(path, timeout=5.0, isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA synchronous=OFF")  # a damaged index is rebuilt: speed matters more
        self._db.execute("PRAGMA cache_size=-64000")
        if self._format() == 0:
            self._lay_out(columns)
        if self._format() != FORMAT:
            raise sqlite3.DatabaseError("the index is of another format")

    def _format(self) -> int:
        return self._db.execute("PRAGMA user_version").fetchone()[0]

    def _lay_out(self, columns: Sequence[tuple[str, str]]) -> None:
        with self._transaction():
            if self._format():
                return  # another process was faster
            for statement in _LAYOUT:
                self._db.execute(statement)
            self._db.execute(f"PRAGMA user_version={FORMAT}")
            self._db.executemany("INSERT INTO col(tbl, name, state) VALUES (?, ?, 'waiting')", columns)

    @contextmanager
    def _transaction(self) -> Generator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def close(self, *, remove: bool = False) -> None:
        """Closes the file; removes it, if asked, because it is damaged."""
        self._db.close()
        if remove and self._path != ":memory:":
            Path(self._path).unlink(missing_ok=True)

    def columns(self) -> list[StoredColumn]:
        rows = self._db.execute("SELECT id, tbl, name, state, held FROM col ORDER BY id")
        return [StoredColumn(*row) for row in rows]

    def add(self, column: int, held: int, texts: Sequence[str], state: str) -> None:
        """Adds values to a column, all or none.

        Args:
            column: Its number.
            held: How many values it should hold before; if it holds others, another process was faster, and it is
                left as it is.
            texts: The values that follow.
            state: The column's state from now on.
        """
        rows = [(text, stems(text)) for text in texts]
        seen = sorted({part for _, parts in rows for part in parts if len(part) > 3})
        words = ((len(word), word, word[::-1]) for word in seen)
        with self._transaction():
            before = self._db.execute("SELECT state, held FROM col WHERE id = ?", (column,)).fetchone()
            if before != ("waiting", held):
                return
            (first,) = self._db.execute("SELECT coalesce(max(id), 0) + 1 FROM val").fetchone()
            values = ((first + i, column, text, key(parts), initials(parts)) for i, (text, parts) in enumerate(rows))
            self._db.executemany("INSERT INTO val VALUES (?, ?, ?, ?, ?)", values)
            bodies = ((first + i, " ".join(parts)) for i, (_, parts) in enumerate(rows))
            self._db.executemany("INSERT INTO val_words(rowid, body) VALUES (?, ?)", bodies)
            self._db.executemany("INSERT OR IGNORE INTO word VALUES (?, ?, ?)", words)
            self._db.execute("UPDATE col SET state = ?, held = ? WHERE id = ?", (state, held + len(rows), column))

    def held(self, column: int, text: str) -> bool:
        query = "SELECT 1 FROM val WHERE col = ? AND text = ?"
        return self._db.execute(query, (column, text)).fetchone() is not None

    def by_key(self, keys: Sequence[str]) -> list[Stored]:
        """The values of these keys; of those that very many columns hold, some."""
        return [Stored(*row) for row in self._in("SELECT id, col, text, key FROM val WHERE key", keys)]

    def by_id(self, ids: Sequence[int]) -> list[Stored]:
        return [Stored(*row) for row in self._in("SELECT id, col, text, key FROM val WHERE id", ids)]

    def by_start(self, start: str) -> list[Stored]:
        """Values whose keys begin so, in the order of the keys; of very many, the first."""
        query = f"SELECT id, col, text, key FROM val WHERE key >= ? AND key < ? ORDER BY key LIMIT {_ROWS}"
        return [Stored(*row) for row in self._db.execute(query, (start, start + "\U0010ffff"))]

    def few_valued(self) -> list[tuple[int, list[Stored]]]:
        """The columns that hold two values or one, with these."""
        rows = self._db.execute(
            "SELECT val.id, col, text, key FROM val JOIN col ON col.id = val.col"
            " WHERE held BETWEEN 1 AND 2 AND state = 'whole' ORDER BY col, val.id"
        )
        return [(column, list(values)) for column, values in groupby(starmap(Stored, rows), lambda value: value.column)]

    def by_initials(self, initials: Sequence[str]) -> list[tuple[Stored, str]]:
        """The values of several words that begin with these letters, with the initials of each."""
        rows = self._in("SELECT id, col, text, key, initials FROM val WHERE initials", initials)
        return [(Stored(*row[:4]), row[4]) for row in rows]

    def with_word(self, word: str, common: int) -> list[int]:
        """Numbers of the values that hold a word; none if it is common, that is, in more than so many."""
        ids = self._matching(f'"{word}"', common + 1)
        return ids if len(ids) <= common else []

    def with_words(self, one: str, other: str, limit: int) -> list[int]:
        """Numbers of values that hold both words."""
        return self._matching(f'"{one}" AND "{other}"', limit)

    def knows(self, word: str) -> bool:
        """Whether a value holds this stem of four letters or more."""
        found = self._db.execute("SELECT 1 FROM word WHERE size = ? AND word = ?", (len(word), word))
        return found.fetchone() is not None

    def alike(self, word: str, within: int) -> set[str]:
        """Words that begin or end like this one, for half its length, and differ in length by so much at most."""
        half = len(word) // 2
        sizes = ",".join(str(size) for size in range(len(word) - within, len(word) + within + 1))
        alike: set[str] = set()
        for name, text in (("word", word), ("back", word[::-1])):
            rows = self._db.execute(
                f"SELECT word FROM word WHERE size IN ({sizes}) AND {name} >= ? AND {name} < ? LIMIT {_ROWS}",
                (text[:half], text[:half] + "\U0010ffff"),
            )
            alike.update(other for (other,) in rows)
        return alike

    def _in(self, select: str, wanted: Sequence[str] | Sequence[int]) -> list[tuple[Any, ...]]:
        marks = ",".join("?" * len(wanted))
        return self._db.execute(f"{select} IN ({marks}) LIMIT {_ROWS}", wanted).fetchall()

    def _matching(self, query: str, limit: int) -> list[int]:
        rows = self._db.execute("SELECT rowid FROM val_words WHERE val_words MATCH ? LIMIT ?", (query, limit))
        return [number for (number,) in rows]

    def in_column(self, column: int, limit: int) -> list[str]:
        """Values of a column, the first rows' first."""
        rows = self._db.execute("SELECT text FROM val WHERE col = ? LIMIT ?", (column, limit))
        return [text for (text,) in rows]
