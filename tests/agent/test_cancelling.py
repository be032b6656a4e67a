"""A turn ended from outside: within a fraction of a second, and as if it had never been."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from tableturn.agent import SQLAgent
from tableturn.tools.errors import TurnCancelled

from tests.support.scripted import ScriptedModel, rephrased, task_of, writes

COUNT = "SELECT count(*) FROM orders"
FOREVER = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
SETTINGS: dict[str, Any] = {"examples": "none", "query_seconds": 3_600}


def slow_model(reached: threading.Event, ends: threading.Event) -> ScriptedModel:
    def script(prompt: str) -> str:
        if task_of(prompt) == "sql" and "slow" in prompt:
            reached.set()
            ends.wait(30)
        return rephrased("Give me what was asked.") if task_of(prompt) == "rephrase" else COUNT

    return ScriptedModel(script=script)


def whole_file(path: Path) -> list[Any]:
    with sqlite3.connect(path) as connection:
        return [
            connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3").fetchall()
            for table in ("checkpoints", "writes")
        ]


@pytest.mark.parametrize("streamed", [False, True])
def test_a_request_is_abandoned_and_the_thread_stands_as_before(shop: Path, tmp_path: Path, streamed: bool) -> None:
    path, reached, ends = tmp_path / "kept.sqlite", threading.Event(), threading.Event()
    model = slow_model(reached, ends)
    with (
        SqliteSaver.from_conn_string(str(path)) as saver,
        SQLAgent(shop, model=model, settings=SETTINGS, checkpointer=saver) as agent,
    ):
        chat = agent.conversation("t")
        chat.ask("How many orders?")
        before = whole_file(path)
        threading.Thread(target=lambda: reached.wait(20) and chat.cancel(), daemon=True).start()
        with pytest.raises(TurnCancelled):
            list(chat.stream("a slow one")) if streamed else chat.ask("a slow one")
        assert not ends.is_set()
        assert whole_file(path) == before
        ends.set()
        prompts = len(model.prompts)
        assert chat.ask("And now?").answered
        assert not [prompt for prompt in model.prompts[prompts:] if "a slow one" in prompt]


def test_a_query_is_ended(shop: Path) -> None:
    with SQLAgent(shop, model=writes(FOREVER), settings=SETTINGS) as agent:
        chat = agent.conversation("t")
        threading.Timer(2.0, chat.cancel).start()
        with pytest.raises(TurnCancelled):
            chat.ask("How many numbers are there?")  # by itself it takes an hour
        assert chat.last() is None


def test_an_awaited_turn_is_cancelled_with_its_task(shop: Path) -> None:
    async def cancelled() -> bool:
        with SQLAgent(shop, model=writes(FOREVER), settings=SETTINGS) as agent:
            chat = agent.conversation("t")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(chat.aask("How many numbers are there?"), 2)
            return chat.last() is None

    assert asyncio.run(cancelled())


def test_a_stream_that_is_left_is_undone(shop: Path) -> None:
    with SQLAgent(shop, model=writes(COUNT), settings=SETTINGS) as agent:
        chat = agent.conversation("t")
        stream = chat.stream("How many orders?")
        next(stream)
        stream.close()  # type: ignore[attr-defined]
        assert not agent.graph.get_state({"configurable": {"thread_id": "t"}}).values


def test_a_turn_that_fails_leaves_nothing_behind(shop: Path) -> None:
    def script(prompt: str) -> str:
        raise KeyboardInterrupt

    with SQLAgent(shop, model=ScriptedModel(script=script), settings=SETTINGS) as agent:
        with pytest.raises(KeyboardInterrupt):
            agent.conversation("t").ask("How many orders?")
        assert not agent.graph.get_state({"configurable": {"thread_id": "t"}}).values


PROGRAM = f"""
import signal, sys, threading
from tableturn import SQLAgent
from tests.support.scripted import writes
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background of a shell are born deaf to it
with SQLAgent(sys.argv[1], model=writes({FOREVER!r}), settings={SETTINGS!r}) as agent:
    chat = agent.conversation("t")
    def running(event):
        return event.kind == "node" and event.name == "generate"
    try:
        for event in chat.stream("How many?"):
            if running(event):
                print("running", flush=True)
    except KeyboardInterrupt:
        print("interrupted", chat.last(), flush=True)
"""


def test_ctrl_c_ends_a_turn_in_order(shop: Path) -> None:
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(shop)], stdout=subprocess.PIPE, text=True, cwd=root, env=os.environ
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted None\n"
        assert process.wait(30) == 0
