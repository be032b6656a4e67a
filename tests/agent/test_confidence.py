"""Confidence rises with what speaks for an answer, falls with what speaks against it, and says which it was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tableturn.agent import SQLAgent
from tableturn.agent.attempts.confidence import BY_HAND, confidence, reason, share_of, shipped, words
from tableturn.agent.attempts.evidence import Evidence, SecondReading, evidence_of
from tableturn.agent.model.record import Record, Recorded, Standing, add_record, standing
from tableturn.agent.records import Attempt, Reach, Result
from tableturn.tools.sandbox import Comparison

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
