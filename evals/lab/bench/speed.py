"""Cost of our own code, without the model's, and size of an installation.

Turns are timed in this process, at a server under load, and at a pseudo-terminal.
"""

from __future__ import annotations

import asyncio
import os
import queue
import resource
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypedDict

import httpx2 as httpx
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from pandas import DataFrame

from tests.support.openai_server import HANG, Behaviour, OpenAIServer, says
from tests.support.scripted import ScriptedModel
from tests.support.terminal import CTRL_C, PROMPT, PseudoTerminal

from ....agent import SQLAgent
from ....tools.database import Database
from ....tools.errors import QueryError, SettingsError
from .gold import LIMITS, read_gold_queries_by_file
from .harness import (
    ServerProcess,
    Stopwatch,
    compute_percentile_ms,
    make_http_client,
    measure_least_seconds,
    run_server,
    time_calls,
)
from .registry import BenchOptions, Figures, Measure, Row
from .scale import build_large_database
from .stand_in import ROOT, TURNS, make_sample_db, reply_to, run_slow_server

_CONVERSATIONS = 200
_SECONDS_A_REPLY = 1.0
_MAIN = "from tableturn.agent.cli import main; main()"
_RUNS = 3
_PASSES = 5


GIVEN = ("langgraph", "langchain-openai", "langchain-community", "sqlglot", "pandas", "chromadb", "pydantic")
"""The packages that any tableturn stands on: the floor of an installation."""


def measure_install(options: BenchOptions) -> Figures:
    """Measure the packages and megabytes of an installation, and of the `GIVEN` packages alone.

    Raises:
        SettingsError: The packages cannot be had.
    """
    packages, mb = _measure_installation_size(str(ROOT))
    floor_packages, floor_mb = _measure_installation_size(*GIVEN)
    return {"packages": packages, "mb": mb, "floor_packages": floor_packages, "floor_mb": floor_mb}


def _measure_installation_size(*wanted: str) -> tuple[int, int]:
    """Install packages into a new environment; return the number of packages and megabytes."""
    constraints = str(ROOT / "constraints.txt")
    with TemporaryDirectory() as folder:
        python = str(Path(folder, "bin", "python"))
        for command in (
            [sys.executable, "-m", "venv", folder],
            [python, "-m", "pip", "install", "-q", "--no-compile", "-c", constraints, *wanted],
            [python, "-m", "pip", "uninstall", "-q", "-y", "setuptools", "pip"],
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - pip, of our own environment
            if done.returncode:
                raise SettingsError(f"the installation failed: {done.stderr.strip()[-500:]}")
        packages = next(Path(folder, "lib").glob("python*")) / "site-packages"
        files = [path.stat().st_size for path in packages.rglob("*") if path.is_file() and not path.is_symlink()]
        return len(list(packages.glob("*.dist-info"))), round(sum(files) / 2**20)


def measure_startup(options: BenchOptions) -> Figures:
    """Measure the least processor seconds that each of a few commands takes.

    `first_answer_s` is the built-in translator's, `first_model_answer_s` a chat model's behind a server that replies at
    once. The imports of LangGraph and of the chat model's client are what these would cost anybody.
    """
    # Python keeps what it compiled, as it does for a user: the first process compiles, and does not count.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    figures: Figures = {}
    with make_sample_db() as path, run_slow_server(0.0) as url:
        ask = [_MAIN, "ask", "--db", str(path), TURNS[0][0]]
        for name, program in {
            "help_s": [_MAIN, "--help"],
            "import_langgraph_s": ["import langgraph.graph"],
            "import_both_s": ["import langgraph.graph, langchain_openai"],
            "first_answer_s": [*ask, "--model", "offline"],
            "first_model_answer_s": [*ask, "--model", "openai:stand-in", "--base-url", url],
            "python_s": ["pass"],
        }.items():
            command, spent = [sys.executable, "-c", *program], list[float]()
            for _ in range((options.limit or _RUNS) + 1):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                subprocess.run(command, check=True, capture_output=True, env=environment)  # noqa: S603 - our own program
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            figures[name] = round(min(spent[1:]), 3)
    return figures


class _CounterState(TypedDict):
    count: int


def measure_overhead(options: BenchOptions) -> Figures:
    """Measure percentiles of the first and fifth turns' milliseconds, with an instant model.

    `cpu_ms_a_turn` is the processor's time, all turns averaged: on a busy machine the clock says more than we cost.
    `ten_node_graph_ms` is what LangGraph alone takes in the same run: ten nodes, each of which adds one.
    """

    def increment_count(state: _CounterState) -> _CounterState:
        return {"count": state["count"] + 1}

    conversations = options.limit or 100
    questions = [question for question, _ in TURNS]
    model = ScriptedModel(script=reply_to, usage=None)

    def run_conversation(_: int) -> list[float]:
        answers, seconds = time_calls(agent.conversation().ask, questions)
        assert all(answer.answered for answer in answers), answers
        return seconds

    with make_sample_db() as path, SQLAgent(path, model=model, settings={"record": "off"}) as agent:
        run_conversation(0)
        with Stopwatch() as spent:
            turns = [run_conversation(number) for number in range(conversations)]
    builder = StateGraph(_CounterState)
    builder.add_sequence([(f"node{number}", increment_count) for number in range(10)])
    builder.add_edge(START, "node0")
    graph = builder.compile(checkpointer=InMemorySaver())
    threads = range(conversations + 1)
    _, alone = time_calls(lambda n: graph.invoke({"count": 0}, {"configurable": {"thread_id": str(n)}}), threads)
    figures: Figures = {"conversations": conversations}
    by_turn = list(zip(*turns, strict=True))
    for name, seconds in (("first_turn", by_turn[0]), ("fifth_turn", by_turn[-1])):
        for percent in (50, 95):
            figures[f"{name}_p{percent}_ms"] = round(compute_percentile_ms(seconds, percent), 2)
    return figures | {
        "cpu_ms_a_turn": round(1000 * spent.cpu / (conversations * len(TURNS)), 2),
        "ten_node_graph_ms": round(compute_percentile_ms(alone[1:], 50), 2),
    }


def measure_concurrency(options: BenchOptions) -> Figures:
    """Measure turns per second of many conversations at once with a slow model server.

    The share is of what the replies' seconds alone would allow; one turn of one conversation warms up.
    """
    return asyncio.run(_run_concurrent_conversations(options.limit or _CONVERSATIONS))


async def _run_concurrent_conversations(conversations: int) -> Figures:
    async def run_conversation() -> int:
        conversation = agent.conversation()
        answers = [await conversation.aask(question) for question, _ in TURNS]
        assert all(answer.answered for answer in answers), answers
        return sum(answer.usage.llm_calls for answer in answers)

    with (
        run_slow_server(_SECONDS_A_REPLY) as url,
        make_sample_db() as path,
        SQLAgent(path, model="openai:m", base_url=url) as agent,
    ):
        await agent.aask(TURNS[0][0])
        with Stopwatch() as spent:
            replies = await asyncio.gather(*(run_conversation() for _ in range(conversations)))
    turns = conversations * len(TURNS)
    # Each conversation waits for its own replies one after the other; all conversations wait at once.
    ideal = turns / (max(replies) * _SECONDS_A_REPLY)
    return {
        "conversations": conversations,
        "turns": turns,
        "turns_per_s": round(turns / spent.seconds, 2),
        "share_of_ideal": round(turns / spent.seconds / ideal, 3),
        "cpu_ms_a_turn": round(1000 * spent.cpu / turns, 2),
    }


def _read_gold_queries(options: BenchOptions) -> Iterator[tuple[str, sqlite3.Connection, Database]]:
    for path, golds in read_gold_queries_by_file(options.folder).items():
        with closing(sqlite3.connect(path)) as plain, Database.open(path) as database:
            yield from ((sql, plain, database) for sql in golds[: options.limit])


def _run_plain_and_guarded(case: tuple[str, sqlite3.Connection, Database]) -> Iterator[Row]:
    """Yield whether a query runs and gives the same rows behind the guard, and its least times.

    It is compiled anew every time: a comment makes its text unique.
    """
    sql, plain, database = case
    found: list[object] = [None, None]
    texts = (f"{sql.rstrip().rstrip(';')} --{number}" for number in count())

    def run_query_plain() -> None:
        try:
            cursor = plain.execute(next(texts))
            found[0] = tuple(entry[0] for entry in cursor.description), cursor.fetchall()
        except sqlite3.Error:
            found[0] = None

    def run_query_guarded() -> None:
        try:
            table = database.execute(next(texts), LIMITS)
            found[1] = table.columns, list(table.rows)
        except QueryError:
            found[1] = None

    seconds = measure_least_seconds([run_query_plain, run_query_guarded], _PASSES)
    yield {"sql": sql, "ran": found[0] is not None, "same": found[0] == found[1], "seconds": seconds}


def _compute_guard_cost(table: DataFrame) -> Figures:
    """Return how much slower gold queries run behind the read-only guard."""
    ran = table[table["ran"]]
    plain, guarded = map(sum, zip(*ran["seconds"], strict=True))
    return {
        "queries": len(table),
        "ran": len(ran),
        "same_rows": ran["same"].sum(),
        "differing": list(ran["sql"][~ran["same"]])[:10],
        "ratio": round(guarded / plain, 3),
    }


measure_readonly_cost = Measure(_read_gold_queries, _run_plain_and_guarded, _compute_guard_cost)


_OPEN_SECONDS = 60.0
_NEWCOMERS = 30
_TABLES = 290


def measure_serve(options: BenchOptions) -> Figures:
    """Measure the HTTP server under load, with one worker and with two.

    `cpu_ms_a_turn` counts all processes of the server, those that run queries too. `p95_added_ms` is what a turn takes
    beyond its model's replies, of turns that begin at half of one worker's rate, whether or not others have ended.
    `soak` compares memory and descriptors after the first conversations with those at the end. `newcomers` is how long
    somebody else's list of threads takes while new people open the page on a large database and ask: people of equal
    rights, and people with rights of their own each.
    """
    return asyncio.run(_measure_server_load(options.limit or _CONVERSATIONS))


async def _measure_server_load(conversations: int) -> Figures:
    figures: Figures = {}
    with run_slow_server(_SECONDS_A_REPLY) as model, make_sample_db() as path:
        for name, workers in (("one", 1), ("two", 2)):
            with tempfile.TemporaryDirectory() as folder:
                options = ("--db", str(path), "--model", "openai:m", "--base-url", model, "--workers", str(workers))
                async with run_server(Path(folder), *options) as serving:
                    loop, held = await _measure_server_throughput(serving, conversations)
                    figures[name] = loop
                    if workers == 1:
                        seconds = _OPEN_SECONDS * conversations / _CONVERSATIONS
                        figures["p95_added_ms"] = await _measure_latency(serving, loop["turns_per_s"] / 2, seconds)
                        figures["soak"] = held
    people = min(conversations, _NEWCOMERS)
    tables = _TABLES * people // _NEWCOMERS
    return figures | {
        "newcomers": {
            "people": people,
            "tables": tables,
            "equal_rights": await _measure_latency_with_newcomers(people, tables, own_rights=False),
            "own_rights": await _measure_latency_with_newcomers(people, tables, own_rights=True),
        }
    }


async def _measure_latency_with_newcomers(people: int, tables: int, *, own_rights: bool) -> Figures:
    """Measure how long one user's thread list takes while new users open the page and ask."""

    async def open_page_and_ask(name: str) -> bool:
        who = {"X-User": name}
        await asyncio.gather(*(client.get(path, headers=who) for path in ("/me", "/threads", "/schema")))
        reply = await client.post("/ask", json={"question": TURNS[0][0]}, headers=who)
        return reply.status_code == 200 and reply.json()["status"] in ("converged", "capped")

    with run_slow_server(_SECONDS_A_REPLY) as model, make_sample_db() as path, tempfile.TemporaryDirectory() as folder:
        build_large_database(path, tables)
        options = ["--db", str(path), "--model", "openai:m", "--base-url", model, "--user-header", "X-User"]
        if own_rights:
            rules = Path(folder) / "people.toml"
            denied = "".join(f'[users.new{number}]\ndeny = ["entity{number}.field_1"]\n' for number in range(people))
            rules.write_text(f'[default]\ndeny = ["entity{people}.field_1"]\n{denied}')
            options += ["--permissions", str(rules)]
        async with run_server(Path(folder), *options) as serving, make_http_client(serving) as client:
            ada = {"X-User": "ada"}
            await client.post("/ask", json={"question": TURNS[0][0]}, headers=ada)
            coming = asyncio.gather(*(open_page_and_ask(f"new{number}") for number in range(people)))
            seconds: list[float] = []
            with Stopwatch() as all_of_it:
                while not coming.done():
                    with Stopwatch() as listing:
                        (await client.get("/threads", headers=ada)).raise_for_status()
                    seconds.append(listing.seconds)
                    await asyncio.sleep(0.02)
    return {
        "answered": sum(await coming),
        "seconds": round(all_of_it.seconds, 1),
        "others_p95_ms": round(compute_percentile_ms(seconds, 95), 1),
        "others_longest_ms": round(1000 * max(seconds), 1),
    }


async def _measure_server_throughput(serving: ServerProcess, conversations: int) -> tuple[dict[str, float], Figures]:
    """Return the throughput of concurrent conversations, and the server's memory over time."""
    async with make_http_client(serving) as client:
        await _run_http_conversation(client)  # what is opened at the first question
        cpu = serving.measure_cpu_seconds()
        with Stopwatch() as spent:
            tasks = [asyncio.create_task(_run_http_conversation(client)) for _ in range(conversations)]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            before = serving.measure_memory_and_descriptors()
            answered = sum(await asyncio.gather(*tasks))
        cpu = serving.measure_cpu_seconds() - cpu
    memory, descriptors = map(list, zip(before, serving.measure_memory_and_descriptors(), strict=True))
    return {
        "conversations": conversations,
        "turns_per_s": round(answered / spent.seconds, 2),
        "cpu_ms_a_turn": round(1000 * cpu / max(answered, 1), 1),
        "errors": conversations * len(TURNS) - answered,
    }, {"memory_mb": memory, "descriptors": descriptors}


async def _run_http_conversation(client: Any) -> int:
    """Ask the questions of one conversation over HTTP; return how many were answered."""
    thread = (await client.post("/threads", json={})).json()["id"]
    answered = 0
    for question, _ in TURNS:
        try:
            reply = await client.post(f"/threads/{thread}/turns", json={"question": question})
            answered += reply.status_code == 200 and reply.json()["answer"]["answered"]
        except httpx.HTTPError:
            continue
    return answered


async def _measure_latency(serving: ServerProcess, rate: float, seconds: float) -> float:
    """Return the 95th percentile of a turn's milliseconds beyond the model's replies."""

    async def measure_server_seconds() -> float:
        with Stopwatch() as spent:
            reply = (await client.post("/ask", json={"question": TURNS[0][0]})).json()
        return spent.seconds - reply["usage"]["llm_calls"] * _SECONDS_A_REPLY

    async with make_http_client(serving) as client:
        tasks: list[asyncio.Task[float]] = []
        start = time.perf_counter()
        for number in range(max(int(rate * seconds), 1)):
            await asyncio.sleep(max(start + number / rate - time.perf_counter(), 0))
            tasks.append(asyncio.create_task(measure_server_seconds()))
        return round(compute_percentile_ms(await asyncio.gather(*tasks), 95), 1)


_TERMINAL_TURNS = 5
_ON_THE_WAY = 0.5
"""Seconds that a turn has been at it when it is ended."""

_PAUSE_SECONDS = 0.5
"""Before the first half of a reply, whose second half never comes."""

_BEGIN = "SELECT count(*) AS one"
"""What every streamed query begins with, so that it can be waited for."""

_SLOW = f"{_BEGIN} FROM customers a, customers b, customers c, customers d WHERE a.email < b.email"


def measure_terminal(options: BenchOptions) -> Figures:
    """Measure the longest delays from Ctrl-C to the prompt, and from model to screen.

    A turn is ended while a model's reply has begun, while none comes, and while a query runs.
    """
    turns = options.limit or _TERMINAL_TURNS
    said: queue.Queue[float] = queue.Queue()

    def make_reply(request: dict[str, Any]) -> Behaviour:
        question = request["messages"][-1]["content"].rsplit("<question>", 1)[-1]
        if "quiet" in question:
            return HANG
        if "slow words" not in question:
            return says(f"```sql\n{_SLOW}\n```")
        said.put(time.monotonic() + _PAUSE_SECONDS)
        return says(f"```sql\n{_BEGIN}{', 1' * 99}\n```", delay=_PAUSE_SECONDS, held=threading.Event())

    with tempfile.TemporaryDirectory() as folder, make_sample_db() as database, OpenAIServer(make_reply) as server:
        settings = Path(folder) / "settings.toml"
        settings.write_text('query_seconds = 300\nturn_seconds = 600\nexamples = "none"\n', encoding="utf-8")
        chat = ["chat", "--db", str(database), "--settings", str(settings)]
        model = ["--model", "openai:stand-in", "--base-url", server.base_url]
        own = {"TABLETURN_HOME": folder, "TABLETURN_CACHE": folder, "OPENAI_API_KEY": "none"}
        with PseudoTerminal([*chat, *model], own) as terminal:
            terminal.wait_for(PROMPT)
            found = [_time_streamed_words(terminal, said) for _ in range(turns)]
            ended = [
                _time_turn_interrupt(terminal, question, shown)
                for question, shown in [("Something quiet?", ""), ("A slow query?", _BEGIN)] * turns
            ]
    first, words = zip(*found, strict=True)
    return {"interrupt_s": round(max(*words, *ended), 3), "first_token_s": round(max(first), 3), "turns": turns}


def _time_streamed_words(terminal: PseudoTerminal, sent_times: queue.Queue[float]) -> tuple[float, float]:
    """Return the delays from a model's first words to the screen and from Ctrl-C to the prompt."""
    start = len(terminal.written)
    terminal.type("Some slow words?\r")
    seen = terminal.wait_for(_BEGIN[:12], start=start)
    terminal.read(_ON_THE_WAY)
    return seen - sent_times.get(timeout=90), _press_and_time_ctrl_c(terminal)


def _time_turn_interrupt(terminal: PseudoTerminal, question: str, awaited: str) -> float:
    """Ask a question, press Ctrl-C, and return the seconds until the next prompt."""
    start = len(terminal.written)
    terminal.type(f"{question}\r")
    terminal.wait_for(awaited[:12], start=start)
    until = time.monotonic() + _ON_THE_WAY
    while time.monotonic() < until:
        terminal.read(0.05)
    return _press_and_time_ctrl_c(terminal)


def _press_and_time_ctrl_c(terminal: PseudoTerminal) -> float:
    """Press Ctrl-C, and return the seconds until the next prompt."""
    start, pressed = len(terminal.written), time.monotonic()
    terminal.type(CTRL_C)
    ended = terminal.wait_for(PROMPT, start=start) - pressed
    terminal.read(0.2)
    if b"interrupted" not in terminal.written[start:]:
        raise AssertionError(f"the turn had ended before: {terminal.written[start - 500 :]!r}")
    return ended
