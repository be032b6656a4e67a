"""Milliseconds a turn of our own: everything but the model, which replies at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph

from ....agent import Answer, SQLAgent
from .harness import percentile_ms
from .registry import BenchOptions
from .stand_in import TURNS, InstantModel, sample_database


def run(options: BenchOptions) -> dict[str, object]:
    """p50 and p95 over conversations, of the first turn and of the fifth; the first conversation warms up.

    `cpu_ms_a_turn` is the processor's time, all turns averaged: on a busy machine the clock says more than we cost.
    `ten_node_graph_ms` is what LangGraph alone takes in the same run.
    """
    conversations = options.limit or 100
    first: list[float] = []
    fifth: list[float] = []
    cpu = 0.0
    with sample_database() as path, SQLAgent(path, model=InstantModel(), settings={"record": "off"}) as agent:
        for number in range(conversations + 1):
            if number == 1:
                cpu = time.process_time()
            conversation = agent.conversation()
            spent = [_seconds(conversation.ask, question) for question, _ in TURNS]
            first.append(spent[0])
            fifth.append(spent[-1])
        cpu = 1000 * (time.process_time() - cpu) / (conversations * len(TURNS))
    return {
        "conversations": conversations,
        **_percentiles("first_turn", first[1:]),
        **_percentiles("fifth_turn", fifth[1:]),
        "cpu_ms_a_turn": round(cpu, 2),
        "very_first_turn_ms": round(1000 * first[0], 1),
        "ten_node_graph_ms": _ten_node_graph(conversations),
    }


class _Count(TypedDict):
    count: int


def _ten_node_graph(runs: int) -> float:
    """p50 of LangGraph alone, with a checkpointer: ten nodes, each of which adds one."""

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


def _seconds(ask: Callable[[str], Answer], question: str) -> float:
    start = time.perf_counter()
    answer = ask(question)
    spent = time.perf_counter() - start
    assert answer.answered, answer
    return spent


def _percentiles(name: str, values: list[float]) -> dict[str, object]:
    return {f"{name}_p{percent}_ms": round(percentile_ms(values, percent), 2) for percent in (50, 95)}
