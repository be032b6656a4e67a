"""What our own code costs: everything but the model, which replies at once or is waited for."""

from __future__ import annotations

import asyncio
import os
import resource
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from itertools import count
from typing import Any, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph

from tests.support.scripted import ScriptedModel

from ....agent import Answer, SQLAgent
from ....tools.database import Database, Limits
from ....tools.errors import QueryError
from .gold import gold_queries
from .harness import least_seconds, percentile_ms
from .measure import Figures, Measure, Whole
from .registry import BenchOptions
from .stand_in import TURNS, reply_to, sample_database, slow_server

_CONVERSATIONS = 200
_SECONDS_A_REPLY = 1.0
_MAIN = "from tableturn.agent.cli import main; main()"
_RUNS = 3
_PASSES = 5

# Wide enough that no gold query is cut; the time limit stays far above the slowest.
_LIMITS = Limits(seconds=120.0, rows=10_000_000, result_bytes=2_000_000_000)


def _measure_startup(options: BenchOptions) -> Figures:
    """Return the least of a few processes, user and system time together: what else a machine does only adds to it.

    `first_answer_s` is the built-in translator's, `first_model_answer_s` a chat model's behind a server that replies at
    once. The imports of LangGraph and of the chat model's client are what these would cost anybody.
    """
    runs = options.limit or _RUNS
    with sample_database() as path, slow_server(0.0) as url:
        ask = [_MAIN, "ask", "--db", str(path), TURNS[0][0]]
        programs = {
            "help_s": [_MAIN, "--help"],
            "import_langgraph_s": ["import langgraph.graph"],
            "import_both_s": ["import langgraph.graph, langchain_openai"],
            "first_answer_s": [*ask, "--model", "offline"],
            "first_model_answer_s": [*ask, "--model", "openai:stand-in", "--base-url", url],
            "python_s": ["pass"],
        }
        return {name: _time_process(program, runs) for name, program in programs.items()}


def _time_process(program: list[str], runs: int) -> float:
    # Python keeps what it compiled, as it does for a user: the first process compiles, and does not count.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    spent: list[float] = []
    for _ in range(runs + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", *program], check=True, capture_output=True, env=environment)  # noqa: S603 - our own program
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return round(min(spent[1:]), 3)


def _measure_overhead(options: BenchOptions) -> Figures:
    """Return percentiles over conversations, of the first turn and of the fifth; the first conversation warms up.

    `cpu_ms_a_turn` is the processor's time, all turns averaged: on a busy machine the clock says more than we cost.
    `ten_node_graph_ms` is what LangGraph alone takes in the same run.
    """
    conversations = options.limit or 100
    spent: list[list[float]] = []
    cpu = 0.0
    model = ScriptedModel(script=reply_to, usage=None)
    with sample_database() as path, SQLAgent(path, model=model, settings={"record": "off"}) as agent:
        for number in range(conversations + 1):
            if number == 1:
                cpu = time.process_time()
            conversation = agent.conversation()
            spent.append([_time_turn(conversation.ask, question) for question, _ in TURNS])
        cpu = time.process_time() - cpu
    figures: Figures = {"conversations": conversations}
    for name, place in (("first_turn", 0), ("fifth_turn", -1)):
        turns = [each[place] for each in spent[1:]]
        figures |= {f"{name}_p{percent}_ms": round(percentile_ms(turns, percent), 2) for percent in (50, 95)}
    return {
        **figures,
        "cpu_ms_a_turn": round(1000 * cpu / (conversations * len(TURNS)), 2),
        "ten_node_graph_ms": _time_ten_nodes(conversations),
    }


def _time_turn(ask: Callable[[str], Answer], question: str) -> float:
    start = time.perf_counter()
    answer = ask(question)
    spent = time.perf_counter() - start
    assert answer.answered, answer
    return spent


class _Count(TypedDict):
    count: int


def _time_ten_nodes(runs: int) -> float:
    """Return the median of LangGraph alone, with a checkpointer: ten nodes, each of which adds one."""

    def step(state: _Count) -> _Count:
        return {"count": state["count"] + 1}

    builder = StateGraph(_Count)
    builder.add_sequence([(f"node{number}", step) for number in range(10)])
    builder.add_edge(START, "node0")
    graph = builder.compile(checkpointer=InMemorySaver())
    spent: list[float] = []
    for number in range(runs + 1):
        start = time.perf_counter()
        graph.invoke({"count": 0}, {"configurable": {"thread_id": str(number)}})
        spent.append(time.perf_counter() - start)
    return round(percentile_ms(spent[1:], 50), 2)


def _measure_concurrency(options: BenchOptions) -> Figures:
    """Return turns a second with many conversations at once, against a server that takes one second a reply.

    The share is of what the replies' seconds alone would allow; one turn of one conversation warms up.
    """
    return asyncio.run(_converse_at_once(options.limit or _CONVERSATIONS))


async def _converse_at_once(conversations: int) -> Figures:
    with (
        slow_server(_SECONDS_A_REPLY) as url,
        sample_database() as path,
        SQLAgent(path, model="openai:m", base_url=url) as agent,
    ):
        await agent.aask(TURNS[0][0])
        start, cpu = time.perf_counter(), time.process_time()
        replies = await asyncio.gather(*(_converse(agent) for _ in range(conversations)))
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


async def _converse(agent: SQLAgent) -> int:
    """Take all turns of one conversation; return how many replies it waited for."""
    conversation = agent.conversation()
    answers = [await conversation.aask(question) for question, _ in TURNS]
    assert all(answer.answered for answer in answers), answers
    return sum(answer.usage.llm_calls for answer in answers)


def _read_golds(options: BenchOptions) -> Iterator[tuple[str, sqlite3.Connection, Database]]:
    for path, queries in gold_queries(options.folder).items():
        with closing(sqlite3.connect(path)) as plain, Database.open(path) as database:
            yield from ((sql, plain, database) for sql in queries[: options.limit])


def _compare_golds(case: tuple[str, sqlite3.Connection, Database]) -> tuple[str, bool, bool, float, float]:
    """Return a query, whether it ran on an open connection, whether the guard gave the same, and both times.

    It is compiled anew every time (a comment makes its text unique) and counts with the least of several times on
    either side, which take turns.
    """
    sql, plain, database = case
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

    open_time, guarded_time = least_seconds([run_plain, run_guarded], _PASSES)
    return sql, found[0] is not None, found[0] == found[1], open_time, guarded_time


def _count_golds(compared: list[tuple[str, bool, bool, float, float]]) -> Figures:
    """Return `queries`, `ran` on an open connection, `same_rows`, and `ratio` of the two total times."""
    ran = [(sql, same, plain, guarded) for sql, is_run, same, plain, guarded in compared if is_run]
    return {
        "queries": len(compared),
        "ran": len(ran),
        "same_rows": sum(same for _, same, _, _ in ran),
        "differing": [sql for sql, same, _, _ in ran if not same][:10],
        "ratio": round(sum(guarded for *_, guarded in ran) / sum(plain for _, _, plain, _ in ran), 3),
    }


MEASURES: Mapping[str, Whole | Measure[Any, Any]] = {
    "concurrency": Whole(_measure_concurrency),
    "overhead": Whole(_measure_overhead),
    "readonly-cost": Measure(_read_golds, _compare_golds, _count_golds),
    "startup": Whole(_measure_startup),
}
