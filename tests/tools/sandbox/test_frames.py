"""Tables as data frames: which are loaded, with which types, how much of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from tableturn.tools.database import Database
from tableturn.tools.sandbox import SandboxLimits, load_frames


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
            """)
        connection.close()
        with Database.open(path, deny=["hidden"]) as opened:
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
        assert 0 < len(loaded.frames[name]) <= 300
        assert loaded.sampled == (name,)
        assert "rows of table" in loaded.notes[0]

    def test_a_sample_is_spread_over_the_table(self, database: Database) -> None:
        frame = load_frames("db_dict['many']", database, SandboxLimits(frame_rows=300)).frames["many"]
        assert frame["x"].max() > 990

    def test_what_cannot_be_loaded_is_noted(self, database: Database) -> None:
        loaded = load_frames("db_dict['many']", database, SandboxLimits(input_bytes=100))
        assert not loaded.frames
        assert loaded.notes[0].startswith("Table many was not loaded")
