"""Seconds of the processor for `tableturn --help` and for first answers, each in a fresh process."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

from .registry import BenchOptions
from .stand_in import TURNS, sample_database, slow_server

_MAIN = "from tableturn.agent.cli import main; main()"
_RUNS = 3


def run(options: BenchOptions) -> dict[str, object]:
    """The least of a few processes, user and system time together: what else a machine does only adds to it.

    Python keeps what it compiled, as it does for a user, whatever this process was told: the first of the processes
    compiles, and does not count.

    `first_answer_s` is the built-in translator's, `first_model_answer_s` a chat model's behind a server that replies at
    once. The imports of LangGraph and of the chat model's client are what these would cost anybody.
    """
    runs = options.limit or _RUNS
    with sample_database() as path, slow_server(0.0) as url:
        ask = ["-c", _MAIN, "ask", "--db", str(path)]
        return {
            "help_s": _seconds(["-c", _MAIN, "--help"], runs),
            "import_langgraph_s": _seconds(["-c", "import langgraph.graph"], runs),
            "import_client_s": _seconds(["-c", "import langchain_openai"], runs),
            "import_both_s": _seconds(["-c", "import langgraph.graph, langchain_openai"], runs),
            "first_answer_s": _seconds([*ask, "--model", "offline", TURNS[0][0]], runs),
            "first_model_answer_s": _seconds(
                [*ask, "--model", "openai:stand-in", "--base-url", url, TURNS[0][0]], runs
            ),
            "python_s": _seconds(["-c", "pass"], runs),
            "runs": runs,
        }


def _seconds(arguments: list[str], runs: int) -> float:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    spent: list[float] = []
    for _ in range(runs + 1):
        before = _children_seconds()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=environment)  # noqa: S603 - our own program
        spent.append(_children_seconds() - before)
    return round(min(spent[1:]), 3)


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
