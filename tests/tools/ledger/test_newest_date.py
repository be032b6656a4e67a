"""The newest date of the data beside the period asked about."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path
from uuid import uuid4

import duckdb
import pytest
from tableturn.tools.database import Database
from tableturn.tools.labels import IN_ENGLISH, Labels
from tableturn.tools.ledger import Ledger

from tests.tools.database.servers import POSTGRES
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
    assert (
        f"the data ends on {Labels().date(newest)}, before 31 Dec 2023" in ledger.list_facts(IN_ENGLISH, material=True)
    ) is told


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
    assert ledger.list_facts(IN_ENGLISH, material=True) == (
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
    assert [fact[:16] for fact in ledger.list_facts(IN_ENGLISH, material=True)] == ["the data ends on"] * told
    assert not ledger.not_counted


EVERY_DAY = [str(date(2024, 1, 1) + timedelta(days=n)) for n in range((date(2026, 8, 27) - date(2024, 1, 1)).days + 1)]


def compare(folder: Path, engine: str, days: Iterable[str], condition: str, kind: str = "DATE") -> Ledger:
    """Keep the ledger of a count in a table of events on days, on 28 November 2026."""
    rows = ", ".join(f"({n}, '{day}')" for n, day in enumerate(days))
    statements = [f"CREATE TABLE event (id INTEGER PRIMARY KEY, d {kind})", f"INSERT INTO event VALUES {rows}"]
    if engine == "postgres":
        if POSTGRES.unavailable():
            pytest.skip(POSTGRES.unavailable())
        place = POSTGRES.make_database(f"tt_{uuid4().hex[:12]}")
        for statement in statements:
            POSTGRES.run(place, statement)
    else:
        place = str(folder / f"e.{engine}")
        with closing((sqlite3 if engine == "sqlite" else duckdb).connect(place)) as connection:
            for statement in statements:
                connection.execute(statement)
            connection.commit()
    with Database.open(place) as database:

        def look(*_: str) -> str:
            return str(database.execute("SELECT MAX(d) FROM event").rows[0][0])[:10]

        sql = f"SELECT COUNT(*) FROM event WHERE {condition}"
        return keep(database, sql, newest=look, today=date(2026, 11, 28))


@pytest.mark.parametrize(
    ("engine", "condition", "told"),
    [
        ("duckdb", "year(d) = 2026 AND month(d) = 3", ""),
        ("duckdb", "year(d) = 2026 AND month(d) = 10", "31 Oct 2026"),
        ("duckdb", "EXTRACT(year FROM d) = 2026 AND EXTRACT(month FROM d) BETWEEN 1 AND 6", ""),
        ("duckdb", "year(d) = 2026 AND quarter(d) = 2", ""),
        ("duckdb", "year(d) = 2026 AND quarter(d) = 3", "30 Sep 2026"),
        ("duckdb", "year(d) = 2026 AND (month(d) = 3 OR month(d) = 4)", ""),
        ("duckdb", "year(d) = 2026", "31 Dec 2026"),
        ("duckdb", "year(d) IN (2025, 2026)", "31 Dec 2026"),
        ("duckdb", "date_trunc('month', d) = DATE '2026-10-01'", "31 Oct 2026"),
        ("duckdb", "strftime(d, '%Y-%m') = '2026-10'", "31 Oct 2026"),
        ("duckdb", "CAST(d AS VARCHAR) LIKE '2026-10%'", "31 Oct 2026"),
        ("duckdb", "d >= DATE '2026-01-01' AND d < DATE '2026-01-01' + INTERVAL 1 YEAR", "31 Dec 2026"),
        ("duckdb", "year(d) >= 2020 AND month(d) = 3", ""),
        ("sqlite", "strftime('%Y', d) = '2026' AND strftime('%m', d) = '03'", ""),
        ("sqlite", "strftime('%Y', d) = '2026' AND CAST(strftime('%m', d) AS INTEGER) BETWEEN 7 AND 9", "30 Sep 2026"),
        ("sqlite", "strftime('%Y-%m', d) = '2026-10'", "31 Oct 2026"),
        ("sqlite", "strftime('%Y-%m', d) IN ('2025-01', '2026-10')", "31 Oct 2026"),
        ("sqlite", "strftime('%j', d) = '366'", ""),
        ("sqlite", "strftime('%W', d) = '53' AND d >= '2015-01-01'", ""),
        ("sqlite", "substr(d, 1, 7) = '2026-10'", "31 Oct 2026"),
        ("sqlite", "d LIKE '2026-10%'", "31 Oct 2026"),
        ("sqlite", "d LIKE '2026-03%'", ""),
        ("postgres", "to_char(d, 'YYYY-MM') = '2026-10'", "31 Oct 2026"),
        ("postgres", "date_trunc('month', d) = DATE '2026-10-01'", "31 Oct 2026"),
        ("postgres", "date_part('year', d) = 2026 AND date_part('month', d) = 3", ""),
    ],
)
def test_the_period_is_what_all_conditions_on_the_date_leave(
    tmp_path: Path, engine: str, condition: str, told: str
) -> None:
    ledger = compare(tmp_path, engine, EVERY_DAY, condition)
    assert ledger.list_facts(IN_ENGLISH, material=True) == (
        (f"the data ends on 27 Aug 2026, before {told}",) if told else ()
    )
    assert not ledger.not_counted


@pytest.mark.parametrize(("engine", "kind"), [("duckdb", "TIMESTAMP"), ("postgres", "TIMESTAMPTZ"), ("sqlite", "TEXT")])
def test_times_of_day_are_compared_as_days(tmp_path: Path, engine: str, kind: str) -> None:
    year = "strftime('%Y', d) = '2026'" if engine == "sqlite" else "EXTRACT(year FROM d) = 2026"
    ledger = compare(tmp_path, engine, [f"{day} 10:20:30" for day in EVERY_DAY], f"{year} AND d > '2026-01-31'", kind)
    assert ledger.list_facts(IN_ENGLISH, material=True) == ("the data ends on 27 Aug 2026, before 31 Dec 2026",)


def test_a_condition_with_more_than_constants_leaves_the_period_open(tmp_path: Path) -> None:
    condition = "d BETWEEN '2026-01-01' AND '2026-12-31' AND (month(d) = 3 OR id < 0)"
    ledger = compare(tmp_path, "duckdb", EVERY_DAY, condition)
    assert (ledger.list_facts(IN_ENGLISH, material=True), ledger.newest) == ((), None)
    assert ["compares its date with another column or a query" in one for one in ledger.not_counted] == [True]


MONTHS = [f"2025-{month:02}-01" for month in range(1, 13)]
MONDAYS = [str(date(2025, 1, 6) + timedelta(weeks=n)) for n in range(51)]


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
@pytest.mark.parametrize(
    ("days", "since", "until", "told"),
    [
        (MONTHS, "2025-01-01", "2025-12-31", ""),
        (MONTHS[:11], "2025-01-01", "2025-12-31", "1 Nov 2025"),
        (MONTHS[::3], "2025-01-01", "2025-12-31", ""),
        (MONTHS[:9:3], "2025-01-01", "2025-12-31", "1 Jul 2025"),
        (["2023-01-01", "2024-01-01", "2025-01-01"], "2025-01-01", "2025-12-31", ""),
        (MONDAYS, "2025-12-01", "2025-12-28", ""),
        (MONDAYS[:-1], "2025-12-01", "2025-12-28", "15 Dec 2025"),
        ([*MONTHS, "2025-11-30"], "2025-01-01", "2025-12-31", "1 Dec 2025"),
    ],
)
def test_the_last_month_or_week_of_a_table_of_these_is_complete(
    tmp_path: Path, engine: str, days: list[str], since: str, until: str, told: str
) -> None:
    ledger = compare(tmp_path, engine, days, f"d >= '{since}' AND d <= '{until}'")
    ends = f"the data ends on {told}, before {Labels().date(until)}"
    assert ledger.list_facts(IN_ENGLISH, material=True) == ((ends,) if told else ())


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("p.born < '2030-01-01'", ""),
        ("p.born <= '2024-12-31' AND v.day LIKE '2024%'", ""),
        ("p.born BETWEEN '2010-01-01' AND '2024-12-31'", ""),
        ("v.day BETWEEN '2024-01-01' AND '2025-06-30'", "the data ends on 30 Dec 2024, before 30 Jun 2025"),
    ],
)
def test_the_birthdays_of_those_to_whom_something_happens_are_no_end_of_the_data(
    tmp_path: Path, condition: str, told: str
) -> None:
    path = tmp_path / "clinic.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE patient (id INTEGER PRIMARY KEY, born DATE)")
        connection.execute(
            "CREATE TABLE visit (id INTEGER PRIMARY KEY, patient INTEGER REFERENCES patient(id), day DATE)"
        )
        connection.executemany("INSERT INTO patient VALUES (?, ?)", [(n, f"{1930 + n}-03-04") for n in range(86)])
        days = EVERY_DAY[:365]
        connection.executemany("INSERT INTO visit VALUES (?, ?, ?)", [(n, n % 86, day) for n, day in enumerate(days)])
        connection.commit()
    with Database.open(path) as database:

        def look(table: str, column: str) -> str:
            return str(database.execute(f"SELECT MAX({column}) FROM {table}").rows[0][0])

        sql = f"SELECT COUNT(*) FROM visit v JOIN patient p ON p.id = v.patient WHERE {condition}"
        ledger = keep(database, sql, newest=look, today=date(2026, 11, 28))
    assert ledger.list_facts(IN_ENGLISH, material=True) == ((told,) if told else ())


@pytest.mark.parametrize(("until", "told"), [("2025-07-27", ""), ("2025-12-31", "31 Dec 2025")])
def test_a_time_without_dates_as_there_were_before_is_no_end(tmp_path: Path, until: str, told: str) -> None:
    days = [str(date(2019, 1, 1) + timedelta(days=60 * n)) for n in range(40)]
    ledger = compare(tmp_path, "sqlite", days, f"d BETWEEN '2025-01-01' AND '{until}'")
    ends = f"the data ends on 29 May 2025, before {told}"
    assert ledger.list_facts(IN_ENGLISH, material=True) == ((ends,) if told else ())
