"""Turns a second with 200 conversations at once, against a server that takes one second a reply."""

from __future__ import annotations

import asyncio
import time

from ....agent import SQLAgent
from .registry import BenchOptions
from .stand_in import TURNS, sample_database, slow_server

_CONVERSATIONS = 200
_SECONDS_A_REPLY = 1.0


def run(options: BenchOptions) -> dict[str, object]:
    """The share is of what the replies' seconds alone would allow; one turn of one conversation warms up."""
    return asyncio.run(_run(options.limit or _CONVERSATIONS))


async def _run(conversations: int) -> dict[str, object]:
    with (
        slow_server(_SECONDS_A_REPLY) as url,
        sample_database() as path,
        SQLAgent(path, model="openai:m", base_url=url) as agent,
    ):
        await agent.aask(TURNS[0][0])
        start, cpu = time.perf_counter(), time.process_time()
        calls = await asyncio.gather(*(_converse(agent) for _ in range(conversations)))
        spent, cpu = time.perf_counter() - start, time.process_time() - cpu
    turns = conversations * len(TURNS)
    # Each conversation waits for its own replies one after the other; all conversations wait at once.
    ideal = conversations * len(TURNS) / (max(calls) * _SECONDS_A_REPLY)
    return {
        "conversations": conversations,
        "turns": turns,
        "replies_a_conversation": max(calls),
        "seconds": round(spent, 2),
        "turns_per_s": round(turns / spent, 2),
        "ideal_turns_per_s": round(ideal, 2),
        "share_of_ideal": round(turns / spent / ideal, 3),
        "cpu_ms_a_turn": round(1000 * cpu / turns, 2),
    }


async def _converse(agent: SQLAgent) -> int:
    """Takes all turns of one conversation; how many replies it waited for."""
    conversation = agent.conversation()
    calls = 0
    for question, _ in TURNS:
        answer = await conversation.aask(question)
        assert answer.answered, answer
        calls += answer.usage.llm_calls
    return calls
