"""What a database may hold comes back as a defined value, never as a crash."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from tableturn.tools.database import Database


@pytest.fixture
def odd(tmp_path: Path) -> Iterator[Database]:
    path = tmp_path / "odd.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (a TEXT, b)")
    connection.execute("INSERT INTO t VALUES (CAST(x'636166e9' AS TEXT), x'ff00')")
    connection.execute("INSERT INTO t VALUES ('a' || char(0) || 'b', 9e999)")
    connection.execute("INSERT INTO t VALUES ('line' || char(10) || 'break', 9223372036854775807)")
    connection.execute("INSERT INTO t VALUES (?, NULL)", ("\U0001f600",))
    connection.commit()
    connection.close()
    with Database.open(path) as database:
        yield database


def test_text_that_is_not_utf8(odd: Database) -> None:
    assert odd.execute("SELECT a FROM t ORDER BY rowid").rows[0] == ("caf\ufffd",)
    assert odd.execute("SELECT 1").rows == ((1,),)


def test_values_of_every_kind(odd: Database) -> None:
    table = odd.execute("SELECT a, b FROM t WHERE rowid > 1 ORDER BY rowid")
    assert table.rows == (("a\0b", float("inf")), ("line\nbreak", 2**63 - 1), ("\U0001f600", None))
    assert table.types == ("text", "mixed")


def test_numbers_beyond_their_type(odd: Database) -> None:
    table = odd.execute("SELECT 9223372036854775808, 9e999 - 9e999, -9223372036854775808, 0.1 + 0.2, 1 / 0")
    assert table.rows == ((9.223372036854775808e18, None, -(2**63), 0.30000000000000004, None),)
    assert table.types == ("real", "null", "integer", "real", "null")


def test_columns_of_one_name(odd: Database) -> None:
    table = odd.execute("SELECT 1 AS x, 2 AS x, 3")
    assert table.columns == ("x", "x", "3")
    assert table.rows == ((1, 2, 3),)


def test_no_rows_keep_their_columns(odd: Database) -> None:
    table = odd.execute("SELECT a, b FROM t WHERE 0")
    assert (table.columns, table.types, table.rows, table.truncated) == (("a", "b"), ("null", "null"), (), False)


def test_distinct_values(odd: Database) -> None:
    assert odd.distinct_values("T", "A", 2) == ("caf\ufffd", "a\0b")
    assert len(odd.distinct_values("t", "b", 100)) == 3
    assert odd.schema().table("t") is not None
