"""Confidence rises with what speaks for an answer, falls with what speaks against it, and says which it was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tableturn.agent import SQLAgent
from tableturn.agent.attempts.confidence import (
    BY_HAND,
    Weights,
    confidence,
    own_certainty,
    reason,
    share_of,
    shipped,
    words,
)
from tableturn.agent.attempts.evidence import Evidence, SecondReading, evidence_of
from tableturn.agent.model.record import Record, Recorded, Standing, add_record, standing
from tableturn.agent.records import Attempt, Reach, Result
from tableturn.tools.sandbox import Comparison
from tableturn.tools.sql import SearchedLiteral

from tests.support.scripted import ScriptedModel

PLAIN = Evidence()
COUNT = "SELECT count(*) FROM customers"


def ran(sql: str = "SELECT 1", value: int = 1, **more: object) -> Attempt:
    return Attempt(sql, result=Result(("n",), ((value,),)), **more)  # pyright: ignore[reportArgumentType]


def test_every_signal_has_a_weight_of_the_right_sign() -> None:
    known = shipped().signals
    assert set(known) == set(PLAIN.signals())
    assert {name for name, weight in known.items() if weight > 0} == {
        "second reading agrees",
        "drafts agree",
        "approved",
    }
    assert all(known[name] < 0 for name in BY_HAND if name != "approved")


@pytest.mark.parametrize(
    ("against", "said"),
    [
        (Evidence(proofs=1), "checks find fault"),
        (Evidence(doubts=2), "checks have doubts"),
        (Evidence(empty=True), "nothing came out"),
        (Evidence(second=SecondReading(same=False, certainty=0.8)), "second reading"),
        (Evidence(agreeing=1, differing=2), "2 of 3 other drafts give something else"),
        (Evidence(readings=2, same_readings=0), "another way to read"),
        (Evidence(unexpected=3.0), "words do not lead to"),
        (Evidence(joins=3), "joins 4 tables"),
        (Evidence(sure=0.3), "the model says that it is not sure"),
        (Evidence(unfinished=True), "did not converge"),
    ],
)
def test_what_speaks_against_an_answer_lowers_it_and_is_said(against: Evidence, said: str) -> None:
    value = confidence(against)
    assert value < confidence(PLAIN)
    assert said in reason(0.5, against)


def test_a_proof_leaves_no_answer_sure() -> None:
    best = Evidence(second=SecondReading(same=True, certainty=1.0), proofs=1)
    assert words(confidence(best, Standing(elsewhere=Recorded(95, 100)))) != "sure"


def test_agreement_raises_it_and_is_said() -> None:
    second = replace(PLAIN, second=SecondReading(same=True, certainty=0.9))
    drafts = replace(PLAIN, agreeing=2)
    assert min(confidence(second), confidence(drafts)) > confidence(PLAIN)
    assert reason(0.95, second) == "a second reading, by grammar, gives the same"
    assert reason(0.95, drafts) == "2 of 2 other drafts give the same"
    assert confidence(replace(PLAIN, approved=True)) > 0.98


def test_votes_are_counted_of_drafts_that_were_not_selected_and_of_code() -> None:
    chosen = ran("SELECT a FROM t")
    others = [ran("SELECT b FROM t", source="candidate"), ran("SELECT c FROM t", 2, source="candidate"), chosen]
    found = evidence_of(chosen, others=others, comparison=Comparison(True))
    assert (found.agreeing, found.differing) == (2, 1)
    inconclusive = Comparison(False, reason="a sample", conclusive=False)
    assert evidence_of(chosen, comparison=inconclusive).differing == 0


def test_what_a_query_decides_by_itself_is_evidence() -> None:
    found = evidence_of(ran(reach=Reach(1.5, 2, 1), findings=("x",), proofs=1))
    assert (found.unexpected, found.joins, found.nested, found.proofs, found.doubts) == (1.5, 2, 1, 1, 0)


def test_the_models_record_counts_here_before_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "models.jsonl"
    for database, right in (("shop", 40), ("zoo", 99)):
        add_record(Record("m", database, 100, right, None, 100, 1, "2026-01-01T00:00:00"), path)
    add_record(Record("m", "shop", 1, None, 1, 1, 1, "2026-01-01T00:00:00"), path)
    here, there = standing("m", "shop", path), standing("m", "zoo", path)
    assert (here.here, here.elsewhere) == (Recorded(40, 100), Recorded(99, 100)), "approved answers say nothing"
    assert share_of(here, 0.8) < 0.55 < 0.9 < share_of(there, 0.8)
    assert confidence(PLAIN, here) < confidence(PLAIN) < confidence(PLAIN, there)
    assert "right on 99 of 100 judged questions here" in reason(0.95, PLAIN, there)
    assert "right on 40 of 100" in reason(0.5, PLAIN, here)
    assert standing("other", "shop", path) == Standing()


def answered(shop: Path, reply: str, question: str = "How many customers are there?", **settings: object):
    model = ScriptedModel(script=lambda prompt: f"```sql\n{reply}\n```")
    fields = {"examples": "none", "effort": "low", **settings}
    with SQLAgent(shop, model=model, settings=fields) as agent:
        return agent.ask(question)


def test_a_second_reading_counts_and_asks_no_model(shop: Path) -> None:
    same, other = answered(shop, COUNT), answered(shop, f"{COUNT} WHERE 1 = 1 AND id > 1")
    alone = answered(shop, COUNT, second_reading=False)
    assert same.usage.llm_calls == alone.usage.llm_calls
    assert other.confidence < alone.confidence < same.confidence
    assert "a second reading, by grammar, gives the same" in same.certainty
    assert "gives something else" in other.certainty


def test_nothing_runs_unapproved_for_a_second_reading(shop: Path) -> None:
    model = ScriptedModel(script=lambda prompt: f"```sql\n{COUNT}\n```")
    with SQLAgent(shop, model=model, settings={"examples": "none", "approve": True}) as agent:
        chat = agent.conversation()
        assert chat.ask("How many customers are there?").certainty == ""
        answer = chat.ask("approve")
    assert answer.record.evidence["second reading agrees"] == 0


def test_the_offline_translator_keeps_its_own_certainty(shop: Path) -> None:
    with SQLAgent(shop, model="offline") as agent:
        answer = agent.ask("How many customers are there?")
    assert answer.confidence > 0.8
    assert answer.record.evidence["second reading agrees"] == 0


def test_the_reason_names_what_speaks_for_an_answer_before_what_speaks_against_it() -> None:
    mixed = replace(PLAIN, second=SecondReading(same=True, certainty=0.9), readings=2, same_readings=0)
    against = "another way to read the question gives something else"
    said = f"a second reading, by grammar, gives the same; against it: {against}"
    assert reason(0.8, mixed) == reason(0.95, mixed) == said
    assert reason(0.95, PLAIN) == "no check finds fault with it"


def test_what_is_known_of_an_attempt() -> None:
    assert evidence_of(ran()) == PLAIN
    assert evidence_of(Attempt("SELECT x", error="no such column: x")) == PLAIN, "nothing ran, so nothing was empty"
    assert evidence_of(ran(value=None)).empty  # pyright: ignore[reportArgumentType]
    assert evidence_of(ran(findings=("x", "y", "z"), proofs=1)).doubts == 2
    assert evidence_of(ran(proofs=1)).doubts == 0
    assert evidence_of(ran(literals=tuple(SearchedLiteral("t", "a", text, text == "x") for text in "xy"))).unheld == 1
    assert evidence_of(Attempt("SELECT 1, 2", result=Result(("a", "b"), ((1, 2),)))).columns == 2
    assert [evidence_of(ran(source=source)).approved for source in ("verified", "edited", "draft")] == [
        True,
        True,
        False,
    ]
    assert [evidence_of(ran(), status).unfinished for status in ("converged", "capped", "failed")] == [
        False,
        True,
        False,
    ]
    assert evidence_of(ran(), others=[ran(source="draft")]).agreeing == 0, "an earlier attempt is no vote"
    assert evidence_of(ran(), comparison=Comparison(False)).differing == 1


def test_each_signal_is_a_share_or_a_number_within_bounds() -> None:
    assert set(PLAIN.signals().values()) == {0.0}
    many = Evidence(
        proofs=9, doubts=9, unheld=9, unexpected=9.0, joins=9, nested=9, columns=9, agreeing=3, differing=1,
        second=SecondReading(same=True, certainty=0.8), readings=4, same_readings=3, sure=0.7,
    )  # fmt: skip
    found = many.signals()
    bounds = {"proofs": 2, "doubts": 2, "unheld values": 1, "unexpected": 3, "joins": 3, "nested": 2, "columns": 3}
    assert {name: found[name] for name in bounds} == bounds
    assert (found["drafts agree"], found["drafts differ"], found["readings differ"]) == (0.75, 0.25, 0.25)
    assert (found["second reading agrees"], found["second reading differs"]) == (0.8, 0)
    assert found["unsure"] == pytest.approx(0.3)  # pyright: ignore[reportUnknownMemberType]
    assert replace(PLAIN, columns=2).signals()["columns"] == 1
    assert replace(PLAIN, columns=0).signals()["columns"] == 0
    other = replace(PLAIN, second=SecondReading(same=False, certainty=0.8)).signals()
    assert (other["second reading agrees"], other["second reading differs"]) == (0, 1)


def test_confidence_is_the_share_of_right_answers_moved_by_the_weights() -> None:
    weights = Weights(0.8, 0.0, {"empty": -1.0})
    assert confidence(PLAIN, weights=weights) == 0.8
    assert confidence(replace(PLAIN, empty=True, joins=3), weights=weights) == 0.595
    assert confidence(PLAIN, weights=replace(weights, intercept=1.0)) == 0.916
    assert confidence(PLAIN, Standing(here=Recorded(20, 20)), weights) == 0.9, "20 answers count as much as the rest"
    assert confidence(PLAIN, Standing(elsewhere=Recorded(0, 20)), weights) == 0.4


def test_an_own_certainty_is_moved_by_what_came_of_the_query() -> None:
    def moved(found: Evidence = PLAIN, **more: object) -> float:
        attempt = ran(**more)  # pyright: ignore[reportArgumentType]
        assert attempt.result is not None
        return own_certainty(0.8, attempt, attempt.result, found)

    assert moved() == 0.8
    assert moved(findings=("x",), proofs=1) == 0.4
    assert moved(findings=("x",)) == pytest.approx(0.64)  # pyright: ignore[reportUnknownMemberType]
    assert moved(value=None) == pytest.approx(0.56)  # pyright: ignore[reportUnknownMemberType]
    assert moved(replace(PLAIN, unfinished=True)) == pytest.approx(0.64)  # pyright: ignore[reportUnknownMemberType]
    assert moved(replace(PLAIN, agreeing=1)) == 0.9
    assert moved(replace(PLAIN, agreeing=1, differing=1)) == 0.56, "one that differs counts for more"


def test_words_for_confidence_begin_at_their_bounds() -> None:
    assert [words(value) for value in (1.0, 0.9, 0.899, 0.7, 0.699, 0.0)] == [
        "sure", "sure", "fairly sure", "fairly sure", "unsure", "unsure",
    ]  # fmt: skip


def test_the_reason_tells_the_two_weightiest_on_either_side() -> None:
    against = Evidence(proofs=1, doubts=1, unexpected=1.0, joins=1)
    assert reason(0.2, against) == ("against it: checks find fault with the query; checks have doubts about the query")
    assert reason(0.5, replace(PLAIN, approved=True, joins=1)) == (
        "a person wrote or approved the query; against it: it joins 2 tables"
    )
    assert reason(0.5, PLAIN) == "little speaks for it or against it"
    assert reason(0.9, PLAIN) == "no check finds fault with it"
    assert reason(0.5, replace(PLAIN, nested=1)) == "against it: it is a query within a query"
    assert reason(0.5, replace(PLAIN, columns=3)) == "against it: it gives 3 columns"
    assert reason(0.95, replace(PLAIN, sure=0.95)) == "no check finds fault with it", "too little to be told"


def test_a_record_is_told_from_twenty_answers_on_and_speaks_for_or_against() -> None:
    def told(right: int, n: int) -> str:
        return reason(0.95, PLAIN, Standing(here=Recorded(right, n)))

    assert told(19, 19) == "no check finds fault with it"
    assert told(20, 20) == "the model was right on 20 of 20 judged questions here"
    assert told(10, 20) == "against it: the model was right on 10 of 20 judged questions here"
    both = Standing(Recorded(20, 20), Recorded(90, 100))
    assert reason(0.95, PLAIN, both).count("judged questions") == 1
