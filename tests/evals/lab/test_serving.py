"""The server's benchmarks, short: what they promise holds, against servers in processes of their own."""

from __future__ import annotations

from typing import Any

from tableturn.evals.lab.bench.registry import BenchOptions, run_bench


def figures(name: str, limit: int) -> dict[str, Any]:
    return run_bench(name, BenchOptions(limit=limit))


def test_conversations_at_once_are_answered() -> None:
    found = figures("serve", 2)
    for workers in ("one", "two"):
        assert found[workers]["errors"] == 0
        assert found[workers]["conversations"] == 2
