"""Tables as data frames: which are loaded, with which types, how much of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tableturn.tools.database import Database
from tableturn.tools.sandbox import SandboxLimits, load_frames
from tableturn.tools.sandbox import frames as frames_module


class TestFrames:
    @pytest.fixture
    def database(self, tmp_path: Path) -> Generator[Database]:
        path = tmp_path / "shop.db"
        with sqlite3.connect(path) as connection:
            connection.executescript("""
                CREATE TABLE t (
                    i INTEGER, n INTEGER, r REAL, d DATE, bad DATE, moment DATETIME, s TEXT, mixed, b BLOB, none INTEGER
                );
                INSERT INTO t VALUES
                    (1, NULL, 1, '2020-01-31', '2020-02-30', '2020-01-01 10:20:30.5', 'x', 1, x'00', NULL),
                    (2, 5, 2.5, NULL, '2020-01-01', '2020-01-01', NULL, 'one', x'ff', NULL);
                CREATE TABLE "Order Lines" (x INTEGER);
                CREATE TABLE empty (x INTEGER, y TEXT);
                CREATE TABLE many (x INTEGER);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
                INSERT INTO many SELECT i FROM n;
                CREATE VIEW seen AS SELECT x FROM many;
                CREATE TABLE hidden (x INTEGER);
                CREATE TABLE spaced (id INTEGER PRIMARY KEY, x INTEGER);
                INSERT INTO spaced SELECT 10 * x + 1, x FROM many;
                CREATE TABLE weekly (id INTEGER PRIMARY KEY, x INTEGER);
                INSERT INTO weekly SELECT x, x % 4 FROM many;
                CREATE TABLE keyed (code TEXT PRIMARY KEY, x INTEGER) WITHOUT ROWID;
                INSERT INTO keyed SELECT 'k' || x, x FROM many;
                CREATE TABLE named (rowid TEXT, x INTEGER);
                INSERT INTO named SELECT 'r', x FROM many;
                CREATE TABLE partly (id INTEGER PRIMARY KEY, x INTEGER, secret TEXT);
                INSERT INTO partly SELECT x, x, 's' FROM many;
                CREATE TABLE exact (x);
                INSERT INTO exact VALUES (9007199254740993), (0.5);
            """)
        connection.close()
        with Database.open(path, deny=["hidden", "partly.secret", "partly.id"]) as opened:
            yield opened

    def test_types(self, database: Database) -> None:
        frame: Any = load_frames("db_dict['t']", database).frames["t"]
        kinds = {name: str(kind) for name, kind in frame.dtypes.items()}
        assert kinds == {
            "i": "int64", "n": "Int64", "r": "float64", "d": "datetime64[us]", "bad": "str", "moment": "datetime64[us]",
            "s": "str", "mixed": "object", "b": "object", "none": "Float64",
        }  # fmt: skip
        assert frame["d"].isna().tolist() == [False, True]
        assert frame["mixed"].tolist() == [1, "one"]
        assert frame["b"].tolist() == [b"\x00", b"\xff"]

    def test_only_named_tables_are_loaded_under_the_name_used(self, database: Database) -> None:
        loaded = load_frames("a = db_dict['order lines']; b = db_dict[\"empty\"]; c = 'elsewhere'", database)
        assert list(loaded.frames) == ["order lines", "empty"]
        assert list(loaded.frames["empty"].columns) == ["x", "y"]

    def test_hidden_tables_are_not_there(self, database: Database) -> None:
        assert not load_frames("db_dict['hidden']", database).frames

    def test_code_that_does_not_parse(self, database: Database) -> None:
        assert not load_frames("db_dict['t'", database).frames

    @pytest.mark.parametrize("name", ["many", "seen"])
    def test_large_tables_are_sampled_and_that_is_said(self, database: Database, name: str) -> None:
        loaded = load_frames(f"db_dict['{name}']", database, SandboxLimits(frame_rows=300))
        assert len(loaded.frames[name]) == 300
        assert loaded.sampled == (name,)
        first = "the first " if name == "seen" else ""
        assert loaded.notes == (f"The code saw {first}300 rows of table {name}, which has more.",)

    @pytest.mark.parametrize("name", ["many", "spaced", "weekly", "keyed", "named", "partly"])
    def test_a_sample_is_spread_over_the_table(self, database: Database, name: str) -> None:
        frame = load_frames(f"db_dict['{name}']", database, SandboxLimits(frame_rows=250)).frames[name]
        assert len(frame) == 250
        values = frame["x"].value_counts()
        if name == "weekly":
            assert values.min() > 40
        else:
            assert values.max() == 1
            assert 40 < (frame["x"] <= 250).sum() < 85
            assert 40 < (frame["x"] > 750).sum() < 85

    def test_a_sample_is_never_empty(self, database: Database) -> None:
        loaded = load_frames("db_dict['spaced']", database, SandboxLimits(frame_rows=1))
        assert len(loaded.frames["spaced"]) == 1

    def test_hidden_columns_are_left_out(self, database: Database) -> None:
        loaded = load_frames("db_dict['partly']", database)
        assert list(loaded.frames["partly"].columns) == ["x"]

    def test_numbers_stay_exact(self, database: Database) -> None:
        assert load_frames("db_dict['exact']", database).frames["exact"]["x"].tolist() == [9007199254740993, 0.5]

    def test_a_table_is_loaded_once_however_it_is_spelled(self, database: Database) -> None:
        loaded = load_frames("db_dict['many'], db_dict['MANY'], db_dict['Many']", database, SandboxLimits(frame_rows=9))
        assert list(loaded.frames) == ["many", "MANY", "Many"]
        assert len({id(frame) for frame in loaded.frames.values()}) == 1
        assert loaded.sampled == ("many",)
        assert len(loaded.notes) == 1

    def test_bytes_are_bounded_for_all_tables_together(self, database: Database) -> None:
        limits = SandboxLimits(input_bytes=20_000)
        assert list(load_frames("db_dict['many'], db_dict['spaced']", database, limits).frames) == ["many"]
        assert list(load_frames("db_dict['spaced']", database, limits).frames) == ["spaced"]

    def test_time_is_bounded_for_all_tables_together(self, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
        clock = iter([0.0, 1.0, 11.0, 12.0])
        monkeypatch.setattr(frames_module, "time", SimpleNamespace(monotonic=lambda: next(clock)))
        loaded = load_frames("db_dict['empty'], db_dict['t'], db_dict['many']", database)
        assert list(loaded.frames) == ["empty"]
        assert loaded.notes[0] == "Table t was not loaded: loading tables took longer than 10 s."

    def test_what_cannot_be_loaded_is_noted(self, database: Database) -> None:
        loaded = load_frames("db_dict['many']", database, SandboxLimits(input_bytes=100))
        assert not loaded.frames
        assert loaded.notes[0].startswith("Table many was not loaded")
