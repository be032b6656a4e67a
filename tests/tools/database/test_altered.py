"""A database that another program alters while it is open shows nothing that its rules hide, not even once."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tableturn.tools.database import Database
from tableturn.tools.errors import DatabaseUnavailable, QueryFailed


@pytest.fixture(params=["wal", "delete"])
def writer(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(tmp_path / "people.db", isolation_level=None)
    connection.execute(f"PRAGMA journal_mode = {request.param}")
    connection.execute("CREATE TABLE person (id INTEGER, name TEXT, pin TEXT)")
    connection.execute("INSERT INTO person VALUES (1, 'ann', 'swordfish')")
    yield connection
    connection.close()


@pytest.mark.parametrize("rules", [{"allow": ["person.id", "person.name"]}, {"deny": ["*.token"]}])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT token FROM person",
        "SELECT count(*) FROM person WHERE token = 'secret'",
        "SELECT count(*) FROM person JOIN (SELECT 'secret' AS token) USING (token)",
    ],
)
def test_new_column_is_hidden_from_the_first_query_on(
    writer: sqlite3.Connection, tmp_path: Path, rules: dict[str, Any], sql: str
) -> None:
    with Database.open(tmp_path / "people.db", **rules) as database:
        assert database.execute("SELECT name FROM person").rows == (("ann",),)
        writer.execute("ALTER TABLE person ADD COLUMN token TEXT DEFAULT 'secret'")
        with pytest.raises(QueryFailed, match=r"no such column|cannot join using column token"):
            database.execute(sql)


def test_renamed_hidden_column_closes_the_database(writer: sqlite3.Connection, tmp_path: Path) -> None:
    with Database.open(tmp_path / "people.db", deny=["person.pin"]) as database:
        writer.execute("ALTER TABLE person RENAME COLUMN pin TO code")
        for sql in ("SELECT code FROM person", "SELECT name FROM person"):
            with pytest.raises(DatabaseUnavailable, match=r"altered while open: .*person\.pin"):
                database.execute(sql)
        writer.execute("ALTER TABLE person RENAME COLUMN code TO pin")
        assert database.execute("SELECT name FROM person").rows == (("ann",),)


def test_schema_of_a_file_at_rest_is_as_of_now(writer: sqlite3.Connection, tmp_path: Path) -> None:
    for file in tmp_path.iterdir():  # as if nobody had written for long: only then are the files' times trusted
        os.utime(file, (1_000_000_000, 1_000_000_000))
    with Database.open(tmp_path / "people.db") as database:
        schema = database.schema()
        assert database.schema() is schema
        writer.execute("CREATE TABLE pet (id INTEGER)")
        assert database.schema().table("pet")
        writer.execute("DROP TABLE pet")
        assert not database.schema().table("pet")
