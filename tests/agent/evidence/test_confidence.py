"""Confidence starts from the model's own word or record; what speaks against an answer is said as a fact."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tableturn.agent import Answer, SQLAgent
from tableturn.agent.evidence import feedback
from tableturn.agent.evidence.confidence import (
    BY_HAND,
    OVER,
    WITHOUT_WORD,
    AnswerEvidence,
    ConfidenceWeights,
    choose_confidence_level,
    confidence,
    estimate_model_accuracy,
    gather_answer_evidence,
    list_answer_doubts,
    load_weights,
)
from tableturn.agent.model.track_record import (
    ModelRunRecord,
    ModelScore,
    ModelTrackRecord,
    append_run_record,
    read_model_track_record,
)
from tableturn.agent.records import Attempt, PlainResult, QueryComplexity
from tableturn.prompts.reply_types import WriterComments
from tableturn.tools.labels import Labels
from tableturn.tools.masked_database import MaskedDatabase
from tableturn.tools.readings import Agreement
from tableturn.tools.sandbox import ResultComparison
from tableturn.tools.sql import SearchedLiteral
from tableturn.tools.values import ValueIndex

from tests.support.scripted import ScriptedModel, writes

PLAIN = AnswerEvidence()
SAID = AnswerEvidence(sure=0.9)
COUNT = "SELECT count(*) FROM customers"


def sure_of(
    found: AnswerEvidence, past: ModelTrackRecord | None = None, weights: ConfidenceWeights | None = None
) -> float:
    return confidence(found.compute_signals(), past, weights)


def ran(sql: str = "SELECT 1", value: int | None = 1, **more: Any) -> Attempt:
    return Attempt(sql, result=PlainResult(("n",), ((value,),)), **more)


def test_every_signal_has_a_weight_of_the_right_sign() -> None:
    known = load_weights().signals
    assert set(known) == set(PLAIN.compute_signals()) - {"unsure", "said"}
    assert {name for name, weight in known.items() if weight > 0} == {"drafts agree", "approved"}
    assert all(known[name] < 0 for name in BY_HAND if name != "approved")


@pytest.mark.parametrize("change", [{"differing": 2}, {"unfinished": True}])
@pytest.mark.parametrize("base", [PLAIN, SAID])
def test_what_was_found_lowers_it_with_and_without_the_models_word(
    base: AnswerEvidence, change: dict[str, Any]
) -> None:
    assert sure_of(replace(base, **change)) < sure_of(base)


def test_the_models_word_is_taken_as_it_is_and_structure_counts_only_without_it() -> None:
    for said in (0.3, 0.6, 0.9, 0.95):
        assert sure_of(AnswerEvidence(sure=said)) == pytest.approx(said, abs=0.001)  # pyright: ignore[reportUnknownMemberType]
    many: dict[str, Any] = {"reach": QueryComplexity(2.0, 2, 1), "columns": 3, "readings": 2, "empty": True}
    many["unheld"] = 1
    assert set(PLAIN.compute_signals()) > set(WITHOUT_WORD)
    assert sure_of(replace(SAID, **many)) == sure_of(SAID)
    for name, value in many.items():
        assert sure_of(replace(PLAIN, **{name: value})) < sure_of(PLAIN)
    assert 0.9 < sure_of(AnswerEvidence(sure=1.0)) < 1
    assert 0 < sure_of(AnswerEvidence(sure=0.0)) < 0.1


def test_a_model_that_overrates_itself_is_believed_less() -> None:
    weak, strong = ModelTrackRecord(database=ModelScore(60, 100)), ModelTrackRecord(others=ModelScore(99, 100))
    assert sure_of(SAID, weak) < 0.75 < sure_of(SAID) < sure_of(SAID, strong)
    assert sure_of(SAID, ModelTrackRecord(database=ModelScore(90, 100))) == pytest.approx(0.9, abs=0.001)  # pyright: ignore[reportUnknownMemberType]
    assert OVER == 0.9


def test_agreement_and_a_persons_approval_raise_it() -> None:
    assert sure_of(replace(PLAIN, agreeing=2)) > sure_of(PLAIN)
    assert sure_of(replace(PLAIN, approved=True)) > 0.98


def test_votes_are_counted_of_drafts_that_were_not_selected_and_of_code() -> None:
    chosen = ran("SELECT a FROM t")
    others = [ran("SELECT b FROM t", source="candidate"), ran("SELECT c FROM t", 2, source="candidate"), chosen]
    found = gather_answer_evidence(chosen, others=others, comparison=ResultComparison(True))
    assert (found.agreeing, found.differing) == (2, 1)
    inconclusive = ResultComparison(False, reason="a sample", conclusive=False)
    assert gather_answer_evidence(chosen, comparison=inconclusive).differing == 0


def test_the_models_record_counts_here_before_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "models.jsonl"
    for database, right in (("shop", 40), ("zoo", 99)):
        append_run_record(ModelRunRecord("m", database, 100, right, None, 100, 1, "2026-01-01T00:00:00"), path)
    append_run_record(ModelRunRecord("m", "shop", 1, None, 1, 1, 1, "2026-01-01T00:00:00"), path)
    here, there = read_model_track_record("m", "shop", path), read_model_track_record("m", "zoo", path)
    assert (here.database, here.others) == (ModelScore(40, 100), ModelScore(99, 100)), "approved answers say nothing"
    assert estimate_model_accuracy(here, 0.8) < 0.55 < 0.9 < estimate_model_accuracy(there, 0.8)
    assert sure_of(PLAIN, here) < sure_of(PLAIN) < sure_of(PLAIN, there)
    assert read_model_track_record("other", "shop", path) == ModelTrackRecord()


def test_what_is_known_of_an_attempt() -> None:
    assert gather_answer_evidence(ran()) == PLAIN
    assert gather_answer_evidence(Attempt("SELECT x", error="no such column: x")) == PLAIN, (
        "nothing ran, so nothing was empty"
    )
    assert gather_answer_evidence(ran(value=None)).empty
    assert (
        gather_answer_evidence(
            ran(literals=tuple(SearchedLiteral("t", "a", text, text == "x") for text in "xy"))
        ).unheld
        == 1
    )
    assert gather_answer_evidence(Attempt("SELECT 1, 2", result=PlainResult(("a", "b"), ((1, 2),)))).columns == 2
    approved = {
        source: gather_answer_evidence(ran(source=source)).approved for source in ("verified", "edited", "draft")
    }
    assert approved == {"verified": True, "edited": True, "draft": False}
    unfinished = {
        status: gather_answer_evidence(ran(), status).unfinished for status in ("converged", "capped", "failed")
    }
    assert unfinished == {"converged": False, "capped": True, "failed": False}
    assert gather_answer_evidence(ran(), others=[ran(source="draft")]).agreeing == 0, "an earlier attempt is no vote"
    assert gather_answer_evidence(ran(), comparison=ResultComparison(False)).differing == 1
    found = gather_answer_evidence(ran(reach=QueryComplexity(1.5, 2, 1)), rivals=Agreement(3, 1))
    assert (found.reach, found.readings, found.same_readings) == (QueryComplexity(1.5, 2, 1), 3, 1)
    assert (
        gather_answer_evidence(ran(comments=WriterComments(0.4))).sure,
        gather_answer_evidence(ran(confidence=0.8)).sure,
    ) == (0.4, 0.8)


def test_each_signal_is_a_share_or_a_number_within_bounds() -> None:
    assert set(PLAIN.compute_signals().values()) == {0.0}
    many = AnswerEvidence(
        sure=0.7, unheld=9, reach=QueryComplexity(9.0, 9, 9), columns=9, agreeing=3, differing=1, readings=4,
        same_readings=3,
    )  # fmt: skip
    found = many.compute_signals()
    bounds = {"unheld values": 1, "unexpected": 3, "joins": 3, "nested": 2, "columns": 3, "said": 1}
    assert {name: found[name] for name in bounds} == bounds
    assert (found["drafts agree"], found["drafts differ"], found["readings differ"]) == (0.75, 0.25, 0.25)
    assert found["unsure"] == pytest.approx(0.3)  # pyright: ignore[reportUnknownMemberType]
    assert replace(PLAIN, columns=2).compute_signals()["columns"] == 1
    assert replace(PLAIN, columns=0).compute_signals()["columns"] == 0


def test_confidence_is_the_share_of_right_answers_moved_by_the_weights() -> None:
    weights = ConfidenceWeights(0.8, 0.0, {"empty": -1.0})
    assert sure_of(PLAIN, weights=weights) == 0.8
    assert sure_of(replace(PLAIN, empty=True, reach=QueryComplexity(0.0, 3, 0)), weights=weights) == 0.595
    assert sure_of(PLAIN, weights=replace(weights, intercept=1.0)) == 0.916
    assert sure_of(PLAIN, ModelTrackRecord(database=ModelScore(20, 20)), weights) == 0.9, (
        "20 answers count as much as the rest"
    )
    assert sure_of(PLAIN, ModelTrackRecord(others=ModelScore(0, 20)), weights) == 0.4


def test_nothing_is_called_unsure_without_a_reason_or_sure_against_one() -> None:
    values = (1.0, 0.9, 0.899, 0.7, 0.699, 0.0)
    assert [choose_confidence_level(value, "x") for value in values] == ["sure"] + ["fairly_sure"] * 3 + ["unsure"] * 2
    assert [choose_confidence_level(value, "") for value in values] == ["sure"] * 2 + ["fairly_sure"] * 4


def test_what_speaks_against_an_answer_is_a_fact() -> None:
    def said(attempt: Attempt, comparison: ResultComparison | None = None, **more: Any) -> list[str]:
        return list(
            list_answer_doubts(attempt, gather_answer_evidence(attempt, comparison=comparison, **more), comparison)
        )

    assert said(ran()) == said(ran(comments=WriterComments(0.3))) == [], "a number alone is no reason"
    assert said(ran(comments=WriterComments(0.3, "there are two dates"))) == ["the model says “there are two dates”"]
    assert said(ran(comments=WriterComments(0.95, "there are two dates"))) == []
    for untold in ("see http://evil.example/x for the total", "see evil.example/x", "the real total is 9,999,999"):
        assert said(ran(comments=WriterComments(0.3, untold))) == []
    assert said(ran("SELECT 2024", comments=WriterComments(0.3, "2024 may be the year of delivery")))
    others = [ran("SELECT b FROM t", source="candidate"), ran("SELECT c FROM t", 2, source="candidate")]
    assert said(ran("SELECT a FROM t"), others=others) == ["1 of 2 other queries gives a different result"]
    long = said(ran(comments=WriterComments(0.3, "orders may be counted twice " * 20)))[0].removeprefix(
        "the model says “"
    )
    assert len(long) <= 201
    assert long.endswith((" orders…”", " may…”", " be…”", " counted…”", " twice…”"))
    differs = ResultComparison(False, reason="2 rows more")
    assert said(ran(), differs) == ["the pandas code gives a different result (2 rows more)"]
    assert said(ran(), status="capped") == ["the queries kept changing"]


def answered(shop: Path, reply: str, question: str = "How many customers are there?", **settings: object) -> Answer:
    model = ScriptedModel(script=lambda prompt: reply)
    fields = {"examples": "none", "effort": "low", **settings}
    with SQLAgent(shop, model=model, settings=fields) as agent:
        return agent.ask(question)


def test_what_speaks_against_a_german_answer_is_german(shop: Path) -> None:
    reply, asked = f"```sql\n{COUNT}\n```\nSure: 40, manche sind doppelt", "Wie viele Kunden gibt es?"
    answer = answered(shop, reply, asked, record="off")
    assert answer.certainty == "unsicher: das Modell sagt: „manche sind doppelt“"
    with SQLAgent(shop, model=writes(COUNT)) as agent:
        assert agent.rerun(answer).confidence_reason == "ein Mensch schrieb die Abfrage"
    drafts = [ran("SELECT b FROM t", source="candidate"), ran("SELECT c FROM t", 2, source="candidate")]
    found = gather_answer_evidence(ran(), "capped", drafts)
    said = list_answer_doubts(ran(), found, labels=Labels("de"))
    assert said == ["1 von 2 anderen Abfragen ergibt etwas anderes"]


def test_an_answer_that_nothing_speaks_against_says_nothing_of_it(shop: Path, tmp_path: Path) -> None:
    answer = answered(shop, f"```sql\n{COUNT}\n```\nSure: 95", record="off")
    assert (answer.confidence, answer.confidence_reason, answer.certainty) == (0.95, "", "")
    low = answered(shop, f"```sql\n{COUNT}\n```\nSure: 40, customers may be counted twice", record="off")
    assert low.certainty == "unsure: the model says “customers may be counted twice”"
    path = tmp_path / "models.jsonl"
    append_run_record(ModelRunRecord("ScriptedModel", "shop", 40, 20, None, 40, 1, "2026-01-01T00:00:00"), path)
    weak = answered(shop, f"```sql\n{COUNT}\n```\nSure: 95", record=str(path))
    assert weak.confidence < 0.9
    assert weak.certainty.endswith("the model was right on 20 of 40 judged questions here")


def test_the_offline_translators_own_certainty_is_its_word(shop: Path) -> None:
    with SQLAgent(shop, model="offline") as agent:
        answer = agent.ask("How many customers are there?")
    assert answer.confidence > 0.8
    assert answer.record.evidence["said"] == 1


@pytest.mark.parametrize(
    ("condition", "fact"),
    [
        ("city = 'Singapore'", "'Singapore' in city"),
        ("city LIKE 'Singa%'", "'Singa' in city"),
        ("city = 'PARIS'", "'PARIS' in city (it has 'Paris')"),
    ],
)
def test_an_empty_result_says_which_value_no_row_has(shop: Path, condition: str, fact: str) -> None:
    reply = f"```sql\nSELECT id FROM customers WHERE {condition}\n```\nSure: 95"
    answer = answered(shop, reply, record="off", max_attempts=1)
    assert (answer.text, answer.rows) == (f"No rows match: no row of customers has {fact}.", ())
    assert answer.certainty == "", "it is told once"
    counted = answered(shop, reply.replace("SELECT id", "SELECT count(*)"), record="off", max_attempts=1)
    assert counted.text == f"Customers: 0. No row of customers has {fact}."
    assert counted.certainty == "", "that nothing is there is an answer"


PEOPLE = "SELECT id FROM people WHERE city = 'Paris'"
NO_MAIL = " No row of people has 'ann@x.dee' in mail (it has 'ann@x.de')."


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("city <> 'Gent'", "No row of people has 'Gent' in city (it has 'Ghent')."),
        ("city NOT IN ('Paris', 'Gent')", "No row of people has 'Gent' in city (it has 'Ghent')."),
        ("city IN ('Paris', 'Gent')", "No row of people has 'Gent' in city (it has 'Ghent')."),
        ("city IN ('Paris', 'Atlantis')", "No row of people has 'Atlantis' in city."),
        ("city IN ('Ghent', 'Gent')", ""),
        ("city <> 'Atlantis'", ""),
    ],
)
def test_a_value_that_no_row_has_is_told_beside_rows(tmp_path: Path, condition: str, told: str) -> None:
    reply = f"```sql\nSELECT id FROM people WHERE {condition}\n```\nSay: The people are {{id}}.\nSure: 95"
    answer = answered(make_people(tmp_path), reply, record="off")
    assert (answer.usage.llm_calls, answer.row_count > 0) == (1, True), "it sends no query back"
    assert told in answer.text
    assert ("No row of" in answer.text) == bool(told)
    assert (answer.confidence < 0.95) == ("it has" in told)


def make_people(folder: Path) -> Path:
    with closing(sqlite3.connect(folder / "people.sqlite")) as connection:
        connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, mail TEXT COLLATE NOCASE, city TEXT)")
        connection.execute("INSERT INTO people VALUES (1, 'ann@x.de', 'Ghent'), (2, 'bob@x.de', 'Paris')")
        connection.commit()
    return folder / "people.sqlite"


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("mail = 'ANN@X.DE' AND id > 9", ""),  # equal by the column's collation
        ("mail NOT IN ('ANN@X.DE') AND id > 9", ""),
        ("(mail = 'ann@x.dee' OR id = 2) AND id > 9", NO_MAIL),
        ("CASE WHEN mail = 'ann@x.dee' THEN 1 END IS NULL AND id > 9", NO_MAIL),
    ],
)
def test_what_a_condition_finds_is_the_engines_to_say(tmp_path: Path, condition: str, told: str) -> None:
    model = writes(f"SELECT id FROM people WHERE {condition}")
    with SQLAgent(make_people(tmp_path), model=model, settings={"record": "off"}) as agent:
        answer = agent.ask("Give me what was asked.")
    assert len(model.prompts) == 1
    assert (answer.text, answer.certainty) == (f"No rows match.{told}", "")


def test_an_index_that_is_behind_accuses_no_query(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def hold_nothing(*_: Any) -> bool:
        return False

    monkeypatch.setattr(ValueIndex, "holds", hold_nothing)
    ran: list[str] = []
    execute = MaskedDatabase.execute

    def record(database: MaskedDatabase, sql: str, *rest: Any) -> Any:
        ran.append(sql)
        return execute(database, sql, *rest)

    monkeypatch.setattr(MaskedDatabase, "execute", record)
    with SQLAgent(make_people(tmp_path), model=writes(PEOPLE), settings={"record": "off", "ledger": "off"}) as agent:
        answer = agent.ask("Give me what was asked.")
        assert (answer.row_count, answer.certainty) == (1, "")
        assert ran == [PEOPLE], "of a result with rows nothing is asked"


@pytest.mark.parametrize(
    ("limit", "told"),
    [(0.3, "No rows match: no row of people has 'PARIS' in city (it has 'Paris')."), (0.0, "No rows match.")],
)
def test_what_the_engine_cannot_say_in_time_is_not_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: float, told: str
) -> None:
    monkeypatch.setattr(feedback, "LOOKUP_SECONDS", limit)
    model = writes("SELECT id FROM people WHERE city = 'PARIS'")
    with SQLAgent(make_people(tmp_path), model=model, settings={"record": "off"}) as agent:
        assert agent.ask("Give me what was asked.").text == told
    assert len(model.prompts) == (2 if limit else 1), "nor is the query sent back"


def test_where_a_person_approves_each_query_no_row_is_looked_for(tmp_path: Path) -> None:
    model = writes(PEOPLE.replace("Paris", "PARIS"))
    with SQLAgent(make_people(tmp_path), model=model, settings={"approve": True}) as agent:
        chat = agent.conversation()
        chat.ask("Give me what was asked.")
        assert chat.ask("yes").text == "No rows match."
    assert len(model.prompts) == 1


@pytest.mark.parametrize(
    ("condition", "fact"),
    [
        ("city = NULL", "city = NULL never holds, because NULL equals nothing"),
        ("id > 5 AND id < 3", "id > 5 AND id < 3 never holds, because nothing lies between"),
        ("id > 5 AND id < 7", ""),
        ("id > 5 AND id < 3 OR id = 1", ""),
    ],
)
def test_conditions_that_never_hold_are_told_where_nothing_came_out(shop: Path, condition: str, fact: str) -> None:
    settings: dict[str, Any] = {"record": "off", "max_attempts": 1}
    answer = answered(shop, f"```sql\nSELECT count(*) FROM customers WHERE {condition}\n```\nSure: 95", **settings)
    assert answer.confidence_reason == fact
    either = f"SELECT (SELECT count(*) FROM customers WHERE {condition}), count(*) FROM customers"
    assert answered(shop, f"```sql\n{either}\n```\nSure: 95", **settings).confidence_reason == ""


def test_a_day_that_no_calendar_has_is_told_where_a_column_holds_dates(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "visits.db")) as connection, connection:
        connection.execute("CREATE TABLE visits (seen_on TEXT, code TEXT)")
        connection.execute("INSERT INTO visits VALUES ('2024-02-05', '2024-05-01'), ('2024-02-06', '2024-13-44')")
    query = "SELECT seen_on FROM visits WHERE {} >= '{}'"
    with SQLAgent(tmp_path / "visits.db", model=(model := writes("")), settings={"record": "off"}) as agent:

        def ask(column: str, day: str) -> Answer:
            model.script = lambda prompt: f"```sql\n{query.format(column, day)}\n```\nSure: 95"
            return agent.ask("Wer kam wann in diesem Jahr, und warum?")

        unsure = ask("seen_on", "2024-13-45")
        assert unsure.certainty == "unsicher: 2024-13-45 ist kein Datum"
        assert ask("code", "2024-13-45").confidence_reason == "", "a code is no date"
        assert ask("seen_on", "2024-12-31").confidence_reason == ""
        assert ask("seen_on", "2024-01-32").confidence_reason == "2024-01-32 ist kein Datum", "where rows came out too"


@pytest.mark.parametrize(
    "condition", ["city ILIKE '%berlin%'", "NOT (city = 'Berlinn')", "NOT (city = 'Hamburg' OR city LIKE 'Paris%')"]
)
def test_a_text_that_is_held_or_excluded_is_not_called_missing(tmp_path: Path, condition: str) -> None:
    with closing(duckdb.connect(str(tmp_path / "shop.duckdb"))) as connection:
        connection.execute("CREATE TABLE customers AS SELECT * FROM (VALUES (1, 'Berlin')) AS v(id, city)")
    model = writes(f"SELECT id FROM customers WHERE {condition}")
    with SQLAgent(tmp_path / "shop.duckdb", model=model, settings={"examples": "none"}) as agent:
        answer = agent.ask("Give me what was asked.")
    assert (answer.row_count, answer.confidence_reason) == (1, "")
