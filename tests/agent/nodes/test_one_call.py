"""Understanding and answering in one request, and where that takes a request of its own."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tableturn.agent import SQLAgent

from tests.support.openai_server import OpenAIServer, says
from tests.support.scripted import ScriptedModel, instead_of_sql, rephrased, task_of, writes

PARIS = "SELECT name FROM customers WHERE city = 'Paris'"
LYON = "SELECT name FROM customers WHERE city = 'Lyon'"
ALONE: dict[str, Any] = {"examples": "none"}


def by_question(prompt: str) -> str:
    """Asks back about "them", and writes the query of the city that is named last."""
    if "Show them" in prompt.rpartition("<question>")[2] and "<answered>" not in prompt:
        return instead_of_sql("ambiguous", "Which ones?", ["those in Paris", "all"])
    city = "Lyon" if prompt.rfind("Lyon") > prompt.rfind("Paris") else "Paris"
    return f"Question: Give me the customers in {city}.\n```sql\n{LYON if city == 'Lyon' else PARIS}\n```\nSure: 90"


def test_a_turn_takes_one_request_and_says_how_it_was_understood(shop: Path) -> None:
    model = ScriptedModel(script=by_question)
    with SQLAgent(shop, model=model, settings=ALONE) as agent:
        chat = agent.conversation()
        chat.ask("Who lives in Paris?")
        answer = chat.ask("and in Lyon?")
        past = agent.graph.get_state({"configurable": {"thread_id": chat.thread}}).values["turns"]
    assert len(model.prompts) == 2
    assert (answer.sql, answer.rephrased, answer.intent) == (LYON, "Give me the customers in Lyon.", "answerable")
    assert answer.self_contained
    assert past[-1]["rephrased"] == "Give me the customers in Lyon."


def test_a_reply_that_was_asked_for_other_words_and_gave_none_leaves_the_question_as_it_is(shop: Path) -> None:
    with SQLAgent(shop, model=writes(PARIS, LYON), settings=ALONE) as agent:
        chat = agent.conversation()
        first, second = chat.ask("Who lives in Paris?"), chat.ask("and in Lyon?")
    assert (first.self_contained, second.self_contained) == (True, True)
    assert (second.sql, second.rephrased) == (LYON, "and in Lyon?")


def test_values_of_the_question_before_are_at_hand_and_not_asked_for(shop: Path) -> None:
    model = writes(PARIS, "SELECT count(*) FROM customers")
    with SQLAgent(shop, model=model, settings=ALONE) as agent:
        chat = agent.conversation()
        chat.ask("Who lives in Paris?")
        answer = chat.ask("How many are there?")
    assert "customers.city = 'Paris'" in model.prompts[1]
    assert len(answer.attempts) == 1, "no check wants Paris in it"


def test_a_clarified_question_is_linked_again_and_answered_in_one_request(shop: Path) -> None:
    model = ScriptedModel(script=by_question)
    with SQLAgent(shop, model=model, settings=ALONE) as agent:
        chat = agent.conversation()
        asked = chat.ask("Show them")
        assert (asked.status, asked.choices) == ("needs_clarification", ("those in Paris", "all"))
        answer = chat.ask("1")
        after = chat.ask("and in Lyon?")
    assert (answer.status, answer.question, answer.sql) == ("converged", "Show them", PARIS)
    assert answer.usage.llm_calls == 2
    assert "customers.city = 'Paris'" in model.prompts[1]
    assert "Do not ask back again" in model.prompts[1]
    assert (after.sql, "<answered>" in model.prompts[2]) == (LYON, False), "the next turn starts clean"


def test_who_asks_back_again_is_told_not_to(shop: Path) -> None:
    replies = iter([instead_of_sql("ambiguous", "Which?"), instead_of_sql("ambiguous", "But which?"), PARIS])
    with SQLAgent(shop, model=(model := ScriptedModel(script=lambda prompt: next(replies))), settings=ALONE) as agent:
        chat = agent.conversation()
        chat.ask("Show them")
        assert chat.ask("you know").sql == PARIS
    assert "take the likeliest reading" in model.prompts[-1]


@pytest.mark.parametrize("intent", ["ambiguous", "unanswerable", "small_talk"])
def test_where_every_question_is_answered_nothing_else_is_offered(shop: Path, intent: str) -> None:
    replies = iter([instead_of_sql(intent, "Hm."), PARIS])
    model = ScriptedModel(script=lambda prompt: next(replies))
    with SQLAgent(shop, model=model, settings=ALONE | {"clarify": False}) as agent:
        assert agent.ask("Show them").sql == PARIS
    assert "Cannot answer" not in model.prompts[0]
    assert "Always give a query" in model.prompts[0]


@pytest.mark.parametrize("reason", ["pot", "code_blocks"])
def test_a_reply_that_was_to_be_code_may_ask_back_too(shop: Path, reason: str) -> None:
    with SQLAgent(shop, model=ScriptedModel(script=by_question), settings=ALONE | {"reason": reason}) as agent:
        answer = agent.ask("Show them")
    assert (answer.status, answer.text) == ("needs_clarification", "Which ones?")


def test_most_of_several_drafts_decide_whether_to_decline(shop: Path) -> None:
    def answer(*replies: str) -> Any:
        left = list(replies)
        model = ScriptedModel(script=lambda prompt: left.pop(0))
        with SQLAgent(shop, model=model, settings=ALONE | {"candidates": 3, "candidate_reasoning": False}) as agent:
            return agent.ask("Who lives in Paris?")

    no = "Cannot answer: there is no such thing."
    assert answer(no, PARIS, no).status == "unanswerable"
    assert answer(no, PARIS, PARIS).sql == PARIS


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("How is the weather in Paris?", "The data can't answer this. The model's reason: "),
        ("Wie ist das Wetter in Paris?", "Das lässt sich aus den Daten nicht beantworten. Grund laut Modell: "),
    ],
)
def test_what_the_data_lacks_is_told_in_a_sentence(shop: Path, question: str, begins: str) -> None:
    model = ScriptedModel(script=lambda prompt: "Cannot answer: weather data.")
    with SQLAgent(shop, model=model, settings=ALONE) as agent:
        chat = agent.conversation()
        assert chat.ask(question).text == f"{begins}weather data."
        chat.ask("And in Lyon?")
    assert begins not in model.prompts[-1], "the model reads its own words"


def test_several_drafts_may_ask_back_and_are_written_anew(shop: Path) -> None:
    settings = ALONE | {"candidates": 2, "candidate_reasoning": False}
    with SQLAgent(shop, model=ScriptedModel(script=by_question), settings=settings) as agent:
        chat = agent.conversation()
        assert chat.ask("Show them").status == "needs_clarification"
        answer = chat.ask("those in Paris")
    assert (answer.sql, len(answer.attempts)) == (PARIS, 2)


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        *((reply, "the day of shipping") for reply in ("2", "2.", "the second", "Second one", "zweite", "Option 2")),
        ("shipping", "the day of shipping"),
        ("The day of ordering.", "the day of ordering"),
        ("the day", "the day"),
        ("the year 2", "the year 2"),
    ],
)
def test_a_reply_may_name_a_choice_in_many_ways(shop: Path, reply: str, read: str) -> None:
    asked = "Ask back: Which date do you mean?\n1. the day of ordering\n2. the day of shipping"
    model = ScriptedModel(script=lambda prompt: PARIS if "<answered>" in prompt else asked)
    with SQLAgent(shop, model=model, settings=ALONE) as agent:
        chat = agent.conversation()
        chat.ask("Show them")
        assert "There is no choice 3" in chat.ask("the third one").text
        assert chat.ask(reply).sql == PARIS
    assert f"<answered>\n{read}\n</answered>" in model.prompts[-1]
    offered = "Which date do you mean? (the day of ordering; the day of shipping)"
    assert (offered in model.prompts[-1]) == (read == reply), "other words may point at what was offered"


def test_rephrase_always_asks_first(shop: Path) -> None:
    def script(prompt: str) -> str:
        return rephrased("Give me the customers in Paris.") if task_of(prompt) == "rephrase" else PARIS

    model = ScriptedModel(script=script)
    with SQLAgent(shop, model=model, settings=ALONE | {"rephrase": "always"}) as agent:
        answer = agent.ask("Who lives in Paris?")
    assert [task_of(prompt) for prompt in model.prompts] == ["rephrase", "sql"]
    assert "Ask back" not in model.prompts[1]
    assert answer.rephrased == "Give me the customers in Paris."


def test_a_later_turn_over_a_schema_too_large_to_show_is_understood_first(tmp_path: Path) -> None:
    path = tmp_path / "large.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        for table in range(12):
            connection.execute(f"CREATE TABLE t{table} ({', '.join(f'c{table}_{n}' for n in range(40))})")
    with SQLAgent(path, model=(model := writes("SELECT c1_1 FROM t1")), settings=ALONE) as agent:
        chat = agent.conversation()
        chat.ask("What is c1_1 of t1?")
        chat.ask("and c1_2?")
    tasks = [task_of(prompt) for prompt in model.prompts]
    assert tasks[0] == "sql"
    assert tasks.count("rephrase") == 1


def test_prompts_begin_alike_from_question_to_question(shop: Path) -> None:
    model = writes(PARIS)
    with SQLAgent(shop, model=model, settings=ALONE) as agent:
        agent.ask("Who lives in Paris?")
        agent.ask("What is the total of all orders placed in 2024?")
    first, second = (prompt.partition("</schema>") for prompt in model.prompts)
    assert first[0] == second[0]


def test_the_date_is_told_unless_it_is_not_to_be(shop: Path) -> None:
    for today, told in (("clock", True), ("none", False)):
        with SQLAgent(shop, model=(model := writes(PARIS)), settings=ALONE | {"today": today}) as agent:
            agent.ask("Who lives in Paris?")
        assert ("Today is " in model.prompts[0]) is told


@pytest.mark.parametrize(
    "reply",
    [
        f"Question: Who lives in Paris?\n```sql\n{PARIS};\n```\nSure: 95",
        f"Sure! Here is the SQL:\n\n```\n{PARIS}\n```\nThis lists the customers who live in Paris.",
        json.dumps({"question": "Who lives in Paris?", "sure": 95, "sql": PARIS}),
        f"**Question:** Who lives in Paris?\n**Sure:** 95\n**SQL:** {PARIS}",
        f"<think>the city column</think>{PARIS}",
    ],
)
def test_strong_and_sloppy_models_behind_a_server(shop: Path, reply: str) -> None:
    with OpenAIServer([says(reply)]) as server:
        with SQLAgent(shop, model="openai:some", base_url=server.base_url, settings=ALONE) as agent:
            answer = agent.ask("Who lives in Paris?")
        assert len(server.requests) == 1
    assert (answer.status, answer.rows) == ("converged", (("Ada",), ("Cy",)))


@pytest.mark.parametrize(("preset", "requests"), [("full", 1), ("revision", 2)])
def test_without_rephrasing_only_a_paper_simplifies_by_a_request(shop: Path, preset: Any, requests: int) -> None:
    model = ScriptedModel(script=lambda _prompt: f"```sql\n{PARIS}\n```")
    settings: dict[str, Any] = ALONE | {"rephrase": "never", "max_attempts": 1}
    with SQLAgent(shop, model=model, preset=preset, settings=settings) as agent:
        agent.ask("Who lives in Paris?")
    assert len(model.prompts) == requests


@pytest.mark.parametrize("intent", ["ambiguous", "unanswerable"])
def test_a_revision_that_gives_no_query_lets_the_query_stand(shop: Path, intent: str) -> None:
    drafts = iter([f"```sql\n{PARIS} AND id < 0\n```\nSure: 90", instead_of_sql(intent, "No dates are there.")])
    model = ScriptedModel(script=lambda _prompt: next(drafts))
    with SQLAgent(shop, model=model, settings=ALONE | {"clarify": True, "gate": False}) as agent:
        answer = agent.ask("Who lived in Paris?")
    assert len(model.prompts) == 2
    assert "Here only a query is an answer" in model.prompts[-1]
    assert (answer.status, answer.sql) == ("converged", f"{PARIS} AND id < 0")
    assert answer.certainty == "unsure: the model says “No dates are there.”"
