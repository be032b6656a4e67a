"""Answers that a person approves become examples of their database."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from tableturn.agent import Answer, SQLAgent
from tableturn.agent.model.track_record import read_records
from tableturn.tools.errors import ExampleRefused, ExampleStoreError, SettingsError, TableturnError
from tableturn.tools.examples import ExampleStore, database_identity

from tests.support.scripted import ScriptedModel, task_of, writes
from tests.tools.examples.conftest import chroma_server

PARIS = "SELECT name FROM customers WHERE city = 'Paris'"
NEAR = "Give me all the people of Nimbus."
"""A question near those that are approved here, and equal to none."""
LYON = "SELECT name FROM customers WHERE city = 'Lyon'"
COUNT = "SELECT count(*) FROM customers"


def told(question: str, sql: str) -> ScriptedModel:
    """A model that makes every question this one."""

    def script(prompt: str) -> str:
        return f"Question: {question}\n```sql\n{sql}\n```"

    return ScriptedModel(script=script)


def kept(store: Path | str) -> list[dict[str, Any]]:
    with ExampleStore.open(store) as opened:
        return [
            {"question": hit.example.question, "sql": hit.example.sql, "shared": hit.example.shared}
            for hit in opened.list()
        ]


def test_an_approved_answer_is_found_by_the_next_process_and_by_its_own_database_alone(
    shop: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    other = Path(shutil.copy(shop, tmp_path / "other" / shop.name))
    place = tmp_path / "store"
    with SQLAgent(shop, model=told("Give me Nimbus people.", PARIS), examples=place) as agent:
        answer = agent.ask("Who is in Nimbus?")
        assert not place.exists(), "looking for examples makes no store"
        saved = agent.approve(answer)
        assert (saved.new, saved.example.source, saved.example.shared) == (True, "approved", False)
        assert (saved.example.question, saved.example.sql) == ("Give me Nimbus people.", PARIS)
        assert saved.example.schema.startswith("Database shop")
        assert agent.approve(answer).new is False
        assert "Nimbus people" in _shown(agent, NEAR), "at once"
    with ExampleStore.open(place) as store:
        (hit,) = store.list()
        assert hit.example.added is not None
    near, other_near, far = (
        _shown(SQLAgent(path, model=writes(PARIS), examples=place), question)
        for path, question in ((shop, NEAR), (other, NEAR), (shop, "Who?"))
    )
    assert ["Nimbus people" in prompt for prompt in (near, other_near, far)] == [True, False, False]
    assert "asked of this database, with SQL that a person approved" in near
    assert "asked of other data" in far, "the built-in examples are there besides"


def _shown(agent: SQLAgent, question: str) -> str:
    """The prompt that asks for SQL."""
    model = writes(PARIS)
    with SQLAgent(
        agent.resources.database, model=model, examples=agent.resources.examples.open_store_for_saving()
    ) as other:
        other.ask(question)
    return next(prompt for prompt in model.prompts if task_of(prompt) == "sql")


async def test_async_saves_too(shop: Path, tmp_path: Path) -> None:
    with SQLAgent(shop, model=writes(PARIS), examples=tmp_path / "store") as agent:
        assert (await agent.aapprove(await agent.aask("Who lives in Paris?"))).new


def test_a_note_says_that_approved_answers_were_shown(shop: Path, tmp_path: Path) -> None:
    with SQLAgent(shop, model=writes(PARIS), examples=tmp_path / "store") as agent:
        first = agent.ask("Who lives in Paris?")
        agent.approve(first)
        assert not any("approved example" in note for note in first.notes)
        again = agent.ask("Who lives there, in Paris?")
        assert "the model was shown 1 approved example of this database" in again.notes


def test_an_approved_answer_counts_once_for_its_model(shop: Path, tmp_path: Path) -> None:
    file = tmp_path / "models.jsonl"
    model = told("Give me Nimbus people.", PARIS)
    with SQLAgent(shop, model=model, examples=tmp_path / "store", settings={"record": str(file)}) as agent:
        answer = agent.ask("Who is in Nimbus?", settings={"record": str(tmp_path / "elsewhere.jsonl")})
        agent.approve(answer)
        agent.approve(answer)
    (found,) = read_records(file)
    assert (found.model, found.database, found.n) == (answer.model, "shop", 1)
    assert (found.right_gold, found.right_verdict) == (None, 1)
    assert (found.calls, found.prompt_tokens) == (answer.usage.llm_calls, answer.usage.prompt_tokens)
    assert not (tmp_path / "elsewhere.jsonl").exists(), "a run names no file to be written"


@pytest.mark.parametrize("setting", ["", "off"])
def test_approvals_are_recorded_in_the_data_folder_or_nowhere(
    setting: str, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TABLETURN_HOME", str(tmp_path / "home"))
    model = told("Give me all.", PARIS)
    with SQLAgent(shop, model=model, examples=tmp_path / "store", settings={"record": setting}) as agent:
        agent.approve(agent.ask("Who is in Nimbus?"))
    assert (tmp_path / "home" / "models.jsonl").exists() is (setting == "")


def test_a_data_folder_that_cannot_be_written_costs_an_approval_nothing(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").write_text("a file where the folder would be")
    monkeypatch.setenv("TABLETURN_HOME", str(tmp_path / "home"))
    with SQLAgent(shop, model=told("Give me all.", PARIS), examples=tmp_path / "store") as agent:
        assert agent.approve(agent.ask("Who is in Nimbus?")).new


@pytest.mark.parametrize(
    ("preset", "selector"),
    [("full", "skeleton"), ("full", "draft"), ("full", "random"), ("credit", "voted"), ("craft", "question"),
     ("revision", "skeleton")],
)  # fmt: skip
def test_every_way_of_choosing_shows_it(shop: Path, preset: str, selector: str) -> None:
    settings = {"examples": selector, "reason": "off"}
    model = writes(PARIS)
    with (
        ExampleStore.open() as store,
        SQLAgent(shop, model=model, preset=preset, settings=settings, examples=store) as agent,
    ):
        agent.approve(agent.ask("Who lives in Paris?"), question="Give me the Nimbus people.")
        model.prompts.clear()
        agent.ask(NEAR)
        shown = PARIS if preset == "revision" else "Nimbus people"  # that paper's prompt shows the SQL alone
        assert any(shown in prompt for prompt in model.prompts if task_of(prompt) == "sql")


def test_the_question_of_a_later_turn_is_kept_self_contained(shop: Path, tmp_path: Path) -> None:
    place = tmp_path / "store"
    with SQLAgent(shop, model="offline", examples=place) as agent:
        chat = agent.conversation()
        chat.ask("Show the names of the customers")
        answer = chat.ask("Only those in Paris")
        with pytest.raises(ExampleRefused, match=re.escape(repr(answer.rephrased))):
            agent.approve(answer)
        with pytest.raises(ExampleRefused, match="can be understood alone"):
            agent.correct(answer, "SELECT name FROM customers WHERE city = 'Lyon'")
        assert agent.list_lessons() == ()
        saved = agent.approve(answer, question=answer.rephrased)
    assert saved.example.question == answer.rephrased != "Only those in Paris"
    assert "Paris" in saved.example.question
    assert "name" in saved.example.question


def test_what_was_not_rephrased_needs_words_of_its_own(shop: Path, tmp_path: Path) -> None:
    with SQLAgent(shop, model=writes(PARIS), preset="craft", settings={"reason": "off"}, examples=tmp_path) as agent:
        chat = agent.conversation()
        assert agent.approve(chat.ask("Who lives in Paris?")).example.question == "Who lives in Paris?"
        answer = chat.ask("And there?")
        with pytest.raises(ExampleRefused, match="'And there\\?' follows earlier questions"):
            agent.approve(answer)
        assert agent.approve(answer, question="Who is from Paris?").example.question == "Who is from Paris?"


def test_the_last_answer_to_a_question_counts(shop: Path, tmp_path: Path) -> None:
    place = tmp_path / "store"
    with SQLAgent(shop, model=told("Give me them.", PARIS), examples=place) as agent:
        agent.approve(agent.ask("Who?"))
    with SQLAgent(shop, model=told("Give me them.", LYON), examples=place) as agent:
        assert agent.approve(agent.ask("Who?")).replaced == 1
    assert kept(place) == [{"question": "Give me them.", "sql": LYON, "shared": False}]


@pytest.mark.parametrize(("first", "then"), [(False, True), (True, True), (True, False)])
def test_the_last_answer_counts_whether_shared_or_not(shop: Path, first: bool, then: bool) -> None:
    with ExampleStore.open() as store:
        for sql, shared in ((PARIS, first), (LYON, then)):
            with SQLAgent(shop, model=told("Give me them.", sql), examples=store) as agent:
                saved = agent.approve(agent.ask("Who?"), shared=shared)
                assert agent.approve(agent.ask("Who?"), shared=shared).replaced == 0
        assert saved.replaced == 1
        assert [(hit.example.sql, hit.example.shared) for hit in store.list()] == [(LYON, then)]


def test_what_other_databases_share_is_not_replaced(shop: Path, tmp_path: Path) -> None:
    other = Path(shutil.copy(shop, tmp_path / "elsewhere.db"))
    with ExampleStore.open() as store:
        for path, sql in ((shop, PARIS), (other, LYON)):
            with SQLAgent(path, model=told("Give me them.", sql), examples=store) as agent:
                assert agent.approve(agent.ask("Who?"), shared=True).replaced == 0
        assert store.count() == 2


def test_what_is_shared_is_shown_to_others(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = Path(shutil.copy(shop, tmp_path / "other" / "elsewhere.db"))
    with ExampleStore.open() as store:
        with SQLAgent(shop, model=told("Give me Nimbus people.", PARIS), examples=store) as agent:
            agent.approve(agent.ask("Who?"), shared=True)
        model = writes(PARIS)
        with SQLAgent(other, model=model, settings={"example_likeness": 0}, examples=store) as agent:
            agent.ask("Who?")
        assert any("Nimbus people" in prompt for prompt in model.prompts)


def test_an_answer_without_a_query_that_ran_is_refused_with_the_reason(shop: Path, tmp_path: Path) -> None:
    place = tmp_path / "store"

    def refused(model: ScriptedModel, reason: str, **settings: Any) -> None:
        with SQLAgent(shop, model=model, settings=settings, examples=place) as agent:
            answer = agent.ask("Who?")
            with pytest.raises(ExampleRefused, match=reason):
                agent.approve(answer)

    refused(writes("SELECT nothing FROM nowhere"), "it failed")
    refused(writes(PARIS, intent="unanswerable"), "the question was declined")
    refused(writes(PARIS, intent="ambiguous"), "it waits for your reply")
    refused(writes(PARIS), "it waits for your reply", approve=True)
    assert not place.exists()


def test_an_answer_of_another_database_is_refused(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = Path(shutil.copy(shop, tmp_path / "other" / shop.name))
    with SQLAgent(shop, model=writes(PARIS)) as agent, SQLAgent(other, model=writes(PARIS), examples=tmp_path) as to:
        answer = agent.ask("Who?")
        with pytest.raises(ExampleRefused, match="from another database"):
            to.approve(answer)


def test_sql_that_no_longer_runs_is_refused(shop: Path, tmp_path: Path) -> None:
    with SQLAgent(shop, model=writes(PARIS), examples=tmp_path / "store") as agent:
        answer = agent.ask("Who?")
        with closing(sqlite3.connect(shop)) as connection, connection:
            connection.execute("ALTER TABLE customers RENAME COLUMN city TO town")
        with pytest.raises(ExampleRefused, match="no such column: city"):
            agent.approve(answer)


def test_without_a_store_there_is_nowhere_to_save(shop: Path) -> None:
    with SQLAgent(shop, model=writes(PARIS)) as agent:
        answer = agent.ask("Who?")
        with pytest.raises(SettingsError, match="no example store to save in"):
            agent.approve(answer)


@pytest.mark.parametrize(
    "said",
    ["approve and save", "3", {"action": "approve", "save": True}, {"action": "edit", "sql": PARIS, "save": True}],
)
def test_approving_a_query_can_save_its_answer(shop: Path, tmp_path: Path, said: str | Mapping[str, Any]) -> None:
    place = tmp_path / "store"
    draft = LYON if isinstance(said, Mapping) and "sql" in said else PARIS
    settings = {"approve": True}
    with SQLAgent(shop, model=told("Give me them.", draft), settings=settings, examples=place) as agent:
        chat = agent.conversation()
        assert chat.ask("Who?").choices == ("approve", "reject", "approve and save")
        answer = chat.ask(said)
        assert answer.sql == PARIS
        assert any(note.startswith("saved as example ") for note in answer.notes)
    assert kept(place) == [{"question": "Give me them.", "sql": PARIS, "shared": False}]


def test_a_query_that_is_not_the_answer_is_not_saved(shop: Path, tmp_path: Path) -> None:
    place = tmp_path / "store"
    with SQLAgent(shop, model=writes("SELECT x FROM y", COUNT), settings={"approve": True}, examples=place) as agent:
        chat = agent.conversation()
        chat.ask("How many?")
        assert chat.ask({"action": "approve", "save": True}).sql == COUNT
        answer = chat.ask("approve")
    assert (answer.status, answer.sql) == ("converged", COUNT)
    assert not place.exists()


def test_a_query_that_fails_is_not_saved(shop: Path, tmp_path: Path) -> None:
    settings = {"approve": True, "max_attempts": 1}
    with SQLAgent(shop, model=writes("SELECT x FROM y"), settings=settings, examples=tmp_path / "store") as agent:
        chat = agent.conversation()
        chat.ask("Who?")
        answer = chat.ask("approve and save")
    assert answer.status == "failed"
    assert not (tmp_path / "store").exists()


def test_a_store_that_fails_costs_the_approved_turn_nothing(shop: Path) -> None:
    settings = {"approve": True, "examples": "none"}
    with SQLAgent(shop, model=writes(PARIS), settings=settings, examples="http://127.0.0.1:9") as agent:
        chat = agent.conversation()
        chat.ask("Who?")
        answer = chat.ask("approve and save")
    assert answer.status == "converged"
    assert any("127.0.0.1:9" in note for note in answer.notes)


def test_a_real_server_keeps_what_two_agents_approve(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = Path(shutil.copy(shop, tmp_path / "other" / shop.name))
    with chroma_server(tmp_path / "server") as (url, server):
        for path, question in ((shop, "Give me Nimbus people."), (other, "Give me Stratus people.")):
            with SQLAgent(path, model=told(question, PARIS), examples=url) as agent:
                assert agent.approve(agent.ask("Who?")).new
        model = writes(PARIS)
        with SQLAgent(shop, model=model, examples=url) as agent:
            agent.ask(NEAR)
            said = "\n".join(model.prompts)
            assert "Nimbus people" in said
            assert "Stratus people" not in said
            server.kill()
            server.wait(10)
            answer = agent.ask("Who?")
            assert answer.status == "converged"
            assert any(url in note for note in answer.notes)
            with pytest.raises(ExampleStoreError, match=url):
                agent.approve(answer)
    with SQLAgent(shop, model=writes(PARIS), examples=url) as late, pytest.raises(ExampleStoreError, match=url):
        late.ask("Who?")


@pytest.mark.parametrize(
    ("embedding", "message"),
    [("openai:text-embedding-3-small", "built with the embedding"), ("bert", "no embedding is called 'bert'")],
)
def test_another_embedding_than_the_stores_says_so(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, embedding: str, message: str
) -> None:
    with SQLAgent(shop, model=writes(PARIS), examples=tmp_path) as agent:
        agent.approve(agent.ask("Who?"))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with (
        pytest.raises(TableturnError, match=message),
        SQLAgent(shop, model=writes(PARIS), examples=tmp_path, embedding=embedding) as agent,
    ):
        agent.ask("Who?")


def test_an_answer_of_a_thread_can_be_approved_later(shop: Path, tmp_path: Path) -> None:
    def agent(saver: SqliteSaver) -> SQLAgent:
        return SQLAgent(shop, model=writes(PARIS), examples=tmp_path / "store", checkpointer=saver)

    with SqliteSaver.from_conn_string(str(tmp_path / "threads")) as saver, agent(saver) as first:
        assert first.conversation("mine").last() is None
        first.conversation("mine").ask("Who?")
    with SqliteSaver.from_conn_string(str(tmp_path / "threads")) as saver, agent(saver) as later:
        last = later.conversation("mine").last()
        assert isinstance(last, Answer)
        assert last.database == database_identity(later.resources.database)
        assert later.approve(last).new


def test_looking_for_examples_loads_no_vector_database_where_nothing_was_saved(shop: Path, tmp_path: Path) -> None:
    code = (
        "import sys, json\n"
        "from tableturn.agent import SQLAgent\n"
        "from tests.support.scripted import writes\n"
        f"with SQLAgent({str(shop)!r}, model=writes({PARIS!r}), examples={str(tmp_path / 'store')!r}) as agent:\n"
        "    agent.ask('Who?')\n"
        "print(json.dumps('chromadb' in sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(ran.stdout) is False
