"""Whatever is sent to a database, the answer is a table or a typed error, and the file stays as it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tableturn.tools.database import Database, Limits
from tableturn.tools.errors import QueryError, TableturnError

from tests.corpus.statements import SCHEMA, statements

from .traces import trace

_LIMITS = Limits(seconds=0.05, rows=20)


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    folder = tmp_path_factory.mktemp("fuzz")
    connection = sqlite3.connect(folder / "fuzzed.db")
    connection.executescript(SCHEMA)
    connection.close()
    before = trace(folder)
    with Database.open(folder / "fuzzed.db") as database:
        yield database
        assert database.execute("SELECT count(*) FROM person").rows == ((3,),)
    assert trace(folder) == before


def _send(database: Database, sql: str) -> bool:
    message = ""
    try:
        table = database.execute(sql, _LIMITS)
    except QueryError as error:
        message = str(error)
    else:
        return all(len(row) == len(table.columns) for row in table.rows)
    assert message
    assert "\n" not in message
    return False


def test_generated_statements(fuzzed: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(fuzzed.location).parent)
    ran = sum(_send(fuzzed, sql) for sql in islice(statements(1, str(Path(fuzzed.location).parent)), 4000))
    assert 100 < ran < 2000


@given(st.text(max_size=60))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text(fuzzed: Database, text: str) -> None:
    _send(fuzzed, text)
    _send(fuzzed, f"SELECT {text} FROM person")
    quoted = text.replace("'", "''")
    if "\0" not in text and not any(0xD800 <= ord(character) <= 0xDFFF for character in text):
        assert fuzzed.execute(f"SELECT '{quoted}'").rows == ((text,),)


@given(st.binary(min_size=1, max_size=30), st.integers(min_value=0, max_value=2**31))
@settings(max_examples=100, deadline=None)
def test_damaged_files(shop_path: Path, tmp_path_factory: pytest.TempPathFactory, patch: bytes, place: int) -> None:
    content = bytearray(shop_path.read_bytes())
    start = place % len(content)
    content[start : start + len(patch)] = patch[: len(content) - start]
    path = tmp_path_factory.mktemp("damaged") / "shop.db"
    path.write_bytes(content)
    assert "\n" not in _trouble_with(path)


def _trouble_with(path: Path) -> str:
    """Read everything; the message of the error that ended it."""
    try:
        with Database.open(path) as database:
            for table in database.schema().tables:
                _send(database, f'SELECT * FROM "{table.name}"')
    except TableturnError as error:
        return str(error)
    return ""
