"""Past answers replayed on another state."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml
from tableturn.agent import SQLAgent
from tableturn.evals.datasets import Dataset
from tableturn.evals.impact import AnswerReplay, PastAnswer, impact, read_past_answers, read_side, read_verified_queries
from tableturn.evals.lab.bench import impact as impact_bench
from tableturn.evals.lab.bench.registry import BenchOptions
from tableturn.evals.trial import TrialOptions, run_trial
from tableturn.tools.database import Database
from tableturn.tools.errors import SettingsError
from tableturn.tools.examples import ExampleStore, make_example

from tests.support.command_line import tableturn

from .conftest import make_database

NAMES = "SELECT name FROM player ORDER BY name, id"


def changed(folder: Path, *statements: str) -> tuple[Path, Path]:
    """The league before and after some statements."""
    before = make_database(folder / "before" / "league.sqlite")
    after = make_database(folder / "after" / "league.sqlite")
    with closing(sqlite3.connect(after)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return before, after


def settled(files: tuple[Path, Path], sql: str, question: str = "", **knowledge: Any) -> Any:
    with Database.open(files[0]) as before, Database.open(files[1]) as after:
        status = "converged" if sql else "unanswerable"
        return AnswerReplay(before, after, **knowledge).determine_change(PastAnswer(question, sql, "", status=status))


def test_an_answer_that_reads_nothing_changed_stays(tmp_path: Path) -> None:
    files = changed(tmp_path, "ALTER TABLE player DROP COLUMN fee", "ALTER TABLE club ADD COLUMN colour TEXT")
    assert settled(files, NAMES).kind == "same"
    assert settled(files, "SELECT title, town FROM club").kind == "same"


def test_a_column_that_is_gone_is_named(tmp_path: Path) -> None:
    found = settled(changed(tmp_path, "ALTER TABLE player DROP COLUMN fee"), "SELECT avg(fee) FROM player")
    assert (found.kind, found.why) == ("error", "player.fee is gone")
    assert found.before["row_count"] == 1
    assert found.after is None


def test_a_quoted_name_that_is_read_as_a_text_is_no_answer(tmp_path: Path) -> None:
    """SQLite takes "fee" for the text 'fee' where there is no such column: the query runs, and means nothing."""
    found = settled(changed(tmp_path, "ALTER TABLE player DROP COLUMN fee"), 'SELECT count("fee") FROM player')
    assert (found.kind, found.why) == ("error", "player.fee is gone")


def test_other_rows_are_shown_beside_the_old_ones(tmp_path: Path) -> None:
    found = settled(changed(tmp_path, "UPDATE player SET goals = 9 WHERE id = 1"), "SELECT max(goals) FROM player")
    assert (found.kind, found.before["rows"], found.after["rows"]) == ("rows", ((5,),), ((9,),))


def test_the_order_counts_only_where_the_query_orders(tmp_path: Path) -> None:
    moved = "UPDATE player SET id = id + 10 WHERE id = 1"
    assert settled(changed(tmp_path, moved), "SELECT name FROM player").kind == "same"
    assert settled(changed(tmp_path / "b", moved), "SELECT name FROM player ORDER BY id").kind == "rows"


def test_a_tie_at_the_limit_is_no_change(tmp_path: Path) -> None:
    """Ann and Cleo have five goals each: which of them a limit of one shows is arbitrary."""
    files = changed(tmp_path, "UPDATE player SET id = 99 WHERE id = 1")
    assert settled(files, "SELECT name FROM player ORDER BY goals DESC LIMIT 1").kind == "same"


@pytest.mark.parametrize(
    ("statements", "sql", "why"),
    [
        (["ALTER TABLE player RENAME COLUMN goals TO scored"], "SELECT sum(goals) FROM player", "player.goals is gone"),
        (["ALTER TABLE player RENAME TO athlete"], "SELECT player.name FROM player", "the table player is gone"),
        (
            ["ALTER TABLE player DROP COLUMN goals", "ALTER TABLE player ADD COLUMN age INTEGER DEFAULT 3"],
            "SELECT sum(goals) FROM player",
            "player.goals is gone",
        ),
    ],
)
def test_a_name_that_is_gone_is_an_error(statements: list[str], sql: str, why: str, tmp_path: Path) -> None:
    found = settled(changed(tmp_path, *statements), sql)
    assert (found.kind, found.why) == ("error", why)


def test_a_column_that_moved_is_gone(tmp_path: Path) -> None:
    files = changed(
        tmp_path, "CREATE TABLE contract AS SELECT id, fee FROM player", "ALTER TABLE player DROP COLUMN fee"
    )
    assert settled(files, "SELECT sum(fee) FROM player").why == "player.fee is gone"


def test_what_never_ran_is_no_change(tmp_path: Path) -> None:
    found = settled(changed(tmp_path), "SELECT nothing FROM player")
    assert found.kind == "broken_before"


def test_a_declined_question_goes_to_a_model_only_where_new_names_may_answer_it(tmp_path: Path) -> None:
    files = changed(tmp_path, "ALTER TABLE club ADD COLUMN stadium_capacity INTEGER")
    assert settled(files, "", "What is the capacity of the stadiums?").kind == "unsettled"
    assert settled(files, "", "What will the weather be like?").kind == "same"


def test_a_query_by_the_clock_is_not_compared_by_its_rows(tmp_path: Path) -> None:
    by_clock = "SELECT count(*) FROM player WHERE date('now') > '2020-01-01'"
    assert settled(changed(tmp_path), by_clock).kind == "same"
    assert settled(changed(tmp_path / "b", "DELETE FROM player WHERE id = 1"), by_clock).kind == "unsettled"
    assert settled(changed(tmp_path / "c", "DROP TABLE player"), by_clock).kind == "error"


def test_a_changed_definition_touches_the_questions_that_name_it(tmp_path: Path) -> None:
    files = changed(tmp_path)
    for name, least in (("before", 3), ("after", 4)):
        term = {"means": "a good player", "sql": f"player.goals > {least}"}
        content = {"terms": {"Top scorer": term, "fee": "in euros"}}
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(content))
    old, new = (read_side(str(file), tmp_path / f"{file.parent.name}.yaml").knowledge for file in files)
    knowledge = {"knowledge_before": old, "knowledge_after": new}
    found = settled(files, "SELECT count(*) FROM player WHERE goals > 3", "How many top scorers?", **knowledge)
    assert (found.kind, found.why) == ("unsettled", "the meaning of 'Top scorer' has changed")
    assert settled(files, "SELECT avg(fee) FROM player", "The average fee?", **knowledge).kind == "same"


def test_the_command_lists_who_asked_and_old_beside_new(tmp_path: Path) -> None:
    before, after = changed(tmp_path, "UPDATE club SET town = 'Bath' WHERE id = 2")
    trail = tmp_path / "audit.jsonl"
    records = [
        {
            "time": "2026-01-02",
            "user": "ada",
            "question": "Clubs of Bath?",
            "sql": BATH,
            "rows": 1,
            "status": "converged",
        },
        {"time": "2026-01-03", "user": "bo", "question": "Players?", "sql": "SELECT count(*) FROM player"},
        {"user": "eve", "question": "Drop it", "sql": "DROP TABLE club", "refused": True},
    ]
    trail.write_text("\n".join(map(json.dumps, records)))
    command = ["impact", "--before", str(before), "--after", str(after), "--history", str(trail)]
    told = tableturn(*command).stdout
    assert "Clubs of Bath? (ada, 2026-01-02, audit.jsonl:1)" in told
    assert "before: 2" in told
    assert "now:    3" in told
    assert "2 past answers: same 1, rows 1" in told
    found = json.loads(tableturn(*command, "--json").stdout)
    assert (found["answers"], found["without_model_share"]) == (2, 1.0)
    (change,) = found["changed"]
    assert (change["user"], change["kind"], change["after"]["rows"]) == ("ada", "rows", [[3]])


BATH = "SELECT count(*) FROM club WHERE town = 'Bath'"


def trial_of(database: Path, folder: Path, *, value: int = 5) -> Path:
    path = folder / "own.yaml"
    path.write_text(yaml.safe_dump([{"id": "n", "question": "How many players are there?", "value": value}]))
    options = TrialOptions(str(database), path, model="offline")
    run_trial(options, folder / f"trial-{database.parent.name}", lambda record, verdict: None)
    return folder / f"trial-{database.parent.name}"


@pytest.mark.parametrize("turned", [False, True])
def test_a_trial_or_run_is_no_state_but_a_history(turned: bool, tmp_path: Path) -> None:
    files = changed(tmp_path, "DELETE FROM player WHERE id = 1")
    trial = trial_of(files[0], tmp_path)
    before, after = (trial, files[1]) if turned else (files[0], trial)
    ran = tableturn("impact", "--before", str(before), "--after", str(after), "--history", str(trial))
    assert ran.returncode == 2
    assert "`tableturn report` compares two of them" in ran.stderr
    command = ["impact", "--before", str(files[0]), "--after", str(files[1]), "--history", str(trial)]
    ran = tableturn(*command, "--gate", "0.5", "--json")
    assert ran.returncode == 1
    assert "fewer than 50 % of past answers stay the same (--gate)" in ran.stderr
    (change,) = json.loads(ran.stdout)["changed"]
    assert (change["kind"], change["question"]) == ("rows", "How many players are there?")


def test_a_run_is_replayed_on_a_changed_database(league: Dataset, tmp_path: Path) -> None:
    before, after = changed(tmp_path, "DELETE FROM player WHERE id = 5")
    drafts = tmp_path / "drafts.json"
    drafts.write_text(json.dumps([question.golds[0] for question in league.questions]))
    options = ["--model", f"replay:{drafts}", "--data", str(league.root), "--out", str(tmp_path / "run")]
    assert tableturn("eval", "--dataset", "spider", *options).returncode == 0
    found = impact(read_side(str(before)), read_side(str(after)), read_past_answers(tmp_path / "run"))
    assert [(change.past.source, change.kind) for change in found.of("error", "rows")] == [
        (f"run:{number}", "rows") for number in (0, 1, 3)
    ]


def test_a_trail_of_several_databases_is_read_for_the_one_in_question(tmp_path: Path) -> None:
    """What an agent itself wrote down, another database's answers among it."""
    before, after = changed(tmp_path, "DELETE FROM player WHERE id = 5")
    other = make_database(tmp_path / "shop.sqlite", "CREATE TABLE ware (id INTEGER)")
    trail = tmp_path / "audit.jsonl"
    for database, question in ((before, "How many players are there?"), (other, "How many wares are there?")):
        with SQLAgent(database, model="offline", audit=trail, user="ada") as agent:
            agent.ask(question)
    command = ["impact", "--before", str(before), "--after", str(after), "--history", str(trail), "--json"]
    found = json.loads(tableturn(*command).stdout)
    assert found["answers"] == 1
    (change,) = found["changed"]
    assert (change["user"], change["question"]) == ("ada", "How many players are there?")
    assert (change["before"]["rows"], change["after"]["rows"]) == ([[5]], [[4]])


def test_a_turn_in_which_one_query_was_refused_still_has_its_answer(tmp_path: Path) -> None:
    trail = tmp_path / "audit.jsonl"
    count = "SELECT count(*) FROM player"
    records = [
        {"question": "How many?", "sql": count, "refused": ["DELETE FROM player"]},
        {"question": "Clear it", "sql": "DELETE FROM player", "refused": ["DELETE FROM player"]},
        {"question": "Drop it", "sql": None, "refused": ["DROP TABLE player"]},
    ]
    trail.write_text("\n".join(map(json.dumps, records)))
    assert [past.sql for past in read_past_answers(trail)] == [count]


def test_verified_queries_are_those_of_the_database(tmp_path: Path) -> None:
    before, after = changed(tmp_path, "DROP TABLE club")
    with Database.open(before) as database, ExampleStore.open(tmp_path / "store") as store:
        store.add([make_example(database, "Which towns?", "SELECT DISTINCT town FROM club")])
    with Database.open(after) as other:
        assert read_verified_queries(other, str(tmp_path / "store")) == []
    command = [
        "impact",
        "--before",
        str(before),
        "--after",
        str(after),
        "--examples",
        str(tmp_path / "store"),
        "--json",
    ]
    (change,) = json.loads(tableturn(*command).stdout)["changed"]
    assert (change["question"], change["why"]) == ("Which towns?", "the table club is gone")


@pytest.mark.parametrize("option", [["--again"], ["--model", "openai:m"], ["--preset", "full"]])
def test_impact_asks_no_model_and_names_what_does(option: list[str], tmp_path: Path) -> None:
    before, after = changed(tmp_path, "ALTER TABLE club ADD COLUMN capacity INTEGER DEFAULT 7")
    trail = tmp_path / "audit.jsonl"
    trail.write_text(json.dumps({"question": "What is the total capacity?", "sql": "", "status": "unanswerable"}))
    command = ["impact", "--before", str(before), "--after", str(after), "--history", str(trail), "--json"]
    unsettled = json.loads(tableturn(*command).stdout)
    assert (unsettled["counts"]["unsettled"], unsettled["without_model_share"]) == (1, 0.0)
    ran = tableturn(*command, *option)
    assert ran.returncode == 2
    assert "give both to `tableturn report`" in ran.stderr


def test_without_past_answers_there_is_nothing_to_replay(tmp_path: Path) -> None:
    before, after = changed(tmp_path)
    ran = tableturn("impact", "--before", str(before), "--after", str(after))
    assert ran.returncode == 2
    assert "--history" in ran.stderr


def test_a_damaged_line_of_a_trail_is_named(tmp_path: Path) -> None:
    path = tmp_path / "trail.jsonl"
    path.write_text('{"question": "a", "sql": "SELECT 1"}\n\nnonsense\n')
    with pytest.raises(SettingsError, match="is not JSON: line 3, column 1"):
        read_past_answers(path)


@pytest.mark.parametrize("text", ["[1]", '{"rows": 3}', "nonsense"])
def test_a_trail_that_is_none_is_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    path.write_text(text)
    with pytest.raises(SettingsError, match=r"audit\.jsonl"):
        read_past_answers(path)


@pytest.mark.whole
def test_the_bench_finds_seeded_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TABLETURN_DATA", raising=False)
    found: dict[str, Any] = impact_bench.run(BenchOptions(limit=24))
    assert found["changes"] >= 24
    assert found["changed"] > 0
    assert found["precision"] >= 0.8
    assert found["without_model_share"] >= 0.9
