"""Replies that say in one how a question was understood and answer it: as asked for, and as models write them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tableturn.prompts.find_sql import find_partial_sql
from tableturn.prompts.parse_reply import ReplyForm, parse_reply
from tableturn.prompts.reply_types import OtherReading
from tableturn.tools.errors import ReplyError

SQL = "SELECT name FROM customer"
BLOCK = f"```sql\n{SQL}\n```"


def test_the_form_that_is_asked_for() -> None:
    draft = parse_reply(f"Question: Give me the names.\n{BLOCK}\nSure: 72, two columns hold names", "names?")
    assert (draft.sql, draft.comments.sure, draft.comments.doubt) == (SQL, 0.72, "two columns hold names")
    assert draft.understood is not None
    assert (draft.understood.rephrased, draft.understood.intent) == ("Give me the names.", "answerable")
    assert draft.understood.self_contained


@pytest.mark.parametrize(
    "reply",
    [
        SQL,
        BLOCK,
        f"Here is the query.\n\n{BLOCK}\n\nIt lists all customers.",
        f"Question: none\nAsk back: none\nCannot answer: n/a\n{BLOCK}",
        f"**Ask back:** -\n{BLOCK}",
        json.dumps({"sql": SQL}),
    ],
)
def test_the_query_alone_is_enough(reply: str) -> None:
    draft = parse_reply(reply, "names?")
    assert (draft.sql, draft.comments.sure, draft.understood) == (SQL, None, None)


@pytest.mark.parametrize(
    ("reply", "say"),
    [
        (f"{BLOCK}\nSay: Erste ist {{name.first}}.\nSure: 90", "Erste ist {name.first}."),
        (f'**Say:** "There are {{rows}}."\nSay: And {{more}}.\n{BLOCK}', "There are {rows}."),
        (f"{SQL}\nSay: {{rows}} select names.", "{rows} select names."),
        (json.dumps({"sql": SQL, "say": "There are {rows}."}), "There are {rows}."),
        (f"{BLOCK}\nSay: none", ""),
        (BLOCK, ""),
    ],
)
def test_a_sentence_with_places(reply: str, say: str) -> None:
    draft = parse_reply(reply, "names?")
    assert (draft.sql, draft.comments.say) == (SQL, say)
    assert parse_reply(reply, "names?", form="sql").comments.say == ""


def test_labels_that_a_model_translates_into_german() -> None:
    draft = parse_reply(f"Frage: Wie heißen die Kunden?\n{BLOCK}\nSicher: 70, es gibt zwei", "Und die Namen?")
    assert (draft.comments.sure, draft.comments.doubt) == (0.7, "es gibt zwei")
    assert draft.understood is not None
    assert draft.understood.rephrased == "Wie heißen die Kunden?"
    asked = parse_reply("Rückfrage: Welche Namen?\n1. der Kunden\n2. der Waren", "Namen?").understood
    assert asked is not None
    assert (asked.intent, asked.choices) == ("ambiguous", ("der Kunden", "der Waren"))


@pytest.mark.parametrize("nothing", ["none", "None.", "n/a", "no", "nothing"])
def test_no_reason_is_no_doubt(nothing: str) -> None:
    record = {"question": "Give me the names.", "sure": 70, "why": nothing, "sql": SQL}
    for reply in (f"Question: Give me the names.\n{BLOCK}\nSure: 70, {nothing}", f"```json\n{json.dumps(record)}\n```"):
        draft = parse_reply(reply, "names?")
        assert (draft.comments.sure, draft.comments.doubt) == (0.7, "")


@pytest.mark.parametrize(
    "reply",
    [
        f"**Question:** Give me the names.\n**Sure:** 85%\n\n{BLOCK}",
        f"Rephrased: Give me the names.\nConfidence: 0.85\n{BLOCK}",
        f'Self-contained question: "Give me the names."\n{BLOCK}\nSure: 85/100',
        f"```json\n{json.dumps({'question': 'Give me the names.', 'sure': 85, 'sql': SQL})}\n```",
        f"<think>Cannot answer: hm</think>\nQuestion: Give me the names.\n{BLOCK}\n- Sure: 85 - fine",
    ],
)
def test_other_ways_of_saying_it(reply: str) -> None:
    draft = parse_reply(reply, "names?")
    assert draft.understood is not None
    assert (draft.sql, draft.comments.sure, draft.understood.rephrased) == (SQL, 0.85, "Give me the names.")


@pytest.mark.parametrize(
    "reply",
    [
        "Ask back: Which names?\n1. of customers\n2. of products",
        "**Ask back:** Which names?\n\n- of customers\n- of products\n\nSure: 40",
        "Clarification needed:\nWhich names?\n1) of customers\n2) of products",
        json.dumps({"intent": "ambiguous", "reply": "Which names?", "choices": ["of customers", "of products"]}),
        json.dumps({"ask_back": "Which names?", "readings": ["of customers", "of products"], "sql": None}),
        "```\nAsk back: Which names?\n1. of customers\n2. of products\n```",
    ],
)
def test_asking_back(reply: str) -> None:
    draft = parse_reply(reply, "names?")
    assert draft.declines
    assert draft.understood is not None
    assert (draft.sql, draft.understood.intent, draft.understood.reply) == ("", "ambiguous", "Which names?")
    assert draft.understood.choices == ("of customers", "of products")


@pytest.mark.parametrize(
    ("reply", "intent", "words"),
    [
        ("Cannot answer: there are no phones.", "unanswerable", "there are no phones."),
        ("Cannot answer: there are no phones.\n```sql\nSELECT NULL\n```", "unanswerable", "there are no phones."),
        ("I looked at it.\nCan't answer: there are no phones.", "unanswerable", "there are no phones."),
        (json.dumps({"cannot_answer": "there are no phones."}), "unanswerable", "there are no phones."),
        ("Small talk: You are welcome!", "small_talk", "You are welcome!"),
    ],
)
def test_declining(reply: str, intent: str, words: str) -> None:
    draft = parse_reply(reply, "phones?")
    assert draft.understood is not None
    assert (draft.sql, draft.understood.intent, draft.understood.reply) == ("", intent, words)


def test_a_query_wins_over_a_line_that_declines() -> None:
    assert parse_reply(f"Cannot answer: which names is not said, so all.\n{BLOCK}", "names?").sql == SQL


@pytest.mark.parametrize(
    ("reply", "form", "hint"),
    [
        ("Ask back: Which?", "settle", "Do not ask back"),
        ("Ask back: Which?", "answer", "closest"),
        ("Cannot answer: no phones", "answer", "closest"),
        ("I would need to know more about it.", "any", '"Ask back:"'),
    ],
)
def test_what_it_may_not_be_is_asked_for_again(reply: str, form: ReplyForm, hint: str) -> None:
    with pytest.raises(ReplyError) as raised:
        parse_reply(reply, "names?", form=form)
    assert hint in raised.value.hint


def test_json_within_a_query_is_no_answer() -> None:
    sql = "SELECT name FROM customer WHERE note = '{\"a\": 1}'"
    assert parse_reply(f"Question: Give me them.\n```sql\n{sql}\n```\nSure: 90", "them?").sql == sql


_TAILS = (
    "Sure: 90",
    "Say: Names: {rows}.\nSure: 90",
    "Confidence: 0.9",
    "**Sure:** 90, it's clear",
    "- How sure: 90 %\nAsk back: none",
)
_SHAPES = (
    "{sql}\n{tail}",
    "Question: names?\n{sql}\n{tail}",
    "SQL: {sql}\n{tail}",
    "SQLQuery: {sql}\n{tail}",
    "Question: names?\nSQL:\n{sql};\n\n{tail}",
    "```sql\n{sql}\n{tail}",
    "```sql\n{sql}\n{tail}\n```",
    "```sql\nQuestion: names?\n{sql}\n{tail}\n```",
    "```\nQuestion: names?\nSQL: {sql}\n{tail}\n```",
    "{tail}\n```sql\n{sql}\n```",
    "<sql>{sql}\n{tail}\n</sql>",
)


@given(
    sql=st.sampled_from((SQL, "select Name From customer", "SELECT name\nFROM customer\nWHERE note = 'x\nSure: 3'")),
    shape=st.sampled_from(_SHAPES),
    tail=st.sampled_from(_TAILS),
    form=st.sampled_from(("sql", "answer", "any")),
)
def test_labelled_lines_are_never_sql(sql: str, shape: str, tail: str, form: ReplyForm) -> None:
    draft = parse_reply(shape.format(sql=sql, tail=tail), "names?", form=form)
    assert draft.sql == sql
    if form != "sql" and "Sure: 3" not in sql:
        assert draft.comments.sure == 0.9
        assert (draft.understood is not None) == ("Question:" in shape)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name,\n-- Question: whose?\nage FROM customer",
        "SELECT a /* so\nSure: 90\n*/ FROM t",
        "SELECT\nconfidence::int FROM t",
    ],
)
def test_comments_and_casts_are_no_labelled_lines(sql: str) -> None:
    assert parse_reply(f"```sql\n{sql}\n```", "q", "postgres").sql == sql


OTHER = "Other reading: **by booking date.**\n```sql\nSELECT 2\nFROM b\n```"


@pytest.mark.parametrize(
    "reply",
    [
        f"```sql\nSELECT 1 FROM a\n```\nSure: 70, dates\n{OTHER}",
        f"```sql\nSELECT 1 FROM a\n```\n{OTHER}\nSure: 70, dates",
        f"```sql\nSELECT 1 FROM a\n```\nSure: 70, dates\n{OTHER[:-4]}",
    ],
)
def test_another_reading_is_no_answer(reply: str) -> None:
    draft = parse_reply(reply, "q")
    assert (draft.sql, draft.comments.sure, draft.comments.doubt, draft.notes) == ("SELECT 1 FROM a", 0.7, "dates", ())
    assert draft.comments.other == OtherReading("by booking date", "SELECT 2\nFROM b")
    assert find_partial_sql(reply) == "SELECT 1 FROM a"


@pytest.mark.parametrize(
    "reply",
    [
        "```sql\nSELECT 1 FROM a\n```\nOther reading: none",
        "```sql\nSELECT 1 FROM a\n```\nOther reading: by booking date",
        "Other reading: by booking date\n```sql\nSELECT 1 FROM a\n```",
        "```sql\nSELECT 1 FROM a\n```\nOther reading: none\n```sql\nSELECT 2\n```",
        "```sql\nSELECT 1 FROM a\n```\nOther reading: by date\n```sql\nno query\n```",
        "```sql\nSELECT 1 FROM a\n```\nOther reading: by date\n```sql\nSELECT 1 FROM b; DELETE FROM b\n```",
    ],
)
def test_words_alone_are_no_other_reading(reply: str) -> None:
    draft = parse_reply(reply, "q")
    assert (draft.sql, draft.comments.other) == ("SELECT 1 FROM a", None)
