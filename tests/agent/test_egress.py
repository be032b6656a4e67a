"""What may not leave reaches no prompt and nothing that is kept, and the person who asks gets it all the same."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.tools import BaseTool
from tableturn import Database, SQLAgent
from tableturn.agent.cli.app import app
from tableturn.tools.errors import ExampleRefused, SettingsError
from tableturn.tools.masked_database import MaskedDatabase
from typer.testing import CliRunner

from ..support.scripted import task_of, writes

EGRESS = {"columns": {"customers.name": "none"}}


def _said(tool: BaseTool) -> tuple[str, object]:
    message = tool.invoke({"type": "tool_call", "id": "1", "name": tool.name, "args": {"question": "Who is it?"}})
    return str(message.content), message.artifact


def test_the_answer_has_the_rows_and_nothing_else_does(shop: Path) -> None:
    model = writes("SELECT name FROM customers WHERE id = 1")
    with SQLAgent(shop, model=model, egress=EGRESS) as agent:
        conversation = agent.conversation()
        events = list(conversation.stream("Who is customer one?"))
        answer = events[-1].answer
        assert answer is not None
        assert answer.rows == (("Ada",),)
        assert answer.text == "Name: Ada."
        assert not answer.withheld
        again = conversation.last()
        assert again is not None
        assert again.rows == (("Ada",),)
        state = agent.graph.get_state({"configurable": {"thread_id": conversation.thread}}).values
        told = json.dumps([dict(event.data) for event in events], default=repr)
        assert "Ada" not in told + repr(state)
        conversation.ask("And their cities?")
        text, artifact = _said(agent.as_tool())
        assert "Ada" not in f"{text} {artifact!r}"
        assert agent.deliver(artifact).rows == (("Ada",),)  # pyright: ignore[reportArgumentType]
    assert not [prompt for prompt in model.prompts if "Ada" in prompt]


def test_it_is_so_without_blocking(shop: Path) -> None:
    async def turn(agent: SQLAgent) -> None:
        assert (await agent.aask("Who is customer one?")).rows == (("Ada",),)
        events = [event async for event in agent.conversation().astream("Who is customer one?")]
        assert events[-1].answer is not None
        assert events[-1].answer.rows == (("Ada",),)

    with SQLAgent(shop, model=writes("SELECT name FROM customers WHERE id = 1"), egress=EGRESS) as agent:
        asyncio.run(turn(agent))


def test_the_graph_alone_gives_no_rows(shop: Path) -> None:
    model = writes("SELECT name FROM customers")
    with SQLAgent(shop, model=model, egress=EGRESS) as agent:
        config = {"configurable": {"thread_id": "1"}}
        output = agent.graph.invoke({"messages": [HumanMessage("Who are they?")]}, config)  # pyright: ignore[reportArgumentType]
    assert "Ada" not in repr(output)
    assert output["answer"]["withheld"] == "all"


def test_rows_that_cannot_be_had_are_said_to_the_person_alone(shop: Path) -> None:
    model = writes("SELECT json_extract(name, '$') FROM customers")
    with SQLAgent(shop, model=model, egress=EGRESS) as agent:
        answer = agent.ask("What is in the names?")
    assert answer.status == "failed"
    assert "malformed JSON" in answer.text
    assert not [prompt for prompt in model.prompts if "malformed JSON" in prompt]


def test_revisions_see_marks(shop: Path) -> None:
    model = writes("SELECT name FROM customers", "SELECT name FROM customers WHERE id > 0")
    settings = {"gate": False, "max_attempts": 2, "feedback_result": True}
    with SQLAgent(shop, model=model, egress=EGRESS, settings=settings) as agent:
        agent.ask("Who are they?")
    revised = [prompt for prompt in model.prompts if "[withheld]" in prompt]
    assert revised
    assert all(task_of(prompt) == "sql" for prompt in revised)


def test_no_example_is_made_of_such_a_query(shop: Path, tmp_path: Path) -> None:
    model = writes("SELECT id FROM customers WHERE name = 'Ada'")
    with SQLAgent(shop, model=model, egress=EGRESS, examples=tmp_path / "store") as agent:
        answer = agent.ask("Which id has Ada?")
        with pytest.raises(ExampleRefused, match="must not be sent"):
            agent.approve(answer)


def test_an_example_made_before_is_not_shown(shop: Path, tmp_path: Path) -> None:
    with SQLAgent(shop, model=writes("SELECT id FROM customers WHERE name = 'Ada'"), examples=tmp_path / "s") as agent:
        agent.approve(agent.ask("Which id has Ada?"), question="Give me the id of the customer called Ada.")
    model = writes("SELECT count(*) FROM customers")
    with SQLAgent(shop, model=model, egress=EGRESS, examples=tmp_path / "s") as agent:
        agent.ask("Give me the id of the customer called Bo.")
    assert not [prompt for prompt in model.prompts if "Ada" in prompt]


def test_masks_cover_the_question_and_come_off_the_reply(shop: Path) -> None:
    model = writes("SELECT 1")
    reply = model.script
    model.script = lambda prompt: (
        "```sql\nSELECT id FROM customers WHERE name = '[email-1]'\n```" if task_of(prompt) == "sql" else reply(prompt)
    )
    with SQLAgent(shop, model=model, egress={"mask": ["email"]}) as agent:
        answer = agent.ask("Which customer is ada@example.org?")
    assert answer.sql == "SELECT id FROM customers WHERE name = 'ada@example.org'"
    assert not [prompt for prompt in model.prompts if "ada@example.org" in prompt]


def test_rules_go_with_a_database_that_is_opened_here(shop: Path) -> None:
    with Database.open(shop) as database, pytest.raises(SettingsError, match="already open"):
        SQLAgent(database, model="offline", egress=EGRESS)


def test_the_schema_command_says_what_leaves(shop: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('[default]\n[egress.columns]\n"customers.name" = "none"\n"customers.city" = "statistics"\n')
    run = CliRunner()
    said = run.invoke(app, ["schema", "--db", str(shop), "--permissions", str(rules), "--what-leaves", "--json"])
    columns = {f"{each['table']}.{each['name']}": each for each in json.loads(said.output)["columns"]}
    assert columns["customers.name"] | {"kind": ""} == {
        "table": "customers",
        "name": "name",
        "level": "none",
        "kind": "",
        "distinct": None,
        "samples": [],
    }
    assert (columns["customers.city"]["level"], columns["customers.city"]["distinct"]) == ("statistics", 2)
    assert columns["orders.total"]["level"] == "values"
    plain = run.invoke(app, ["schema", "--db", str(shop), "--permissions", str(rules)])
    assert "customers" in plain.output
    assert "Ada" not in plain.output
    assert "Paris" not in plain.output
    assert "Ada" in run.invoke(app, ["schema", "--db", str(shop)]).output


@pytest.mark.parametrize("where", ["x.pin LIKE '7%'", "x.pin LIKE '8%'"])
def test_no_probe_of_repeated_rows_tells_of_a_withheld_cell(tmp_path: Path, where: str) -> None:
    """The second source doubles rows where the condition holds: a probe would tell the model whether it does."""
    path = tmp_path / "people.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO people VALUES (1, 'Ann');"
            "CREATE TABLE sec (pid INTEGER REFERENCES people (id), pin TEXT); INSERT INTO sec VALUES (1, '7391');"
        )
    sql = (
        "SELECT count(p.name) FROM people p JOIN (SELECT 1 AS k UNION ALL SELECT 2) d "
        f"JOIN sec x ON x.pid = p.id WHERE p.id = 1 AND {where}"
    )
    model = writes(sql)
    egress = {"columns": {"sec.pin": "none"}}
    with SQLAgent(path, model=model, egress=egress, settings={"examples": "none"}) as agent:
        answer = agent.ask("How many?")
    assert len(model.prompts) == 1, answer.stopped


@pytest.mark.parametrize("named", ["blacklist", "main.blacklist", '"blacklist"', "[blacklist]"])
def test_in_a_table_reads_it(tmp_path: Path, named: str) -> None:
    path = tmp_path / "lists.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(
            "CREATE TABLE blacklist (email TEXT); INSERT INTO blacklist VALUES ('eve@x.org');"
            "CREATE TABLE people (name TEXT); INSERT INTO people VALUES ('Ann');"
        )
    with Database.open(path, egress={"columns": {"blacklist.email": "none"}}) as database:
        masked_database = MaskedDatabase(database)
        assert masked_database.get_egress_level(f"SELECT 'eve@x.org' IN {named}") == "none"
        assert masked_database.get_egress_level("SELECT name FROM people") == "values"
