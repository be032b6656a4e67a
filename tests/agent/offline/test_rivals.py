"""Where two readings tie, the person is asked which is meant; else never."""

from __future__ import annotations

import pytest
from tableturn.agent import SQLAgent
from tableturn.agent.offline import OfflineTranslator
from tableturn.agent.offline.parser import Engine
from tableturn.prompts.generate import GenerateTask
from tableturn.prompts.rephrase import RephraseTask
from tableturn.prompts.replies import Rephrasing
from tableturn.tools.database import Database
from tableturn.tools.linking import PastTurn

QUESTION = "What is the average rating?"
CLIENTS, WAREHOUSES = "the average rating of clients", "the average rating of warehouses"


@pytest.fixture
def offline(shop: Database) -> OfflineTranslator:
    return OfflineTranslator(shop)


def _rephrase(offline: OfflineTranslator, shop: Database, clarification: tuple[str, str] | None = None) -> Rephrasing:
    return offline.do(RephraseTask(QUESTION, (), shop.schema(), clarification)).reply


def test_a_tie_is_asked_back(offline: OfflineTranslator, shop: Database) -> None:
    told = _rephrase(offline, shop)

    assert told.intent == "ambiguous"
    assert set(told.choices) == {CLIENTS, WAREHOUSES}
    assert told.reply.startswith("Do you mean the average rating of ")


@pytest.mark.parametrize(
    ("said", "table"),
    [
        (CLIENTS, "client"),
        (f"{WAREHOUSES.capitalize()}.", "warehouse"),
        ("the warehouses", "warehouse"),
        ("of clients please", "client"),
    ],
)
def test_the_answer_settles_it_for_the_turn(offline: OfflineTranslator, shop: Database, said: str, table: str) -> None:
    asked = _rephrase(offline, shop)

    told = _rephrase(offline, shop, (asked.reply, said))

    assert (told.intent, told.choices) == ("answerable", ())
    assert told.rephrased == f"Give me the average rating of {table}s."
    draft = offline.do(GenerateTask(QUESTION, told, shop.schema())).reply
    assert draft.sql == f"SELECT AVG(rating) FROM {table}"


def test_each_conversation_settles_it_for_itself(offline: OfflineTranslator, shop: Database) -> None:
    asked = _rephrase(offline, shop)
    told = {said: _rephrase(offline, shop, (asked.reply, said)) for said in (CLIENTS, WAREHOUSES)}

    drafts = {said: offline.do(GenerateTask(QUESTION, one, shop.schema())).reply.sql for said, one in told.items()}

    assert drafts == {CLIENTS: "SELECT AVG(rating) FROM client", WAREHOUSES: "SELECT AVG(rating) FROM warehouse"}
    assert _rephrase(offline, shop) == asked


def test_conversations_take_turns(shop: Database) -> None:
    with SQLAgent(shop, model="offline") as agent:
        chats = {"clients": agent.conversation(), "warehouses": agent.conversation()}
        assert {chat.ask(QUESTION).status for chat in chats.values()} == {"needs_clarification"}
        answers = {said: chat.ask(said) for said, chat in chats.items()}
        assert agent.ask(QUESTION).status == "needs_clarification"
    assert [answer.sql for answer in answers.values()] == [
        "SELECT AVG(rating) FROM client",
        "SELECT AVG(rating) FROM warehouse",
    ]


def test_yes_chooses_nothing(offline: OfflineTranslator, shop: Database) -> None:
    asked = _rephrase(offline, shop)
    assert _rephrase(offline, shop, (asked.reply, "yes")).intent == "ambiguous"


@pytest.mark.parametrize(
    "question",
    [
        "What is the average rating of warehouses?",
        "Which client has the highest rating?",
        "What is the highest total?",
        "Show the client names and ratings",
        "How many invoices are there?",
        "What is the number of clients with rating 5?",
    ],
)
def test_what_the_question_settles_is_not_asked(clerk: Engine, question: str) -> None:
    assert clerk.answer(question).choices == ()


def test_the_conversation_settles_it(offline: OfflineTranslator, shop: Database) -> None:
    before = PastTurn("List the warehouses", sql="SELECT warehouse_name FROM warehouse")
    told = offline.do(RephraseTask(QUESTION, (before,), shop.schema())).reply
    assert told.intent == "answerable"
    assert "warehouse" in told.rephrased
