"""What our own code costs: everything but the model, which replies at once or is waited for, and an installation."""

from __future__ import annotations

import asyncio
import os
import resource
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph

from tests.support.scripted import ScriptedModel

from ....agent import SQLAgent
from ....tools.database import Database, Limits
from ....tools.errors import QueryError, SettingsError
from .gold import gold_queries
from .harness import least_seconds, percentile_ms
from .registry import BenchOptions, Figures
from .stand_in import ROOT, TURNS, reply_to, sample_database, slow_server

_CONVERSATIONS = 200
_SECONDS_A_REPLY = 1.0
_MAIN = "from tableturn.agent.cli import main; main()"
_RUNS = 3
_PASSES = 5

# Wide enough that no gold query is cut; the time limit stays far above the slowest.
_LIMITS = Limits(seconds=120.0, rows=10_000_000, result_bytes=2_000_000_000)


def measure_install(options: BenchOptions) -> Figures:
    """Return packages and megabytes of the checkout and its constraints, without extras and without compiling.

    Raises:
        SettingsError: It is not run from a checkout, or the packages cannot be had.
    """
    constraints = ROOT / "constraints.txt"
    if not constraints.is_file():
        raise SettingsError("bench install measures a checkout: run it from a clone of the repository")
    with TemporaryDirectory() as folder:
        python = str(Path(folder, "bin", "python"))
        for command in (
            [sys.executable, "-m", "venv", folder],
            [python, "-m", "pip", "install", "-q", "--no-compile", "-c", str(constraints), str(ROOT)],
            [python, "-m", "pip", "uninstall", "-q", "-y", "setuptools", "pip"],
        ):
            done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - pip, of our own environment
            if done.returncode:
                raise SettingsError(f"the installation failed: {done.stderr.strip()[-500:]}")
        packages = next(Path(folder, "lib").glob("python*")) / "site-packages"
        files = [path.stat().st_size for path in packages.rglob("*") if path.is_file() and not path.is_symlink()]
        return {"packages": len(list(packages.glob("*.dist-info"))), "mb": round(sum(files) / 2**20)}


def measure_startup(options: BenchOptions) -> Figures:
    """Return the least of a few processes, user and system time together: what else a machine does only adds to it.

    `first_answer_s` is the built-in translator's, `first_model_answer_s` a chat model's behind a server that replies at
    once. The imports of LangGraph and of the chat model's client are what these would cost anybody.
    """
    # Python keeps what it compiled, as it does for a user: the first process compiles, and does not count.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    figures: Figures = {}
    with sample_database() as path, slow_server(0.0) as url:
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


class _Count(TypedDict):
    count: int


def measure_overhead(options: BenchOptions) -> Figures:
    """Return percentiles over conversations, of the first turn and of the fifth; the first conversation warms up.

    `cpu_ms_a_turn` is the processor's time, all turns averaged: on a busy machine the clock says more than we cost.
    `ten_node_graph_ms` is what LangGraph alone takes in the same run: ten nodes, each of which adds one.
    """

    def step(state: _Count) -> _Count:
        return {"count": state["count"] + 1}

    conversations = options.limit or 100
    turns: dict[str, list[float]] = {question: [] for question, _ in TURNS}
    cpu = 0.0
    model = ScriptedModel(script=reply_to, usage=None)
    with sample_database() as path, SQLAgent(path, model=model, settings={"record": "off"}) as agent:
        for number in range(conversations + 1):
            if number == 1:
                cpu = time.process_time()
            conversation = agent.conversation()
            for question, spent in turns.items():
                start = time.perf_counter()
                answer = conversation.ask(question)
                spent.append(time.perf_counter() - start)
                assert answer.answered, answer
        cpu = time.process_time() - cpu
    builder = StateGraph(_Count)
    builder.add_sequence([(f"node{number}", step) for number in range(10)])
    builder.add_edge(START, "node0")
    graph = builder.compile(checkpointer=InMemorySaver())
    alone: list[float] = []
    for number in range(conversations + 1):
        start = time.perf_counter()
        graph.invoke({"count": 0}, {"configurable": {"thread_id": str(number)}})
        alone.append(time.perf_counter() - start)
    figures: Figures = {"conversations": conversations}
    for name, (question, _) in (("first_turn", TURNS[0]), ("fifth_turn", TURNS[-1])):
        for percent in (50, 95):
            figures[f"{name}_p{percent}_ms"] = round(percentile_ms(turns[question][1:], percent), 2)
    return figures | {
        "cpu_ms_a_turn": round(1000 * cpu / (conversations * len(TURNS)), 2),
        "ten_node_graph_ms": round(percentile_ms(alone[1:], 50), 2),
    }


def measure_concurrency(options: BenchOptions) -> Figures:
    """Return turns a second with many conversations at once, against a server that takes one second a reply.

    The share is of what the replies' seconds alone would allow; one turn of one conversation warms up.
    """
    return asyncio.run(_converse_at_once(options.limit or _CONVERSATIONS))


async def _converse_at_once(conversations: int) -> Figures:
    async def converse() -> int:
        conversation = agent.conversation()
        answers = [await conversation.aask(question) for question, _ in TURNS]
        assert all(answer.answered for answer in answers), answers
        return sum(answer.usage.llm_calls for answer in answers)

    with (
        slow_server(_SECONDS_A_REPLY) as url,
        sample_database() as path,
        SQLAgent(path, model="openai:m", base_url=url) as agent,
    ):
        await agent.aask(TURNS[0][0])
        start, cpu = time.perf_counter(), time.process_time()
        replies = await asyncio.gather(*(converse() for _ in range(conversations)))
        spent, cpu = time.perf_counter() - start, time.process_time() - cpu
    turns = conversations * len(TURNS)
    # Each conversation waits for its own replies one after the other; all conversations wait at once.
    ideal = turns / (max(replies) * _SECONDS_A_REPLY)
    return {
        "conversations": conversations,
        "turns": turns,
        "turns_per_s": round(turns / spent, 2),
        "share_of_ideal": round(turns / spent / ideal, 3),
        "cpu_ms_a_turn": round(1000 * cpu / turns, 2),
    }


def measure_readonly_cost(options: BenchOptions) -> Figures:
    """Return `queries`, `ran` on an open connection, `same_rows`, and `ratio` of the two total times.

    Each gold query runs on an open connection and behind the guard.
    """
    queries = ran = 0
    times = [0.0, 0.0]
    differing: list[str] = []
    for path, golds in gold_queries(options.folder).items():
        with closing(sqlite3.connect(path)) as plain, Database.open(path) as database:
            for sql in golds[: options.limit]:
                found, both = _run_both_ways(sql, plain, database)
                queries += 1
                if found[0] is not None:
                    ran += 1
                    times = [sum(pair) for pair in zip(times, both, strict=True)]
                    differing += [sql] if found[0] != found[1] else []
    return {
        "queries": queries,
        "ran": ran,
        "same_rows": ran - len(differing),
        "differing": differing[:10],
        "ratio": round(times[1] / times[0], 3),
    }


def _run_both_ways(sql: str, plain: sqlite3.Connection, database: Database) -> tuple[list[object], list[float]]:
    """Return a query's results on an open connection and behind the guard, None if it fails, and both least times.

    It is compiled anew every time: a comment makes its text unique.
    """
    found: list[object] = [None, None]
    texts = (f"{sql.rstrip().rstrip(';')} --{number}" for number in count())

    def run_plain() -> None:
        try:
            cursor = plain.execute(next(texts))
            found[0] = tuple(entry[0] for entry in cursor.description), cursor.fetchall()
        except sqlite3.Error:
            found[0] = None

    def run_guarded() -> None:
        try:
            table = database.execute(next(texts), _LIMITS)
            found[1] = table.columns, list(table.rows)
        except QueryError:
            found[1] = None

    return found, least_seconds([run_plain, run_guarded], _PASSES)
