"""What a query will cost is known before it runs, and caps hold on it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tableturn.tools.database import Database, Limits
from tableturn.tools.errors import QueryError, QueryTooCostly

from .candidate import Candidate
from .tables import NUMBERS, UNHURRIED

_SQUARE = "SELECT count(*) FROM numbers a JOIN numbers b ON a.n <> b.n"


@pytest.fixture(autouse=True)
def _own_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLETURN_HOME", str(tmp_path / "home"))


@pytest.fixture
def costed(candidate: Candidate, database: Database) -> Database:
    if not candidate.estimates:
        pytest.skip(f"{candidate.name} does not tell what a query will cost")
    return database


def _rows(database: Database, sql: str) -> int:
    found = database.estimate(sql)
    assert found is not None
    return found.rows


def test_what_is_read_counts_and_not_what_is_given(costed: Database) -> None:
    for sql in ("SELECT count(DISTINCT word) FROM numbers", "SELECT n FROM numbers WHERE word = 'word 3'"):
        assert NUMBERS / 10 <= _rows(costed, sql) <= NUMBERS * 3


def test_joins_count_what_they_make(costed: Database) -> None:
    assert _rows(costed, _SQUARE) > NUMBERS * NUMBERS / 10


def test_a_query_of_no_table_reads_none(costed: Database) -> None:
    assert _rows(costed, "SELECT 1 AS one") <= 1


def test_the_first_rows_of_a_table_cost_no_more_than_these(costed: Database) -> None:
    assert _rows(costed, "SELECT n, word FROM numbers LIMIT 3") == 3
    assert _rows(costed, "SELECT n FROM numbers LIMIT 3 OFFSET 4") == 7
    found = costed.estimate("SELECT n FROM numbers", Limits(rows=5))
    assert found is not None
    assert found.rows == 6
    assert _rows(costed, "SELECT DISTINCT word FROM numbers LIMIT 3") > 3
    assert _rows(costed, "SELECT word FROM numbers ORDER BY word LIMIT 3") > 3


def test_a_cost_beyond_all_numbers_is_none_or_large(costed: Database) -> None:
    windows = ", ".join(f"sum(n) OVER (ORDER BY n ROWS {rows} PRECEDING)" for rows in range(99))
    found = costed.estimate(f"SELECT {windows} FROM numbers")
    assert found is None or found.rows >= NUMBERS / 10


def test_rows_of_a_subquery_count_once(costed: Database) -> None:
    numbered = "SELECT word, row_number() OVER (PARTITION BY word ORDER BY word) AS n FROM numbers"
    found = costed.estimate(f"SELECT word FROM (SELECT word, n FROM ({numbered}) AS a) AS b WHERE n = 1")
    assert found is not None
    assert found.rows <= 10 * NUMBERS


def test_no_estimate_is_more_than_a_checkpoint_holds(costed: Database) -> None:
    many = ", ".join(f"numbers AS n{number}" for number in range(12))
    found = costed.estimate(f"SELECT count(*) FROM {many}")
    assert found is None or 0 < found.rows < 2**63


def test_what_would_not_run_has_no_cost(costed: Database) -> None:
    for sql in ("DROP TABLE numbers", "SELECT x FROM nowhere", "SELECT nothing FROM numbers"):
        with pytest.raises(QueryError):
            costed.estimate(sql)


def test_a_query_that_reads_too_much_does_not_run(costed: Database) -> None:
    with pytest.raises(QueryTooCostly, match="estimated_rows") as caught:
        costed.execute(_SQUARE, Limits(estimated_rows=2 * NUMBERS))
    assert caught.value.kind == "too_costly"
    assert costed.execute(
        "SELECT count(*) FROM customer", Limits(estimated_rows=2 * NUMBERS, seconds=UNHURRIED)
    ).rows == ((4,),)


def test_a_day_has_an_end(costed: Database) -> None:
    sql = "SELECT count(DISTINCT word) FROM numbers"
    cap = Limits(estimated_rows_per_day=round(2.5 * _rows(costed, sql)), seconds=UNHURRIED)
    for _ in range(2):
        assert costed.execute(sql, cap).rows == ((NUMBERS,),)
    with pytest.raises(QueryTooCostly, match="midnight"):
        costed.execute(sql, cap)
    assert costed.execute(sql).rows == ((NUMBERS,),)


def test_where_cost_is_not_known_caps_let_nothing_run(candidate: Candidate, database: Database) -> None:
    if candidate.estimates:
        pytest.skip(f"{candidate.name} tells what a query will cost")
    assert database.estimate("SELECT count(*) FROM customer") is None
    with pytest.raises(QueryTooCostly, match="estimated_rows"):
        database.execute("SELECT count(*) FROM customer", Limits(estimated_rows=2 * NUMBERS))
