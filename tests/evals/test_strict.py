from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from tableturn.evals.datasets import Dataset, load_dataset
from tableturn.evals.metrics.judging import StrictJudge, Verdict, compute_expected_result, make_official_judge
from tableturn.evals.metrics.summary import summarize
from tableturn.tools.database import Database


def judged(league: Dataset, predicted: str, *golds: str) -> Verdict:
    with StrictJudge(league) as judge:
        return judge.judge(replace(league.questions[0], golds=golds), predicted)


@pytest.mark.parametrize(
    ("predicted", "gold", "same"),
    [
        ("SELECT town FROM club", "SELECT DISTINCT town FROM club", False),
        ("SELECT fee, name FROM player", "SELECT name, fee FROM player", True),
        ("SELECT 0.1 + 0.2", "SELECT 0.3", True),
        ("SELECT NULL", "SELECT 0", False),
        ("SELECT 5", "SELECT 5.0", True),
        ("SELECT '5'", "SELECT 5", False),
        # Ann of the Rovers and Cleo are tied at five goals; the gold's own order of the two says nothing.
        ("SELECT name FROM player ORDER BY goals DESC, name DESC", "SELECT name FROM player ORDER BY goals DESC", True),
        ("SELECT name FROM player ORDER BY goals", "SELECT name FROM player ORDER BY goals DESC", False),
        ("SELECT name FROM player ORDER BY 1 DESC", "SELECT name FROM player ORDER BY name", False),
        (
            "SELECT name, count(*) FROM player GROUP BY name ORDER BY name DESC",
            "SELECT name, count(*) AS c FROM player GROUP BY name ORDER BY c, name LIMIT 9",
            False,
        ),
        (
            "SELECT name FROM player ORDER BY name DESC",
            "SELECT name FROM player WHERE id IN (SELECT id FROM player ORDER BY goals)",
            True,
        ),
        ("SELECT name FROM player UNION ALL SELECT 'x'", "SELECT name FROM player", False),
    ],
)
def test_strict_rules(league: Dataset, predicted: str, gold: str, same: bool) -> None:
    verdict = judged(league, predicted, gold)
    assert verdict.ex is same
    assert verdict.valid


def test_a_database_that_is_missing_is_told_from_a_query_that_fails(league: Dataset) -> None:
    with StrictJudge(league) as judge:
        verdict = judge.judge(replace(league.questions[0], database="gone"), "SELECT 1")
    assert verdict.ex is None
    assert verdict.error.startswith("the database cannot be opened: spider dev: there is no database 'gone'")
    assert judged(league, "SELECT 1", "SELECT nothing").error.startswith("the gold query does not run: ")


INNER = "SELECT name AS k, goals FROM player p ORDER BY (SELECT max(goals) FROM player x WHERE x.name = k) DESC LIMIT 1"
FIRST = "SELECT name FROM player p ORDER BY (SELECT max(goals) FROM player x WHERE x.id = p.id) DESC LIMIT 1"
BIGGEST = "SELECT club_id, count(*) AS n FROM player GROUP BY club_id ORDER BY {} LIMIT 1"
TOP = "SELECT name, goals FROM player ORDER BY goals DESC LIMIT {}"


@pytest.mark.parametrize(
    ("predicted", "gold", "same"),
    [
        # Players 1 and 3 share the most goals: a limit of one leaves one of them out, whichever.
        ("SELECT name FROM player WHERE id = 1", "SELECT name FROM player ORDER BY goals DESC LIMIT 1", True),
        ("SELECT name FROM player WHERE id = 3", "SELECT name FROM player ORDER BY goals DESC LIMIT 1", True),
        ("SELECT name FROM player WHERE id = 2", "SELECT name FROM player ORDER BY goals DESC LIMIT 1", False),
        ("SELECT goals, name FROM player WHERE id = 3", TOP.format(1), True),
        ("SELECT name, goals FROM player WHERE id IN (1, 3)", TOP.format(1), False),
        ("SELECT name, goals FROM player WHERE id = 99", TOP.format(1), False),
        # A limit of two takes the tie whole.
        ("SELECT name, goals FROM player WHERE id IN (3, 2) ORDER BY goals DESC", TOP.format(2), False),
        ("SELECT id FROM player WHERE id IN (4, 5)", "SELECT id FROM player ORDER BY id > 1 DESC LIMIT 2", True),
        ("SELECT id FROM player WHERE id IN (1, 3)", "SELECT id FROM player ORDER BY id > 1 DESC LIMIT 2", False),
        # Clubs 1 and 2 share the most players; `n` is an alias, `goals` a column before it is one.
        ("SELECT 1, 2", BIGGEST.format("-n"), True),
        ("SELECT 2, 2", BIGGEST.format("-n"), True),
        ("SELECT 2, 2", BIGGEST.format("n + 0 DESC"), True),
        ("SELECT name, goals FROM player WHERE id = 2", INNER, False),
        ("SELECT name FROM player WHERE id = 3", FIRST, True),
        ("SELECT name FROM player WHERE id = 2", FIRST, False),
        ("SELECT 3, 1", BIGGEST.format("-n"), False),
        ("SELECT 2, 2", BIGGEST.format("(VALUES (-n))"), False),
        ("SELECT 2, 2", BIGGEST.format("(VALUES (1)), -n"), True),
        ("SELECT 1, -5", "SELECT id, -goals AS goals FROM player ORDER BY -goals LIMIT 1", True),
        ("SELECT 3, -5", "SELECT id, -goals AS goals FROM player ORDER BY -goals LIMIT 1", True),
    ],
)
def test_any_row_of_a_tie_that_the_limit_cuts_will_do(league: Dataset, predicted: str, gold: str, same: bool) -> None:
    assert judged(league, predicted, gold).ex is same


def test_an_order_within_parentheses_counts(tmp_path: Path) -> None:
    path = tmp_path / "town.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE town AS SELECT 'Bath' AS name UNION ALL SELECT 'York'")
    with Database.open(path) as database:
        expected = compute_expected_result(database, "(SELECT name FROM town ORDER BY name) LIMIT 2")
        assert expected.allows(database.execute("SELECT name FROM town ORDER BY name"))
        assert not expected.allows(database.execute("SELECT name FROM town ORDER BY name DESC"))
        expected = compute_expected_result(database, "SELECT name AS n, 1 AS n FROM town ORDER BY n")
        assert expected.ties == [(1,), (1,)], "in DuckDB an alias names the last of its columns"


def test_a_name_that_is_ambiguous_but_as_a_sort_key_tells_the_ties(tmp_path: Path) -> None:
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE customer AS SELECT 1 AS id, 'FR' AS country")
        connection.execute("CREATE TABLE sale AS SELECT range AS id, 'DE' AS country FROM range(3)")
    form = "SELECT customer.country, sale.id FROM customer, sale ORDER BY {} LIMIT 1"
    with Database.open(path) as database:
        expected = compute_expected_result(database, form.format("country"))
        assert expected.ties == [("FR",)]
        for order in ("sale.id", "sale.id DESC"):
            assert expected.allows(database.execute(form.format(order)))


def test_any_accepted_gold_counts(league: Dataset) -> None:
    assert judged(league, "SELECT 2", "SELECT 1", "SELECT 2").ex
    assert not judged(league, "SELECT 3", "SELECT 1", "SELECT 2").ex


@pytest.mark.parametrize("sql", ["DELETE FROM player", "SELECT nothing FROM player", "SELECT 1; SELECT 2", ""])
def test_what_does_not_run_is_wrong_and_says_why(league: Dataset, sql: str) -> None:
    verdict = judged(league, sql, "SELECT name FROM player WHERE id > 99")
    assert verdict.ex is False
    assert not verdict.valid
    assert verdict.error


def test_a_gold_that_fails_is_not_held_against_the_prediction(league: Dataset) -> None:
    verdict = judged(league, "SELECT 1", "SELECT nothing FROM player")
    assert verdict.ex is None
    assert "gold query does not run" in verdict.error
    summary = summarize([verdict, judged(league, "SELECT 1", "SELECT 1")])
    assert summary.all.ex == 1.0
    assert summary.unjudged == ["0"]


def test_an_order_by_chance_is_none(league: Dataset) -> None:
    assert judged(league, "SELECT name FROM player", "SELECT name FROM player ORDER BY RANDOM()").ex
    assert not judged(league, "SELECT title FROM club", "SELECT name FROM player ORDER BY RANDOM()").ex


@pytest.mark.parametrize(
    "gold", ["SELECT name FROM player WHERE id <> 1 ORDER BY RANDOM() LIMIT 1", "SELECT hex(randomblob(8))"]
)
def test_a_gold_of_chance_says_so_whatever_is_predicted(league: Dataset, gold: str) -> None:
    for predicted in (gold, "SELECT 1"):
        verdict = judged(league, predicted, gold)
        assert verdict.ex is None
        assert "its result changes from run to run" in verdict.error


def test_a_gold_that_the_clock_changes_says_so(league: Dataset) -> None:
    gold = "SELECT strftime('%f', 'now')"
    question = replace(league.questions[0], golds=(gold,))
    with StrictJudge(league) as judge:
        first = judge.judge(question, "SELECT 1")
        time.sleep(0.01)
        again = judge.judge(question, gold)
    assert first.ex is False
    assert again.ex is None
    assert "its result changes from run to run" in again.error


def test_exact_match_without_a_tables_file(league: Dataset) -> None:
    """Joined columns that a foreign key makes the same; the database declares what tables.json says."""
    gold = "SELECT T1.id FROM club AS T1 JOIN player AS T2 ON T1.id = T2.club_id GROUP BY T1.id"
    same = gold.replace("SELECT T1.id", "SELECT T2.club_id").replace("BY T1.id", "BY T2.club_id")
    for dataset in (league, replace(league, tables=())):
        assert judged(dataset, same, gold).em is True
        assert judged(dataset, same.replace("club_id GROUP", "id GROUP"), gold).em is not None
        assert judged(dataset, gold.replace("SELECT T1.id", "SELECT T1.town"), gold).em is False


def test_interactions_are_right_when_all_turns_are(league: Dataset) -> None:
    with StrictJudge(league) as judge:
        turns = [
            replace(
                league.questions[0], id=f"{number // 2}.{number % 2}", interaction=str(number // 2), turn=number % 2 + 1
            )
            for number in range(4)
        ]
        right = turns[0].golds[0]
        verdicts = [judge.judge(turn, sql) for turn, sql in zip(turns, [right, right, right, "SELECT 0"], strict=True)]
    summary = summarize(verdicts)
    assert summary.all.ex == 0.75
    assert summary.interactions.ex == 0.5
    assert {turn: scores.ex for turn, scores in summary.by_turn.items()} == {"1": 1.0, "2": 0.5}


@pytest.mark.data
@pytest.mark.parametrize(("name", "unjudged"), [("spider", 0), ("spider-dk", 1)])
def test_gold_as_prediction_scores_all_or_says_why(data_dir: Path, name: str, unjudged: int) -> None:
    dataset = load_dataset(name, "dev", data_dir)
    with StrictJudge(dataset) as judge:
        verdicts = [judge.judge(question, question.golds[0]) for question in dataset.questions]
    summary = summarize(verdicts)
    assert summary.all.ex == 1.0
    assert len(summary.unjudged) == unjudged
    assert all(verdict.question.disputed for verdict in verdicts if verdict.ex is None)


def test_any_accepted_gold_may_match_clause_by_clause(league: Dataset) -> None:
    golds = ("SELECT count(*) FROM player", "SELECT count(id) FROM player")
    question = replace(league.questions[0], golds=golds)
    with StrictJudge(league) as strict, make_official_judge(league) as official:
        assert [strict.judge(question, sql).em for sql in (*golds, "SELECT sum(id) FROM player")] == [True, True, False]
        assert [official.judge(question, sql).em for sql in golds] == [True, False]


def test_a_gold_that_is_no_text_is_not_judged_by(league: Dataset) -> None:
    question = replace(league.questions[0], golds=("SELECT '\ud800'",))
    for judge in (StrictJudge(league), make_official_judge(league)):
        with judge:
            assert judge.judge(question, "SELECT 1").ex is None
