"""Errors are told to people in plain words; their texts keep their advice for whoever writes queries."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from httpx import RemoteProtocolError
from tableturn import SQLAgent
from tableturn.agent import verbs
from tableturn.agent.model.replies import make_model_error
from tableturn.agent.model.turn_budget import BudgetReached, TurnBudget
from tableturn.tools.database import Cancellation, Database, Limits
from tableturn.tools.errors import QueryError, QueryFailed, QueryRejected, QueryTimeout, SettingsError
from tableturn.tools.labels import IN_ENGLISH, Labels

from tests.support.scripted import ScriptedModel, writes


def test_an_error_is_said_in_plain_words_without_its_advice_for_a_model(shop: Path) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    stop = Cancellation()
    stop.cancel()
    brief, few = Limits(seconds=0.1), Limits(estimated_rows=1)
    with Database.open(shop) as database:
        for sql, limits, cancellation, english, german in (
            (endless, brief, None, "This took more than 0.1 s. Try", "Das dauerte mehr als 0,1 s."),
            ("PRAGMA table_info(orders)", brief, None, "Only SELECT queries can be run here.", "Hier lassen sich nur"),
            ("DROP TABLE orders", brief, None, "I can only read data, so nothing was changed.", "Ich kann nur lesen"),
            ("SELECT * FROM orders, customers", few, None, "This would read more rows", "Dafür müssten mehr"),
            ("SELECT 1" + " UNION SELECT 1" * 999, brief, None, "The query is too long", "Die Abfrage ist zu lang"),
            ("SELECT 1; SELECT 2", brief, None, "Only one query can be run", "Es lässt sich nur eine Abfrage"),
            (
                "SELECT load_extension('x')",
                brief,
                None,
                "The function load_extension() is",
                "Die Funktion load_extension()",
            ),
            ("SELECT 1", brief, stop, "The query was cancelled.", "Die Abfrage wurde abgebrochen."),
        ):
            with pytest.raises(QueryError) as caught:
                database.execute(sql, limits, cancellation)
            assert IN_ENGLISH.say_error(caught.value).startswith(english)
            assert Labels("de").say_error(caught.value).startswith(german)
            assert IN_ENGLISH.say_error(f"not saved: {caught.value}").startswith(f"not saved: {english}")


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (QueryTimeout("canceling statement"), "This took too long. Try a shorter period or fewer rows."),
        (QueryFailed("no such column: x", "unknown_column"), "The database says: no such column: x"),
        (
            QueryFailed('date/time field value out of range: "2024-13-45"'),
            "2024-13-45 is not a date. Ask with a date such as 2024-12-31.",
        ),
        (
            QueryFailed("Incorrect DATE value: '2024-13-45'"),
            "2024-13-45 is not a date. Ask with a date such as 2024-12-31.",
        ),
        (SettingsError("x cannot be read: [Errno 2] No such file: 'x'"), "x cannot be read: No such file"),
    ],
)
def test_what_an_engine_or_a_system_says_stays_true(error: Exception, says: str) -> None:
    assert IN_ENGLISH.say_error(error) == says


TOO_LATE = "the model's reply was not complete after 60 s: try again, or raise request_seconds"
TOO_BUSY = "model m reports too many requests, or no quota left (slow down): wait, or check the plan and its limits"


@pytest.mark.parametrize(
    ("error", "english", "german"),
    [
        (
            "model m is overloaded or failing, status 503 (no room (yet)): try again in a minute",
            "The model's server is overloaded or failing (status 503). Try again in a minute.",
            "Der Server des Modells ist überlastet oder gestört (Status 503). In einer Minute noch einmal fragen.",
        ),
        (TOO_LATE, TOO_LATE, "Die Antwort des Modells war nach 60 s nicht fertig: noch einmal fragen oder request_"),
        (TOO_BUSY, TOO_BUSY, "Modell m meldet zu viele Anfragen oder ein erschöpftes Kontingent (slow down): warten"),
    ],
)
def test_errors_of_models_say_what_to_do_in_the_askers_language(error: str, english: str, german: str) -> None:
    assert IN_ENGLISH.say_error(error) == english
    assert Labels("de").say_error(error).startswith(german)


@pytest.mark.parametrize(
    ("budget", "german"),
    [
        (TurnBudget(calls=9, tokens=0, until=math.inf), "Diese Frage hat ihre Tokens verbraucht."),
        (TurnBudget(calls=0, tokens=9_000, until=math.inf), "Diese Frage hat ihre Anfragen an das Modell verbraucht."),
        (TurnBudget(calls=9, tokens=9_000, until=0), "Die Zeit für diese Frage ist um."),
    ],
)
def test_a_budget_that_is_used_up_is_told_in_the_askers_language(budget: TurnBudget, german: str) -> None:
    with pytest.raises(BudgetReached) as caught:
        budget.compute_max_reply_tokens(100, None)
    assert Labels("de").say_error(caught.value).startswith(german)


def test_a_server_that_timed_out_is_named_so() -> None:
    class TimedOut(Exception):
        status_code = 408

    assert str(make_model_error("m", TimedOut("why"))) == (
        "model m did not answer in time (why): try again, or raise request_seconds"
    )


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 408, 413, 418, 429, 500])
def test_every_error_of_a_server_has_german_words(status: int) -> None:
    class Refused(Exception):
        status_code = status

    error = make_model_error("m", Refused("why"))
    assert Labels("de").say_error(error).startswith(("Modell m", "Der Server des Modells")), error


@pytest.mark.parametrize(
    ("error", "german"),
    [
        (KeyError("<html><title>Sign in</title>"), "dort antwortet die Webseite 'Sign in': die Basis-URL prüfen"),
        (KeyError("<!doctype html>"), "dort antwortet eine Webseite: die Basis-URL prüfen"),
        (KeyError("choices"), "hat in einem unbekannten Format geantwortet: prüfen"),
        (RemoteProtocolError("gone"), "hat die Verbindung geschlossen (gone): prüfen, ob der Server läuft"),
    ],
)
def test_replies_that_are_none_of_a_model_are_told_in_german(error: Exception, german: str) -> None:
    said = make_model_error("m", error)
    assert IN_ENGLISH.say_error(said) == str(said)
    assert Labels("de").say_error(said).startswith("Modell m ")
    assert german in Labels("de").say_error(said)


@pytest.mark.parametrize(
    ("error", "german"),
    [
        ("there is no thread 'x'", "die Unterhaltung 'x' gibt es nicht"),
        ("too many requests: try again in 3 s", "zu viele Anfragen: noch einmal in 3 s"),
        (
            "your budget for today is used up: it resets at 00:00 UTC",
            "das eigene Budget für heute ist aufgebraucht: ein neues gibt es um 00:00 UTC",
        ),
        (
            "the model declined to write SQL: I cannot.",
            "Das Modell schrieb keine Abfrage, sondern „I cannot.“. "
            "Mit anderen Worten fragen oder ein anderes Modell wählen.",
        ),
        (
            "not saved yet: 'and Rome' follows earlier questions, and would be saved for 'n': call `correct` again "
            "with this query and this `question` or a better one that can be understood alone",
            "noch nicht gespeichert: 'and Rome' folgt auf frühere Fragen und würde für 'n' gespeichert: `correct` mit "
            "dieser Abfrage noch einmal aufrufen, mit dieser oder einer besseren, allein verständlichen Frage als "
            "`question`",
        ),
        (
            "not saved: there is no answer to approve, it failed",
            "nicht gespeichert: es gibt keine Antwort zum Bestätigen, die Frage ist gescheitert",
        ),
        ("not saved: the store is on fire", "not saved: the store is on fire"),
        (
            "this prompt needs at least about 756 tokens, the budget is 500: raise the token budget",
            "Für diese Frage braucht das Modell etwa 756 Tokens, erlaubt sind 500. "
            "Die Einstellung prompt_tokens erhöhen.",
        ),
        (
            "the model refused to answer",
            "Das Modell hat die Antwort verweigert. Mit anderen Worten fragen oder ein anderes Modell wählen.",
        ),
    ],
)
def test_errors_of_the_server_and_of_saving_have_german_words(error: str, german: str) -> None:
    assert Labels("de").say_error(error) == german


def test_an_unreachable_server_is_told_without_its_client_s_words() -> None:
    class APIConnectionError(Exception):
        pass

    error = make_model_error("m", APIConnectionError("Connection error."))
    assert "could not be reached, or closed the connection: check" in str(error)


def test_replies_without_a_query_say_what_to_do_and_later_turns_what_happened(shop: Path) -> None:
    model = ScriptedModel(script=lambda prompt: "")
    with SQLAgent(shop, model=model, settings={"examples": "none"}) as agent:
        chat = agent.conversation()
        said = chat.ask("Who is there?")
        assert said.text == "The model's reply was empty. Try again, or choose another model."
        chat.ask("And in Paris?")
        later = model.prompts[-1]
        german = agent.conversation().ask("Wie viele Kunden gibt es?").text
    assert "the model's reply is empty" in later
    assert "choose another model" not in later
    assert german == "Die Antwort des Modells war leer. Noch einmal fragen oder ein anderes Modell wählen."


def test_german_questions_get_german_refusals(shop: Path) -> None:
    settings = {"examples": "none", "max_attempts": 1}
    for sql, says in (
        ("DELETE FROM customers", "Ich kann nur lesen, also wurde nichts geändert."),
        (
            "SELECT nme FROM customers",
            "Zu dieser Frage ist keine Abfrage gelungen. Bitte anders fragen oder Tabelle und Spalte nennen.",
        ),
    ):
        with SQLAgent(shop, model=writes(sql), settings=settings) as agent:
            assert agent.ask("Lösche alle Kunden").text == says


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        (f"SELECT {'+'.join(['1'] * 4000)}", "The query is too long or too complex. Try a simpler one."),
        ("SELECT zeroblob(2000000)", "A value in the result is too large. Leave its column out, or"),
        ("SELECT nme FROM customers", "I could not write a query that works for this question. Ask in other words, or"),
    ],
)
def test_what_a_query_failed_by_is_told_as_what_it_is(shop: Path, sql: str, says: str) -> None:
    with SQLAgent(shop, model=writes(sql), settings={"examples": "none", "max_attempts": 1}) as agent:
        answer = agent.ask("Who is there?")
    assert answer.text.startswith(says)
    assert answer.attempts[-1].error, "which stands behind /why"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("SELECT 1; SELECT 2", "only one statement may be run at a time"),
        ("WITH x AS (SELECT 1) DELETE FROM customers", "I can only read data"),
    ],
)
def test_a_correction_that_is_no_single_query_is_not_read_as_words(shop: Path, text: str, why: str) -> None:
    with SQLAgent(shop, model="offline") as agent:
        answer = agent.ask("How many customers are there?")
        with pytest.raises(QueryRejected, match=why):
            verbs.word_correction(answer, text, agent.resources)
