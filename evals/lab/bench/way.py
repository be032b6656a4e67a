"""Work of one warm turn: files entered, calls between them, statements parsed and copied."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from types import CodeType, FrameType

from sqlglot import exp
from sqlglot.parser import Parser

from tests.support.scripted import ScriptedModel

from ....agent import SQLAgent
from ....tools.sql.resolve import resolve
from .registry import BenchOptions, Figures
from .stand_in import ROOT, make_sample_db

QUESTION, SQL = "How many customers are there in France?", "SELECT COUNT(*) FROM customers WHERE country_code = 'FR'"
_WARM_UP, _WARM_UP_SQL = "How many stores are there?", "SELECT COUNT(*) FROM stores"

CHARACTERS_A_TOKEN = 4

_PACKAGE = __name__.partition(".")[0] + "."
_NOT_OF_A_TURN = (f"{_PACKAGE}evals", f"{_PACKAGE}tools.sample")
"""What measures, and builds what is asked."""

_COUNTED: dict[CodeType, str] = {
    inspect.unwrap(resolve).__code__: "resolves",
    exp.Select.__deepcopy__.__code__: "tree_copies",
    Parser._parse.__code__: "parses",  # pyright: ignore[reportPrivateUsage] - what all ways to parse go through
}
"""Functions whose calls are counted, by the name of the figure."""


def run(options: BenchOptions) -> Figures:
    """Count the work of a second turn in a new process; every run gives the same figures.

    `hops` are calls from a function of ours straight to one in another file of ours, `files_entered` the files with a
    function that is called, `modules_loaded` our modules in memory. What worker processes do is not counted.
    `prompt_tokens` are reckoned from characters.
    """
    command = [sys.executable, "-c", f"from {__name__} import count_turn_work; count_turn_work()"]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, env=environment)  # noqa: S603 - our own program
    return json.loads(done.stdout)


def count_turn_work() -> None:
    """Count the work of a second turn, and print the figures as JSON."""
    trace, model = _CallCounter(), ScriptedModel(script=lambda prompt: _make_model_reply(_WARM_UP_SQL), usage=None)
    # Threads that outlive the first turn must be traced in the second.
    threading.setprofile(trace)
    settings = {"record": "off", "trust": "off", "today": "none"}
    with make_sample_db() as path:
        # A file written just now is looked at again and again: how often depends on how busy the machine is.
        os.utime(path, (0, 0))
        with SQLAgent(path, model=model, settings=settings) as agent:
            agent.ask(_WARM_UP)
            model.prompts.clear()
            model.script = lambda prompt: _make_model_reply(SQL)
            trace.active = True
            sys.setprofile(trace)
            answer = agent.ask(QUESTION)
            sys.setprofile(None)
            trace.active = False
    assert answer.answered, answer
    figures: Figures = {
        "hops": trace.hops,
        "modules_loaded": sum(_is_turn_code(name) for name in sys.modules),
        "files_entered": len(trace.files),
        "resolves": trace.calls["resolves"],
        "tree_copies": trace.calls["tree_copies"],
        "parses": trace.calls["parses"],
        "requests": len(model.prompts),
        "prompt_tokens": sum(map(len, model.prompts)) // CHARACTERS_A_TOKEN,
    }
    print(json.dumps(figures))


def _make_model_reply(sql: str) -> str:
    return f"```sql\n{sql}\n```\nSure: 90"


class _CallCounter:
    """A profile function that counts function calls in all threads."""

    def __init__(self) -> None:
        self.active = False
        self.hops = 0
        self.files: set[str] = set()
        self.calls: Counter[str] = Counter()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if not self.active or event != "call":
            return
        if counted := _COUNTED.get(frame.f_code):
            self.calls[counted] += 1
        if not _is_turn_code(frame.f_globals.get("__name__", "")):
            return
        file = frame.f_code.co_filename
        self.files.add(file)
        caller = frame.f_back
        if caller is not None and _is_turn_code(caller.f_globals.get("__name__", "")):
            self.hops += caller.f_code.co_filename != file


def _is_turn_code(module: object) -> bool:
    """Whether a module belongs to the package and may run in a turn."""
    return isinstance(module, str) and module.startswith(_PACKAGE) and not module.startswith(_NOT_OF_A_TURN)
