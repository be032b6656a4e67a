"""What 0.2.0 wrote opens, and goes on from where it was.

`python -m tests.compat.make` has made the archive.
"""

from __future__ import annotations

import json
import re
import sqlite3
import tarfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from tableturn import SQLAgent
from tableturn.agent.state import UPGRADES, upgrade
from tableturn.tools.errors import ConversationTooNew

from tests.compat.make import BIG, HERE, PARIS, asked, environment, identity, move, room, serving
from tests.support.command_line import tableturn
from tests.support.openai_server import OpenAIServer, says
from tests.support.scripted import ScriptedModel, writes
from tests.tools.database.servers import POSTGRES

ARCHIVE = Path(__file__).parent / "0.2.0.tar.xz"
CITIES = "SELECT DISTINCT city FROM customers"
OFFLINE = ("--db", "shop.db", "--model", "offline")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Everything that 0.2.0 wrote, as if this folder had been its place."""
    with tarfile.open(ARCHIVE) as packed:
        packed.extractall(tmp_path, filter="data")
    place = tmp_path.resolve()
    move(place, HERE, str(place))
    _rename_database(place)
    for name, value in environment(place).items():
        if name.startswith("TABLETURN_"):
            monkeypatch.setenv(name, value)
    monkeypatch.chdir(place)
    return place


def _rename_database(folder: Path) -> None:
    """Writes what the database is called here, which is as long, wherever its old name stands."""
    old: str = json.loads((folder / "home" / "trust.json").read_text())["bounds"][0]["database"]
    new = identity(folder / "shop.db")
    for path in folder.rglob("*"):
        if path.is_file():
            path.write_bytes(_replaced(_replaced(path.read_bytes(), old, new), room(old), room(new)))
    for path in folder.rglob("*.sqlite*"):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("REINDEX")


def _replaced(content: bytes, old: str, new: str) -> bytes:
    return content.replace(old.encode(), new.encode())


@pytest.fixture
def expected(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "expected.json").read_text())


@pytest.fixture
def saver(folder: Path) -> Iterator[SqliteSaver]:
    with SqliteSaver.from_conn_string(str(folder / "program.sqlite")) as saver:
        yield saver


def opened(folder: Path, model: ScriptedModel, **more: Any) -> SQLAgent:
    return SQLAgent(folder / "shop.db", model=model, examples=folder / "home" / "examples", **more)


def lost_keys(old: Any, new: Any, path: str = "") -> set[str]:
    """Keys of old JSON that new JSON of the same kind has not."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        lost = {f"{path}.{key}" for key in old.keys() - new.keys()}
        return lost.union(*(lost_keys(old[key], new[key], f"{path}.{key}") for key in old.keys() & new.keys()))
    if isinstance(old, list) and isinstance(new, list) and old and new:
        return lost_keys(old[0], new[0], f"{path}[]")
    return set()


def ran(*words: str, given: str = "", code: int = 0) -> str:
    done = tableturn(*words, given=given)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def test_a_programs_conversation_goes_on(folder: Path, saver: SqliteSaver, expected: dict[str, Any]) -> None:
    model = writes(CITIES)
    with opened(folder, model, checkpointer=saver) as agent:
        chat = agent.conversation("told")
        last, why = chat.last(), chat.why()
        assert last is not None
        assert why is not None
        told, old = json.loads(last.to_json()), expected["told"]
        assert lost_keys(old, told) == set()
        for key in ("question", "sql", "columns", "rows", "status", "text", "confidence", "attempts", "usage"):
            assert told[key] == old[key], key
        assert chat.ask("And their cities?").rows == (("Paris",), ("Lyon",))
        assert "Which of all the customers are big customers?" in model.prompts[-1]
        assert BIG in model.prompts[-1]
        state = agent.graph.get_state({"configurable": {"thread_id": "told"}}).values
        assert state["version"] == len(UPGRADES)
        assert chat.undo()
        before = chat.last()
        assert before is not None
        assert before.sql == BIG


async def test_it_goes_on_without_blocking(folder: Path) -> None:
    model = writes(CITIES)
    async with AsyncSqliteSaver.from_conn_string(str(folder / "program.sqlite")) as saver:
        with opened(folder, model, checkpointer=saver) as agent:
            assert (await agent.conversation("told").aask("And their cities?")).rows == (("Paris",), ("Lyon",))
            assert BIG in model.prompts[-1]
            answer = await agent.conversation("approve").aask({"action": "approve"})
    assert answer.rows == (("Ada",), ("Cy",))


async def test_a_conversation_of_a_newer_version_is_left_alone(folder: Path, saver: SqliteSaver) -> None:
    model = writes(CITIES)
    with opened(folder, model, checkpointer=saver) as agent:
        config: Any = {"configurable": {"thread_id": "told"}}
        agent.graph.update_state(config, {"version": len(UPGRADES) + 1}, as_node="respond")
        chat = agent.conversation("told")
        for use in (chat.last, chat.why, lambda: chat.ask("And their cities?")):
            with pytest.raises(ConversationTooNew, match=r"newer version of tableturn .*: install that version"):
                use()
        with pytest.raises(ConversationTooNew):  # as Studio runs it
            agent.graph.invoke({"question": "And their cities?"}, config)
    assert model.prompts == []


def test_states_are_upgraded_step_by_step() -> None:
    steps = (
        lambda state: {"words": state["text"].split()},  # pyright: ignore
        lambda state: {"count": len(state["words"])},  # pyright: ignore
    )
    assert upgrade({"text": "a b"}, steps) == {"words": ["a", "b"], "count": 2, "version": 2}
    assert upgrade({"version": 1, "words": ["a"]}, steps) == {"count": 1, "version": 2}
    assert upgrade({"version": 2}, steps) == {}


def test_a_query_that_waits_is_approved(folder: Path, saver: SqliteSaver) -> None:
    model = writes("SELECT 0")
    with opened(folder, model, checkpointer=saver) as agent:
        answer = agent.conversation("approve").ask("approve")
    assert (answer.sql, answer.rows) == (PARIS, (("Ada",), ("Cy",)))
    assert model.prompts == []


def test_a_question_back_is_replied_to(folder: Path, saver: SqliteSaver) -> None:
    model = writes(CITIES)
    with opened(folder, model, checkpointer=saver) as agent:
        answer = agent.conversation("clarify").ask("2")
    assert (answer.question, answer.rows) == ("Show them", (("Paris",), ("Lyon",)))
    assert "by city" in model.prompts[-1]


def test_a_chat_goes_on(folder: Path) -> None:
    listed = tableturn("chat", *OFFLINE, given="/threads\n").stderr
    assert re.search(r"^  t  \(last used 2026-", listed, re.MULTILINE), listed
    said = ran("chat", *OFFLINE, "--thread", "t", "--json", given="And in Lyon?\n")
    assert json.loads(said)["rows"] == [[1]]


@pytest.mark.whole
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_servers_threads_go_on(kind: str, folder: Path, expected: dict[str, Any]) -> None:
    checkpoints, expected = "serve.sqlite", expected[kind]
    if kind == "postgresql":
        if problem := POSTGRES.unavailable():
            pytest.skip(problem)
        checkpoints = POSTGRES.make_database(f"compat_{uuid.uuid4().hex[:8]}")
        POSTGRES.run(checkpoints, (folder / "serve.sql").read_text("utf-8"))
    with serving(folder, checkpoints) as client:
        kept = client.get(f"/threads/{expected['thread']}").json()
        assert lost_keys(expected["kept"], kept) == set()
        (turn,), (old,) = kept["turns"], expected["kept"]["turns"]
        assert (turn["question"], turn["feedback"]) == (old["question"], old["feedback"])
        assert turn["answer"]["rows"] == old["answer"]["rows"] == [[2]]
        assert asked(client, expected["thread"], "And in Lyon?")["answer"]["rows"] == [[1]]
        decided = client.post(f"/threads/{expected['waiting']}/turns", json={"question": {"action": "approve"}}).json()
        assert decided["answer"]["rows"] == [[4]]
        assert {one["id"] for one in client.get("/threads").json()} == {expected["thread"], expected["waiting"]}


@pytest.mark.parametrize(("city", "rows"), [("Paris", (("Ada",), ("Cy",))), ("Lyon", (("Bo",),))])
def test_approved_and_corrected_answers_are_used_again(folder: Path, city: str, rows: tuple[Any, ...]) -> None:
    model = writes("SELECT 0")
    with opened(folder, model) as agent:
        answer = agent.ask(f"Who lives in {city}?")
    assert answer.rows == rows
    assert model.prompts == []
    assert f"Who lives in {city}?" in ran("examples", "list", "--store", "home/examples")


def test_definitions_and_notes_are_known(folder: Path) -> None:
    model = writes(PARIS)
    with opened(folder, model) as agent:
        agent.ask("Is any Paris customer a loyal customer?")
    assert "customers.city = 'Paris'" in model.prompts[-1]
    assert "has ordered more than once" in model.prompts[-1]
    ran("knowledge", "check", "--db", "shop.db")


def test_records_of_models_are_read(folder: Path) -> None:
    (offline,) = [one for one in json.loads(ran("models", "--json")) if one["model"] == "offline"]
    assert offline["n"] == 7


def test_bounds_of_trust_are_read(folder: Path) -> None:
    (bound,) = json.loads(ran("trust", "show", "--json"))
    assert (bound["model"], bound["labels"], bound["level"]) == ("offline", 2, 0.916)
    answer = json.loads(ran("ask", "How many customers are there?", *OFFLINE, "--json"))
    assert answer["trusted"] is not None or answer["trust_reason"]


def test_an_audit_trail_is_replayed_and_continued(folder: Path) -> None:
    trail = folder / "audit.jsonl"
    replayed = ran("impact", "--before", "shop.db", "--after", "shop.db", "--history", str(trail), "--json")
    assert (json.loads(replayed)["answers"], json.loads(replayed)["changed"]) == (5, [])
    ran("ask", "How many customers are there?", *OFFLINE, "--audit", str(trail))
    first, *_, last = map(json.loads, trail.read_text().splitlines())
    assert lost_keys(first, last) == set()


@pytest.mark.parametrize("file", ["settings.toml", "settings.json"])
def test_every_setting_is_accepted(folder: Path, file: str) -> None:
    said = ran("ask", "How many customers are there?", *OFFLINE, "--settings", file, "--json")
    assert json.loads(said)["rows"] == [[3]]


def test_ones_own_choices_and_permissions_hold(folder: Path) -> None:
    assert json.loads(ran("ask", "How many orders are there?")) == [{"COUNT(*)": 4}]
    who = ("--permissions", "people.toml", "--user")
    assert json.loads(ran("ask", "How many orders are there?", "--json", *who, "ada"))["rows"] == [[4]]
    ran("ask", "How many orders are there?", "--json", *who, "bo", code=1)


def test_a_run_is_shown_continued_compared_and_judged(folder: Path) -> None:
    before = json.loads((folder / "run" / "results.json").read_text())
    run = ("eval", "--dataset", "own.json", "--model", "offline", "--json", "--out")
    again = json.loads(ran(*run, "run"))
    assert again["strict"]["ex"] == before["strict"]["ex"]
    ran(*run, "other")
    lost = lost_keys(before, json.loads((folder / "other" / "results.json").read_text()))
    assert {key for key in lost if ".evidence." not in key} == set(), "what a confidence weighs is no key"
    ran("report", "run", "other", "--out", "report.html")
    assert "difference in EX +0.0" in (folder / "report.html").read_text()
    opinion = json.dumps({one: {"why": "So.", "verdict": "right", "class": ""} for one in ("first", "second")})
    with OpenAIServer([says(opinion)]) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "none")
        ran("judge", "run", "run", "--model", "openai:judge", "--base-url", server.base_url)
        assert server.requests


def test_a_trial_is_compared_with(folder: Path) -> None:
    before = json.loads((folder / "trial" / "results.json").read_text())
    ran("trial", *OFFLINE, "--questions", "questions.json", "--out", "trial")
    now = json.loads((folder / "trial" / "results.json").read_text())
    assert lost_keys(before, now) == {".by_question"}, "a turn is one of the `questions`, as in a run"
    assert (now["pass_rate"], now["compared"]["better"], now["compared"]["worse"]) == (before["pass_rate"], [], [])
