"""What the sandbox costs, what it holds, and what it leaves behind."""

from __future__ import annotations

import os
import statistics
import time
import timeit
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...tools.errors import SandboxUnavailable
from ...tools.sandbox import run_python, sandbox_available
from ...tools.sandbox.parent import PARENT
from .corpus import corpus
from .registry import BenchOptions

RUNS = 10_000
_TIMED = 200
_TRIVIAL = "result = db_dict['numbers']['a'].sum()"
_BUSY = "n = 0\nfor i in range(4_000_000):\n    n += i\nresult = n"
_BUSY_RUNS = 8


def run(options: BenchOptions) -> dict[str, object]:
    """Escapes tried and held; milliseconds that a warm run adds; and what many runs in a row leave behind.

    `parallel_speedup` is how much sooner as many runs as fit on the machine's processors end side by side than one
    after the other; at best `processors`.

    Raises:
        SandboxUnavailable: This machine cannot keep the boundary.
        SettingsError: This is no checkout: the escapes are part of the tests.
    """
    import pandas

    if problem := sandbox_available():
        raise SandboxUnavailable(problem)
    frames = {"numbers": pandas.DataFrame({"a": [1, 2, 3]})}
    runs = min(RUNS, options.limit or RUNS)
    escapes = corpus("escapes")
    tried, not_held = len(escapes.load_escapes()), escapes.escapes_not_held()
    run_python(_TRIVIAL, frames)
    return {
        "escapes_tried": tried,
        "escapes_held": tried - len(not_held),
        "escapes_not_held": not_held,
        **_overhead(frames, min(_TIMED, runs)),
        **_speedup(),
        "runs": runs,
        **_leaks(frames, runs),
    }


def _overhead(frames: dict[str, Any], times: int) -> dict[str, float]:
    def in_process() -> None:
        exec(_TRIVIAL, {"db_dict": frames})  # noqa: S102 - our own line

    sandboxed = _median_ms(lambda: run_python(_TRIVIAL, frames), times)
    plain = _median_ms(in_process, times)
    return {"warm_overhead_ms": round(sandboxed - plain, 2), "in_process_ms": round(plain, 3)}


def _median_ms(call: Callable[[], object], times: int) -> float:
    return 1_000 * statistics.median(timeit.repeat(call, number=1, repeat=times))


def _speedup() -> dict[str, object]:
    processors = len(os.sched_getaffinity(0))

    def busy(_: int = 0) -> None:
        run_python(_BUSY, {})

    serial = timeit.timeit(busy, number=_BUSY_RUNS)
    with ThreadPoolExecutor(processors) as pool:
        parallel = timeit.timeit(lambda: list(pool.map(busy, range(_BUSY_RUNS))), number=1)
    return {"processors": processors, "parallel_speedup": round(serial / parallel, 2)}


@dataclass(frozen=True)
class _Holdings:
    """What this process and the warm parent hold."""

    processes: int
    descriptors: int
    kilobytes: int

    @classmethod
    def now(cls) -> _Holdings:
        pids = [os.getpid(), PARENT.pid or 0]
        return cls(
            processes=sum(len(_children(pid)) for pid in pids),
            descriptors=sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in pids),
            kilobytes=sum(_resident(pid) for pid in pids),
        )


def _leaks(frames: dict[str, Any], runs: int) -> dict[str, int]:
    """Growth over many runs in a row; the first ones, which fill caches, aside."""
    for _ in range(min(100, runs)):
        run_python(_TRIVIAL, frames)
    time.sleep(1)  # the last worker is still being buried when its reply is there
    before = _Holdings.now()
    for _ in range(runs):
        run_python(_TRIVIAL, frames)
    time.sleep(1)
    after = _Holdings.now()
    return {
        "leaked_processes": after.processes - before.processes,
        "leaked_descriptors": after.descriptors - before.descriptors,
        "leaked_kilobytes": after.kilobytes - before.kilobytes,
    }


def _children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()


def _resident(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
