from __future__ import annotations

from collections import Counter
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tableturn.evals.datasets import Dataset
from tableturn.evals.official.execution import (
    OfficialDatabases,
    drop_distinct,
    execute_and_compare,
    have_same_rows,
    is_column_permutation,
)
from tableturn.tools.errors import QueryFailed

from .conftest import DDL, make_database


def judged(league: Dataset, predicted: str, gold: str) -> bool:
    with OfficialDatabases(league.find_file) as databases:
        return execute_and_compare(predicted, gold, "league", databases).same


@pytest.mark.parametrize(
    ("predicted", "gold", "same"),
    [
        ("SELECT DISTINCT town FROM club", "SELECT town FROM club", True),
        ("SELECT fee, name FROM player", "SELECT name, fee FROM player", True),
        ("SELECT name FROM player ORDER BY id DESC", "SELECT name FROM player", True),
        ("SELECT name FROM player ORDER BY id DESC", "SELECT name FROM player ORDER BY id", False),
        (
            "SELECT name FROM player ORDER BY id DESC",
            "SELECT name FROM player WHERE id IN (SELECT id FROM player order by goals)",
            False,
        ),
        ("SELECT 0.1 + 0.2", "SELECT 0.3", False),
        ("SELECT count(*) FROM player; SELECT 1", "SELECT count(*) FROM player", True),
        ("SELECT 'value'", "SELECT '1'", True),
        ("SELECT name FROM player WHERE goals > = 5", "SELECT name FROM player WHERE goals >= 5", True),
        ("DELETE FROM player", "SELECT name FROM player WHERE goals > 99", True),
        ("ATTACH 'other.db' AS other", "SELECT name FROM player WHERE goals > 99", True),
        ("SELECT nothing FROM player", "SELECT name FROM player WHERE goals > 99", False),
        ("", "SELECT name FROM player WHERE goals > 99", False),
        ("SELECT 1 UNION ALL SELECT 1.0", "SELECT 1 UNION ALL SELECT 1", True),
    ],
)
def test_faults_and_all(league: Dataset, predicted: str, gold: str, same: bool) -> None:
    assert judged(league, predicted, gold) is same


def test_predictions_change_nothing(league: Dataset, tmp_path: Path) -> None:
    file = league.find_file("league")
    before = file.read_bytes()
    other = tmp_path / "made.db"
    for sql in ("DELETE FROM player", f"ATTACH '{other}' AS o", f"VACUUM INTO '{other}'", "DROP TABLE club"):
        judged(league, sql, "SELECT count(*) FROM player")
    assert file.read_bytes() == before
    assert not other.exists()
    assert [path.name for path in file.parent.iterdir()] == ["league.sqlite"]


def test_every_database_of_the_suite_counts(league: Dataset) -> None:
    fewer = DDL.replace("(3, 'Albion', 'Bath')", "(3, 'Albion', 'York')")
    make_database(league.find_file("league").parent / "league_variant.sqlite", fewer)
    assert not judged(league, "SELECT count(*) + 1 FROM club WHERE town = 'York'", "SELECT 2")
    assert judged(league, "SELECT count(*) FROM club", "SELECT 3")


def test_a_gold_that_fails_is_said(league: Dataset) -> None:
    with pytest.raises(QueryFailed, match="gold query does not run"):
        judged(league, "SELECT 1", "SELECT nothing FROM player")


def test_an_endless_prediction_ends(league: Dataset) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n"
    with OfficialDatabases(league.find_file, seconds=0.05) as databases:
        found = execute_and_compare(endless, "SELECT 1", "league", databases)
    assert not found.same
    assert "interrupted" in found.error


def test_distinct_goes_but_not_from_names_and_strings() -> None:
    sql = """SELECT count(DISTINCT a), "distinct", 'distinct' FROM t -- distinct"""
    assert drop_distinct(sql) == """SELECT count( a), "distinct", 'distinct' FROM t -- distinct"""


def test_rows_of_mixed_number_types_are_told_apart_first() -> None:
    """1 equals 1.0, but sorted by text they may stand at different places in the row: the official tool says no."""
    assert have_same_rows([(1,)], [(1.0,)], ordered=False)
    assert not have_same_rows([(1, "1.")], [(1.0, "1.")], ordered=False)


tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[st.integers(0, 2)] * width), min_size=1, max_size=6)
)


@given(tables, st.randoms(use_true_random=False), st.booleans())
def test_column_search_finds_what_enumeration_finds(rows: list[tuple[int, ...]], random: object, ordered: bool) -> None:
    width = len(rows[0])
    shuffle = getattr(random, "shuffle")  # noqa: B009
    order = list(range(width))
    shuffle(order)
    other = [tuple(row[place] for place in order) for row in rows]
    if not ordered:
        shuffle(other)
    assert is_column_permutation(rows, other, ordered=ordered)
    other[0] = tuple((cell + 1) % 3 for cell in other[0])
    brute = any(
        [tuple(row[place] for place in p) for row in other] == rows
        if ordered
        else Counter(tuple(row[place] for place in p) for row in other) == Counter(rows)
        for p in permutations(range(width))
    )
    assert is_column_permutation(rows, other, ordered=ordered) is brute
