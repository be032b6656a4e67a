"""The graph on LangGraph's development server, as Studio drives it."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client

from tests.support.openai_server import Behaviour, OpenAIServer, says

ROOT = Path(__file__).parents[2]
PARIS = "SELECT name FROM customers WHERE city = 'Paris'"

pytestmark = pytest.mark.studio


def script(body: dict[str, Any]) -> Behaviour:
    """Asks back about "them" until "in Paris" is said, and writes SQL by the question."""
    prompt = "\n".join(str(message["content"]) for message in body["messages"])
    last = prompt.rsplit("<question>", 1)[-1].split("</question>")[0].strip()
    if "them" in last and "in Paris" not in prompt:
        return says("Ask back: Which ones?\n1. in Paris\n2. all")
    return says("SELECT count(*) AS n FROM customers" if "How many" in last else PARIS)


@dataclass(frozen=True)
class Server:
    """A running development server."""

    url: str
    log: Path


@contextlib.contextmanager
def running(shop: Path, folder: Path, model_url: str) -> Generator[Server]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = folder / "server.log"
    environment = os.environ | {
        "TABLETURN_DB": str(shop),
        "TABLETURN_MODEL": "openai:scripted",
        "OPENAI_API_KEY": "none",
        "OPENAI_BASE_URL": model_url,
        "TABLETURN_CACHE": str(folder / "cache"),
        "TABLETURN_EXAMPLES": str(folder / "examples"),
        "LANGSMITH_TRACING": "false",
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
    }
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload", "--port", str(port)]
    with log.open("w") as out:
        process = subprocess.Popen(
            [*command, "--config", str(ROOT / "langgraph.json")],
            cwd=folder, env=environment, stdout=out, stderr=out, start_new_session=True,
        )  # fmt: skip
        try:
            url = f"http://127.0.0.1:{port}"
            _wait(url, process, log)
            yield Server(url, log)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(720):
        if process.poll() is not None:
            break
        with contextlib.suppress(httpx.HTTPError):
            if httpx.get(f"{url}/ok", timeout=1).status_code == 200:
                return
        time.sleep(0.25)
    pytest.fail(f"the development server did not start:\n{log.read_text()[-3000:]}")


@pytest.fixture
def server(shop: Path, tmp_path: Path) -> Iterator[Server]:
    with OpenAIServer(script) as model, running(shop, tmp_path, model.base_url) as started:
        yield started


async def turn(client: Any, thread: str, **run: Any) -> dict[str, Any]:
    """Streams a run to its end and gives the thread's values."""
    async for part in client.runs.stream(thread, "tableturn", stream_mode=["updates", "custom"], **run):
        assert part.event != "error", part.data
    return (await client.threads.get_state(thread))["values"]


def says_in_chat(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


async def updates(client: Any, thread: str, text: str) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    async for part in client.runs.stream(thread, "tableturn", input=says_in_chat(text), stream_mode=["updates"]):
        if part.event == "updates":
            for node, update in part.data.items():
                yield node, update


async def test_studio_drives_the_graph(server: Server) -> None:
    """One server, several sessions: starting it costs seconds."""
    async with get_client(url=server.url) as client:
        await _shows_the_settings(client)
        thread = (await client.threads.create())["thread_id"]
        await _chats(client, thread)
        await _edits_a_checkpoint(client, thread)
        await _changes_a_setting(client)
        await _answers_a_clarification(client)
        await _approves_a_query(client)
        await _saves_an_approved_answer(client)
        log = server.log.read_text()
        await _refuses_a_setting_that_is_none(client)
    assert "Blocking call" not in log
    assert "BlockingError" not in log
    assert "Traceback" not in log


async def _shows_the_settings(client: Any) -> None:
    assistant = (await client.assistants.search())[0]
    schemas = await client.assistants.get_schemas(assistant["assistant_id"])
    shown = schemas["context_schema"]["properties"]
    assert {"preset", "max_attempts", "reason", "rows"} <= set(shown)
    assert "N_max" in shown["max_attempts"]["description"]


async def _chats(client: Any, thread: str) -> None:
    seen = {node: update async for node, update in updates(client, thread, "How many customers are there?")}
    assert list(seen) == ["rephrase", "link", "retrieve", "generate", "execute", "critique", "respond"]
    assert seen["generate"]["sql"] == "SELECT count(*) AS n FROM customers", "updates show what a node wrote"
    values = await turn(client, thread, input=says_in_chat("Only the names of those in Paris"))
    assert values["answer"]["rows"] == [["Ada"], ["Cy"]]
    assert [message["type"] for message in values["messages"]] == ["human", "ai", "human", "ai"]
    assert values["messages"][-1]["content"] == "Name: Ada, Cy."
    assert [past["question"] for past in values["turns"]] == [
        "How many customers are there?", "Only the names of those in Paris",
    ]  # fmt: skip


async def _edits_a_checkpoint(client: Any, thread: str) -> None:
    history = await client.threads.get_history(thread, limit=50)
    before = next(state for state in history if state["next"] == ["execute"])
    edited = await client.threads.update_state(
        thread, {"sql": "SELECT name FROM customers WHERE city = 'Lyon'", "sql_source": "edited"},
        checkpoint=before["checkpoint"], as_node="generate",
    )  # fmt: skip
    values = await turn(client, thread, input=None, checkpoint=edited["checkpoint"])
    assert values["answer"]["rows"] == [["Bo"]]
    assert len(values["answer"]["attempts"]) == 1


async def _changes_a_setting(client: Any) -> None:
    thread = (await client.threads.create())["thread_id"]
    values = await turn(client, thread, input=says_in_chat("Names in Paris"), context={"rows": 1})
    assert values["answer"]["rows"] == [["Ada"]]
    assert values["answer"]["truncated"] is True


async def _refuses_a_setting_that_is_none(client: Any) -> None:
    """The server itself would drop it without a word."""
    thread = (await client.threads.create())["thread_id"]
    parts = [
        part
        async for part in client.runs.stream(
            thread, "tableturn", input=says_in_chat("Names in Paris"), context={"row": 1}, stream_mode=["updates"]
        )
    ]
    assert parts[-1].event == "error", parts
    assert "row" in parts[-1].data["message"]
    assert (await client.threads.get_state(thread))["values"] in ({}, None)


async def _answers_a_clarification(client: Any) -> None:
    thread = (await client.threads.create())["thread_id"]
    await turn(client, thread, input=says_in_chat("Show them"))
    state = await client.threads.get_state(thread)
    assert state["tasks"][0]["interrupts"][0]["value"]["question"] == "Which ones?"
    values = await turn(client, thread, command={"resume": "1"})
    assert values["answer"]["rows"] == [["Ada"], ["Cy"]]


async def _approves_a_query(client: Any) -> None:
    thread = (await client.threads.create())["thread_id"]
    await turn(client, thread, input=says_in_chat("Names in Paris"), context={"approve": True})
    asked = (await client.threads.get_state(thread))["tasks"][0]["interrupts"][0]["value"]
    assert asked["kind"] == "approve"
    edit = {"action": "edit", "sql": asked["sql"].replace("Paris", "Lyon")}
    values = await turn(client, thread, command={"resume": edit})
    assert values["answer"]["rows"] == [["Bo"]]


async def _saves_an_approved_answer(client: Any) -> None:
    thread = (await client.threads.create())["thread_id"]
    await turn(client, thread, input=says_in_chat("Names in Paris"), context={"approve": True})
    asked = (await client.threads.get_state(thread))["tasks"][0]["interrupts"][0]["value"]
    assert asked["choices"] == ["approve", "reject", "approve and save"]
    values = await turn(client, thread, command={"resume": {"action": "approve", "save": True}})
    assert any(note.startswith("saved as example ") for note in values["answer"]["notes"])
    another = (await client.threads.create())["thread_id"]
    seen = {node: update async for node, update in updates(client, another, "Names in Lyon")}
    assert "generate" not in seen, "the approved query answers, with the other city"
    assert seen["respond"]["answer"]["rows"] == [["Bo"]]
