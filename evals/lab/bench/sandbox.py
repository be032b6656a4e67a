"""The cost of the sandbox, what it stops, and what it leaves behind."""

from __future__ import annotations

import os
import statistics
import time
import timeit

from tests.corpus.escapes import escapes_not_held, load_escapes

from ....tools.errors import SandboxUnavailable
from ....tools.sandbox import find_sandbox_problem, run_python
from ....tools.sandbox.parent import PARENT
from .harness import count_open_descriptors, list_process_tree, sum_resident_memory
from .registry import BenchOptions, Figures

RUNS = 10_000
_TIMED = 200
_TRIVIAL = "result = db_dict['numbers']['a'].sum()"


def run(options: BenchOptions) -> Figures:
    """Measure the sandbox: escapes stopped, time per warm run, and leaks after many runs.

    Raises:
        SandboxUnavailable: This machine cannot keep the boundary.
    """
    import pandas

    if problem := find_sandbox_problem():
        raise SandboxUnavailable(problem)
    frames = {"numbers": pandas.DataFrame({"a": [1, 2, 3]})}
    runs = min(RUNS, options.limit or RUNS)
    tried, not_held = len(load_escapes()), escapes_not_held()

    def run_code_in_sandbox() -> None:
        run_python(_TRIVIAL, frames)

    def run_code_directly() -> None:
        exec(_TRIVIAL, {"db_dict": frames})  # noqa: S102 - our own line

    run_code_in_sandbox()
    sandboxed, here = (
        statistics.median(timeit.repeat(call, number=1, repeat=min(_TIMED, runs)))
        for call in (run_code_in_sandbox, run_code_directly)
    )
    for _ in range(min(100, runs)):  # the first runs fill caches
        run_code_in_sandbox()
    before = _count_open_resources()
    for _ in range(runs):
        run_code_in_sandbox()
    after = _count_open_resources()
    return {
        "escapes_tried": tried,
        "escapes_held": tried - len(not_held),
        "escapes_not_held": not_held,
        "warm_overhead_ms": round(1_000 * (sandboxed - here), 2),
        "runs": runs,
        **{f"leaked_{name}": after[name] - before[name] for name in before},
    }


def _count_open_resources() -> dict[str, int]:
    """Count the child processes, descriptors and memory of this process and sandbox parent."""
    time.sleep(1)  # the last worker is still being buried when its reply is there
    both = (os.getpid(), PARENT.pid or 0)
    return {
        "processes": len({child for pid in both for child in list_process_tree(pid)}),
        "descriptors": count_open_descriptors(both),
        "kilobytes": sum_resident_memory(both) // 1024,
    }
