"""The newest date of the data beside the period asked about."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest
from tableturn.tools.database import Database
from tableturn.tools.labels import Labels

from tests.tools.ledger.sales import keep, make_duckdb


@pytest.mark.parametrize(
    ("newest", "today", "told"),
    [("2023-11-03", "2026-01-01", True), ("2023-12-31", "2026-01-01", False), ("2023-11-03", "2023-11-04", False)],
)
def test_data_that_ends_within_the_period_is_told(sales: Database, newest: str, today: str, told: bool) -> None:
    sql = "SELECT COUNT(*) FROM sale WHERE day >= '2023-01-01' AND day <= '2023-12-31'"

    def look(table: str, column: str) -> str:
        assert (table, column) == ("sale", "day")
        return newest

    ledger = keep(sales, sql, newest=look, today=date.fromisoformat(today))
    assert (f"the data ends on {Labels().date(newest)}, before 31 Dec 2023" in ledger.material_facts) is told


@pytest.mark.parametrize(
    ("since", "newest", "told"),
    [
        ("day >= '2026-10-01'", "2024-06-01", "2026-10-01"),
        ("day > '2024-05-31'", "2024-06-01", ""),
        ("day >= CURRENT_DATE", "2024-06-01", date.today().isoformat()),
        ("day BETWEEN CURRENT_DATE AND CURRENT_DATE", "2024-06-01", date.today().isoformat()),
        ("day <= CURRENT_DATE", "2024-06-01", ""),
        ("CAST(day AS DATE) >= CURRENT_DATE", date.max.isoformat(), ""),
    ],
)
def test_data_that_ends_before_a_period_without_end_is_told(tmp_path: Path, since: str, newest: str, told: str) -> None:
    def look(*_: str) -> str:
        return newest

    with Database.open(make_duckdb(tmp_path)) as database:
        ledger = keep(database, f"SELECT COUNT(*) FROM sale WHERE {since}", newest=look)
    assert ledger.material_facts == (
        (f"the data ends on {Labels().date(newest)}, before {Labels().date(told)}",) if told else ()
    )


NOW = {
    "sqlite": ("date('now')", "date('now', '-30 day')", "strftime('%Y', day) = strftime('%Y', 'now')"),
    "duckdb": ("today()", "today() - 30", "year(day) = year(today())"),
    "postgres": ("CURRENT_DATE", "now() - INTERVAL '30 days'", "EXTRACT(YEAR FROM day) = EXTRACT(YEAR FROM now())"),
    "mysql": ("CURDATE()", "CURDATE() - INTERVAL 30 DAY", "YEAR(day) = YEAR(CURDATE())"),
}
"""By dialect: this day, a day 30 days ago, and that a day is of this year."""


@pytest.mark.parametrize(
    ("condition", "age", "told"),
    [
        ("day BETWEEN '2023-01-01' AND {now}", 400, True),
        ("day >= '2023-01-01' AND day <= {now}", 400, True),
        ("day = {now}", 400, True),
        ("day = {now}", 1, True),
        ("day = {now}", 0, False),
        ("day >= {ago}", 400, True),
        ("day >= {ago}", 10, True),
        ("day >= {ago}", 1, False),
        ("{year}", 800, True),
        ("day <= {now}", 400, False),
        ("day BETWEEN '2023-01-01' AND {now}", 3, False),
    ],
)
def test_data_that_ends_before_today_is_told_where_it_is_asked_about(
    sales: Database, condition: str, age: int, told: bool
) -> None:
    now, ago, year = NOW[sales.dialect]
    ((today,),) = sales.execute(f"SELECT {now}").rows
    newest = str(date.fromisoformat(str(today)[:10]) - timedelta(days=age))
    sql = f"SELECT COUNT(*) FROM sale WHERE {condition.format(now=now, ago=ago, year=year)}"

    def look(*_: str) -> str:
        return newest

    ledger = keep(sales, sql, newest=look)
    assert [fact[:16] for fact in ledger.material_facts] == ["the data ends on"] * told
    assert not ledger.not_counted
