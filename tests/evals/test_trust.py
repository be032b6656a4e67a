"""A bound is set by labelled questions of one's own, and answers are marked by it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from tableturn.agent import SQLAgent
from tableturn.evals.trial.run import list_judged_answers

from tests.support.command_line import tableturn

from .conftest import make_database


@pytest.fixture
def league_file(tmp_path: Path) -> Path:
    return make_database(tmp_path / "league.sqlite")


def fitted(league_file: Path, labels: Path, folder: Path, *more: str):
    return tableturn(
        "trust", "fit", "--db", str(league_file), "--model", "offline", "--labels", str(labels),
        "--trust", str(folder / "trust.json"), "--out", str(folder / "out"), *more,
    )  # fmt: skip


def test_labels_set_a_bound_and_answers_are_marked_by_it(league_file: Path, tmp_path: Path) -> None:
    asked = ["How many players are there?", "How many clubs are there?", "What is the number of players?"]
    tables = ("player", "club", "player")
    labels = tmp_path / "labels.yaml"
    pairs = zip(asked, tables, strict=True)
    labels.write_text(
        yaml.safe_dump([{"question": one, "sql": f"SELECT count(*) FROM {table}"} for one, table in pairs])
    )
    few = fitted(league_file, labels, tmp_path)
    assert few.returncode == 1
    assert few.stderr.startswith("this needs at least 59 labelled answers, and more if some are wrong")
    assert "no answer is marked trusted: 3 labelled answers, 0 wrong; at least 56 more" in few.stdout
    done = fitted(league_file, labels, tmp_path, "--alpha", "0.5", "--certainty", "0.8", "--json")
    assert done.returncode == 0, done.stderr
    bound = json.loads(done.stdout)
    assert (bound["labels"], bound["trusted"], bound["missing"], bound["model"]) == (3, 3, 0, "offline")
    with SQLAgent(league_file, model="offline", settings={"trust": str(tmp_path / "trust.json")}) as agent:
        answer = agent.ask("How many players are there?")
    assert answer.trusted is True
    shown = tableturn("trust", "show", "--trust", str(tmp_path / "trust.json"))
    assert "at most 50% wrong at 80% certainty" in shown.stdout
    gone = tableturn("trust", "show", "--db", str(league_file))
    assert (gone.returncode, "`tableturn doctor` says whether a bound holds now" in gone.stderr) == (2, True)
    (tmp_path / "league.knowledge.yaml").write_text("conventions:\n  - Round to whole numbers.\n")
    doctor = ("doctor", "--db", str(league_file), "--model", "offline", "--json")
    told = json.loads(tableturn(*doctor, TABLETURN_HOME=str(tmp_path)).stdout)[-1]
    assert (told["what"], told["state"]) == ("trust", "note")
    assert "knowledge changed" in told["says"]


def test_without_labels_it_says_what_to_give(league_file: Path, tmp_path: Path) -> None:
    ran = tableturn(
        "trust", "fit", "--db", str(league_file), "--model", "offline", "--examples", str(tmp_path / "none"),
        "--trust", str(tmp_path / "trust.json"), "--out", str(tmp_path / "out"),
    )  # fmt: skip
    assert ran.returncode == 2
    assert "no answer about this database has been approved or corrected yet" in ran.stderr


def test_approved_answers_are_labels(league_file: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    with SQLAgent(league_file, model="offline", examples=store) as agent:
        agent.approve(agent.ask("How many players are there?"))
    ran = tableturn(
        "trust", "fit", "--db", str(league_file), "--model", "offline", "--examples", str(store),
        "--trust", str(tmp_path / "trust.json"), "--out", str(tmp_path / "out"), "--json",
    )  # fmt: skip
    assert json.loads(ran.stdout)["labels"] == 1


def test_only_answers_are_counted() -> None:
    def turn(attempt: str, right: bool, status: str = "converged", question: str = "x?") -> dict[str, Any]:
        said = {"status": status, "sql": f"SELECT {question!r}", "confidence": 0.5, "ex": right, "broken": False}
        return said | {"question": question, "interaction": attempt}

    results = [turn("1~1", True), turn("1~2", False, question="y"), turn("1~3", False, "unanswerable", "z")]
    assert list_judged_answers({"questions": results}) == [(0.5, True), (0.5, False)]


def test_the_same_question_and_query_count_once_and_as_wrong_where_any_says_so() -> None:
    def asked(question: str, sql: str, passed: bool) -> dict[str, Any]:
        said = {"question": question, "sql": sql, "ex": passed, "confidence": 0.9, "interaction": f"{question}~1"}
        return said | {"status": "converged", "broken": False}

    players = "SELECT count(*) FROM player"
    same = [
        asked(question, players, True) for question in ("How many players?", "how many players", "How many  players!")
    ]
    assert list_judged_answers({"questions": same}) == [(0.9, True)]
    more = [*same, asked("How many players?", f"{players} ", False), asked("How many players?", "SELECT 11", True)]
    assert list_judged_answers({"questions": more}) == [(0.9, False), (0.9, True)]
