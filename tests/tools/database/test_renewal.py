"""Counts and samples are renewed where the contents change, and seldom."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from tableturn.tools.database import Database, Schema
from tableturn.tools.database.schema_cache import SchemaCache
from tableturn.tools.database.sqlite import engine
from tableturn.tools.errors import DatabaseUnavailable


def write(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(sql)


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_table_that_was_filled_is_not_empty(tmp_path: Path, journal: str) -> None:
    path = tmp_path / "shop.db"
    write(path, f"PRAGMA journal_mode = {journal}; CREATE TABLE t (a); CREATE TABLE u (a)")
    start = time.time()
    with Database.open(path) as database:
        before = database.schema()
        assert [table.row_count for table in before.tables] == [0, 0]
        assert start <= before.counted_at <= time.time()
        write(path, "INSERT INTO t VALUES ('x'), ('y')")
        after = database.schema()
        assert [table.row_count for table in after.tables] == [2, 0]
        assert after.tables[0].columns[0].samples == ("x", "y")
        assert after.version == before.version
        write(path, "INSERT INTO t VALUES ('z')")
        assert database.schema() is after, "a file that is written to is not read at each turn"


def test_other_counts_are_renewed_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_RENEW_SECONDS", 0.0)
    monkeypatch.setattr("tableturn.tools.database.schema_cache._SHARE", 0)
    path = tmp_path / "shop.db"
    write(path, "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    with Database.open(path) as database:
        before = database.schema()
        assert database.schema() is before, "nothing was written"
        write(path, "INSERT INTO t VALUES (2)")
        assert [table.row_count for table in database.schema().tables] == [2]


def test_files_that_change_are_counted_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tableturn.tools.database.schema_cache._SHARE", 0)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with Database.open(path) as database:
        assert database.schema().tables[0].row_count == 1
        path.write_text("a,b\n1,2\n3,4\n", encoding="utf-8")
        assert database.schema().tables[0].row_count == 2


def test_a_schema_that_cannot_be_read_again_is_used_on() -> None:
    cache, catalogue, states = SchemaCache(lambda: states.pop()), object(), ["c", "b", "a"]

    def fails(again: bool) -> Schema:
        raise DatabaseUnavailable("locked")

    with pytest.raises(DatabaseUnavailable):
        cache.get(catalogue, fails)
    first = cache.get(catalogue, lambda _: Schema("s", ()))
    states += ["d"]
    assert cache.get(catalogue, fails) is first
