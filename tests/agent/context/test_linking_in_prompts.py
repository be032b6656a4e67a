"""What of linking reaches the model: kept items, marks, base SQL, parts of large schemas; each part switched off."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from tableturn.agent import SQLAgent
from tableturn.agent.graph import build_graph
from tableturn.prompts.templating import estimate_tokens

from ...support.scripted import ScriptedModel, rephrased, task_of, writes

PARIS = "SELECT name FROM customers WHERE city = 'Paris'"
LYON = PARIS.replace("Paris", "Lyon")


def talk(
    database: Path, model: ScriptedModel, questions: list[str], **settings: Any
) -> tuple[list[str], dict[str, Any]]:
    """The prompts that asked for SQL, and the last turn's state."""
    with SQLAgent(database, model=model, settings={"examples": "none", "annotate": False, **settings}) as agent:
        chat = agent.conversation()
        for question in questions:
            chat.ask(question)
        state = agent.graph.get_state({"configurable": {"thread_id": chat.thread}}).values
    return [prompt for prompt in model.prompts if task_of(prompt) == "sql"], state


def block(prompt: str, name: str) -> str:
    found = re.search(rf"<{name}>\n(.*?)\n</{name}>", prompt, re.DOTALL)
    assert found, f"no {name} in the prompt"
    return found[1]


def test_track_is_given_questions_base_sql_and_the_extracted_schema(shop: Path) -> None:
    questions = ["Which customers live in Paris?", "How many?", "Show all information about those customers"]
    prompts, state = talk(shop, writes(PARIS, "SELECT count(*) FROM customers"), questions, preset="track")
    first, second, third = prompts
    assert block(first, "base-sql") == ""
    assert block(second, "base-sql") == PARIS
    assert block(third, "question") == " & ".join(questions)
    assert block(second, "schema").startswith("customers : "), "most probable first, and no word on what is cut"
    assert "[SN]" not in second, "that mark is the linker's"
    assert "id" in block(second, "schema"), "keys stay"
    assert block(third, "base-sql") == state["turn"]["base"]["sql"]
    assert state["turn"]["shown"][0][0] == "customers"
    assert [table for table, _ in state["turn"]["all_columns"]] == ["customers"]
    assert "*" in block(third, "schema")


@pytest.mark.parametrize(
    ("settings", "gone"),
    [({"all_columns": False}, r"\*"), ({"link_schema": False}, r"\*"), ({"base_sql": False}, "SELECT")],
)
def test_each_part_can_be_switched_off(shop: Path, settings: dict[str, Any], gone: str) -> None:
    questions = ["Show all details of the customers", "Show all details of those in Paris"]
    model, without = writes("SELECT * FROM customers"), writes("SELECT * FROM customers")
    (_, whole), _ = talk(shop, model, questions, preset="track")
    (_, prompt), _ = talk(shop, without, questions, preset="track", **settings)
    if "base_sql" in settings:
        assert re.search(gone, block(whole, "base-sql"))
        assert "base-sql" not in prompt
    else:
        assert re.search(gone, block(whole, "schema"))
        assert not re.search(gone, block(prompt, "schema"))


def test_without_linking_the_schema_stands_as_declared(shop: Path) -> None:
    (prompt,), state = talk(shop, writes("SELECT 1"), ["What is the total of the orders?"], link_schema=False)
    tables = [line.partition("(")[0] for line in block(prompt, "schema").splitlines()[2:]]
    assert tables == [name for name, _ in state["turn"]["shown"]] == ["customers", "orders"]


def test_full_says_which_query_may_be_the_base(shop: Path) -> None:
    (first, second), _ = talk(shop, writes(PARIS, LYON), ["Which customers live in Paris?", "and in Lyon?"])
    assert "may be the base" not in first
    assert "The SQL of turn 1 may be the base" in second
    assert second.count(PARIS) == 1, "the conversation shows it already"


def test_past_sql_that_no_longer_runs_is_no_base(shop: Path) -> None:
    with SQLAgent(shop, model=(model := writes(PARIS)), settings={"examples": "none"}) as agent:
        chat = agent.conversation()
        chat.ask("Which customers live in Paris?")
        with closing(sqlite3.connect(shop)) as connection, connection:
            connection.execute("ALTER TABLE customers RENAME COLUMN city TO town")
        chat.ask("and in Lyon?")
    assert "may be the base" not in model.prompts[-1]


def test_earlier_queries_are_marked_where_that_is_asked_for(shop: Path) -> None:
    questions = ["Which customers live in Paris?", "How many?"]
    (_, second), _ = talk(shop, writes(PARIS), questions, preset="track", mark_used=True)
    assert "city [SN]" in block(second, "schema")
    assert "[SN] marks" in second


def test_the_window_is_five_turns(shop: Path) -> None:
    questions = [f"question number {number}" for number in range(8)]
    prompts, state = talk(shop, writes("SELECT id FROM orders"), questions, preset="track")
    assert block(prompts[-1], "question") == " & ".join(questions[3:]), "this one is the fifth"
    assert len(state["turns"]) == 4


def test_studio_shows_what_was_kept_and_the_base(shop: Path) -> None:
    with SQLAgent(shop, model=writes(PARIS), settings={"examples": "none"}) as agent:
        graph = build_graph(agent.resources, InMemorySaver(), show_state=True)
        config: RunnableConfig = {"configurable": {"thread_id": "studio"}}
        for question in ("Which customers live in Paris?", "and in Lyon?"):
            state = graph.invoke({"messages": [HumanMessage(question)]}, config)
    assert state["turn"]["shown"][0][0] == "customers"
    assert state["turn"]["base"]["sql"] == PARIS
    assert all(len(item) == 3 for item in state["turn"]["items"])


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A thousand tables of ten columns; one of them is called like nothing else."""
    path = tmp_path_factory.mktemp("wide") / "wide.db"
    kinds = ("vendor", "shipment", "invoice", "payroll", "journal")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        for number in range(999):
            columns = ", ".join(f"{kinds[(number + k) % 5]}_field_{k} TEXT" for k in range(9))
            own = f"{kinds[number % 5]}_{number} (id INTEGER PRIMARY KEY, own_{number} TEXT, {columns})"
            connection.execute(f"CREATE TABLE {own}")
        columns = ", ".join(f"zq{k} TEXT" for k in range(9))
        connection.execute(f"CREATE TABLE qqzx (id INTEGER PRIMARY KEY, {columns})")
        connection.execute("INSERT INTO qqzx (zq1) VALUES ('here')")
        connection.execute("COMMIT")
    return path


@pytest.mark.parametrize("budget", [800, 16_000])
def test_a_large_schema_keeps_to_the_budget_and_says_it_is_a_part(wide: Path, budget: int) -> None:
    model = writes("SELECT id FROM vendor_0")
    (prompt, *_), state = talk(wide, model, ["How many vendors sent an invoice?"], prompt_tokens=budget)
    assert all(estimate_tokens(asked) <= budget for asked in model.prompts)
    assert re.search(r"Of the database's 1000 tables only the \d+ that seem to matter are shown", prompt)
    assert "not shown, name it in the query" in prompt
    assert "may well be answerable" in model.prompts[0], "what is not shown is not declined"
    assert len(state["turn"]["shown"]) < 1000
    assert ("<other-tables>" in prompt) == (budget > 800), "other names are the first to give way"


def test_nothing_is_said_of_other_tables_where_there_are_none(shop: Path) -> None:
    (prompt,), _ = talk(shop, writes(PARIS), ["Who lives in Paris?"])
    assert "not shown" not in prompt


@pytest.mark.parametrize("name", ["qqzx", "qqxz"])
def test_a_table_out_of_sight_is_reached_by_its_name(wide: Path, name: str) -> None:
    def script(prompt: str) -> str:
        if task_of(prompt) == "rephrase":
            return rephrased("Give me what the vendors sent.")
        knows = "qqzx(" in block(prompt, "schema")
        return f"```sql\nSELECT {'zq1 FROM qqzx' if knows else f'wrong_guess FROM {name}'}\n```"

    model = ScriptedModel(script=script)
    with SQLAgent(wide, model=model, settings={"examples": "none", "prompt_tokens": 3_000}) as agent:
        answer = agent.ask("What did the vendors send?")
    first, revision = (prompt for prompt in model.prompts if task_of(prompt) == "sql")
    assert "qqzx" not in first
    assert "qqzx(" in block(revision, "schema"), "the whole table, before all others"
    assert answer.rows == (("here",),)


def test_a_table_named_in_the_question_is_shown(wide: Path) -> None:
    (prompt, *_), _ = talk(wide, writes("SELECT zq1 FROM qqzx"), ["Show zq1 of qqzx"], prompt_tokens=3_000)
    assert "qqzx(" in block(prompt, "schema")


def test_without_linking_a_large_schema_says_nothing_untrue_and_gives_what_is_named(wide: Path) -> None:
    model = writes("SELECT wrong FROM qqzx", "SELECT zq1 FROM qqzx")
    (first, second), _ = talk(wide, model, ["What did the vendors send?"], link_schema=False, prompt_tokens=3_000)
    assert "qqzx(" not in first
    assert "qqzx(" in block(second, "schema")
    for prompt in (first, second):
        assert "least likely" not in prompt
        assert "seem to matter" not in prompt
        assert "the last ones" in prompt


@pytest.mark.parametrize("budget", [700, 3_000])
def test_a_table_that_was_asked_for_is_shown_whole_where_room_is_short(wide: Path, budget: int) -> None:
    model = writes("SELECT wrong FROM qqzx", "SELECT zq1 FROM qqzx")
    settings = {"rephrase": "never", "prompt_tokens": budget, "preset": "craft", "reason": "off", "tell_unshown": True}
    (first, second, *_), _ = talk(wide, model, ["What did the vendors send?"], **settings)
    assert "zq1" not in first
    assert "Of the database's 1000 tables" in second
    assert all(f"zq{n}" in block(second, "schema") for n in range(9))


@pytest.mark.parametrize("preset", ["track", "credit"])
def test_a_single_draft_that_reached_for_what_it_was_not_shown_is_written_once_more(wide: Path, preset: str) -> None:
    model = writes("SELECT wrong FROM qqzx", "SELECT zq1 FROM qqzx")
    more = {"rephrase": "never", "draft_again": True, "annotate": False}
    with SQLAgent(wide, model=model, settings={"examples": "none", "preset": preset, **more}) as agent:
        answer = agent.ask("What did the vendors send?")
    first, second = (prompt for prompt in model.prompts if task_of(prompt) == "sql")
    assert "zq1" not in first
    assert "zq1" in second
    assert answer.rows == (("here",),)
    assert any("written again" in note for note in answer.notes)


def test_a_single_draft_is_not_written_again_in_vain(wide: Path, shop: Path) -> None:
    for path, sql, more in (
        (wide, "SELECT wrong FROM qqzx", {}),
        (shop, "SELECT wrong FROM customers", {"draft_again": True, "link_threshold": 0.0}),
        (shop, "SELECT name FROM customers", {"draft_again": True}),
    ):
        model = writes(sql)
        prompts, _ = talk(path, model, ["What did the vendors send?"], preset="track", **more)
        assert len(prompts) == 1


def test_the_explanation_is_asked_for_with_the_part_that_is_shown(wide: Path) -> None:
    model = writes("SELECT id FROM qqzx WHERE 0", "SELECT zq1 FROM qqzx")
    talk(wide, model, ["What did the vendors send?"], preset="revision", prompt_tokens=3_000)
    explain = next(prompt for prompt in model.prompts if "You check queries by reading them back" in prompt)
    assert "qqzx(" in block(explain, "schema")


def test_copies_and_tables_of_other_months_are_named_in_a_line_and_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "warehouse.db"
    with closing(sqlite3.connect(path)) as connection:
        columns = ", ".join(f"part{k} TEXT" for k in range(9))
        names = [f"machine_{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(60)]
        own = "parcel_id INTEGER, weight REAL, town TEXT"
        named = ["parcels", "stg_parcels", "raw_parcels", "visits_202401", "visits_202402"]
        for name in [*names, *named]:
            held = columns if name in names else own if "parcels" in name else "visit_id INTEGER, page TEXT"
            connection.execute(f"CREATE TABLE {name} ({held})")
            connection.execute(f"INSERT INTO {name} (rowid) VALUES (1)")
        connection.commit()
    model = writes("SELECT town FROM parcels")
    (prompt, *_), _ = talk(path, model, ["What is the town of each parcel, and the page of visits in February 2024?"])
    shown, others = block(prompt, "schema"), block(prompt, "other-tables")
    assert "\nparcels(" in shown
    assert "parcels(" not in shown.replace("\nparcels(", "")
    assert re.search(
        r"^Staging, copied, .*: (stg_parcels, raw_parcels|raw_parcels, stg_parcels)$", others, re.MULTILINE
    )
    assert re.search(r"^With the columns of visits_202402: visits_202401$", others, re.MULTILINE)
    assert len(re.findall(r"^visits_", shown, re.MULTILINE)) == 1
