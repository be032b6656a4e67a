"""Which door has which verb of `agent/verbs.py`, and why it lacks another."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from functools import wraps
from inspect import isfunction
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from mcp import Client
from tableturn.agent import SQLAgent, verbs
from tableturn.agent.cli import app
from tableturn.agent.graph import build_graph
from tableturn.serve import ServeSettings
from tableturn.serve.config import ServerLimits
from tableturn.serve.mcp import make_mcp_server
from tableturn.serve.server import make_agent_opener, open_server
from typer.testing import CliRunner

from tests.serve.conftest import serving
from tests.support.scripted import ScriptedModel, writes

ROOT = Path(__file__).parent.parent.parent

DOORS: dict[str, tuple[str, ...]] = {
    "python": ("agent/sqlagent.py",),
    "terminal": ("agent/cli/output.py", "agent/cli/schema.py", "agent/cli/app.py"),
    "chat": ("agent/cli/chat", "agent/answers/commands.py"),
    "studio": ("agent/answers/commands.py",),
    "http": ("serve/api", "serve/config.py", "serve/server.py"),
    "mcp": ("serve/mcp.py", "serve/server.py", "serve/config.py"),
}
"""The files of each. LangChain's tools ask and read (`SQLAgent.as_tool`, `tools/toolset.py`) and teach nothing."""

ASKS = "it asks one question; what it gave can be approved or corrected in a chat"
TEACHES = "messages in Studio teach and explain; its page shows the state, and the database by questions"
ANSWER = "an answer has it as an attribute"
OPEN = "`Database` and `ValueIndex` have it"
MODEL = "who calls is a model, which gets no files"
PAGE = "the page shows it with the answer"

TABLE: dict[str, dict[str, str]] = {
    "approve": {"terminal": ASKS},
    "correct": {"terminal": ASKS},
    "word_correction": {"terminal": ASKS},
    "find_right_query": {"python": "`correct` takes it", "terminal": ASKS},
    "rerun": {"terminal": ASKS, "mcp": "`run_sql` runs a query that has no answer"},
    "note": {},
    "save_knowledge_entry": {"terminal": ASKS, "mcp": "it proposes nothing"},
    "list_lessons": {},
    "edit_lesson": {},
    "forget": {},
    "explain": {"python": ANSWER, "terminal": "`--explain` prints the answer's own", "http": PAGE},
    "tables": {
        "python": OPEN,
        "terminal": "`schema` shows them as a model sees them",
        "studio": TEACHES,
    },
    "notices": {"python": OPEN, "terminal": "told when files are opened", "studio": TEACHES, "mcp": MODEL},
    "schema": {"python": OPEN, "chat": "/schema shows a table as a person sees it", "studio": TEACHES, "http": PAGE},
    "values": {"python": OPEN, "terminal": ASKS, "studio": TEACHES, "http": PAGE, "mcp": "by what a text mentions"},
    "find_values": {"python": OPEN, "terminal": ASKS, "chat": "Tab", "studio": TEACHES, "http": PAGE},
    "export": {"chat": "by `write_rows_file` of `ask`", "studio": TEACHES, "mcp": MODEL},
    "chart": {"python": ANSWER, "terminal": "`draw`", "studio": TEACHES, "mcp": MODEL},
    "draw": {
        "python": ANSWER,
        "chat": "by `write_chart_file` of `ask`",
        "studio": TEACHES,
        "http": "browsers draw",
        "mcp": MODEL,
    },
    "compute_token_cost": {"python": ANSWER, "terminal": ASKS, "studio": TEACHES},
}
"""Verbs, and the doors that lack one, with the reason.

Threads are listed by whoever keeps them: `agent/conversation_store.py` for the terminal, `serve/store.py` for HTTP
and MCP.
"""


def used(door: str) -> set[str]:
    """The verbs that a door's files use."""
    names: set[str] = set()
    for place in DOORS[door]:
        path = ROOT / place
        for file in path.rglob("*.py") if path.is_dir() else [path]:
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "verbs":
                    names.add(node.attr)
                elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[-1] == "verbs":
                    names |= {alias.name for alias in node.names}
    return names


def test_the_table_has_every_verb() -> None:
    helpers = {"check_chart_file", "format_unchecked_note", "join_names", "unquote"}
    own = {name for name, one in vars(verbs).items() if isfunction(one) and one.__module__ == verbs.__name__}
    assert {name for name in own if not name.startswith("_")} == TABLE.keys() | helpers


@pytest.mark.parametrize("door", DOORS)
def test_each_door_has_the_verb_or_a_reason(door: str) -> None:
    assert used(door) & TABLE.keys() == TABLE.keys() - _lacking(door)


def _lacking(door: str) -> set[str]:
    return {verb for verb, reasons in TABLE.items() if door in reasons}


@pytest.fixture
def reached(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The verbs that anything but a verb has called since."""
    found: set[str] = set()

    def note_call(name: str, verb: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(verb)
        def call_verb(*args: Any, **more: Any) -> Any:
            if sys._getframe(1).f_code.co_filename != verbs.__file__:
                found.add(name)
            return verb(*args, **more)

        return call_verb

    for name in TABLE:
        monkeypatch.setattr(verbs, name, note_call(name, getattr(verbs, name)))
    return found


ORDERS = "How many placed orders are there?"
EARLY = "SELECT count(*) FROM orders WHERE placed < '2024-03-01'"


@pytest.fixture
def model() -> ScriptedModel:
    return writes("SELECT count(*) AS orders FROM orders")


@pytest.fixture
def agent(shop: Path, tmp_path: Path, model: ScriptedModel) -> Iterator[SQLAgent]:
    with SQLAgent(shop, model=model, examples=tmp_path / "store") as opened:
        yield opened


def test_python_reaches_its_verbs(agent: SQLAgent, reached: set[str], tmp_path: Path) -> None:
    answer = agent.ask(ORDERS)
    agent.approve(answer)
    agent.remember(agent.correct(answer, EARLY).proposals[0])
    agent.word_correction(answer, "only early ones")
    agent.rerun(answer)
    agent.export(answer, tmp_path / "rows.csv")
    agent.note("big means orders.total > 9")
    agent.edit_lesson("big", "orders.total > 8")
    assert agent.list_lessons()
    agent.forget("big")
    assert reached == TABLE.keys() - _lacking("python")


def ran(*words: str, given: str = "") -> str:
    done = CliRunner().invoke(app, words, input=given, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_the_terminal_reaches_its_verbs(shop: Path, tmp_path: Path, reached: set[str]) -> None:
    own = ("--db", str(shop), "--examples", str(tmp_path / "store"))
    ask = ("ask", "How many customers are there in each city?", *own, "--model", "offline")
    ran(*ask, "--output", str(tmp_path / "rows.csv"), "--chart", str(tmp_path / "rows.svg"))
    ran("schema", *own[:2])
    ran("lessons", *own, "--note", "big means orders.total > 9")
    ran("lessons", *own, "--edit", "big", "orders.total > 8")
    ran("lessons", *own, "--forget", "big")
    assert reached == TABLE.keys() - _lacking("terminal")


def test_a_chat_reaches_its_verbs(shop: Path, tmp_path: Path, reached: set[str]) -> None:
    lines = (
        "How many orders are there?", "/approve", "/sql run", "/explain", "/chart", f"/export {tmp_path}/r.csv",
        "/correct SELECT count(*) FROM orders JOIN customers ON orders.id = customers.id", "/accept 1",
        "/correct only early ones", "/tables",
        "/values city", "/cost", "/note late means orders.total > 9", "/lessons", "/edit late orders.total > 8",
        "/forget late",
    )  # fmt: skip
    own = ("--db", str(shop), "--examples", str(tmp_path / "store"))
    said = ran("chat", *own, "--model", "offline", "--price", "1,2", given="\n".join(lines))
    assert reached == TABLE.keys() - _lacking("chat") | {"export"}, said


def test_studio_reaches_its_verbs(agent: SQLAgent, reached: set[str]) -> None:
    graph = build_graph(agent.resources, InMemorySaver(), show_state=True, commands=True)
    for line in (
        ORDERS, "/approve", "/explain", f"/correct {EARLY}", "/accept 1", "/correct only early ones",
        "And in Paris?", f"/correct {EARLY}",
        "/note big means orders.total > 9", "/lessons", "/edit big orders.total > 8", "/forget big",
    ):  # fmt: skip
        config: Any = {"configurable": {"thread_id": "t"}}
        graph.invoke({"messages": [HumanMessage(line)]}, config)
    assert reached == TABLE.keys() - _lacking("studio")


async def test_http_reaches_its_verbs(agent: SQLAgent, reached: set[str]) -> None:
    limits = ServerLimits(dollars_a_day=1.0, dollars_a_million=(1.0, 1.0))
    async with serving(agent, ServeSettings(limits=limits)) as client:

        async def sent(path: str, method: str = "GET", **body: Any) -> Any:
            reply = await client.request(method, path, json=body or None)
            assert reply.is_success, reply.text
            return reply.json() if reply.content[:1] in (b"{", b"[") else None

        thread = (await client.post("/threads", json={})).json()["id"]
        turn = (await sent(f"/threads/{thread}/turns", "POST", question=ORDERS))["id"]
        feedback = f"/turns/{turn}/feedback"
        await sent(feedback, "POST", kind="approve")
        right = await sent(feedback, "POST", kind="correct", text=EARLY)
        await sent(f"/turns/{right['turn']}/feedback", "POST", kind="note", number=1)
        await sent(feedback, "POST", kind="correct", text="only early ones")
        await sent(f"/turns/{turn}/run", "POST", sql=EARLY)
        await sent(f"/turns/{turn}/export")
        await sent(f"/turns/{turn}/chart")
        await sent("/schema")
        await sent(feedback, "POST", kind="note", text="big means orders.total > 9")
        (big,) = [one["id"] for one in await sent("/lessons") if one["name"] == "big"]
        await sent(f"/lessons/{big}", "PATCH", text="orders.total > 8")
        await sent(f"/lessons/{big}", "DELETE")
    assert reached == TABLE.keys() - _lacking("http")


async def test_mcp_reaches_its_verbs(agent: SQLAgent, reached: set[str]) -> None:
    async with (
        open_server(make_agent_opener(agent), None, ServeSettings()) as server,
        Client(make_mcp_server(server.make_default_asker)) as client,
    ):

        async def called(tool: str, **arguments: Any) -> dict[str, Any]:
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, result.content
            return result.structured_content or {}

        turn = (await called("ask", question=ORDERS))["turn"]
        await called("approve", turn=turn)
        await called("correct", turn=turn, text=EARLY)
        await called("correct", turn=turn, text="only early ones")
        await called("schema")
        await called("values", text="orders in Paris")
        await called("explain", sql=EARLY)
        taught = await called("teach", text="big means orders.total > 9")
        (big,) = [one["id"] for one in taught["lessons"] if one["name"] == "big"]
        await called("teach", id=big, text="orders.total > 8")
        await called("teach", id="big")
    assert reached == TABLE.keys() - _lacking("mcp")
