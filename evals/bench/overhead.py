"""Milliseconds a turn of our own: everything but the model, which replies at once."""

from __future__ import annotations

import time
from collections.abc import Callable

from ...agent import Answer, SQLAgent
from .registry import BenchOptions
from .stand_in import TURNS, InstantModel, sample_database


def run(options: BenchOptions) -> dict[str, object]:
    """p50 and p95 over conversations, of the first turn and of the fifth; the first conversation warms up.

    `cpu_ms_a_turn` is the processor's time, all turns averaged: on a busy machine the clock says more than we cost.
    """
    conversations = options.limit or 100
    first: list[float] = []
    fifth: list[float] = []
    cpu = 0.0
    with sample_database() as path, SQLAgent(path, model=InstantModel()) as agent:
        for number in range(conversations + 1):
            if number == 1:
                cpu = time.process_time()
            conversation = agent.conversation()
            spent = [_milliseconds(conversation.ask, question) for question, _ in TURNS]
            first.append(spent[0])
            fifth.append(spent[-1])
        cpu = 1000 * (time.process_time() - cpu) / (conversations * len(TURNS))
    return {
        "conversations": conversations,
        **_percentiles("first_turn", first[1:]),
        **_percentiles("fifth_turn", fifth[1:]),
        "cpu_ms_a_turn": round(cpu, 2),
        "very_first_turn_ms": round(first[0], 1),
    }


def _milliseconds(ask: Callable[[str], Answer], question: str) -> float:
    start = time.perf_counter()
    answer = ask(question)
    spent = time.perf_counter() - start
    assert answer.answered, answer
    return 1000 * spent


def _percentiles(name: str, values: list[float]) -> dict[str, object]:
    ordered = sorted(values)
    return {
        f"{name}_p50_ms": round(ordered[len(ordered) // 2], 2),
        f"{name}_p95_ms": round(ordered[min(int(0.95 * len(ordered)), len(ordered) - 1)], 2),
    }
