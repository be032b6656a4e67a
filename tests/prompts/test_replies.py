"""Reading replies that are not SQL: rephrasings, simplifications, explanations, code."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tableturn.prompts.annotate import AnnotateColumnsTask, AnnotateTablesTask
from tableturn.prompts.explain import ExplainTask
from tableturn.prompts.generate import PromptStyle
from tableturn.prompts.reason import PandasCodeTask
from tableturn.prompts.rephrase import RephraseTask, SimplifyTask
from tableturn.prompts.reply_text import find_json_object
from tableturn.prompts.reply_types import CodeDraft, Explanation, Rephrasing
from tableturn.tools.errors import ReplyError
from tableturn.tools.examples.seeds import load_programs

from .samples import HISTORY, SCHEMA, every_task, generate

REPHRASE = RephraseTask("and ann's?", HISTORY, SCHEMA)
GIVE = "Give me the orders of Ann."

REPHRASED = {
    "json": (
        json.dumps({"intent": "answerable", "rephrased": GIVE, "simplified": "Give me her orders."}),
        "Give me her orders.",
    ),
    "json in a fence": (f'Sure:\n```json\n{{"intent": "answerable", "rephrased": "{GIVE}"}}\n```', GIVE),
    "json with a raw line break": (f'{{"rephrased": "{GIVE}",\n "remark": "a\nb"}}', GIVE),
    "other names and cases": (json.dumps({"Intent": "ANSWERABLE", "Rephrased_Question": GIVE}), GIVE),
    "an unknown intent": (json.dumps({"intent": "follow-up", "rephrased": GIVE}), GIVE),
    "a labelled line": (f"Rephrased: {GIVE}", GIVE),
    "a bold labelled line": (f"**Rephrased:** {GIVE}", GIVE),
    "a quotation": (f'Okay. The question is "{GIVE}"', GIVE),
    "reasoning first": (f"<think>Give me nothing</think>{GIVE}", GIVE),
}


@pytest.mark.parametrize(("reply", "simplified"), REPHRASED.values(), ids=REPHRASED.keys())
def test_rephrasings(reply: str, simplified: str) -> None:
    assert REPHRASE.parse(reply) == Rephrasing(GIVE, simplified)


def test_an_ambiguous_turn_keeps_its_choices() -> None:
    reply = {"intent": "ambiguous", "rephrased": "", "reply": "Which Ann?", "choices": ["Ann Lee", "", 3, "Ann Poe"]}
    found = REPHRASE.parse(json.dumps(reply))
    assert (found.intent, found.reply, found.choices) == ("ambiguous", "Which Ann?", ("Ann Lee", "Ann Poe"))
    assert found.rephrased == "and ann's?"


@pytest.mark.parametrize(
    ("line", "intent"),
    [("Ask back: which?", "ambiguous"), ("Cannot answer: no ages", "unanswerable"), ("Small talk: hi!", "small_talk")],
)
def test_labelled_intents(line: str, intent: str) -> None:
    found = REPHRASE.parse(line)
    assert (found.intent, found.reply) == (intent, line.partition(": ")[2])


@pytest.mark.parametrize("reply", ["I would count them.", "{}", '{"intent": "answerable"}', "null", "[]"])
def test_no_rephrasing(reply: str) -> None:
    with pytest.raises(ReplyError) as caught:
        REPHRASE.parse(reply)
    assert caught.value.hint


@pytest.mark.parametrize(
    "reply",
    [
        "List all customers.",
        '"List all customers."',
        "Simplified question: List all customers.",
        "Sure!\n\n**List all customers.**",
    ],
)
def test_simplifications(reply: str) -> None:
    assert SimplifyTask("?").parse(reply) == "List all customers."


def test_a_refused_simplification() -> None:
    with pytest.raises(ReplyError):
        SimplifyTask("?").parse("I'm sorry, I can't.")


EXPLAINED = {
    '{"meaning": "all names", "differences": "ages are missing"}': Explanation("all names", "ages are missing"),
    '{"meaning": "all names", "differences": "None."}': Explanation("all names"),
    '{"explanation": "all names"}': Explanation("all names"),
    "It shows all names.": Explanation("It shows all names."),
}


@pytest.mark.parametrize(("reply", "explanation"), EXPLAINED.items())
def test_explanations(reply: str, explanation: Explanation) -> None:
    assert ExplainTask("?", "?", "SELECT 1", SCHEMA).parse(reply) == explanation


CODE = "x = db_dict['order']\nresult = x[['id']]"


def test_code_and_sql() -> None:
    reply = f"One column.\n```python\n{CODE}\n```\n```sql\nSELECT id FROM t;\n```"
    assert PandasCodeTask(generate(), "pot").parse(reply) == CodeDraft(CODE, "SELECT id FROM t")
    assert PandasCodeTask(generate(), "code_blocks").parse(reply) == CodeDraft(CODE)


def test_code_in_several_blocks_is_one_program() -> None:
    first, second = CODE.split("\n")
    reply = f"First:\n```python\n{first}\n```\nthen:\n```py\n{second}\n```"
    assert PandasCodeTask(generate(), "code_blocks").parse(reply).code == CODE


def test_code_counts_without_sql() -> None:
    assert PandasCodeTask(generate(), "pot").parse(f"```python\n{CODE}\n```\nThat is all.").sql == ""


@pytest.mark.parametrize("reply", ["result = 1", "I cannot say."])
def test_code_and_sql_missing(reply: str) -> None:
    with pytest.raises(ReplyError):
        PandasCodeTask(generate(), "pot").parse(reply)


@settings(deadline=None)
@given(st.text(max_size=200), st.sampled_from(sorted(every_task())))
def test_any_reply_is_read_or_a_reply_error(text: str, name: str) -> None:
    try:
        every_task()[name].parse(text)
    except ReplyError as error:
        assert "\n" not in str(error)  # noqa: PT017 - most replies are read


@pytest.mark.parametrize(
    "reply",
    [
        '{"1": "customer number", "2": "home city"}',
        'Here you are:\n```json\n{"1": "Customer number.", "2": "home city",}\n```',
        "1. customer number\n2. home city",
        '<think>{"1": "no"}</think>\n1: "customer number"\n2 - home city',
    ],
)
def test_descriptions_by_number(reply: str) -> None:
    columns = tuple((table, column) for table in SCHEMA.tables for column in table.columns)[:3]
    said = AnnotateColumnsTask(columns).parse(reply)
    assert [(phrase or "").lower() for phrase in said] == ["customer number", "home city", ""]


@pytest.mark.parametrize("reply", ["{}", "no idea", '{"7": "x"}', '{"1": null}'])
def test_nothing_described(reply: str) -> None:
    with pytest.raises(ReplyError, match="contains no descriptions"):
        AnnotateTablesTask(SCHEMA.tables).parse(reply)


def test_escapes_of_half_a_surrogate_pair_are_replaced() -> None:
    assert find_json_object(r'{"rephrased": "how many \udfff \ud83d\ude00?"}') == {"rephrased": "how many ? 😀?"}


@pytest.mark.parametrize(("style", "sql"), [("full", "TO_CHAR("), ("craft", "strftime(")])
def test_worked_examples_are_in_the_databases_sql_but_for_a_papers_form(style: PromptStyle, sql: str) -> None:
    asked = generate(style, schema=replace(SCHEMA, dialect="postgres"), schema_style="frames")
    prompt = PandasCodeTask(asked, "pot", load_programs()).render(100_000)
    said = prompt.messages[-1].content
    assert [name for name in ("TO_CHAR(", "strftime(") if name in said] == [sql]
