"""The papers' example repositories: a store's pairs rephrased turn by turn, or simplified."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tableturn.agent.cli.app import app
from tableturn.tools.examples import Example, ExampleStore
from typer.testing import CliRunner, Result

from ...support.openai_server import Behaviour, OpenAIServer, says

TURNS = ["Which dogs are old?", "How many?", "And cats?"]


@pytest.fixture
def place(tmp_path: Path) -> str:
    with ExampleStore.open(tmp_path / "store") as store:
        store.add(
            Example(
                text, f"SELECT {number} FROM dog", "kennel", "dog(age number)", source="import:train#1", turn=number
            )
            for number, text in reversed(list(enumerate(TURNS, 1)))
        )
        store.add([Example("Count the boats.", "SELECT count(*) FROM boat", "harbour", source="import:train")])
    return str(tmp_path / "store")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")


def run(server: OpenAIServer, *args: str) -> Result:
    return CliRunner().invoke(app, ["examples", *args, "--model", "openai:m", "--base-url", server.base_url, "--json"])


def kept(place: str) -> dict[str, Example]:
    with ExampleStore.open(place) as store:
        return {hit.example.question: hit.example for hit in store.list()}


def last_question(body: dict[str, object]) -> str:
    said = str(body["messages"][-1]["content"])  # type: ignore[index]
    return said.rpartition("Question: ")[2].splitlines()[0]


def test_each_turn_is_rephrased_after_those_before_it_and_what_is_done_is_kept(place: str) -> None:
    def reply(body: dict[str, object]) -> Behaviour:
        return says(f"Rephrased: Give me: {last_question(body)}")

    with OpenAIServer(reply) as server:
        first = json.loads(run(server, "rephrase", place, "--calls", "2", "--jobs", "1").stdout)
        assert first == {"done": 2, "pairs": 4, "failed": 0, "calls": 2}
        assert [kept(place)[text].rephrased for text in TURNS] == [f"Give me: {text}" for text in TURNS[:2]] + [""]
        second = json.loads(run(server, "rephrase", place).stdout)
        assert second == {"done": 4, "pairs": 4, "failed": 0, "calls": 2}
        third = next(body for body in server.requests if last_question(body) == TURNS[2])
        assert f"Rephrased: Give me: {TURNS[1]}" in str(third["messages"])
        assert "dog(" not in str(third["messages"]), "no schema, as in the paper"
        assert json.loads(run(server, "rephrase", place).stdout)["calls"] == 0


def test_a_turn_that_was_refused_is_there_for_those_that_lean_on_it(tmp_path: Path) -> None:
    talk = tmp_path / "train.json"
    spoken = [{"utterance": text, "query": f"SELECT {number} FROM dog"} for number, text in enumerate(TURNS)]
    spoken[0]["query"] = "SELEC"
    talk.write_text(json.dumps([{"database_id": "kennel", "interaction": spoken}]))
    place = str(tmp_path / "store")
    imported = CliRunner().invoke(app, ["examples", "import", str(talk), "--store", place])
    assert imported.exit_code == 1, "one is refused"
    with OpenAIServer(lambda body: says(f"Rephrased: Give me: {last_question(body)}")) as server:
        done = json.loads(run(server, "rephrase", place).stdout)
        second = next(body for body in server.requests if last_question(body) == TURNS[1])
    assert done == {"done": 2, "pairs": 2, "failed": 0, "calls": 3}
    assert f"Rephrased: Give me: {TURNS[0]}" in str(second["messages"])
    assert TURNS[0] not in kept(place)


def test_simplified_questions_are_keys_of_the_repository_and_bad_replies_are_left_for_later(place: str) -> None:
    def reply(body: dict[str, object]) -> Behaviour:
        return says("" if "boats" in str(body["messages"]) else "Tell me which ones")

    with OpenAIServer(reply) as server:
        done = json.loads(run(server, "simplify", place).stdout)
    assert (done["done"], done["failed"], done["calls"]) == (3, 1, len(server.requests))
    assert done["calls"] > 4, "the empty reply is asked for again"
    assert kept(place)["How many?"].simplified == "Tell me which ones"
    assert kept(place)["Count the boats."].simplified == ""


def test_without_a_model_nothing_is_made(place: str) -> None:
    done = CliRunner().invoke(app, ["examples", "rephrase", place, "--model", "offline"])
    assert done.exit_code == 2
    assert "need a chat model" in done.stderr
