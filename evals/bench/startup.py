"""Seconds of `tableturn --help` and of the first answer, each in a fresh process."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from .registry import BenchOptions
from .stand_in import TURNS, sample_database

_MAIN = "from tableturn.agent.cli import main; main()"
_RUNS = 5


def run(options: BenchOptions) -> dict[str, object]:
    """Medians over a few processes, after one that warms the disk's cache."""
    runs = options.limit or _RUNS
    with sample_database() as path:
        ask = ["ask", "--db", str(path), "--model", "offline", TURNS[0][0]]
        return {
            "help_s": _median_seconds(["--help"], runs),
            "first_answer_s": _median_seconds(ask, runs),
            "python_s": round(_median([sys.executable, "-c", "pass"], runs), 3),
            "runs": runs,
        }


def _median_seconds(arguments: list[str], runs: int) -> float:
    return round(_median([sys.executable, "-c", _MAIN, *arguments], runs), 3)


def _median(command: list[str], runs: int) -> float:
    spent: list[float] = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - our own program
        spent.append(time.perf_counter() - start)
    return statistics.median(spent[1:])
