"""Readings of a question beside the written one: ties, and what differs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tableturn.tools.database import Database
from tableturn.tools.database.schema import ColumnSchema, Schema, TableSchema
from tableturn.tools.formats import ColumnFormat
from tableturn.tools.readings import (
    AlternativeReading,
    Outcome,
    ReadingResult,
    compare_readings,
    make_tie_reading,
    summarize_outcomes,
)
from tableturn.tools.sample import build_sample

from tests.support.queries import read


@pytest.fixture(scope="module")
def kestrel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path: Path = build_sample(tmp_path_factory.mktemp("sample") / "kestrel.sqlite")
    with Database.open(path) as database:
        yield database


def _count_ties(database: Database, sql: str) -> str | None:
    reading = make_tie_reading(read(sql, database.schema()))
    if reading is None:
        return None
    here, there = (ReadingResult(database.execute(one).rows) for one in (sql, reading.sql))
    outcome = compare_readings(reading, here, there, ordered=True)
    return outcome and outcome.says


def test_what_shares_the_last_place_is_counted(kestrel: Database) -> None:
    sql = "SELECT name FROM products ORDER BY {} LIMIT 5"
    assert _count_ties(kestrel, sql.format("product_id")) is None, "a key never ties"
    assert _count_ties(kestrel, sql.format("name")) == ""
    many = "SELECT city FROM customers GROUP BY city ORDER BY COUNT(*) > 0 LIMIT 3"
    assert _count_ties(kestrel, many) not in (None, "")


def test_what_reads_no_table_leaves_nothing_open(kestrel: Database) -> None:
    for sql in ("SELECT * FROM nowhere ORDER BY x LIMIT 1", "SELECT 1 UNION SELECT 2 ORDER BY 1 LIMIT 1"):
        assert make_tie_reading(read(sql, kestrel.schema())) is None


def test_years_of_another_reading_are_written_as_years() -> None:
    rival = AlternativeReading("meaning", "the last one", "", "SELECT 1")
    base = ReadingResult(((2008,),), formats=(ColumnFormat("year"),))
    outcome = compare_readings(rival, base, ReadingResult(((1999,),)), ordered=False)
    assert outcome is not None
    assert outcome.says == "1999"


def test_the_line_says_what_changes_alone() -> None:
    changed = Outcome("meaning", "without   returned orders", "", "", says="11.1 M")
    tied = Outcome("ties", "share the last place", "", "", says="2 more")
    same = Outcome("meaning", "by shipped date", "", "")
    assert summarize_outcomes([changed, same]) == "Without returned orders: 11.1 M."
    untold = Outcome("meaning", "another reading", "", "", says="11.1 M")
    assert summarize_outcomes([untold]) == "Another reading: 11.1 M."
    assert summarize_outcomes([tied]) == "2 more share the last place."
    assert summarize_outcomes([same]) == summarize_outcomes([]) == ""


@pytest.mark.parametrize(
    ("rows", "says"), [(((3,),), ""), (((4,),), "4"), (((0,),), None), (((None,),), None), ((), None)]
)
def test_a_reading_that_finds_nothing_is_none(rows: tuple[tuple[int | None, ...], ...], says: str | None) -> None:
    reading = AlternativeReading("meaning", "by another date", "", "SELECT 1")
    outcome = compare_readings(reading, ReadingResult(((3,),)), ReadingResult(rows), ordered=False)
    assert (outcome and outcome.says) == says


@pytest.mark.parametrize(
    ("sql", "may_tie"),
    [
        ("SELECT total FROM orders ORDER BY total DESC LIMIT 1", False),
        ("SELECT id, total FROM orders ORDER BY total DESC LIMIT 1", True),
        ("SELECT id FROM orders ORDER BY ordered_on DESC LIMIT 1", True),
        ("SELECT id FROM orders ORDER BY ordered_on DESC LIMIT 3", True),
        ("SELECT id FROM orders ORDER BY ordered_on DESC FETCH FIRST ROW ONLY", True),
        ("SELECT id FROM orders ORDER BY ordered_on DESC FETCH FIRST ROW WITH TIES", False),
    ],
)
def test_what_shares_the_first_place_matters_unless_its_value_alone_is_shown(sql: str, may_tie: bool) -> None:
    columns = (
        ColumnSchema("id", "INT", "number"),
        ColumnSchema("total", "REAL", "number"),
        ColumnSchema("ordered_on", "DATE", "time"),
    )
    schema = Schema("s", (TableSchema("orders", columns),), dialect="postgres")
    assert (make_tie_reading(read(sql, schema)) is not None) is may_tie


@pytest.mark.parametrize(
    ("fees", "limit", "cut", "line", "german"),
    [
        ((9, 8), 1, False, "", ""),
        ((9, 9, 8), 1, False, "1 more shares the first place.", "1 weitere Zeile auf demselben ersten Platz."),
        ((9, 9), 1, False, "1 more shares the first place.", "1 weitere Zeile auf demselben ersten Platz."),
        ((9, 9, 9), 1, False, "2 more share the first place.", "2 weitere auf demselben ersten Platz."),
        ((9, 8, 8, 8), 2, False, "2 more share the last place.", "2 weitere auf demselben letzten Platz."),
        ((9, 9), 1, True, "At least 1 more shares the first place.", None),
        ((9,) * 51, 1, False, "At least 50 more share the first place.", None),
    ],
)
def test_how_many_share_a_place_is_said_in_plain_words(
    fees: tuple[int, ...], limit: int, cut: bool, line: str, german: str | None
) -> None:
    fee = TableSchema("visits", (ColumnSchema("name", "TEXT", "text"), ColumnSchema("fee", "REAL", "number")))
    query = read(f"SELECT name FROM visits ORDER BY fee DESC LIMIT {limit}", Schema("s", (fee,)))
    rows = tuple(("Ann", each) for each in fees)
    for locale, wanted in (("", line), ("de", german)):
        reading = make_tie_reading(query, locale)
        assert reading is not None
        outcome = compare_readings(reading, ReadingResult(rows[:limit]), ReadingResult(rows, cut), True, locale)
        assert outcome is not None
        assert wanted in (None, summarize_outcomes([outcome], locale))
