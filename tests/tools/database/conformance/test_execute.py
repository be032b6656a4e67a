"""Rows, types and limits."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest
from tableturn.tools.database import Cancellation, Database, Limits
from tableturn.tools.errors import ExportError, QueryTimeout, ResultTooLarge

from .candidate import Candidate
from .tables import NUMBERS, UNHURRIED


def test_rows_and_types(database: Database) -> None:
    table = database.execute("SELECT id, name, city, total FROM customer JOIN orders USING (id) ORDER BY id")
    assert table.columns == ("id", "name", "city", "total")
    assert table.types == ("integer", "text", "text", "real")
    assert table.rows[0] == (1, "Anna Berg", "Oslo", 120.5)
    assert table.rows[3] == (4, "Dag Foss", None, 5.0)
    assert not table.truncated
    assert table.elapsed >= 0


def test_no_rows(database: Database) -> None:
    table = database.execute("SELECT x FROM spare")
    assert (table.columns, table.rows, table.truncated) == (("x",), (), False)


def test_common_table_expressions(database: Database) -> None:
    sql = "WITH o AS (SELECT customer_id, sum(total) AS s FROM orders GROUP BY customer_id) SELECT max(s) FROM o"
    assert database.execute(sql).rows == ((128.5,),)


@pytest.mark.parametrize(("rows", "truncated"), [(NUMBERS, False), (NUMBERS - 1, True), (1, True), (0, True)])
def test_rows_are_capped_and_say_so(database: Database, rows: int, truncated: bool) -> None:
    table = database.execute("SELECT n FROM numbers ORDER BY n", Limits(rows=rows, seconds=UNHURRIED))
    assert [row[0] for row in table.rows] == list(range(1, rows + 1))
    assert table.truncated is truncated


def _chain(steps: int, read: str = "SELECT * FROM") -> str:
    """Each common table expression reads the one before: PostgreSQL plans some hundreds of them for minutes."""
    rest = "".join(f", c{at} AS ({read} c{at - 1})" for at in range(1, steps))
    return f"WITH c0 AS (SELECT 1 AS a){rest} SELECT a FROM c{steps - 1}"


def _joined(tables: int) -> str:
    joins = "".join(f" LEFT JOIN customer a{at} ON a{at}.id = a0.id" for at in range(1, tables + 1))
    return f"SELECT count(*) FROM customer a0{joins}"


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        (_chain(1_500), r"1,501 SELECTs and joins; the limit is 200"),
        (_joined(100), r"joins 100 tables; the limit is 64"),
        ("SELECT 1 -- ".ljust(50_001, "x"), r"50,001 bytes; the limit is 50,000"),
    ],
)
def test_a_statement_that_would_be_planned_for_minutes_is_refused(database: Database, sql: str, said: str) -> None:
    with pytest.raises(ResultTooLarge, match=said):
        database.execute(sql)
    with pytest.raises(ResultTooLarge, match=said):
        database.estimate(sql)
    assert isinstance(database.compile_check(sql, ()), ResultTooLarge)


def test_a_statement_may_have_many_parts(database: Database) -> None:
    # MariaDB takes 63 common table expressions.
    assert database.execute(_chain(60), Limits(seconds=UNHURRIED)).rows == ((1,),)


class Kept:
    """A sink that keeps what it is given."""

    def __init__(self) -> None:
        self.columns: tuple[str, ...] = ()
        self.rows: list[tuple[object, ...]] = []

    def start(self, columns: tuple[str, ...]) -> None:
        self.columns, self.rows = columns, []

    def take(self, rows: Sequence[tuple[object, ...]]) -> None:
        self.rows += rows


@pytest.mark.parametrize(("rows", "truncated"), [(NUMBERS, False), (NUMBERS - 1, True), (0, True)])
def test_rows_go_to_a_sink(database: Database, rows: int, truncated: bool) -> None:
    kept = Kept()
    table = database.execute("SELECT n FROM numbers ORDER BY n", Limits(rows=rows, seconds=UNHURRIED), sink=kept)
    assert (kept.columns, [row[0] for row in kept.rows]) == (("n",), list(range(1, rows + 1)))
    assert (table.columns, table.rows, table.truncated) == (("n",), (), truncated)


def test_what_a_sink_raises_ends_the_query(database: Database) -> None:
    class Full(Kept):
        def take(self, rows: Sequence[tuple[object, ...]]) -> None:
            raise ExportError("the disk is full")

    with pytest.raises(ExportError, match="full"):
        database.execute("SELECT n FROM numbers", sink=Full())
    assert database.execute("SELECT 1").rows == ((1,),)


def test_cells_are_limited(candidate: Candidate, database: Database) -> None:
    with pytest.raises(ResultTooLarge):
        database.execute(candidate.wide_cell)
    assert len(database.execute(candidate.wide_cell, Limits(cell_bytes=3_000_000, seconds=UNHURRIED)).rows) == 1


def test_results_are_limited(database: Database) -> None:
    with pytest.raises(ResultTooLarge):
        database.execute("SELECT n, word FROM numbers", Limits(result_bytes=10_000, rows=NUMBERS, seconds=UNHURRIED))


def test_long_statements_are_refused(database: Database) -> None:
    with pytest.raises(ResultTooLarge):
        database.execute("SELECT '" + "a" * 200_000 + "'")


def test_time_is_limited(candidate: Candidate, database: Database) -> None:
    with pytest.raises(QueryTimeout):
        database.execute(candidate.endless, Limits(seconds=0.3))
    assert database.execute("SELECT count(*) FROM customer").rows == ((4,),)


def test_cancelling(candidate: Candidate, database: Database) -> None:
    handle = Cancellation()
    timer = threading.Timer(0.2, handle.cancel)
    timer.start()
    with pytest.raises(QueryTimeout, match="cancelled"):
        database.execute(candidate.endless, Limits(seconds=UNHURRIED), handle)
    timer.join()
    with pytest.raises(QueryTimeout, match="cancelled"):
        database.execute("SELECT 1", cancellation=handle)
    assert database.execute("SELECT count(*) FROM customer").rows == ((4,),)


@pytest.mark.whole
def test_many_threads(database: Database) -> None:
    wrong: list[object] = []

    def ask(key: int) -> None:
        for _ in range(5):
            rows = database.execute(f"SELECT word FROM numbers WHERE n = {key}").rows
            if rows != ((f"word {key}",),):
                wrong.append(rows)

    threads = [threading.Thread(target=ask, args=(key,)) for key in range(1, 21)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_distinct_values(database: Database) -> None:
    assert set(database.distinct_values("CUSTOMER", "City", 10)) == {"Oslo", "Bergen"}
    assert len(database.distinct_values("numbers", "n", 7)) == 7
