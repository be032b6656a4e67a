"""Baselines go through the same runner as the agent."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tableturn.agent.cli.app import app
from tableturn.evals.datasets import Dataset, load_dataset, read_questions
from tableturn.evals.runner.record import RunSpec
from tableturn.evals.runner.run import BASELINES, run_evaluation
from tableturn.tools.errors import ModelError, SettingsError
from typer.testing import CliRunner

from tests.support.openai_server import Behaviour, OpenAIServer, calls, says

from .conftest import make_database
from .test_runner import questions_file, silent

langchain = pytest.mark.skipif(
    find_spec("langchain_community") is None, reason="langchain-community is not installed: make test-extras"
)


def test_zero_shot_is_one_request_without_examples(tmp_path: Path) -> None:
    path = questions_file(tmp_path, 1)
    with OpenAIServer([says("```sql\nSELECT count(*) FROM player\n```")]) as server:
        for baseline in ("zero-shot", "random-examples"):
            spec = RunSpec(str(path), model="openai:m", base_url=server.base_url, baseline=baseline)
            ((record, verdict),) = run_evaluation(
                spec, read_questions(path), tmp_path / baseline, jobs=1, listener=silent
            )
            assert verdict.ex
            assert record.calls == 1
        zero, few = server.prompts
    assert "<example" not in zero
    assert "<example" in few


def dialogues_root(root: Path) -> Path:
    """A tiny CoSQL: one dialogue to ask about, three to learn from, one of them on the same database."""
    databases = ("league", "one", "two")
    for name in databases:
        make_database(root / "cosql" / "database" / name / f"{name}.sqlite")

    def dialogue(name: str, towns: str) -> dict[str, Any]:
        turns = [("How many clubs?", "SELECT count(*) FROM club"), (f"{towns}?", "SELECT town FROM club")]
        return {"database_id": name, "interaction": [{"utterance": q, "query": sql} for q, sql in turns]}

    (root / "cosql" / "dev.json").write_text(json.dumps([dialogue("league", "Their towns")]))
    (root / "cosql" / "train.json").write_text(json.dumps([dialogue(name, f"Towns in {name}") for name in databases]))
    return root


@pytest.mark.parametrize("history", ["gold", "predicted"])
def test_random_dialogues_are_of_other_databases(tmp_path: Path, history: Any) -> None:
    cosql = load_dataset("cosql", "dev", dialogues_root(tmp_path))
    with OpenAIServer([says("SQL: SELECT count(*) FROM club"), says("SQL: SELECT title FROM club")]) as server:
        spec = RunSpec(
            "cosql", model="openai:m", base_url=server.base_url, baseline="random-dialogues", history=history
        )
        answered = run_evaluation(spec, cosql, tmp_path / "run", jobs=1, listener=silent)
        first, second = server.prompts
    assert [verdict.ex for _, verdict in answered] == [True, False]
    assert [record.calls for record, _ in answered] == [1, 1]
    assert answered[1][0].rows == (("Rovers",), ("United",), ("Albion",))
    assert "Towns in one" in first
    assert "Towns in two" in first
    assert "Towns in league" not in first
    assert second.count("How many clubs?") == 3


def test_another_seed_shows_other_random_dialogues(tmp_path: Path) -> None:
    cosql = load_dataset("cosql", "dev", dialogues_root(tmp_path))
    shown: list[str] = []
    for seed in range(6):
        with OpenAIServer([says("SQL: SELECT 1")] * 2) as server:
            spec = RunSpec(
                "cosql",
                model="openai:m",
                base_url=server.base_url,
                baseline="random-dialogues",
                settings={"example_seed": seed},
            )
            run_evaluation(spec, cosql, tmp_path / f"run-{seed}", jobs=1, listener=silent)
            shown.append(server.prompts[0])
    assert len(set(shown)) == 2, "the two dialogues in either order"


def test_random_dialogues_need_a_training_set(league: Dataset, tmp_path: Path) -> None:
    spec = RunSpec("spider", model="openai:m", base_url="http://127.0.0.1:1/v1", baseline="random-dialogues")
    with pytest.raises(SettingsError, match=r"no train_spider\.json"):
        run_evaluation(spec, league, tmp_path / "run", jobs=1, listener=silent)


def test_a_baseline_without_a_model_or_of_no_known_name(league: Dataset, tmp_path: Path) -> None:
    for name in ("random-dialogues", "zero-shot"):
        with pytest.raises(ModelError, match=f"{name} needs a chat model"):
            run_evaluation(RunSpec("spider", model="offline", baseline=name), league, tmp_path, jobs=1, listener=silent)
    with pytest.raises(SettingsError, match=f"unknown baseline 'best'; known: {', '.join(BASELINES)}"):
        run_evaluation(RunSpec("spider", baseline="best"), league, tmp_path, jobs=1, listener=silent)


def test_a_missing_extra_is_told_in_one_line(
    spider_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "tableturn.evals.runner.ray_engine", raising=False)
    options = ["eval", "--dataset", "spider", "--data", str(spider_root), "--model", "offline"]
    result = CliRunner().invoke(app, [*options, "--out", str(tmp_path / "run"), "--engine", "ray"])
    assert result.exit_code == 2
    assert "pip install 'tableturn[ray]'" in result.stderr
    assert result.stderr.strip().count("\n") == 0


TRICKS = ["DROP TABLE club", "PRAGMA table_info(club)", "ATTACH 'elsewhere.sqlite' AS e", "SELECT nothing FROM club"]


def agent_script(body: dict[str, Any]) -> Behaviour:
    """A model that looks around, tries what it must not, then answers; and checks queries when asked to."""
    if not body.get("tools"):
        return says("SELECT count(*) FROM player")
    done = sum(message["role"] == "tool" for message in body["messages"])
    steps = [
        calls("sql_db_list_tables", {"tool_input": ""}),
        calls("sql_db_schema", {"table_names": "club, player"}),
        *(calls("sql_db_query", {"query": sql}) for sql in TRICKS),
        calls("sql_db_query_checker", {"query": "SELECT count(*) FROM player"}),
        calls("sql_db_query", {"query": "SELECT count(*) FROM player"}),
        says("There are 5 players."),
    ]
    return steps[done]


@langchain
@pytest.mark.extra
@pytest.mark.filterwarnings("ignore:.*langchain:DeprecationWarning")
def test_langchains_own_agent(tmp_path: Path) -> None:
    path = questions_file(tmp_path, 2, turns=2)
    before = (tmp_path / "league.sqlite").read_bytes()
    out = tmp_path / "run"
    with OpenAIServer(agent_script) as server:
        spec = RunSpec(str(path), model="openai:m", base_url=server.base_url, baseline="langchain")
        answered = run_evaluation(spec, read_questions(path), out, jobs=1, listener=silent)
        asked = list(server.requests)
        (out / "journal.jsonl").unlink()
        run_evaluation(spec, read_questions(path), out, jobs=1, listener=silent)
        assert len(server.requests) == len(asked)
    assert all(verdict.ex for _, verdict in answered)
    first, second = (record for record, _ in answered)
    # Eight steps and the last words, and one request of the query checker.
    assert first.calls == len(TRICKS) + 6
    assert first.tokens == (100 * first.calls, 10 * first.calls)
    assert [attempt["sql"] for attempt in first.attempts] == [*TRICKS, "SELECT count(*) FROM player"]
    assert all(attempt["error"] for attempt in first.attempts[:-1])
    assert first.rows == ((5,),)
    assert first.text == "There are 5 players."
    shown = [str(message["content"]) for message in asked[-1]["messages"] if message["role"] == "tool"]
    assert "CREATE TABLE club" in shown[1]
    assert "only reads" in shown[2]
    assert "Earlier in this conversation" in str(asked[-1]["messages"])
    assert second.calls == first.calls
    assert (tmp_path / "league.sqlite").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["league.sqlite", "own.json", "run"]


@langchain
@pytest.mark.extra
@pytest.mark.filterwarnings("ignore:.*langchain:DeprecationWarning")
def test_langchains_own_agent_needs_a_model_that_calls_tools(league: Dataset, tmp_path: Path) -> None:
    predictions = tmp_path / "p.json"
    predictions.write_text(json.dumps(["SELECT 1"] * 4))
    spec = RunSpec("spider", model=f"replay:{predictions}", baseline="langchain")
    with pytest.raises(ModelError, match="cannot call tools"):
        run_evaluation(spec, league, tmp_path / "run", jobs=1, listener=silent)


@langchain
@pytest.mark.filterwarnings("ignore:.*langchain:DeprecationWarning")
@pytest.mark.parametrize(("checks", "calls"), [(True, 6), (False, 4)])
def test_langchains_agent_is_played_without_a_detour(tmp_path: Path, checks: bool, calls: int) -> None:
    from tableturn.evals.lab.bench.costs import measure_langchain_turn_costs

    asked = read_questions(questions_file(tmp_path, 2, turns=2))
    queries = {question.id: question.golds[0] for question in asked.questions}
    found = measure_langchain_turn_costs(asked, queries, checks=checks)
    assert set(found) == set(queries)
    assert {count for count, _ in found.values()} == {calls}
    first, second = (tokens for _, tokens in found.values())
    assert second > first > 100, "the turn before stands in each prompt"
