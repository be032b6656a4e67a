"""A sentence belongs to its query, is filled when an answer is handed over, and is kept with its places."""

from __future__ import annotations

import json
import re
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from tableturn import Answer, SQLAgent
from tableturn.agent.audit import AuditTrail
from tableturn.prompts.find_sql import find_partial_sql

from ...support.scripted import ScriptedModel

BY_CITY = "SELECT city, count(*) AS customers FROM customers GROUP BY city ORDER BY customers DESC"
SAY = "In {city@customers.max} wohnen die meisten: {customers.max}."
FILLED = "In Paris wohnen die meisten: 2."
OWN = "Platz 1 von 2 (customers): Paris, 2."
ASKED = "Wo wohnen die Kunden?"


def reply(sql: str, say: str = "", sure: int = 90) -> str:
    return f"```sql\n{sql}\n```\n{f'Say: {say}' if say else ''}\nSure: {sure}"


def speaks(*replies: str) -> ScriptedModel:
    """A model that gives these replies one after the other, the last one for ever."""
    left = list(replies)
    return ScriptedModel(script=lambda _: left.pop(0) if len(left) > 1 else left[0])


def ask(shop: Path, *replies: str, question: str = ASKED, **settings: Any) -> Answer:
    with SQLAgent(shop, model=speaks(*replies), settings={"examples": "none", **settings}) as agent:
        return agent.ask(question)


def test_the_answer_begins_with_it_and_what_to_know_follows(shop: Path) -> None:
    assert ask(shop, reply(BY_CITY, SAY)).text == FILLED
    cut = ask(shop, reply(BY_CITY, "Zuerst kommt {city.first}."), rows=1)
    assert cut.text == "Zuerst kommt Paris. Nur die erste Zeile wird gezeigt."
    assert ask(shop, reply(BY_CITY, SAY), rows=1).text.startswith("City: Paris")
    assert ask(shop, reply(BY_CITY, "Es sind 17.")).text == OWN
    assert ask(shop, reply(BY_CITY)).text == OWN


def test_it_is_kept_with_its_places(shop: Path, tmp_path: Path) -> None:
    model, audit = speaks(reply(BY_CITY, SAY)), tmp_path / "audit.jsonl"
    with SQLAgent(shop, model=model, settings={"examples": "none"}, audit=AuditTrail(audit)) as agent:
        chat = agent.conversation()
        answer = chat.ask(ASKED)
        state = agent.graph.get_state({"configurable": {"thread_id": chat.thread}}).values
        again = chat.last()
        chat.ask("Und die Namen?")
    assert again is not None
    assert (answer.text, again.text, answer.to_dict()["text"]) == (FILLED, FILLED, FILLED)
    assert answer.kept.text == OWN
    assert state["messages"][-1].text == OWN
    assert FILLED not in f"{state!r} {audit.read_text('utf-8')}"
    assert "meisten" not in model.prompts[1], "what is said later stays what it was"
    assert "{" not in json.dumps(answer.to_dict()["text"])


def test_the_next_prompt_is_the_same_with_and_without(shop: Path) -> None:
    prompts: list[str] = []
    for say in (SAY, ""):
        model = speaks(reply(BY_CITY, say))
        with SQLAgent(shop, model=model, settings={"examples": "none"}) as agent:
            chat = agent.conversation()
            chat.ask(ASKED)
            chat.ask("Und ihre Namen?")
        prompts.append(model.prompts[-1])
    assert prompts[0] == prompts[1]


def test_withheld_cells_are_said_to_the_person_alone(shop: Path) -> None:
    model = speaks(reply("SELECT name, city FROM customers WHERE id = 1", "{name} wohnt in {city}."))
    rules = {"columns": {"customers.name": "none"}}
    with SQLAgent(shop, model=model, egress=rules, settings={"examples": "none"}) as agent:
        chat = agent.conversation()
        answer = chat.ask("Wo wohnt Kunde eins?")
        again = chat.last()
        config = {"configurable": {"thread_id": chat.thread}}
        state = agent.graph.get_state(cast("RunnableConfig", config)).values
        tool = agent.as_tool()
        message = tool.invoke({"type": "tool_call", "id": "1", "name": tool.name, "args": {"question": "Wer?"}})
        chat.ask("Und die anderen?")
        assert agent.deliver(message.artifact).text == answer.text
    assert again is not None
    assert (answer.text, again.text) == ("Ada wohnt in Paris.",) * 2
    assert "Ada" not in f"{state!r} {message.content} {message.artifact!r} {answer.kept!r} {model.prompts}"
    assert "{" not in str(message.content)


def test_rights_apply_to_it(shop: Path) -> None:
    model = speaks(reply("SELECT name FROM customers WHERE id = 1", "Es ist {name}."))
    with SQLAgent(shop, model=model, settings={"examples": "none"}) as agent:
        kept = agent.conversation()
        assert kept.ask("Wer ist Kunde eins?").text == "Es ist Ada."
        with SQLAgent(shop, model=model, deny=["customers.name"]) as narrow:
            whole = Answer(kept.last().record, "")  # pyright: ignore[reportOptionalMemberAccess]
            assert narrow.conversation().last() is None
            refused = narrow.deliver(Answer(replace(whole.record, withheld="all")))
    assert refused.status == "failed"
    assert "Ada" not in refused.text


@pytest.mark.parametrize("fenced", [True, False])
def test_places_are_never_streamed(shop: Path, fenced: bool) -> None:
    said = reply(BY_CITY, SAY) if fenced else f"{BY_CITY}\nSay: {SAY}\nSure: 90"
    with SQLAgent(shop, model=speaks(said), settings={"examples": "none"}) as agent:
        events = list(agent.stream(ASKED))
    told = [event for event in events if event.kind not in ("node", "progress")]
    assert told[-1].answer is not None
    assert told[-1].answer.text == FILLED
    early = [event for event in told if event.kind == "early_answer"]
    assert [event.data["answer"]["text"] for event in early] == [FILLED]
    told = [event for event in told if event not in early]
    assert "{" not in "".join(str(value) for event in told[:-1] for value in event.data.values())
    assert not [end for end in range(len(said)) if "{" in find_partial_sql(said[:end])]


def test_a_revision_has_its_own(shop: Path) -> None:
    failing = reply("SELECT nothing_here FROM customers", SAY)
    assert ask(shop, failing, reply(BY_CITY)).text == OWN
    assert ask(shop, failing, reply(BY_CITY, "Vorn liegt {city.first}.")).text == "Vorn liegt Paris."
    worse = ask(shop, reply(BY_CITY, SAY), reply("SELECT city FROM customers WHERE id > 9", "{rows}"), gate=False)
    assert (worse.sql, worse.text) == (BY_CITY, FILLED), "the answer is the first query's again"


def test_a_mended_query_has_none(shop: Path) -> None:
    answer = ask(shop, reply(BY_CITY.replace("FROM customers", "FROM custmers"), SAY))
    assert (answer.sql, answer.text) == (BY_CITY, OWN)


@pytest.mark.parametrize(("decision", "text"), [("approve", FILLED), (f"{BY_CITY} LIMIT 5", OWN)])
def test_an_edited_query_has_none(shop: Path, decision: str, text: str) -> None:
    settings = {"examples": "none", "approve": True}
    with SQLAgent(shop, model=speaks(reply(BY_CITY, SAY)), settings=settings) as agent:
        chat = agent.conversation()
        assert "{" not in chat.ask(ASKED).text
        assert chat.ask(decision).text == text


def test_a_query_edited_in_a_checkpoint_has_none(shop: Path) -> None:
    with SQLAgent(shop, model=speaks(reply(BY_CITY, SAY)), settings={"examples": "none"}) as agent:
        config: Any = {"configurable": {"thread_id": "1"}}
        agent.graph.invoke({"messages": [HumanMessage(ASKED)]}, config, interrupt_before=["execute"])
        agent.graph.update_state(config, {"sql": f"{BY_CITY} LIMIT 9"})
        agent.graph.invoke(None, config)
        answer = agent.conversation("1").last()
    assert answer is not None
    assert (answer.sentence, answer.text) == (None, OWN)


def test_a_verified_query_and_the_offline_translator_have_none(shop: Path, tmp_path: Path) -> None:
    with SQLAgent(shop, model=speaks(reply(BY_CITY, SAY)), examples=tmp_path / "store") as agent:
        agent.approve(agent.ask(ASKED))
        verified = agent.ask(ASKED)
    assert verified.usage.llm_calls == 0
    assert (verified.sentence, verified.text) == (None, OWN)
    with SQLAgent(shop, model="offline") as agent:
        assert agent.ask("How many customers are there?").sentence is None


def test_another_query_of_a_person_has_none(shop: Path) -> None:
    with SQLAgent(shop, model=speaks(reply(BY_CITY, SAY)), settings={"examples": "none"}) as agent:
        answer = agent.ask(ASKED)
        assert agent.rerun(answer).text == FILLED
        assert agent.rerun(answer, f"{BY_CITY} LIMIT 1").text == "City: Paris; customers: 2."


def test_the_chosen_draft_brings_its_own(shop: Path) -> None:
    lyon = "SELECT city FROM customers WHERE id = 2"
    replies = [reply(lyon, "Es ist {city}."), reply(BY_CITY, SAY)]
    answer = ask(shop, *replies, candidates=3, candidate_reasoning=False, merge=False)
    assert (answer.sql, answer.text) in ((lyon, "Es ist Lyon."), (BY_CITY, FILLED))


@pytest.mark.parametrize("preset", ["credit", "craft", "track", "revision"])
def test_papers_do_not_ask_for_it(shop: Path, preset: Any) -> None:
    model = speaks(f"```sql\n{BY_CITY}\n```")
    with SQLAgent(shop, model=model, preset=preset) as agent:
        agent.ask(ASKED)
    assert not [prompt for prompt in model.prompts if re.search(r"^Say:", prompt, re.MULTILINE)]


IN_PARIS = "SELECT count(*) AS customers FROM customers WHERE city = 'Paris'"


@pytest.mark.parametrize(
    ("question", "sql", "say", "used"),
    [
        ("How many live in Paris?", IN_PARIS, "{customers} customers live in Lyon.", False),
        ("How many live in Paris?", IN_PARIS, "LYON has {customers} customers.", False),
        ("How many live in Paris?", IN_PARIS, "{customers} customers live in Paris, the capital.", True),
        ("How many live in Paris, not Lyon?", IN_PARIS, "{customers} customers live in Paris, not in Lyon.", True),
        ("How many live in the capital?", IN_PARIS, "{customers} customers live in Parigi, or Paris.", True),
        ("Wie viele wohnen in Paris?", IN_PARIS, "Lyons Kunden: {customers}.", False),
        ("Wie viele wohnen in Paris?", IN_PARIS, "In Paris wohnen {customers} Kunden.", True),
        ("Combien vivent à Paris ?", IN_PARIS, "{customers} clients vivent à Lyon.", False),
        ("Combien vivent à Paris ?", IN_PARIS, "{customers} clients vivent à Paris.", True),
        ("¿Cuántos viven en París?", IN_PARIS, "{customers} clientes viven en Lyon.", False),
        ("¿Cuántos viven en París?", IN_PARIS, "{customers} clientes viven en París.", True),
        ("Quanti vivono a Parigi?", IN_PARIS, "{customers} clienti vivono a Parigi.", True),
        ("Who lives where?", f"{BY_CITY} LIMIT 1", "Lyon has the most customers: {customers}.", False),
        ("Who lives where?", BY_CITY, "Most live in {city@customers.max}, fewest in Lyon.", True),
        ("Who lives where?", IN_PARIS.replace("= 'Paris'", "LIKE '%y%n'"), "Lyon has {customers}.", True),
        ("How many live in Paris?", IN_PARIS, "{customers} customers live with Ada.", True),
    ],
)
def test_it_names_no_value_that_nobody_asked_for(shop: Path, question: str, sql: str, say: str, used: bool) -> None:
    with sqlite3.connect(shop) as connection:
        connection.execute("INSERT INTO customers VALUES (4, 'Di', 'Lyon'), (5, 'Ed', 'Paris')")
    answer = ask(shop, reply(sql, say), question=question)
    assert (answer.record.sentence is not None) == used, answer.text


def test_a_value_of_an_earlier_question_may_be_named(shop: Path) -> None:
    model = speaks(reply(IN_PARIS.replace("Paris", "Lyon")), reply(IN_PARIS, "{customers}, beside those in Lyon."))
    with SQLAgent(shop, model=model, settings={"examples": "none"}) as agent:
        chat = agent.conversation()
        chat.ask("How many live in Lyon?")
        assert chat.ask("And in Paris?").text == "2, beside those in Lyon."


def test_nobody_is_alone_at_a_limit(shop: Path) -> None:
    sql = "SELECT customer_id, total FROM orders ORDER BY total DESC LIMIT 1"
    largest, alone = "The largest was {customer_id}'s: {total}.", "Only customer {customer_id} paid {total}."
    assert ask(shop, reply(sql, alone), question="Largest order?").text == "Customer id: 1; total: 20."
    with sqlite3.connect(shop) as connection:
        connection.execute("INSERT INTO orders VALUES (5, 3, 20.0, '2024-05-06')")
    tie = "1 more shares the first place."
    told = [ask(shop, reply(sql, say), question="Largest order?").text for say in (largest, alone)]
    assert told == [f"The largest was 1's: 20. {tie}", f"Customer id: 1; total: 20. {tie}"]
