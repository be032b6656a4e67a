"""The Model Context Protocol, by the SDK's own client."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from tableturn import __version__
from tableturn.agent import SQLAgent
from tableturn.serve import ServeSettings
from tableturn.serve.mcp import make_mcp_server
from tableturn.serve.server import make_agent_opener, open_server

from tests.serve.conftest import scripted, serving
from tests.support.scripted import ScriptedModel

TOOLS = {"ask", "run_sql", "schema", "values", "explain", "approve", "correct", "lessons", "teach"}


@asynccontextmanager
async def calling(agent: SQLAgent) -> AsyncGenerator[Client]:
    async with (
        open_server(make_agent_opener(agent), None, ServeSettings()) as server,
        Client(make_mcp_server(server.make_default_asker)) as client,
    ):
        yield client


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return " ".join(getattr(part, "text", "") for part in result.content)


async def test_what_speaks_against_an_answer_is_told(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    reply = "```sql\nSELECT count(*) FROM customers\n```\nSure: 40, some may be counted twice"
    model = ScriptedModel(script=lambda prompt: reply)
    async with calling(agent_over(shop, model=model)) as client:
        answer = await called(client, "ask", question="How many customers are there?")
    assert list(answer)[-2:] == ["confidence_reason", "ledger"]
    assert answer["confidence_reason"] == "the model says “some may be counted twice”"
    assert (answer["ledger"]["joins"], answer["ledger"]["not_counted"]) == ([], [])


async def test_a_result_is_one_line_and_the_page_does_not_list_it(
    shop: Path, agent_over: Callable[..., SQLAgent]
) -> None:
    async with open_server(make_agent_opener(agent_over(shop)), None, ServeSettings()) as server:
        async with Client(make_mcp_server(server.make_default_asker)) as client:
            result = await client.call_tool("ask", {"question": "Who are the customers?"})
            (part,) = result.content
            text = getattr(part, "text", "")
            assert json.loads(text) == result.structured_content
            assert "\n" not in text
            threads = (await client.read_resource("tableturn://threads")).contents
        assert server.store.list_threads(server.make_default_asker().owner) == []
        assert len(json.loads(getattr(threads[0], "text", ""))) == 1


async def test_an_error_quotes_no_cell_that_is_masked(tmp_path: Path, agent_over: Callable[..., SQLAgent]) -> None:
    table = tmp_path / "people.csv"
    table.write_text("id,email\n1,ada@example.org\n2,bo@example.org\n")
    async with calling(agent_over(table, egress={"mask": ["email"]})) as client:
        told = await refused(client, "run_sql", sql="SELECT CAST(email AS INTEGER) FROM people")
    assert "[email]" in told
    assert "example.org" not in told


async def test_results_are_masked_and_ids_stay_whole(tmp_path: Path, agent_over: Callable[..., SQLAgent]) -> None:
    table, card = tmp_path / "people.csv", "4111 1111 1111 1111"
    table.write_text(f"id,email,thread\n1,ada@example.org,{card}\n")
    model = ScriptedModel(script=lambda prompt: "```sql\nSELECT * FROM people\n```")
    async with calling(agent_over(table, model=model, egress={"mask": ["email", "card"]})) as client:
        ran = await client.call_tool("run_sql", {"sql": "SELECT * FROM people"})
        assert ran.structured_content is not None
        assert ran.structured_content["rows"] == [[1, "[email]", "[card]"]]
        answer = await called(client, "ask", question="Who is ada@example.org?")
        approved = await called(client, "approve", turn=answer["turn"], question="Who is ada@example.org?")
        lessons = await called(client, "lessons")
    assert re.fullmatch("[0-9a-f]{32}", answer["turn"] and answer["thread"])
    assert lessons["lessons"][0]["id"] == approved["id"]
    told = json.dumps([answer, approved, lessons, *(getattr(part, "text", "") for part in ran.content)])
    assert "ada@" not in told
    assert card not in told


@pytest.mark.parametrize("level", ["none", "statistics"])
async def test_a_definition_tells_no_cell_that_may_not_leave(
    level: str, tmp_path: Path, agent_over: Callable[..., SQLAgent]
) -> None:
    table, trail = tmp_path / "people.csv", tmp_path / "trail.jsonl"
    table.write_text("id,email\n1,ada@example.org\n2,bo@example.org\n")
    agent = agent_over(table, egress={"columns": {"people.email": level}}, audit=trail)
    # Of what may not leave at all it is not even told whether it fails.
    cast = "CAST(CASE WHEN people.email LIKE '{}%' THEN people.email ELSE '1' END AS INTEGER)"
    async with calling(agent) as client:
        told = [await refused(client, "teach", text=f"w means {cast.format(name)} = 1") for name in ("ada", "zed")]
    assert "example.org" not in "".join(told)
    assert (told[0] == told[1]) == (level == "none")
    assert [json.loads(line)["status"] for line in trail.read_text().splitlines()][-1] == "run"
    assert len(trail.read_text().splitlines()) == 2


async def test_every_tool(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    async with calling(agent_over(shop)) as client:
        assert client.server_info is not None
        assert client.server_info.version == __version__
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(listed) == TOOLS
        assert all(tool.output_schema and tool.description for tool in listed.values())
        answer = await called(client, "ask", question="Who are the customers?")
        assert answer["rows"] == [["Ada"], ["Bo"], ["Cy"]]
        assert answer["confidence_reason"] == ""
        more = await called(client, "ask", question="Again?", thread=answer["thread"])
        assert more["thread"] == answer["thread"]
        assert (await called(client, "run_sql", sql="SELECT count(*) FROM orders"))["rows"] == [[4]]
        assert (await called(client, "schema"))["tables"]["customers"] == ["id", "name", "city"]
        assert set((await called(client, "schema", tables=["orders"]))["tables"]) == {"orders"}
        assert (await called(client, "schema", tables=[]))["tables"] == {}
        found = await called(client, "values", text="people in Paris")
        assert {"mention": "Paris", "value": "Paris", "table": "customers", "column": "city"} in found["values"]
        assert "customers" in (await called(client, "explain", sql="SELECT count(*) FROM customers"))["meaning"]
        saved = await called(client, "approve", turn=answer["turn"], question="Who are the customers?")
        assert saved["new"]
        again = await called(client, "correct", turn=answer["turn"], text="only of Paris")
        assert again["wording"] == "Who are the customers?"
        kept = await called(client, "approve", turn=again["turn"])
        assert (kept["question"], kept["id"]) == ("Who are the customers?", saved["id"]), "the same query as before"
        await called(client, "teach", text="big means orders.total > 8")
        saved, term = (await called(client, "lessons"))["lessons"]
        assert (saved["name"], term["name"]) == ("Who are the customers?", "big")
        (term,) = (await called(client, "teach", id=saved["id"]))["lessons"]
        (term,) = (await called(client, "teach", id=term["id"], text="orders.total > 9"))["lessons"]
        assert term["meaning"] == "orders.total > 9"


async def test_the_right_query_is_saved_at_once_under_words_that_stand_alone(
    shop: Path, agent_over: Callable[..., SQLAgent]
) -> None:
    async with calling(agent_over(shop, model="offline")) as client:
        first = await called(client, "ask", question="Show the names of the customers")
        turn = await called(client, "ask", question="Only those in Paris", thread=first["thread"])
        given = {"turn": turn["turn"], "text": "SELECT name FROM customers WHERE city = 'Lyon'"}
        assert repr(turn["wording"]) in await refused(client, "correct", **given)
        assert turn["wording"] in await refused(client, "approve", turn=turn["turn"])
        right = await called(client, "correct", **given, question=turn["wording"])
        assert right["rows"] == [["Bo"]]
        assert right["wording"] == turn["wording"] != "Only those in Paris"
        assert f"saved as the answer to: {right['wording']}" in right["notes"]
        (saved,) = (await called(client, "lessons"))["lessons"]
        assert (saved["name"], saved["meaning"]) == (right["wording"], right["sql"])
        again = await called(client, "approve", turn=right["turn"], question=right["wording"])
        assert not again["new"]


async def test_bad_arguments_are_refused_by_name(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    async with calling(agent_over(shop)) as client:
        assert "question" in await refused(client, "ask")
        assert "sql" in await refused(client, "run_sql", sql="")
        for sql in ("foo", "DELETE FROM customers"):
            assert f"cannot explain {sql!r}: send a single SELECT" in await refused(client, "explain", sql=sql)
        assert "limit" in await refused(client, "values", text="x", limit=1_000)
        assert "nowhere" in await refused(client, "ask", question="Who?", thread="nowhere")
        assert (await refused(client, "run_sql", sql="DELETE FROM orders")).startswith("this connection only reads")
        assert await refused(client, "schema", tables=["secrets"]) == "there is no table 'secrets'"
        assert "turn" in await refused(client, "approve", turn="nothing")
        assert "'settings'" in await refused(client, "ask", question="Who?", settings={"turn_calls": 1_000})
        assert "U+0000" in await refused(client, "ask", question="a\0b")
        assert await refused(client, "ask") == "question is missing"
        assert await refused(client, "ask", question=5) == "question must be text, not 5"
        assert await refused(client, "ask", question=" ") == "question must not be empty"
        assert await refused(client, "values", text="x", limit="x") == "limit must be a whole number, not 'x'"
        with pytest.raises(MCPError, match=r"^topic is missing$"):
            await client.get_prompt("look_into", {})


async def test_a_query_of_ones_own_is_written_down(
    shop: Path, agent_over: Callable[..., SQLAgent], tmp_path: Path
) -> None:
    trail = tmp_path / "trail.jsonl"
    async with calling(agent_over(shop, audit=trail)) as client:
        await called(client, "run_sql", sql="SELECT count(*) FROM orders")
        await refused(client, "run_sql", sql="DELETE FROM orders")
    ran, turned_down = (json.loads(line) for line in trail.read_text().splitlines())
    assert (ran["status"], ran["sql"], ran["rows"]) == ("run", "SELECT count(*) FROM orders", 1)
    assert (turned_down["status"], turned_down["refused"]) == ("error", ["DELETE FROM orders"])


async def test_resources_and_prompts(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    async with calling(agent_over(shop)) as client:
        answer = await called(client, "ask", question="Who are the customers?")

        async def read(uri: str) -> str:
            return (await client.read_resource(uri)).contents[0].text  # pyright: ignore[reportAttributeAccessIssue]

        assert "orders" in await read("tableturn://tables")
        one = await read("tableturn://tables/customers")
        assert "\ncustomers(" in one, "a table's own columns"
        assert "\norders(" not in one, "and no other's"
        assert answer["thread"] in await read("tableturn://threads")
        assert "Who are the customers?" in await read(f"tableturn://threads/{answer['thread']}")
        with pytest.raises(Exception, match="secrets"):
            await read("tableturn://tables/secrets")
        prompts = {prompt.name for prompt in (await client.list_prompts()).prompts}
        assert prompts == {"first_questions", "look_into"}
        assert (await client.get_prompt("look_into", {"topic": "sales"})).messages


async def test_what_may_not_leave_is_in_no_result(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    agent = agent_over(
        shop, model=scripted("SELECT name, city FROM customers"), egress={"columns": {"customers.name": "none"}}
    )
    async with calling(agent) as client:
        answer = await client.call_tool("ask", {"question": "Who are the customers?"})
        ran = await client.call_tool("run_sql", {"sql": "SELECT name FROM customers"})
        thread = answer.structured_content["thread"]  # pyright: ignore[reportOptionalSubscript]
        kept = await client.read_resource(f"tableturn://threads/{thread}")
        shown = await client.call_tool("schema", {})
        told = " ".join(map(str, (answer, ran, kept, shown)))
        assert not {"Ada", "Cy"} & set(told.replace("'", " ").replace('"', " ").split())


@pytest.mark.whole
async def test_over_stdio(shop: Path, tmp_path: Path) -> None:
    command = [
        "-m",
        "tableturn",
        "mcp",
        "--db",
        str(shop),
        "--model",
        "offline",
        "--checkpoints",
        str(tmp_path / "c.db"),
    ]
    async with Client(stdio_client(StdioServerParameters(command=sys.executable, args=command))) as client:
        answer = await called(client, "ask", question="How many customers are there?")
        assert answer["rows"] == [[3]]


async def test_no_stream_without_sessions_holds_up_the_end(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    async with serving(agent_over(shop)) as client:
        assert (await client.get("/mcp", headers={"accept": "text/event-stream"})).status_code == 405
