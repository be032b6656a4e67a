"""What an answer rests on and what other readings give, through a turn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tableturn.agent import SQLAgent
from tableturn.agent.answers.render import list_answer_reasons, list_basis_lines, render_answer_text
from tableturn.tools.sample import build_sample

from tests.support.scripted import writes

COUNT = "SELECT COUNT(*) FROM orders WHERE ordered_on LIKE '2023%'"
SHIPPED = "SELECT COUNT(*) FROM orders WHERE shipped_on LIKE '2023%'"
BOTH = f"{COUNT}\n```\nOther reading: by the day of shipping\n```sql\n{SHIPPED}"
LINE = "If “by the day of shipping” is meant: 1,551."
QUESTION = "How many sales did we have in 2023?"
ALONE: dict[str, Any] = {"examples": "none"}


@pytest.fixture(scope="module")
def kestrel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_sample(tmp_path_factory.mktemp("sample") / "kestrel.sqlite")


def test_an_answer_says_what_it_rests_on_and_what_it_hangs_on(kestrel: Path) -> None:
    with SQLAgent(kestrel, model=writes(BOTH), settings=ALONE) as agent:
        answer = agent.ask(QUESTION)
    assert answer.text == f"Orders: 1,631. {LINE}"
    assert (answer.readings.agreement.ran, answer.readings.agreement.same) == (1, 0)
    assert answer.usage.llm_calls == 1
    assert list_basis_lines(answer) == (
        "A generated query over orders; a single row; ordered on 1 Jan 2023 to 31 Dec 2023 "
        "(the newest is 31 Dec 2024).",
        "Other readings: If “by the day of shipping” is meant: 1,551.",
    )
    how_sure = dict(list_answer_reasons(answer, None))["how sure"]
    assert how_sure == ("fairly sure: nothing speaks against it except what the answer tells",)
    told = json.loads(answer.to_json())["basis"]
    assert (told["origin"], told["tables"], told["date"]["newest"]) == ("generated", ["orders"], "2024-12-31")
    assert told["filters"][0]["words"] == "2023"
    assert "what this rests on" in answer._repr_html_()
    assert list_basis_lines(answer)[0] in render_answer_text(answer)


def test_a_question_in_another_language_is_told_of_them_too(kestrel: Path) -> None:
    with SQLAgent(kestrel, model=writes(BOTH), settings=ALONE) as agent:
        answers = [agent.ask(question) for question in (QUESTION, "Wie viele Verkäufe gab es 2023?")]
    assert answers[0].text == f"Orders: 1,631. {LINE}"
    assert answers[1].text == "Orders: 1.631. Falls „by the day of shipping“ gemeint ist: 1.551."
    signals = [answer.record.evidence for answer in answers]
    assert [signal["readings differ"] for signal in signals] == [1.0, 1.0]
    assert signals[1]["unexpected"] == 0.0 < signals[0]["unexpected"]


def test_off_runs_nothing_and_the_papers_are_off(kestrel: Path) -> None:
    with SQLAgent(kestrel, model=writes(BOTH, COUNT), settings=ALONE) as agent:
        off = agent.ask(QUESTION, settings={"readings": "off"})
        paper = agent.ask(QUESTION, settings={"preset": "track", "annotate": False})
    for answer in (off, paper):
        assert answer.text == "Orders: 1,631."
        assert answer.readings.agreement.ran == 0
        assert answer.basis is not None


def test_a_choice_is_asked_for_and_its_query_runs_without_a_request(kestrel: Path) -> None:
    model = writes(BOTH)
    with SQLAgent(kestrel, model=model, settings=ALONE | {"readings": "ask"}) as agent:
        chat = agent.conversation()
        asked = chat.ask(QUESTION)
        assert asked.status == "needs_clarification"
        assert asked.choices == ("as it stands (1,631)", "by the day of shipping (1,551)")
        answer = chat.ask("2")
    assert (answer.rows, answer.status, answer.intent) == (((1551,),), "converged", "answerable")
    assert len(model.prompts) == 1
    assert [attempt.row_count for attempt in answer.attempts] == [1]
    assert answer.basis is not None
    assert [one.words for one in answer.basis.filters][-1] is not None


@pytest.mark.parametrize(("reply", "count"), [("1", 1631), ("2", 1551)])
def test_what_a_person_chose_is_open_no_more(kestrel: Path, reply: str, count: int) -> None:
    model = writes(BOTH.replace("\nOther", "\nSure: 75, the date is open\nOther"))
    with SQLAgent(kestrel, model=model, settings=ALONE | {"readings": "ask", "record": "off"}) as agent:
        chat = agent.conversation()
        chat.ask(QUESTION)
        answer = chat.ask(reply)
    assert (answer.text, answer.certainty) == (f"Orders: {count:,}.", "")


def test_a_reply_in_other_words_is_read_by_the_model_and_not_asked_again(kestrel: Path) -> None:
    model = writes(BOTH, "SELECT COUNT(*) FROM orders WHERE shipped_on LIKE '2023%' AND status = 'shipped'")
    with SQLAgent(kestrel, model=model, settings=ALONE | {"readings": "ask"}) as agent:
        chat = agent.conversation()
        chat.ask(QUESTION)
        answer = chat.ask("those that were shipped in it, please")
    assert answer.status == "converged"
    assert len(model.prompts) == 2
    assert answer.readings.line == ""


def test_nobody_is_asked_where_nothing_changes_or_nobody_may_be(kestrel: Path) -> None:
    settled = "SELECT COUNT(*) FROM orders WHERE status = 'open'"
    with SQLAgent(kestrel, model=writes(settled, COUNT), settings=ALONE | {"readings": "ask"}) as agent:
        assert agent.ask("How many orders are open?").status == "converged"
        assert agent.ask(QUESTION, settings={"max_clarifications": 0}).status == "converged"


def test_a_verified_query_leaves_nothing_open(kestrel: Path, tmp_path: Path) -> None:
    with SQLAgent(kestrel, model=writes(BOTH, BOTH), examples=str(tmp_path / "store")) as agent:
        agent.approve(agent.ask(QUESTION))
        again = agent.ask(QUESTION)
    assert again.basis is not None
    assert (again.basis.origin, again.readings.tried) == ("verified", ())


def test_what_may_not_leave_is_neither_looked_up_nor_told(kestrel: Path) -> None:
    egress = {"columns": {"orders.ordered_on": "none", "orders.status": "none"}}
    with SQLAgent(kestrel, model=writes(BOTH), settings=ALONE, egress=egress) as agent:
        answer = agent.ask(QUESTION)
    assert answer.rows == ((1631,),)
    assert answer.readings.tried == ()
    assert answer.basis is not None
    assert answer.basis.date is None or answer.basis.date.newest == ""
    assert "2024-12-31" not in answer.to_json()


def test_a_reading_that_takes_too_long_is_told_without_its_number(
    kestrel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tableturn.agent.evidence.readings.SECONDS", 0.2)
    slow = "SELECT COUNT(*) FROM orders a, orders b, orders c WHERE a.ordered_on || b.ordered_on = c.shipped_on"
    reply = BOTH.replace(SHIPPED, slow)
    with SQLAgent(kestrel, model=writes(reply), settings=ALONE) as agent:
        answer = agent.ask(QUESTION)
    assert answer.text == "Orders: 1,631. If “by the day of shipping” is meant: not counted in time."
    assert answer.readings.agreement.ran == 0


def test_what_is_hidden_is_not_named(kestrel: Path) -> None:
    with SQLAgent(kestrel, model=writes(BOTH), settings=ALONE, deny=["orders.status", "orders.shipped_on"]) as agent:
        answer = agent.ask(QUESTION)
    assert answer.readings.tried == ()
    assert "shipped" not in answer.to_json()


def test_an_answer_of_an_earlier_version_has_no_basis(kestrel: Path) -> None:
    from tableturn.agent.records import AnswerRecord
    from tableturn.agent.state import dump, load

    with SQLAgent(kestrel, model=writes(BOTH), settings=ALONE) as agent:
        record = dict(dump(agent.ask(QUESTION).record))
    old = {key: value for key, value in record.items() if key not in ("basis", "readings")}
    assert load(AnswerRecord, old).basis is None
    assert load(AnswerRecord, json.loads(json.dumps(record))).basis is not None


def test_where_a_person_approves_each_query_no_other_runs(kestrel: Path, tmp_path: Path) -> None:
    trail = tmp_path / "audit.jsonl"
    with SQLAgent(kestrel, model=writes(BOTH), settings=ALONE | {"approve": True}, audit=trail) as agent:
        chat = agent.conversation()
        chat.ask(QUESTION)
        answer = chat.ask("yes")
    assert (answer.rows, answer.readings.tried) == (((1631,),), ())


def test_another_reading_that_is_turned_down_stands_there_as_such(kestrel: Path, tmp_path: Path) -> None:
    trail, writing = tmp_path / "audit.jsonl", "DELETE FROM orders"
    with SQLAgent(kestrel, model=writes(BOTH.replace(SHIPPED, writing)), settings=ALONE, audit=trail) as agent:
        assert agent.ask(QUESTION).text == "Orders: 1,631."
    record = json.loads(trail.read_text())
    assert record["refused"] == [writing]
    assert writing in record["queries"]


def test_another_reading_is_one_printable_line(kestrel: Path) -> None:
    odd = BOTH.replace("the day of", "\x1b[31m\u202eday").replace("COUNT(*)", "'a\x1b[31m' || COUNT(*)")
    with SQLAgent(kestrel, model=writes(odd), settings=ALONE) as agent:
        answer = agent.ask(QUESTION)
    assert answer.readings.line.isprintable()
    assert answer.readings.tried[0].words.isprintable()


def test_every_query_that_was_sent_stands_in_the_audit_trail(kestrel: Path, tmp_path: Path) -> None:
    trail = tmp_path / "audit.jsonl"
    with SQLAgent(kestrel, model=writes(BOTH, BOTH), settings=ALONE, audit=trail) as agent:
        answer = agent.ask(QUESTION)
        sent = json.loads(trail.read_text().splitlines()[0])["queries"]
    assert sent[0] == COUNT
    assert {one.sql for one in answer.readings.tried} <= set(sent)
    assert any("MAX(" in query for query in sent), "the newest date was looked up"


def test_a_question_back_leaves_its_queries_in_the_trail_too(kestrel: Path, tmp_path: Path) -> None:
    trail = tmp_path / "audit.jsonl"
    with SQLAgent(kestrel, model=writes(BOTH), settings=ALONE | {"readings": "ask"}, audit=trail) as agent:
        chat = agent.conversation()
        chat.ask(QUESTION)
        answer = chat.ask("2")
    asked, answered = (json.loads(line) for line in trail.read_text().splitlines())
    assert asked["status"] == "needs_clarification"
    assert COUNT in asked["queries"]
    assert answer.sql in asked["queries"], "the reading ran before it was offered"
    assert answered["queries"][0] == answer.sql
    assert COUNT not in answered["queries"], "each line has what was sent since the one before"


def test_a_reply_that_is_no_choice_settles_nothing(kestrel: Path) -> None:
    settings = ALONE | {"readings": "ask", "max_clarifications": 2}
    with SQLAgent(kestrel, model=writes(BOTH, BOTH, BOTH), settings=settings) as agent:
        chat = agent.conversation()
        assert chat.ask(QUESTION).choices
        again = chat.ask("purple")
        assert (again.status, len(again.choices)) == ("needs_clarification", 2)
        answer = chat.ask("purple")
    assert answer.status == "converged"
    assert LINE in answer.text
