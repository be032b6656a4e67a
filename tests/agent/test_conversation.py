"""Turns: what a later one knows of earlier ones, what is reset, asking back, and keeping conversations apart."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, MessagesState, StateGraph
from tableturn.agent import SQLAgent, TableturnError, build_graph
from tableturn.tools.errors import SettingsError

from tests.support.scripted import ScriptedModel, instead_of_sql, rephrased, task_of, writes

PARIS = "SELECT name FROM customers WHERE city = 'Paris'"


def by_number() -> ScriptedModel:
    """Answers "number N" with a query that returns N, and nothing else of the conversation."""

    def script(prompt: str) -> str:
        number = re.findall(r"<question>\s*number (\d+)", prompt)[-1]
        return rephrased(f"Give me number {number}.") if task_of(prompt) == "rephrase" else f"SELECT {number} AS n"

    return ScriptedModel(script=script, delay=0.002)


def test_earlier_turns_reach_later_prompts(shop: Path) -> None:
    model = writes(PARIS)
    with SQLAgent(shop, model=model, settings={"examples": "none"}) as agent:
        chat = agent.conversation()
        chat.ask("Who lives in Paris?")
        chat.ask("Only those called Ada")
    later = [prompt for prompt in model.prompts if "Only those called Ada" in prompt]
    assert later
    assert all("Who lives in Paris?" in prompt or PARIS in prompt for prompt in later)


def test_a_turn_that_failed_is_no_empty_result_to_later_ones(shop: Path) -> None:
    broken = "SELECT nme FROM customers"
    with SQLAgent(shop, model=(model := writes(broken)), settings={"examples": "none"}) as agent:
        chat = agent.conversation()
        assert chat.ask("Who is there?").status == "failed"
        before = len(model.prompts)
        chat.ask("And in Paris?")
    later = "\n".join(model.prompts[before:])
    assert "no rows" not in later
    assert "No query for this question ran: no such column: nme" in later


def test_the_window_holds_five_turns(shop: Path) -> None:
    with SQLAgent(shop, model=by_number(), settings={"examples": "none"}) as agent:
        chat = agent.conversation()
        for number in range(8):
            chat.ask(f"number {number}")
        state = agent.graph.get_state({"configurable": {"thread_id": chat.thread}}).values
    assert [turn["question"] for turn in state["turns"]] == [f"number {number}" for number in range(3, 8)]
    assert len(state["messages"]) == 16, "the chat itself is kept whole"


def test_a_turn_starts_clean(shop: Path) -> None:
    model = writes("SELECT nme FROM customers", PARIS, "SELECT city FROM customers")
    with SQLAgent(shop, model=model, settings={"examples": "none"}) as agent:
        chat = agent.conversation()
        first, second = chat.ask("one"), chat.ask("two")
    assert (len(first.attempts), len(second.attempts)) == (2, 1)
    assert second.usage.llm_calls == 1
    assert second.rows[0] == ("Paris",)


def test_the_state_is_plain_json(shop: Path) -> None:
    with SQLAgent(shop, model=writes("SELECT x'00ff' AS b, 9e999 AS i, NULL AS n, 'é' AS t")) as agent:
        chat = agent.conversation()
        answer = chat.ask("one")
        values = dict(agent.graph.get_state({"configurable": {"thread_id": chat.thread}}).values)
    values.pop("messages")
    assert json.loads(json.dumps(values, allow_nan=False)) == values
    assert answer.rows == (("x'00FF'", "Infinity", None, "é"),)


@pytest.mark.parametrize("number", ["170141183460469231731687303715884105727", "-9223372036854775809"])
def test_an_integer_of_more_than_64_bits_is_told_in_its_digits(tmp_path: Path, number: str) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "large.duckdb")) as made:
        made.execute(f"CREATE TABLE t AS SELECT {number}::HUGEINT AS n")
    with SQLAgent(tmp_path / "large.duckdb", model=writes("SELECT n FROM t")) as agent:
        conversation = agent.conversation()
        answers = [conversation.ask("What is n?"), conversation.ask("And again?")]
    assert [answer.rows for answer in answers] == [((number,),)] * 2


def test_an_ambiguous_question_is_asked_back_and_resumed(shop: Path) -> None:
    said: list[str] = []

    def script(prompt: str) -> str:
        if "by city" in prompt:
            said.append(prompt)
            return f"Question: Give me the customers of Paris.\n{PARIS}"
        return instead_of_sql("ambiguous", "Which ones do you mean?", ["by name", "by city"])

    with SQLAgent(shop, model=ScriptedModel(script=script)) as agent:
        chat = agent.conversation()
        asked_back = chat.ask("Show them")
        assert (asked_back.status, asked_back.text) == ("needs_clarification", "Which ones do you mean?")
        assert asked_back.choices == ("by name", "by city")
        assert asked_back.usage.llm_calls == 1
        answer = chat.ask("2")
        messages = agent.graph.get_state({"configurable": {"thread_id": chat.thread}}).values["messages"]
    assert answer.status == "converged"
    assert answer.question == "Show them"
    assert said, "the choice's words reach the prompt"
    assert [message.text for message in messages][:3] == ["Show them", "Which ones do you mean?", "by city"]


def asking_back(*choices: str) -> ScriptedModel:
    """Asks back once, and then understands."""

    def script(prompt: str) -> str:
        return PARIS if "Which ones?" in prompt else instead_of_sql("ambiguous", "Which ones?", choices)

    return ScriptedModel(script=script)


@pytest.mark.parametrize("useless", ["", "  ", "0", "3", "99"])
def test_a_reply_that_says_nothing_is_asked_for_again(shop: Path, useless: str) -> None:
    model = asking_back("by name", "by city")
    with SQLAgent(shop, model=model, settings={"examples": "none"}) as agent:
        chat = agent.conversation()
        chat.ask("Show them")
        for _ in range(2):
            again = chat.ask(useless)
            assert again.status == "needs_clarification"
            assert again.text.endswith("Which ones?")
            assert again.choices == ("by name", "by city")
        assert len(model.prompts) == 1
        assert chat.ask("2").status == "converged"
        messages = agent.graph.get_state({"configurable": {"thread_id": chat.thread}}).values["messages"]
    assert [message.text for message in messages][1:3] == ["Which ones?", "by city"]


@pytest.mark.parametrize(("choices", "said"), [((), "3"), (("5", "10"), "10"), (("a", "b"), "2020")])
def test_a_number_may_be_the_answer(shop: Path, choices: tuple[str, ...], said: str) -> None:
    with SQLAgent(shop, model=asking_back(*choices), settings={"examples": "none"}) as agent:
        chat = agent.conversation()
        chat.ask("Show them")
        assert chat.ask(said).status == "converged"
        messages = agent.graph.get_state({"configurable": {"thread_id": chat.thread}}).values["messages"]
    assert messages[2].text == said


def test_the_json_form_has_the_choices_in_its_text(shop: Path) -> None:
    with SQLAgent(shop, model=asking_back("by name", "by city"), settings={"examples": "none"}) as agent:
        answer = agent.ask("Show them")
    assert answer.text == "Which ones?"
    assert answer.to_dict()["text"] == "Which ones?\n1. by name\n2. by city"


@pytest.mark.parametrize("pending", [True, False])
def test_what_is_neither_words_nor_fields_is_refused(shop: Path, pending: bool) -> None:
    nothing: Any = None
    with SQLAgent(shop, model=asking_back("by name", "by city"), settings={"examples": "none"}) as agent:
        chat = agent.conversation()
        if pending:
            chat.ask("Show them")
        with pytest.raises(TableturnError, match="not None"):
            chat.ask(nothing)
        if pending:
            assert chat.ask("1").status == "converged", "the turn still waits"


def test_asking_back_is_off_for_evaluations(shop: Path) -> None:
    settings = {"clarify": False, "rephrase": "always"}
    with SQLAgent(shop, model=writes(PARIS), settings=settings) as agent:
        assert agent.ask("Show them").status == "converged"


@pytest.mark.parametrize("intent", ["unanswerable", "small_talk"])
def test_what_cannot_be_answered_is_declined(shop: Path, intent: str) -> None:
    model = writes(PARIS, intent=intent)
    with SQLAgent(shop, model=model) as agent:
        answer = agent.ask("What is the weather?")
    assert (answer.status, answer.intent, answer.sql) == ("unanswerable", intent, None)
    assert len(model.prompts) == 1, "no SQL is asked for"


def test_one_run_may_change_settings(shop: Path) -> None:
    with SQLAgent(shop, model=writes("SELECT id FROM orders"), settings={"examples": "none", "rows": 3}) as agent:
        chat = agent.conversation()
        assert chat.ask("one", settings={"rows": 1}).row_count == 1
        assert chat.ask("two").row_count == 3


async def test_async_gives_the_same(shop: Path) -> None:
    settings = {"examples": "none"}
    with SQLAgent(shop, model=writes("SELECT nme FROM customers", PARIS), settings=settings) as agent:
        one = agent.ask("Who?")
    with SQLAgent(shop, model=writes("SELECT nme FROM customers", PARIS), settings=settings) as agent:
        other = await agent.aask("Who?")
    assert _timeless(one.to_dict()) == _timeless(other.to_dict())


def _timeless(answer: dict[str, object]) -> dict[str, object]:
    usage = answer["usage"]
    assert isinstance(usage, dict)
    return answer | {"usage": {**usage, "seconds": 0}}


async def test_fifty_conversations_do_not_mix(shop: Path) -> None:
    with SQLAgent(shop, model=by_number(), settings={"examples": "none"}) as agent:

        async def talk(person: int) -> list[int]:
            chat = agent.conversation()
            rows = [(await chat.aask(f"number {person * 100 + turn}")).rows for turn in range(3)]
            return [int(str(row[0][0])) for row in rows]

        heard = await asyncio.gather(*(talk(person) for person in range(50)))
    assert heard == [[person * 100 + turn for turn in range(3)] for person in range(50)]


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_any_checkpointer_keeps_a_conversation(shop: Path, tmp_path: Path, kind: str) -> None:
    with SqliteSaver.from_conn_string(str(tmp_path / "threads.sqlite")) as saver:
        checkpointer = saver if kind == "sqlite" else InMemorySaver()
        for question in ("number 1", "number 2"):
            with SQLAgent(shop, model=by_number(), checkpointer=checkpointer) as agent:
                chat = agent.conversation("kept")
                chat.ask(question)
                turns = agent.graph.get_state({"configurable": {"thread_id": "kept"}}).values["turns"]
    assert [turn["question"] for turn in turns] == ["number 1", "number 2"]


async def test_an_async_checkpointer_works(shop: Path, tmp_path: Path) -> None:
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "threads.sqlite")) as saver:
        with SQLAgent(shop, model=by_number(), checkpointer=saver) as agent:
            chat = agent.conversation("kept")
            assert (await chat.aask("number 7")).rows == ((7,),)


async def test_a_checkpointer_that_only_blocks_serves_turns_that_are_awaited(shop: Path, tmp_path: Path) -> None:
    with (
        SqliteSaver.from_conn_string(str(tmp_path / "threads.sqlite")) as saver,
        SQLAgent(shop, model=by_number(), checkpointer=saver) as agent,
    ):
        chat = agent.conversation("kept")
        assert [(await chat.aask(f"number {n}")).rows for n in (7, 8)] == [((7,),), ((8,),)]
        assert [event.kind async for event in chat.astream("number 9")][-1] == "answer"
        assert len(agent.graph.get_state({"configurable": {"thread_id": "kept"}}).values["turns"]) == 3
        assert (await agent.aask("number 7")).rows == ((7,),)
        await agent.adelete_thread("kept")
        assert list(saver.list(None)) == []


def test_a_turn_can_be_watched(shop: Path) -> None:
    with SQLAgent(shop, model=writes("SELECT nme FROM customers", PARIS)) as agent:
        events = list(agent.conversation().stream("Who?"))
    assert [event.name for event in events if event.kind == "node"] == [
        "rephrase", "link", "retrieve", "generate", "execute", "critique", "revise", "execute", "critique", "respond",
    ]  # fmt: skip
    executed = [event.data for event in events if event.name == "executed"]
    assert [data["row_count"] for data in executed] == [None, 2]
    assert any("attempts" in event.data for event in events if event.name == "execute")
    assert events[-1].answer is not None
    assert events[-1].answer.rows == (("Ada",), ("Cy",))


async def test_a_turn_can_be_watched_asynchronously(shop: Path) -> None:
    with SQLAgent(shop, model=writes(PARIS)) as agent:
        kinds = [event.kind async for event in agent.conversation().astream("Who?")]
    assert kinds[-1] == "answer"
    assert {"progress", "node"} <= set(kinds)


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
async def test_a_parent_graph_runs_it_in_every_way(shop: Path, way: str) -> None:
    with SQLAgent(shop, model=writes(PARIS)) as agent:
        builder = StateGraph(MessagesState)
        builder.add_node("ask", build_graph(agent.resources))
        builder.add_edge(START, "ask")
        parent: Any = builder.compile()
        given = {"messages": [HumanMessage("Who?")]}
        if way == "invoke":
            messages = parent.invoke(given)["messages"]
        elif way == "ainvoke":
            messages = (await parent.ainvoke(given))["messages"]
        elif way == "stream":
            messages = list(parent.stream(given))[-1]["ask"]["messages"]
        else:
            messages = [part async for part in parent.astream(given)][-1]["ask"]["messages"]
    assert "Ada, Cy" in messages[-1].text


async def test_every_way_gives_the_same_and_a_question_of_its_own_leaves_no_thread(shop: Path) -> None:
    with SQLAgent(shop, model=writes(PARIS), checkpointer=(saver := InMemorySaver())) as agent:
        asked = [agent.ask("Who?"), await agent.aask("Who?")]  # blocking within a running loop, as in a notebook
        asked += [event.answer for event in agent.stream("Who?") if event.answer]
        asked += [event.answer async for event in agent.astream("Who?") if event.answer]
    assert [(answer.rows, answer.thread) for answer in asked] == [((("Ada",), ("Cy",)), "")] * 4
    assert not saver.storage


@pytest.mark.parametrize("question", ["", "  ", None])
def test_what_is_no_question_is_told(shop: Path, question: Any) -> None:
    with SQLAgent(shop, model="offline") as agent:
        with pytest.raises(TableturnError, match=r"the question (is empty|must be text)"):
            agent.ask(question)
        with pytest.raises(SettingsError, match="approve takes an answer, as agent"):
            agent.approve(question)
