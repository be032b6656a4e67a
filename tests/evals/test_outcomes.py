"""Declining and asking back as outcomes, and the person who is asked back."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tableturn.agent.model.track_record import ModelRunRecord, append_run_record, read_records
from tableturn.evals.datasets.load import ExpectedOutcome, GoldTurn, read_questions
from tableturn.evals.metrics.judging import Verdict
from tableturn.evals.runner.agents import choose_reply
from tableturn.evals.runner.record import TurnRecord
from tableturn.evals.runner.results import classify_outcome, compute_outcome_scores
from tableturn.tools.database import Database
from tableturn.tools.errors import SettingsError

from tests.support.command_line import tableturn
from tests.support.openai_server import Behaviour, OpenAIServer, says, sql
from tests.support.scripted import rephrased

from .conftest import QUESTIONS, make_database


def judged(wanted: Any, status: str, ex: bool | None, asked_back: str = "") -> tuple[TurnRecord, Verdict]:
    question = GoldTurn("1", "league", "Who?", ("SELECT 1",), "1", expects=ExpectedOutcome(wanted) if wanted else None)
    record = TurnRecord("1", "SELECT 1" if ex is not None else "", status, asked_back=asked_back)
    return record, Verdict(question, record.sql, ex, None, valid=True, hardness="")


@pytest.mark.parametrize(
    ("wanted", "status", "ex", "asked_back", "kind"),
    [
        ("decline", "unanswerable", None, "", "declined_rightly"),
        ("decline", "converged", None, "", "answered_wrongly"),
        ("decline", "needs_clarification", None, "Which?", "asked_needlessly"),
        ("ask_back", "converged", True, "Which?", "asked_usefully"),
        ("ask_back", "converged", False, "Which?", "asked_in_vain"),
        ("ask_back", "converged", True, "", "guessed_rightly"),
        ("ask_back", "converged", False, "", "answered_wrongly"),
        ("ask_back", "unanswerable", False, "", "declined_wrongly"),
        ("answer", "unanswerable", False, "", "declined_wrongly"),
        ("answer", "converged", True, "Which?", "asked_needlessly"),
        ("answer", "converged", True, "", "answered_rightly"),
        ("answer", "converged", None, "", "not_judged"),
    ],
)
def test_what_became_of_a_question(wanted: str, status: str, ex: bool | None, asked_back: str, kind: str) -> None:
    assert classify_outcome(*judged(wanted, status, ex, asked_back)) == kind


def test_shares_are_of_what_should_be_and_of_what_was() -> None:
    found: dict[str, Any] = compute_outcome_scores(
        [
            judged("decline", "unanswerable", None),
            judged("decline", "converged", None),
            judged("answer", "unanswerable", False),
            judged("answer", "converged", True),
            judged("ask_back", "converged", True, "Which?"),
            judged("ask_back", "converged", False, "Which?"),
        ]
    )
    assert found["declined"] == {"recall": 0.5, "precision": 0.5}
    assert found["asked"] == {"recall": 1.0, "precision": 1.0}
    assert found["useful"] == 0.5
    assert compute_outcome_scores([judged(None, "converged", True)]) == {}


def test_a_run_declines_asks_back_and_is_told_what_was_meant(tmp_path: Path) -> None:
    make_database(tmp_path / "league.sqlite")
    records: list[dict[str, Any]] = [
        {"id": "best", "question": "Who is best?", "expects": "ask_back", "meant": "highest fee", "sql": FEE},
        {"id": "food", "question": "What do they eat?", "expects": "decline"},
        {"id": "plain", "question": "How many clubs are there?", "sql": "SELECT count(*) FROM club"},
    ]
    path = tmp_path / "own.json"
    path.write_text(json.dumps([{**record, "database": "league.sqlite"} for record in records]))
    prompts: list[str] = []

    def model(body: dict[str, Any]) -> Behaviour:
        prompt = "\n".join(str(message["content"]) for message in body["messages"])
        prompts.append(prompt)
        if '"intent"' not in prompt:
            return sql("SELECT count(*) FROM club" if "clubs are there" in prompt else FEE)
        if "What do they eat?" in prompt:
            return says(rephrased("What?", "unanswerable", reply="There is nothing about food."))
        if "Who is best?" in prompt and "by highest fee" not in prompt:
            return says(rephrased("Who?", "ambiguous", reply="In what?", choices=["by most goals", "by highest fee"]))
        return says(rephrased("Give me what was asked."))

    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps({"rephrase": "always"}))
    record = tmp_path / "models.jsonl"
    with OpenAIServer(model) as server:
        ran = tableturn(
            "eval", "--dataset", str(path), "--model", "openai:m", "--base-url", server.base_url, "--json",
            "--settings", str(settings), "--out", str(tmp_path / "run"), "--record", str(record),
        )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["outcomes"]["counts"]["asked_usefully"] == 1
    assert found["outcomes"]["counts"]["declined_rightly"] == 1
    assert found["outcomes"]["counts"]["answered_rightly"] == 1
    assert found["strict"]["n"] == 2
    assert found["strict"]["ex"] == 1
    assert not any("ORDER BY fee" in prompt for prompt in prompts if '"intent"' in prompt), "the person leaks no SQL"
    (kept,) = read_records(record)
    assert (kept.database, kept.n, kept.right_gold, kept.right_verdict) == ("league", 2, 2, None)
    results = json.loads((tmp_path / "run" / "results.json").read_text())
    assert {question["id"]: question["outcome"] for question in results["questions"]} == {
        "best": "asked_usefully",
        "plain": "answered_rightly",
        "food": "declined_rightly",
    }
    page = tmp_path / "report.html"
    assert tableturn("report", str(tmp_path / "run"), "--out", str(page)).returncode == 0


def test_a_run_is_recorded_once_with_both_judgements(tmp_path: Path) -> None:
    make_database(tmp_path / "league.sqlite")
    path = tmp_path / "own.json"
    records = [{"database": "league.sqlite", "question": question, "sql": sql} for question, sql in QUESTIONS[:2]]
    path.write_text(json.dumps(records))
    ruling = {"question": QUESTIONS[1][0], "sql": "SELECT name FROM player", "verdict": "right"}
    (tmp_path / "verdicts.jsonl").write_text(json.dumps(ruling))
    drafts = {QUESTIONS[0][0]: QUESTIONS[0][1], QUESTIONS[1][0]: "SELECT name FROM player"}

    def model(body: dict[str, Any]) -> Any:
        return sql(next(draft for question, draft in drafts.items() if question in str(body["messages"])))

    home = {"TABLETURN_HOME": str(tmp_path / "home")}
    with OpenAIServer(model) as server:
        command = ["eval", "--dataset", str(path), "--model", "openai:m", "--base-url", server.base_url]
        command += ["--verdicts", str(tmp_path / "verdicts.jsonl")]
        for _ in range(2):
            assert tableturn(*command, "--out", str(tmp_path / "run"), **home).returncode == 0
        assert tableturn(*command, "--out", str(tmp_path / "other"), "--record", "off", **home).returncode == 0
    (standing,) = json.loads(tableturn("models", "--json", **home).stdout)
    assert (standing["model"], standing["runs"], standing["n"]) == ("m", 1, 2)
    assert (standing["by_gold"]["right"], standing["by_verdict"]["right"]) == (1, 2)


def test_predictions_and_baselines_say_nothing_of_a_model_in_the_agent(tmp_path: Path) -> None:
    make_database(tmp_path / "league.sqlite")
    path, drafts = tmp_path / "own.json", tmp_path / "drafts.json"
    path.write_text(json.dumps([{"database": "league.sqlite", "question": q, "sql": sql} for q, sql in QUESTIONS[:1]]))
    drafts.write_text(json.dumps([QUESTIONS[0][1]]))
    home = {"TABLETURN_HOME": str(tmp_path / "home")}
    with OpenAIServer([sql(QUESTIONS[0][1])]) as server:
        asked = ["--model", "openai:m", "--base-url", server.base_url, "--baseline", "zero-shot"]
        replayed = ["--model", f"replay:{drafts}"]
        for number, options in enumerate((asked, replayed, [*replayed, "--record", str(tmp_path / "named.jsonl")])):
            out = tmp_path / f"run-{number}"
            ran = tableturn("eval", "--dataset", str(path), "--out", str(out), *options, **home)
            assert ran.returncode == 0, ran.stderr
    assert json.loads(tableturn("models", "--json", **home).stdout) == []
    assert len(read_records(tmp_path / "named.jsonl")) == 1


FEE = "SELECT name FROM player ORDER BY fee DESC LIMIT 1"


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({"expects": "decline", "sql": "SELECT 1"}, "cannot have 'sql'"),
        ({"expects": "shrug", "sql": "SELECT 1"}, "expects must be 'answer', 'decline' or 'ask_back', not 'shrug'"),
        ({"expects": "ask_back"}, "'sql' is missing"),
    ],
)
def test_a_wrong_expectation_is_named(record: dict[str, str], told: str, tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    path.write_text(json.dumps([{"question": "Who?", "database": "x.sqlite", **record}]))
    with pytest.raises(SettingsError) as error:
        read_questions(path)
    assert told in str(error.value)


def test_a_question_file_may_name_databases_by_url(tmp_path: Path) -> None:
    url = f"sqlite:///{make_database(tmp_path / 'league.sqlite')}"
    path = tmp_path / "own.json"
    path.write_text(
        json.dumps([{"question": "How many clubs are there?", "sql": ["SELECT 4", "SELECT 3"], "database": url}])
    )
    ran = tableturn("eval", "--dataset", str(path), "--model", "offline", "--json", "--out", str(tmp_path / "run"))
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["strict"]["ex"] == 1
    drafts = tmp_path / "drafts.sql"
    drafts.write_text("SELECT 3\n")
    scored = tableturn("score", "--dataset", str(path), "--predictions", str(drafts), "--json")
    assert json.loads(scored.stdout)["ex"] == 1


def test_the_record_outlives_a_torn_line_but_not_a_wrong_one(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "models.jsonl"
    assert read_records(path) == []
    entry = ModelRunRecord("m", "shop", 20, 18, None, 40, 9000, "2026-01-02T03:04:05+00:00")
    for _ in range(2):
        append_run_record(entry, path)
    with path.open("ab") as file:
        file.write(b'{"model": "m", "data')
    assert read_records(path) == [entry, entry]
    append_run_record(entry, path)
    assert read_records(path) == [entry, entry, entry]
    path.write_text('{"model": "m"}\n')
    with pytest.raises(SettingsError, match="line 1"):
        read_records(path)


def test_a_person_without_words_of_their_own_says_what_the_gold_asks_for(tmp_path: Path) -> None:
    question = GoldTurn("1", "league", "Who is best?", (FEE,), "1", expects=ExpectedOutcome("ask_back"))
    with Database.open(make_database(tmp_path / "league.sqlite")) as database:
        reply = choose_reply(question, _asking_back(), database.schema())
    assert "fee" in reply
    assert "SELECT" not in reply


def test_declined_and_asked_questions_are_scored_without_a_gold(tmp_path: Path) -> None:
    """Of a run with questions to decline, verdicts are counted over the others, however often they are counted."""
    make_database(tmp_path / "league.sqlite")
    records = [
        {"question": "How many players are there?", "database": "league.sqlite", "sql": "SELECT count(*) FROM player"},
        {"question": "What will the weather be like tomorrow?", "database": "league.sqlite", "expects": "decline"},
    ]
    path = tmp_path / "own.json"
    path.write_text(json.dumps(records))
    run = tmp_path / "run"
    assert tableturn("eval", "--dataset", str(path), "--model", "offline", "--out", str(run)).returncode == 0
    (tmp_path / "decisions.jsonl").touch()
    ran = tableturn("judge", "accept", str(tmp_path / "decisions.jsonl"), "--run", str(run))
    assert ran.stdout.endswith("1 right, 0 wrong, 0 unclear\n")
    assert json.loads((run / "results.json").read_text())["by_verdict"]["n"] == 1
    tableturn("report", str(run), "--out", str(tmp_path / "page.html"))
    assert "Declining and asking back" in (tmp_path / "page.html").read_text()


def _asking_back() -> Any:
    return SimpleNamespace(choices=())
