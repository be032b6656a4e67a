"""Which past query a turn starts from."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tableturn.tools.database import Database
from tableturn.tools.linking import PastTurn, SchemaItem, can_still_run_query, choose_base_turn
from tableturn.tools.linking.context import compute_divergence, compute_turn_relevance

SINGER, DOG = ("singer", None), ("dog", "breed")


def turn(question: str, sql: str, *items: tuple[str, str | None, float]) -> PastTurn:
    return PastTurn(question, sql=sql, items=items)


SINGERS = turn("Who are the singers?", "SELECT name FROM singer", ("singer", None, 0.9), ("singer", "name", 0.8))
DOGS = turn("Which dogs are there?", "SELECT breed FROM dog", ("dog", None, 0.9), ("dog", "breed", 0.7))
ITEMS = (SchemaItem("singer", None, 0.9), SchemaItem("singer", "name", 0.6))


def test_the_first_turn_has_none() -> None:
    assert choose_base_turn("Who sings?", ITEMS, ()) is None


def test_the_most_relevant_is_taken() -> None:
    assert choose_base_turn("And the singers from France?", ITEMS, (SINGERS, DOGS)) is SINGERS
    assert choose_base_turn("And the singers from France?", ITEMS, (DOGS, SINGERS)) is SINGERS


def test_of_equals_the_latest_is_taken() -> None:
    again = turn(SINGERS.question, "SELECT name FROM singer LIMIT 1", *SINGERS.items)
    assert choose_base_turn("And from France?", ITEMS, (SINGERS, again)) is again


def test_sql_that_does_not_run_is_skipped() -> None:
    assert choose_base_turn("And the singers?", ITEMS, (SINGERS, DOGS), can_run=lambda sql: "dog" in sql) is DOGS
    assert choose_base_turn("And the singers?", ITEMS, (SINGERS, DOGS), can_run=lambda _: False) is None


def test_turns_without_sql_are_skipped() -> None:
    assert choose_base_turn("And?", ITEMS, (turn("x", ""),)) is None


ORDERS = turn("Which orders were paid late?", "SELECT id FROM orders WHERE late", ("orders", None, 0.9))
CUSTOMERS = turn("Which customers live in Paris?", "SELECT name FROM customers", ("customers", None, 0.9))
OF_PARIS = turn("Which of them are older than 40?", "SELECT name FROM customers WHERE age > 40", ("age", None, 0.9))


@pytest.mark.parametrize(
    ("question", "history", "base"),
    [
        ("How many orders did they place?", (ORDERS, CUSTOMERS, OF_PARIS), OF_PARIS),
        ("Which of their orders were paid late?", (ORDERS, CUSTOMERS), CUSTOMERS),
        ("And paid late?", (ORDERS, CUSTOMERS), CUSTOMERS),
        ("Go back to the orders that were paid late and count those", (ORDERS, OF_PARIS, CUSTOMERS), ORDERS),
        ("Sort the first list by day", (ORDERS, CUSTOMERS, OF_PARIS), ORDERS),
        ("Of the first ones, which orders were paid late?", (ORDERS, CUSTOMERS), ORDERS),
        ("Which orders were paid late in May?", (ORDERS, CUSTOMERS), ORDERS),
        ("Which of the orders is the first one?", (CUSTOMERS, ORDERS), ORDERS),
        ("List xylophone strings bought yesterday morning", (CUSTOMERS, OF_PARIS), None),
    ],
)
def test_the_last_turn_is_the_base_unless_another_is_clearly_meant(
    question: str, history: tuple[PastTurn, ...], base: PastTurn | None
) -> None:
    items = (SchemaItem("orders", None, 0.9),)
    assert choose_base_turn(question, items, history, latest=True) == base


def test_a_last_query_that_does_not_run_gives_way_to_the_one_before() -> None:
    assert choose_base_turn("And those?", ITEMS, (DOGS, SINGERS), latest=True, can_run=lambda sql: "dog" in sql) is DOGS
    assert choose_base_turn("And those?", ITEMS, (DOGS, SINGERS), latest=True, can_run=lambda _: False) is None


def test_relevance_is_between_0_and_2() -> None:
    now: dict[tuple[str, str | None], float] = {("singer", None): 0.9, ("singer", "name"): 0.8}
    assert compute_turn_relevance(SINGERS.question, now, SINGERS) == pytest.approx(2, abs=1e-6)
    assert compute_turn_relevance("xyzzy", {("cat", None): 1.0}, SINGERS) == pytest.approx(0, abs=0.2)


def test_divergence_by_hand() -> None:
    assert compute_divergence({SINGER: 0.5}, {SINGER: 0.1}) == 0, "normalised, they are the same"
    assert compute_divergence({SINGER: 1}, {DOG: 1}) == pytest.approx(1)
    # (1/2 ln(2/3) + 1/2 ln 2 + ln(4/3)) / (2 ln 2), by equation 6.
    assert compute_divergence({SINGER: 1}, {SINGER: 1, DOG: 1}) == pytest.approx(0.3112781, abs=1e-6)
    assert compute_divergence({}, {SINGER: 1}) == 1


probabilities = st.dictionaries(st.tuples(st.sampled_from("abc"), st.none() | st.sampled_from("xy")), st.floats(0, 1))


@given(probabilities, probabilities)
def test_divergence_is_symmetric_and_bounded(one: dict[object, float], other: dict[object, float]) -> None:
    there, back = compute_divergence(one, other), compute_divergence(other, one)  # type: ignore[arg-type]
    assert 0 <= there <= 1
    assert there == pytest.approx(back)


def test_a_past_turn_that_kept_few_items_is_no_less_alike() -> None:
    items = [SchemaItem(f"t{number}", None, 0.9 - number / 1000) for number in range(300)]
    everything = tuple((item.table, item.column, item.p) for item in items)
    kept_few, other = turn("a", "SELECT 1", *everything[:40]), turn("a", "SELECT 2", *everything[250:])
    assert choose_base_turn("a", items, (kept_few, other)) is kept_few


@pytest.mark.parametrize(
    ("sql", "runs"),
    [
        ("SELECT 1", True),
        ("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n", True),
        ("SELECT zeroblob(900000000)", True),
        ("SELECT gone FROM singer", False),
        ("SELECT 1 FROM nowhere", False),
    ],
)
def test_a_slow_query_still_runs(tmp_path: Path, sql: str, runs: bool) -> None:
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE singer (name)")
    with Database.open(path) as database:
        assert can_still_run_query(database, sql) == runs
