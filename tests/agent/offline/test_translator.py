"""The offline translator behind the translator protocol."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tableturn import SQLAgent
from tableturn.agent import verbs
from tableturn.agent.effects import Translator
from tableturn.agent.offline import OfflineTranslator
from tableturn.prompts.explain import ExplainTask
from tableturn.prompts.generate import GenerateSQLTask
from tableturn.prompts.reason import PandasCodeTask
from tableturn.prompts.rephrase import RephraseTask
from tableturn.prompts.reply_types import Rephrasing, SQLDraft
from tableturn.prompts.revise import ReviseSQLTask
from tableturn.tools.database import Database
from tableturn.tools.errors import NotUnderstood, QueryRejected
from tableturn.tools.linking import PastTurn
from tableturn.tools.values import ValueIndex

from tests.support.done import adone


@pytest.fixture(scope="module")
def offline(library: Database, values: ValueIndex) -> OfflineTranslator:
    return OfflineTranslator(library, values)


def _rephrase(offline: OfflineTranslator, library: Database, question: str, *history: PastTurn) -> Rephrasing:
    return offline.do(RephraseTask(question=question, history=history, schema=library.schema())).reply


def _generate(library: Database, question: str, *history: PastTurn) -> GenerateSQLTask:
    rephrasing = Rephrasing(question, question)
    return GenerateSQLTask(question=question, rephrasing=rephrasing, schema=library.schema(), history=history)


def test_it_is_a_translator(offline: OfflineTranslator) -> None:
    translator: Translator = offline
    assert (translator.name, translator.model) == ("offline", "offline")


def test_a_follow_up_is_rephrased_to_stand_alone(offline: OfflineTranslator, library: Database) -> None:
    before = PastTurn("Who lives in Oslo?", sql="SELECT last_name FROM member WHERE city = 'Oslo'")

    told = _rephrase(offline, library, "only those older than 35", before)

    assert told.intent == "answerable"
    assert told.rephrased == "Give me the last name of member where the city is 'Oslo' and the age is more than 35."


def test_notes_say_how_the_words_were_read(offline: OfflineTranslator, library: Database) -> None:
    draft = offline.do(_generate(library, "Last names of members in Lima")).reply

    assert draft.sql == "SELECT last_name FROM member WHERE city = 'Lima'"
    assert draft.confidence is not None
    assert draft.confidence > 0.5
    assert "read offline, without a model" in draft.notes
    assert "\"Lima\" as the value 'Lima' of member.city" in draft.notes


@pytest.mark.parametrize("said", ["Thanks!", "hello", "Ok, great, thank you very much!"])
def test_small_talk(offline: OfflineTranslator, library: Database, said: str) -> None:
    assert _rephrase(offline, library, said).intent == "small_talk"


@pytest.mark.parametrize("question", ["What's the weather like?", "Is it raining?", "asdf qwer"])
def test_what_is_not_understood_is_named(offline: OfflineTranslator, library: Database, question: str) -> None:
    told = _rephrase(offline, library, question)

    assert told.intent == "unanswerable"
    with pytest.raises(NotUnderstood) as caught:
        offline.do(_generate(library, question))
    assert caught.value.words
    assert all(word in str(caught.value) for word in caught.value.words)


def test_a_denial_that_is_not_understood_is_never_dropped(offline: OfflineTranslator, library: Database) -> None:
    with pytest.raises(NotUnderstood, match="what is left out"):
        offline.do(_generate(library, "Which books were never translated?"))


def test_code_needs_a_model(offline: OfflineTranslator, library: Database) -> None:
    with pytest.raises(NotUnderstood, match="model"):
        offline.do(PandasCodeTask(_generate(library, "How many books are there?")))


def test_explanations(offline: OfflineTranslator, library: Database) -> None:
    sql = "SELECT count(*) FROM book"
    told = offline.do(ExplainTask("How many books?", "How many books?", sql, library.schema())).reply
    assert told.meaning


def test_revising_what_is_right_keeps_it(offline: OfflineTranslator, library: Database) -> None:
    task = _generate(library, "How many books are there?")
    draft = offline.do(task).reply
    assert offline.do(ReviseSQLTask(task, draft.sql, "")).reply.sql == draft.sql


def test_ado_and_threads_give_the_same(offline: OfflineTranslator, library: Database) -> None:
    tasks = [_generate(library, f"Titles of books with more than {pages} pages") for pages in range(100, 180)]

    async def together() -> list[SQLDraft]:
        return [done.reply for done in await asyncio.gather(*(adone(offline, task) for task in tasks))]

    with ThreadPoolExecutor(8) as pool:
        threaded = [future.result().reply for future in [pool.submit(offline.do, task) for task in tasks]]
    assert asyncio.run(together()) == threaded
    assert [draft.sql for draft in threaded] == [
        f"SELECT title FROM book WHERE pages > {pages}" for pages in range(100, 180)
    ]


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("Which members live and work in Oslo?", "answerable"),
        ("How many torn books are there?", "unanswerable"),
        ("Titles of books sorted", "unanswerable"),
        ("Members in Ozlow", "unanswerable"),
        ("How many books were burnt?", "unanswerable"),
        ("Books with a title that contains zz", "unanswerable"),
        ("Books with a price above 9000", "answerable"),
    ],
)
def test_it_declines_where_what_it_passed_over_matters(
    offline: OfflineTranslator, library: Database, question: str, intent: str
) -> None:
    assert _rephrase(offline, library, question).intent == intent


def test_an_unsure_reading_is_told(offline: OfflineTranslator, library: Database) -> None:
    told = _rephrase(offline, library, "members by loan date, fee and year of books from then")
    assert told.intent == "unanswerable"
    assert "not understand" in told.reply or "my reading" in told.reply


@pytest.mark.parametrize("question", ["height " + "7 " * 480, "the most " * 110])
def test_long_questions_end(offline: OfflineTranslator, library: Database, question: str) -> None:
    assert _rephrase(offline, library, question).rephrased
    with pytest.raises(NotUnderstood, match="1,000 characters at most"):
        offline.do(_generate(library, question * 3))


@pytest.mark.parametrize("question", ["delete all orders", "drop table customers", "Please update the price"])
def test_what_would_change_the_data_is_declined_as_by_a_model(shop: Path, question: str) -> None:
    with SQLAgent(shop, model="offline", settings={"examples": "none"}) as agent:
        answer = agent.ask(question)
        assert (answer.status, answer.text) == ("unanswerable", "I can only read data, so nothing was changed.")
        right = agent.ask("How many orders are there?")
        with pytest.raises(QueryRejected, match="I can only read data"):
            verbs.word_correction(right, "DELETE FROM orders", agent.resources)


@pytest.mark.parametrize("question", ["How many clients are there?", "List clients"])
def test_a_hidden_table_is_not_answered_by_the_keys_of_another(shop: Database, question: str) -> None:
    with SQLAgent(shop.location, model="offline") as agent:
        assert agent.ask(question).answered
    with SQLAgent(shop.location, model="offline", deny=["client"]) as agent:
        answer = agent.ask(question)
    assert not answer.answered
    assert answer.text.startswith("I did not understand: clients. The database has product, ")


@pytest.mark.parametrize(
    ("question", "rows", "text"),
    [
        ("SELECT count(*) FROM invoice WHERE 1 = 1", 1, ""),
        ("SELECT count(*) FROM nosuch", 0, "The database says: no such table: nosuch"),
        ("UPDATE invoice SET total = 1", 0, "I can only read data, so nothing was changed."),
        ("CREATE TABLE a(b INT)", 0, "I can only read data, so nothing was changed."),
        ("Select the client names of all clients", 3, ""),
    ],
)
def test_sql_is_run_as_it_is_or_refused(shop: Database, question: str, rows: int, text: str) -> None:
    with SQLAgent(shop.location, model="offline") as agent:
        answer = agent.ask(question)
    assert (answer.row_count, answer.text if text else "") == (rows, text)
    assert (answer.sql == question) == (rows == 1)
