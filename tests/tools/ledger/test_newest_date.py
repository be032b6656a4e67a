"""The newest date of the data beside the period asked about."""

from __future__ import annotations

from datetime import date
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
