"""The cost of the sandbox, what it stops, and what it leaves behind."""

from __future__ import annotations

import os
import statistics
import time
import timeit

from tests.corpus.escapes import escapes_not_held, load_escapes

from ....tools.errors import SandboxUnavailable
from ....tools.sandbox import run_python, sandbox_available
from ....tools.sandbox.parent import PARENT
from .harness import descendants, descriptors, resident_bytes
from .registry import BenchOptions, Figures

RUNS = 10_000
_TIMED = 200
_TRIVIAL = "result = db_dict['numbers']['a'].sum()"


def run(options: BenchOptions) -> Figures:
    """Return escapes tried and held, a warm run's milliseconds, and what many runs leave.

    Raises:
        SandboxUnavailable: This machine cannot keep the boundary.
    """
    import pandas

    if problem := sandbox_available():
        raise SandboxUnavailable(problem)
    frames = {"numbers": pandas.DataFrame({"a": [1, 2, 3]})}
    runs = min(RUNS, options.limit or RUNS)
    tried, not_held = len(load_escapes()), escapes_not_held()

    def run_sandboxed() -> None:
        run_python(_TRIVIAL, frames)

    def run_here() -> None:
        exec(_TRIVIAL, {"db_dict": frames})  # noqa: S102 - our own line

    run_sandboxed()
    sandboxed, here = (
        statistics.median(timeit.repeat(call, number=1, repeat=min(_TIMED, runs))) for call in (run_sandboxed, run_here)
    )
    for _ in range(min(100, runs)):  # the first runs fill caches
        run_sandboxed()
    before = _count_held()
    for _ in range(runs):
        run_sandboxed()
    after = _count_held()
    return {
        "escapes_tried": tried,
        "escapes_held": tried - len(not_held),
        "escapes_not_held": not_held,
        "warm_overhead_ms": round(1_000 * (sandboxed - here), 2),
        "runs": runs,
        **{f"leaked_{name}": after[name] - before[name] for name in before},
    }


def _count_held() -> dict[str, int]:
    """Count what this process and the warm parent hold."""
    time.sleep(1)  # the last worker is still being buried when its reply is there
    both = (os.getpid(), PARENT.pid or 0)
    return {
        "processes": len({child for pid in both for child in descendants(pid)}),
        "descriptors": descriptors(both),
        "kilobytes": resident_bytes(both) // 1024,
    }
