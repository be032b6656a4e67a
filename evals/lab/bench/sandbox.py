"""What the sandbox costs, what it holds, and what it leaves behind."""

from __future__ import annotations

import os
import statistics
import time
import timeit
from typing import Any

from tests.corpus.escapes import escapes_not_held, load_escapes

from ....tools.errors import SandboxUnavailable
from ....tools.sandbox import run_python, sandbox_available
from ....tools.sandbox.parent import PARENT
from .harness import descendants, descriptors, resident_bytes
from .registry import BenchOptions

RUNS = 10_000
_TIMED = 200
_TRIVIAL = "result = db_dict['numbers']['a'].sum()"


def run(options: BenchOptions) -> dict[str, object]:
    """Escapes tried and held; milliseconds that a warm run adds; and what many runs in a row leave behind.

    Raises:
        SandboxUnavailable: This machine cannot keep the boundary.
    """
    import pandas

    if problem := sandbox_available():
        raise SandboxUnavailable(problem)
    frames = {"numbers": pandas.DataFrame({"a": [1, 2, 3]})}
    runs = min(RUNS, options.limit or RUNS)
    tried, not_held = len(load_escapes()), escapes_not_held()
    run_python(_TRIVIAL, frames)
    return {
        "escapes_tried": tried,
        "escapes_held": tried - len(not_held),
        "escapes_not_held": not_held,
        **_overhead(frames, min(_TIMED, runs)),
        "runs": runs,
        **_leaks(frames, runs),
    }


def _overhead(frames: dict[str, Any], times: int) -> dict[str, float]:
    def in_process() -> None:
        exec(_TRIVIAL, {"db_dict": frames})  # noqa: S102 - our own line

    calls = (lambda: run_python(_TRIVIAL, frames), in_process)
    sandboxed, plain = (statistics.median(timeit.repeat(call, number=1, repeat=times)) for call in calls)
    return {"warm_overhead_ms": round(1_000 * (sandboxed - plain), 2)}


def _leaks(frames: dict[str, Any], runs: int) -> dict[str, int]:
    """Return how much more is held after many runs in a row; the first ones, which fill caches, aside."""
    for _ in range(min(100, runs)):
        run_python(_TRIVIAL, frames)
    before = _count_held()
    for _ in range(runs):
        run_python(_TRIVIAL, frames)
    after = _count_held()
    return {f"leaked_{what}": after[what] - before[what] for what in before}


def _count_held() -> dict[str, int]:
    """Count what this process and the warm parent hold."""
    time.sleep(1)  # the last worker is still being buried when its reply is there
    both = (os.getpid(), PARENT.pid or 0)
    return {
        "processes": len({child for pid in both for child in descendants(pid)}),
        "descriptors": descriptors(both),
        "kilobytes": resident_bytes(both) // 1024,
    }
