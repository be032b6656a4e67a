"""The server's benchmarks, short: what they promise holds, against servers in processes of their own."""

from __future__ import annotations

from typing import Any

from tableturn.evals.bench.registry import BenchOptions, run_bench

from tests.corpus.requests import Target, attacks


def figures(name: str, limit: int) -> dict[str, Any]:
    return run_bench(name, BenchOptions(limit=limit))


def test_hostile_requests_are_held() -> None:
    assert len(attacks(Target("127.0.0.1:1", "token", "thread", "turn"))) >= 100
    found = figures("serve-attacks", 30)
    assert found["tried"] >= 30
    assert found["not_held"] == []


def test_every_tool_of_mcp_is_called() -> None:
    found = figures("mcp", 1)
    assert found["called"] == found["tools"] == 6
    assert found["refused"] == found["tried"]


def test_conversations_at_once_are_answered() -> None:
    found = figures("serve", 2)
    for workers in ("one", "two"):
        assert found[workers]["errors"] == 0
        assert found[workers]["conversations"] == 2
