"""What a query will cost is known before it runs, and caps hold on it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tableturn.tools.database import Database, Limits
from tableturn.tools.errors import QueryError, QueryTooCostly

from .tables import NUMBERS

_SQUARE = "SELECT count(*) FROM numbers a JOIN numbers b ON a.n <> b.n"


@pytest.fixture(autouse=True)
def _own_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLETURN_HOME", str(tmp_path / "home"))


def _rows(database: Database, sql: str) -> int:
    found = database.estimate(sql)
    assert found is not None
    return found.rows


def test_what_is_read_counts_and_not_what_is_given(database: Database) -> None:
    for sql in ("SELECT count(DISTINCT word) FROM numbers", "SELECT n FROM numbers WHERE word = 'word 3'"):
        assert NUMBERS / 10 <= _rows(database, sql) <= NUMBERS * 3


def test_joins_count_what_they_make(database: Database) -> None:
    assert _rows(database, _SQUARE) > NUMBERS * NUMBERS / 10


def test_a_query_of_no_table_reads_none(database: Database) -> None:
    assert _rows(database, "SELECT 1 AS one") <= 1


def test_the_first_rows_of_a_table_cost_no_more_than_these(database: Database) -> None:
    assert _rows(database, "SELECT n, word FROM numbers LIMIT 3") == 3
    assert _rows(database, "SELECT n FROM numbers LIMIT 3 OFFSET 4") == 7
    found = database.estimate("SELECT n FROM numbers", Limits(rows=5))
    assert found is not None
    assert found.rows == 6
    assert _rows(database, "SELECT DISTINCT word FROM numbers LIMIT 3") > 3
    assert _rows(database, "SELECT word FROM numbers ORDER BY word LIMIT 3") > 3


def test_what_would_not_run_has_no_cost(database: Database) -> None:
    for sql in ("DROP TABLE numbers", "SELECT x FROM nowhere", "SELECT nothing FROM numbers"):
        with pytest.raises(QueryError):
            database.estimate(sql)


def test_a_query_that_reads_too_much_does_not_run(database: Database) -> None:
    with pytest.raises(QueryTooCostly, match="estimated_rows") as caught:
        database.execute(_SQUARE, Limits(estimated_rows=2 * NUMBERS))
    assert caught.value.kind == "too_costly"
    assert database.execute("SELECT count(*) FROM customer", Limits(estimated_rows=2 * NUMBERS)).rows == ((4,),)


def test_a_day_has_an_end(database: Database) -> None:
    sql = "SELECT count(DISTINCT word) FROM numbers"
    cap = Limits(estimated_rows_per_day=round(2.5 * _rows(database, sql)))
    for _ in range(2):
        assert database.execute(sql, cap).rows == ((NUMBERS,),)
    with pytest.raises(QueryTooCostly, match="midnight"):
        database.execute(sql, cap)
    assert database.execute(sql).rows == ((NUMBERS,),)
