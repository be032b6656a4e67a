"""Trials, as a team holds them."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tableturn.evals.trial import TrialOptions, run_trial
from tableturn.tools.errors import SettingsError

from tests.support.command_line import tableturn
from tests.support.openai_server import Behaviour, OpenAIServer, fails, says, sql
from tests.support.scripted import rephrased

from .conftest import make_database

ALWAYS = {"rephrase": "always"}

CLUBS = "How many clubs are there?"

OFFLINE: list[dict[str, Any]] = [
    {"id": "players", "question": "How many players are there?", "sql": "SELECT count(*) FROM player"},
    {"id": "clubs", "question": "How many clubs are there?", "value": 3},
    {"id": "list", "question": "List the titles of clubs.", "rows": "at least 3", "columns": ["title"]},
    {"id": "weather", "question": "What will the weather be like tomorrow?", "must": "decline"},
]


@pytest.fixture
def league_file(tmp_path: Path) -> Path:
    return make_database(tmp_path / "league.sqlite")


def questions(folder: Path, records: list[dict[str, Any]]) -> Path:
    path = folder / "own.yaml"
    path.write_text(yaml.safe_dump(records))
    return path


def held(database: Path, path: Path, out: Path, **more: Any) -> dict[str, Any]:
    return run_trial(TrialOptions(str(database), path, **more), out, lambda record, verdict: None)


def asked(body: dict[str, Any]) -> str:
    return "\n".join(str(message["content"]) for message in body["messages"])


def reading(write: Callable[[str], Behaviour]) -> Callable[[dict[str, Any]], Behaviour]:
    """A model that understands everything, and writes as told."""

    def answers(body: dict[str, Any]) -> Behaviour:
        prompt = asked(body)
        return says(rephrased("Give me what was asked.")) if '"intent"' in prompt else write(prompt)

    return answers


def test_a_trial_says_what_passes_and_what_fails_and_why(league_file: Path, tmp_path: Path) -> None:
    records = [*OFFLINE, {"id": "wrong", "question": "How many players are there?", "value": 99}]
    found = held(league_file, questions(tmp_path, records), tmp_path / "out", model="offline", gate=0.9)
    assert found["pass_rate"] == pytest.approx(0.8)
    low, high = found["interval"]
    assert 0.3 < low < 0.8 < high < 1
    assert [(failure["id"], failure["why"]) for failure in found["failed"]] == [("wrong", "it must be 99, not 5")]
    assert found["gate"] == {"least": 0.9, "met": False}
    assert (found["unstable"], found["not_asked"], found["compared"]) == ([], [], None)
    page = (tmp_path / "out" / "report.html").read_text()
    assert "it must be 99, not 5" in page
    assert "http:" not in page.replace("http-equiv", "")
    assert page.count("<script") == 2


def test_a_trial_is_compared_with_the_last_one(league_file: Path, tmp_path: Path) -> None:
    path, out = questions(tmp_path, OFFLINE), tmp_path / "out"
    held(league_file, path, out, model="offline")
    with sqlite3.connect(league_file) as connection:
        connection.execute("INSERT INTO club VALUES (4, 'City', 'Ely')")
    connection.close()
    questions(tmp_path, [*OFFLINE[:3], {"id": "new", "question": "How many players are there?", "value": 5}])
    found = held(league_file, path, out, model="offline")
    compared = found["compared"]
    assert [change["id"] for change in compared["worse"]] == ["clubs"]
    assert compared["worse"][0]["why"] == "it must be 3, not 4"
    assert (compared["better"], compared["same"]) == ([], 2)
    assert (compared["added"], compared["removed"]) == (["new"], ["weather"])
    assert len((out / "history.jsonl").read_text().splitlines()) == 2
    assert json.loads((out / "previous.json").read_text())["pass_rate"] == 1


def test_tries_tell_unstable_questions_and_a_second_trial_asks_nothing_again(league_file: Path, tmp_path: Path) -> None:
    written: Counter[str] = Counter()

    def write(prompt: str) -> Behaviour:
        flaky = CLUBS in prompt
        written["clubs" if flaky else "players"] += 1
        table = "player" if not flaky or written["clubs"] == 1 else "club"
        return sql(f"SELECT count(*) FROM {table}")

    path = questions(tmp_path, OFFLINE[:2])
    with OpenAIServer(reading(write)) as server:
        options: dict[str, Any] = {"model": "openai:m", "base_url": server.base_url, "settings": ALWAYS, "tries": 3}
        first = held(league_file, path, tmp_path / "out", **options, jobs=1, price=(1.0, 10.0))
        calls = len(server.requests)
        second = held(league_file, path, tmp_path / "out", **options)
        assert len(server.requests) == calls
        command = ["trial", "--db", str(league_file), "--questions", str(path), "--out", str(tmp_path / "out")]
        settings = tmp_path / "settings.json"
        settings.write_text(json.dumps(ALWAYS))
        asked = ["--model", "openai:m", "--base-url", server.base_url, "--settings", str(settings), "--tries", "3"]
        told = tableturn(*command, *asked, "--record", "off").stdout
        assert len(server.requests) == calls
    assert f"calls: {calls}, " in told
    assert [(failed["id"], failed["share"]) for failed in first["failed"]] == [("clubs", pytest.approx(2 / 3))]
    assert first["unstable"] == ["clubs"]
    assert first["stable_rate"] == 0.5
    assert first["pass_rate"] == pytest.approx(5 / 6)
    cost = first["cost"]
    assert cost["calls"] == calls
    assert cost["dollars"] == pytest.approx((cost["prompt_tokens"] + 10 * cost["completion_tokens"]) / 1e6)
    assert second["compared"]["same"] == 2


def test_asking_back_is_answered_by_the_person_of_the_file(league_file: Path, tmp_path: Path) -> None:
    def model(body: dict[str, Any]) -> Behaviour:
        prompt = asked(body)
        if '"intent"' not in prompt:
            return sql("SELECT name FROM player ORDER BY fee DESC LIMIT 1")
        if "Who is the best" not in prompt:
            return says(rephrased("Give me what was asked."))
        if "by the highest fee" in prompt.partition("choices")[2]:
            return says(rephrased("Give me the name of the player with the highest fee."))
        choices = ["by most goals", "by the highest fee"]
        return says(rephrased("Who?", "ambiguous", reply="Best in what?", choices=choices))

    records: list[dict[str, Any]] = [
        {"id": "asks", "question": "Who is the best?", "must": "ask_back", "reply": "highest fee", "value": "Ann"},
        {"id": "no-need", "question": "Who has the highest fee?", "must": "ask_back"},
    ]
    with OpenAIServer(model) as server:
        options: dict[str, Any] = {"model": "openai:m", "base_url": server.base_url, "settings": ALWAYS}
        found = held(league_file, questions(tmp_path, records), tmp_path / "out", **options)
    assert [(failure["id"], failure["why"]) for failure in found["failed"]] == [
        ("no-need", "it must ask back, but it answered")
    ]
    turn = found["questions"][0]
    assert turn["asked_back"] == "Best in what?"
    assert turn["rows"] == (("Ann",),)


def test_turns_follow_one_another_and_all_must_be_right(league_file: Path, tmp_path: Path) -> None:
    turns = [
        {"question": "How many players are there?", "value": 5},
        {"question": "How many clubs are there?", "value": 99},
    ]
    records: list[dict[str, Any]] = [{"id": "two", "turns": turns}]
    found = held(league_file, questions(tmp_path, records), tmp_path / "out", model="offline")
    assert found["failed"][0]["why"] == "turn 2: it must be 99, not 3"
    assert found["failed"][0]["question"] == "How many players are there? / How many clubs are there?"


def test_a_question_whose_own_query_fails_is_told_from_a_wrong_answer(league_file: Path, tmp_path: Path) -> None:
    """Whatever was answered: also one that is declined."""
    declined = {"id": "weather", "question": OFFLINE[3]["question"]}
    records = [{**question, "sql": ["SELECT count(*) FROM gone"]} for question in (OFFLINE[0], declined)]
    found = held(league_file, questions(tmp_path, records), tmp_path / "out", model="offline")
    assert [question["status"] for question in found["questions"]] == ["converged", "unanswerable"]
    assert found["broken"] == ["players", "weather"]
    for failure in found["failed"]:
        assert "the question's own query does not run: no such table: gone" in failure["why"]


def test_what_could_not_be_asked_is_asked_when_the_trial_is_started_again(league_file: Path, tmp_path: Path) -> None:
    def troubled(body: dict[str, Any]) -> Behaviour:
        return fails(401) if broken and CLUBS in asked(body) else good(body)

    good = reading(lambda prompt: sql("SELECT count(*) FROM player"))
    broken = [True]
    path, out = questions(tmp_path, OFFLINE[:2]), tmp_path / "out"
    with OpenAIServer(troubled) as server:
        options = ["--model", "openai:m", "--base-url", server.base_url, "--json", "--out", str(out)]
        command = ["trial", "--db", str(league_file), "--questions", str(path), *options]
        ran = tableturn(*command)
        assert (ran.returncode, json.loads(ran.stdout)["not_asked"]) == (1, ["clubs"])
        assert not (out / "results.json").exists()
        broken.clear()
        before = len(server.requests)
        again = tableturn(*command)
        assert len(server.requests) > before
        prompts = [asked(body) for body in server.requests[before:]]
    assert again.returncode == 0
    found = json.loads(again.stdout)
    assert (found["questions"], found["not_asked"]) == (2, [])
    assert not any("How many players are there?" in prompt for prompt in prompts)


def test_the_gate_is_an_exit_code(league_file: Path, tmp_path: Path) -> None:
    path = questions(tmp_path, [OFFLINE[0], {**OFFLINE[1], "value": 4}])
    command = ["trial", "--db", str(league_file), "--questions", str(path), "--model", "offline"]
    open_gate = tableturn(*command, "--out", str(tmp_path / "a"), "--gate", "0.5")
    assert open_gate.returncode == 0
    assert "passed: 50 % (" in open_gate.stdout
    shut = tableturn(*command, "--out", str(tmp_path / "b"), "--gate", "0.95")
    assert shut.returncode == 1
    assert "fewer than 95 % of questions pass (--gate)" in shut.stderr
    assert "clubs: How many clubs are there?: it must be 4, not 3" in shut.stdout


def test_a_folder_of_another_command_is_left_alone(league_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "run.json").write_text(json.dumps({"dataset": "spider"}))
    with pytest.raises(SettingsError, match="contains a run with dataset=spider"):
        held(league_file, questions(tmp_path, OFFLINE), out, model="offline")


def test_an_evaluation_leaves_a_trial_alone_and_a_trial_an_evaluation(
    league_file: Path, spider_root: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    held(league_file, questions(tmp_path, OFFLINE), out, model="offline")
    before = (out / "results.json").read_bytes()
    command = ["eval", "--dataset", "spider", "--data", str(spider_root), "--model", "offline", "--record", "off"]
    ran = tableturn(*command, "--out", str(out))
    assert ran.returncode == 2
    assert "contains a trial: name another folder" in ran.stderr
    assert (out / "results.json").read_bytes() == before
    assert not (out / "run.json").exists()
    assert tableturn(*command, "--out", str(tmp_path / "run")).returncode == 0
    (tmp_path / "run" / "run.json").unlink()
    with pytest.raises(SettingsError, match="is not a results file of `tableturn trial`"):
        held(league_file, questions(tmp_path, OFFLINE), tmp_path / "run", model="offline")


def test_questions_without_ids_are_found_again_by_their_words(league_file: Path, tmp_path: Path) -> None:
    own = [{name: value for name, value in record.items() if name != "id"} for record in OFFLINE]
    out = tmp_path / "out"
    held(league_file, questions(tmp_path, own), out, model="offline")
    (tmp_path / "other").mkdir()
    other = make_database(tmp_path / "other" / "league.sqlite")
    new = {"question": "List the names of players.", "rows": 5}
    own = [new, own[0], {**own[1], "value": 7}, own[3]]
    ran = tableturn(
        *("trial", "--db", str(other), "--questions", str(questions(tmp_path, own)), "--model", "offline"),
        *("--out", str(out), "--record", "off"),
    )
    compared = json.loads((out / "results.json").read_text())["compared"]
    assert (compared["same"], compared["better"], compared["added"], compared["removed"]) == (2, [], ["1"], ["3"])
    assert compared["expects_otherwise"] == ["3"]
    (worse,) = compared["worse"]
    assert (worse["question"], worse["expects_otherwise"]) == (CLUBS, True)
    assert f"passed: 100 % before (offline; that was on {league_file})" in ran.stdout
    told = f"worse: 3: {CLUBS}: it must be 7, not 3 (100 % before, 0 % now; the accepted answer changed)"
    assert told in ran.stdout
    assert "new: List the names of players.\n  gone: List the titles of clubs.\n" in ran.stdout
    page = (out / "report.html").read_text()
    assert re.search(r"<td>gone</td><td[^>]*>List the titles of clubs.</td>", page)
    assert "the accepted answer changed" in page


def test_the_record_is_looked_at_before_anything_is_asked(league_file: Path, tmp_path: Path) -> None:
    own = str(questions(tmp_path, OFFLINE))
    (tmp_path / "file").write_text("")
    ran = tableturn(
        *("trial", "--db", str(league_file), "--questions", own, "--model", "offline"),
        *("--out", str(tmp_path / "out"), "--record", str(tmp_path / "file" / "models.jsonl")),
    )
    assert ran.returncode == 2
    assert "cannot write" in ran.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("missing", ["--db", "--questions"])
def test_a_trial_says_what_it_needs(missing: str, league_file: Path, tmp_path: Path) -> None:
    given = {"--db": str(league_file), "--questions": str(questions(tmp_path, OFFLINE))}
    ran = tableturn("trial", *(part for name, value in given.items() if name != missing for part in (name, value)))
    assert ran.returncode == 2
    assert missing in ran.stderr


def test_a_trial_adds_to_the_record_of_models_what_it_shows_anew(league_file: Path, tmp_path: Path) -> None:
    own = str(questions(tmp_path, OFFLINE))
    command = ["trial", "--db", str(league_file), "--questions", own, "--model", "offline"]
    home = {"TABLETURN_HOME": str(tmp_path / "home")}
    assert tableturn(*command, "--out", str(tmp_path / "a"), "--record", "off", **home).returncode == 0
    assert not (tmp_path / "home").exists()
    assert json.loads((tmp_path / "a" / "results.json").read_text())["recorded"] == ""
    for _ in range(2):
        assert tableturn(*command, "--out", str(tmp_path / "b"), **home).returncode == 0
        recorded = json.loads((tmp_path / "b" / "results.json").read_text())["recorded"]
        assert recorded == str(tmp_path / "home" / "models.jsonl")
    (standing,) = json.loads(tableturn("models", "--json", **home).stdout)
    assert (standing["model"], standing["database"], standing["runs"], standing["n"]) == ("offline", "league", 1, 3)
    assert standing["by_gold"] == {"right": 3, "judged": 3}


def test_a_trial_and_an_evaluation_add_the_same_units_to_the_record_of_models(
    league_file: Path, tmp_path: Path
) -> None:
    """Neither what is to be declined counts for a model, nor a question whose own query does not run."""
    records: list[dict[str, Any]] = [
        {"question": "How many players are there?", "sql": "SELECT COUNT(*) FROM player"},
        {"question": "How many clubs are there?", "sql": "SELECT COUNT(*) FROM nowhere"},
        {"question": "List the names of all clubs", "sql": "SELECT 1, 2, 3"},
    ]
    trial = questions(tmp_path, [*records, {"question": "What is the weather?", "must": "decline"}])
    own = tmp_path / "eval.json"
    declined = {"question": "What is the weather?", "expects": "decline"}
    own.write_text(json.dumps([record | {"database": str(league_file)} for record in [*records, declined]]))
    added: list[dict[str, Any]] = []
    asking = ["trial", "--db", str(league_file), "--questions", str(trial), "--tries", "2"]
    for number, command in enumerate((asking, ["eval", "--dataset", str(own)])):
        out, home = str(tmp_path / f"{number}"), {"TABLETURN_HOME": str(tmp_path / f"home{number}")}
        ran = tableturn(*command, "--model", "offline", "--out", out, **home)
        assert ran.returncode == 0, ran.stderr
        (standing,) = json.loads(tableturn("models", "--json", **home).stdout)
        added.append({name: standing[name] for name in ("model", "database", "n", "by_gold")})
    assert added[0] == added[1]
    assert added[0]["by_gold"] == {"right": 1, "judged": 2}


def test_the_schema_is_a_command_and_init_says_what_to_do_instead() -> None:
    assert json.loads(tableturn("trial", "schema").stdout)["type"] == "array"
    ran = tableturn("trial", "init", "--db", "shop.db", "--from-log", "log.sql")
    assert ran.returncode == 2
    assert "`tableturn trial init` was removed: write `- question: ...` and `sql: ...`" in ran.stderr


def test_what_is_told_beside_a_question_reaches_the_model(league_file: Path, tmp_path: Path) -> None:
    own = [{"question": "How many stars are there?", "evidence": "a star has 5 goals", "value": 2}]

    def model(body: dict[str, Any]) -> Any:
        told = "a star has 5 goals" in str(body["messages"])
        return sql("SELECT count(*) FROM player WHERE goals = 5" if told else "SELECT 0")

    with OpenAIServer(model) as server:
        found = held(
            league_file, questions(tmp_path, own), tmp_path / "out", model="openai:m", base_url=server.base_url
        )
    assert found["pass_rate"] == 1


def test_equal_tries_are_judged_once_and_compared_with_gold_on_the_same_answers(
    league_file: Path, tmp_path: Path
) -> None:
    own = [
        {"id": "players", "question": "How many players are there?", "sql": "SELECT count(*) FROM player"},
        {"id": "clubs", "question": CLUBS, "value": 3},
    ]
    out = tmp_path / "out"
    written = {CLUBS: "SELECT 3", "players": "SELECT 0"}

    def model(body: dict[str, Any]) -> Any:
        if "verdict" in asked(body):
            right = {"why": "So it is.", "verdict": "right", "class": ""}
            return says(json.dumps({"first": right, "second": right}))
        return sql(written[CLUBS if CLUBS in asked(body) else "players"])

    with OpenAIServer(model) as server:
        held(league_file, questions(tmp_path, own), out, model="openai:m", base_url=server.base_url, tries=2)
        ran = tableturn("judge", "run", str(out), "--model", "openai:m", "--base-url", server.base_url)
    assert "2 requests" in ran.stdout, "both passes over one case"
    assert "EX by gold 0.0, by verdict 0.0 to 100.0: 0 right, 0 wrong, 0 unclear, 2 unjudged (2 with a proposal)" in (
        ran.stdout
    )
