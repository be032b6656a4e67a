"""Seconds of the processor for `tableturn --help` and for first answers, each in a fresh process."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys

from .registry import BenchOptions
from .stand_in import TURNS, sample_database, slow_server

_MAIN = "from tableturn.agent.cli import main; main()"
_RUNS = 5


def run(options: BenchOptions) -> dict[str, object]:
    """Medians over a few processes, after one that warms the disk's cache; user and system time together.

    `first_answer_s` is the built-in translator's, `first_model_answer_s` a chat model's behind a server that replies at
    once. The imports of LangGraph and of the chat model's client are what these would cost anybody.
    """
    runs = options.limit or _RUNS
    with sample_database() as path, slow_server(0.0) as url:
        ask = ["-c", _MAIN, "ask", "--db", str(path)]
        return {
            "help_s": _median_seconds(["-c", _MAIN, "--help"], runs),
            "import_langgraph_s": _median_seconds(["-c", "import langgraph.graph"], runs),
            "import_client_s": _median_seconds(["-c", "import langchain_openai"], runs),
            "first_answer_s": _median_seconds([*ask, "--model", "offline", TURNS[0][0]], runs),
            "first_model_answer_s": _median_seconds(
                [*ask, "--model", "openai:stand-in", "--base-url", url, TURNS[0][0]], runs
            ),
            "python_s": _median_seconds(["-c", "pass"], runs),
            "runs": runs,
        }


def _median_seconds(arguments: list[str], runs: int) -> float:
    spent: list[float] = []
    for _ in range(runs + 1):
        before = _children_seconds()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)  # noqa: S603 - our own program
        spent.append(_children_seconds() - before)
    return round(statistics.median(spent[1:]), 3)


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
