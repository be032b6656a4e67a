"""Commands as messages: how a person teaches through LangGraph's server, which knows messages alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from tableturn.agent import SQLAgent
from tableturn.agent.answers.commands import ConversationAnswers, teach
from tableturn.agent.graph import AgentGraph, build_graph
from tableturn.tools.errors import ExampleRefused

from tests.support.scripted import ScriptedModel, writes

from ..context.test_knowledge import KNOWN

RIGHT = "SELECT count(*) FROM customers WHERE id IN (1, 3)"


class Server:
    """A thread of the graph, as a server runs it."""

    def __init__(self, graph: AgentGraph) -> None:
        self._graph = graph
        self._config: Any = {"configurable": {"thread_id": "t"}}
        self.state: dict[str, Any] = {}

    def say(self, text: str, **context: Any) -> str:
        given: Any = {"messages": [HumanMessage(text)]}
        self.state = self._graph.invoke(given, self._config, context=cast("Any", context or None))
        return self.state["messages"][-1].text


@pytest.fixture
def known(shop: Path) -> Path:
    path = shop.with_name("shop.knowledge.yaml")
    path.write_text(KNOWN)
    return path


@pytest.fixture
def model() -> ScriptedModel:
    return writes("SELECT count(*) FROM customers")


@pytest.fixture
def agent(shop: Path, tmp_path: Path, model: ScriptedModel, known: Path) -> Iterator[SQLAgent]:
    del known
    with SQLAgent(shop, model=model, examples=tmp_path / "store", user="ann") as opened:
        yield opened


def server(agent: SQLAgent, *, commands: bool = True) -> Server:
    return Server(build_graph(agent.resources, InMemorySaver(), show_state=True, commands=commands))


def test_a_person_teaches_by_messages(agent: SQLAgent, known: Path, model: ScriptedModel) -> None:
    told = server(agent)
    assert "there is no answer to approve" in told.say("/approve")
    assert "remembered in shop.knowledge.yaml" in told.say("/note XQR means the last quarter")
    assert "author: ann" in known.read_text()
    assert model.prompts == [], "no command is a question"
    told.say("What is our turnover?")
    assert "the last quarter" not in model.prompts[-1]
    for query in (
        "SELECT count(*) FROM shops",
        "WITH a AS (SELECT 1) SELECT * FROM shops",
        "select max(total) from shops",
    ):
        assert "no such table: shops" in told.say(f"/correct {query}")
    assert "shops" not in told.say("/correct SELECT count(* FROM orders"), "it is not asked in words"
    assert told.state["answer"]["sql"] != "SELECT count(* FROM orders"
    corrected = told.say("/correct SELECT sum(total) FROM orders")
    assert "with /accept N" in corrected
    assert told.state["answer"]["sql"] == "SELECT sum(total) FROM orders"
    assert "remembered" in told.say("/accept 1")
    assert "turnover" in known.read_text()
    assert "this is already saved as an example" in told.say("/approve")
    asked = len(model.prompts)
    server(agent).say("What is our turnover?")
    assert len(model.prompts) == asked, "the verified query answers"
    listed = told.say("/lessons").splitlines()
    number = next(line.partition(".")[0] for line in listed if "'XQR'" in line)
    assert "changed XQR" in told.say("/edit XQR means the last month")
    assert "changed" in told.say(f"/edit {number} the last year")
    assert "the last year" in known.read_text()
    assert "forgot the definition of 'XQR'" in told.say("/forget XQR")
    assert "there is no command /drop" in told.say("/drop everything")


def test_a_number_is_that_of_the_list_that_was_shown(agent: SQLAgent, known: Path) -> None:
    told = server(agent)
    assert "no number 1 in the list" in told.say("/forget 1"), "none was shown"
    told.say("/note big = orders.total > 8")
    assert [line.split()[3] for line in told.say("/lessons").splitlines()[::2]] == ["'regular'", "'big'", "'revenue'"]
    assert "forgot the definition of 'regular'" in told.say("/forget 1")
    told.say("How many customers are there?")
    assert "there is no number 1" in told.say("/forget 1"), "the same again removes no other"
    assert "changed" in told.say("/edit 2 SUM(orders.total)")
    assert "changed" in told.say("/edit 2 orders.total > 9"), "it is the same one, whose kind has changed"
    assert "means: orders.total > 9" in known.read_text()
    assert "revenue" in known.read_text()


def test_commands_keep_to_the_rights_of_the_run(agent: SQLAgent, known: Path) -> None:
    text, told = known.read_text(), server(agent)
    # Beside that of wider rights, for those who may read no more.
    assert "remembered" in told.say("/note revenue = COUNT(orders.id)", deny=["orders.total"])
    told.say("How many customers are there?")
    assert "no answer to correct" in told.say("/correct SELECT 1", deny=["orders.total"]), "it is of wider rights"
    told.say("How many customers are there?", deny=["orders.total"])
    refused = told.say("/correct SELECT max(total) FROM orders", deny=["orders.total"])
    assert "total" in refused
    assert told.state["answer"]["sql"] == "SELECT count(*) FROM customers"
    assert known.read_text() == text


def test_without_commands_a_slash_is_a_question(agent: SQLAgent, known: Path, model: ScriptedModel) -> None:
    text = known.read_text()
    server(agent, commands=False).say("/note loyal means ordered twice")
    assert model.prompts
    assert known.read_text() == text


def test_a_correction_in_words_is_asked_at_once(shop: Path, tmp_path: Path) -> None:
    model = writes("SELECT count(*) FROM customers", RIGHT)
    with SQLAgent(shop, model=model, examples=tmp_path / "store") as agent:
        told = server(agent)
        told.say("How many customers are there?")
        assert told.say("/correct only numbers one and three count") == "Customers: 2."
        assert "This query was not right: SELECT count(*) FROM customers" in model.prompts[-1]
        assert "How many customers are there? only numbers one and three count" in model.prompts[-1]
        assert told.state["answer"]["sql"] == RIGHT
        told_how, asked = told.state["messages"][-3:-1]
        assert asked.text == "How many customers are there? only numbers one and three count"
        assert told_how.text.endswith("/approve saves it as the answer to: How many customers are there?")
        assert "saved 'How many customers are there?' as an example" in told.say("/approve")
        right = "SELECT count(*) FROM customers WHERE id = 1"
        assert "saved 'How many customers are there?' as an example" in told.say(f"/correct {right}")
        told.say("How many customers are in Lyon?")
        assert "not saved yet: 'How many customers are in Lyon?'" in told.say("/approve"), "it is another question"


def test_a_metric_that_counts_rows_can_be_edited(agent: SQLAgent, known: Path) -> None:
    known.write_text("metrics: {visits: {expression: COUNT(*), about: [orders]}}")
    lesson = agent.list_lessons()[0]
    agent.edit_lesson(lesson.id, "COUNT(DISTINCT orders.customer_id)")
    assert agent.list_lessons()[0].meaning == "COUNT(DISTINCT orders.customer_id)"
    known.write_text("metrics: {visits: {expression: COUNT(*), about: [orders]}}")
    agent.edit_lesson(lesson.id, "COUNT(*) * 1.0")
    assert agent.list_lessons()[0].meaning == "COUNT(*) * 1.0"
    assert "orders" in known.read_text()


def test_a_note_says_what_it_replaces(agent: SQLAgent) -> None:
    told = server(agent)
    assert "replaces" not in told.say("/note late means paid after a month")
    assert told.say("/note Late means paid after a week").endswith('\nreplaces: term "late": paid after a month.')
    assert "replaces" not in told.say("/note Late means paid after a week")
    assert told.say("/edit late heißt paid after a year") == "changed late: /lessons shows it"
    assert "    paid after a year" in told.say("/lessons")


def test_a_follow_up_that_was_not_written_anew_is_proposed_as_it_was_asked(shop: Path, tmp_path: Path) -> None:
    paris = "SELECT count(*) FROM customers WHERE city = 'Paris'"
    model = writes("SELECT count(*) FROM customers", paris, RIGHT)
    with SQLAgent(shop, model=model, examples=tmp_path / "store") as agent:
        told = server(agent)
        told.say("How many customers are there?")
        told.say("and in Paris")
        how = "/approve and in Paris saves it, under these words or better ones"
        unsaved = f"not saved yet: 'and in Paris' follows earlier questions: {how}"
        assert told.say("/approve") == unsaved
        assert told.say(f"/correct {paris}").endswith(f"\n{unsaved}")
        told.say("/correct only numbers one and three count")
        offer = "Asked again. Is this right? /approve saves it as the answer to: and in Paris"
        assert told.state["messages"][-3].text == offer
        assert "saved 'Paris, one and three' as an example" in told.say("/approve Paris, one and three")
        talk = agent.conversation()
        talk.ask("How many customers are there?")
        later = talk.ask("and in Paris")
        with pytest.raises(ExampleRefused) as refused:
            agent.approve(later)
        assert "would be saved for 'and in Paris': give this `question` or a better one" in str(refused.value)


def test_the_number_of_a_corrected_answer_is_that_of_the_right_one(shop: Path, tmp_path: Path) -> None:
    paris = "SELECT count(*) FROM customers WHERE city = 'Paris'"
    model = writes("SELECT count(*) FROM customers", paris)
    with SQLAgent(shop, model=model, examples=tmp_path / "store") as agent:
        talk, answers = agent.conversation(), ConversationAnswers(agent.resources)
        for question in ("How many customers are there?", "and in Paris"):
            answers.take(talk.ask(question), question)
        assert "not saved yet" in str(teach(answers, f"/correct 2 {RIGHT}"))
        teach(answers, "/approve 2 How many customers are one or three?")
        assert [lesson.meaning for lesson in agent.list_lessons()] == [RIGHT]
        # A correction of it is saved for the same words, in place of the wrong one.
        teach(answers, f"/correct 2 {paris}")
        assert [(lesson.name, lesson.meaning) for lesson in agent.list_lessons()] == [
            ("How many customers are one or three?", paris)
        ]
