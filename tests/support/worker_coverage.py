"""Coverage of query workers, which are forked apart from the tests, and killed when they are done.

A fork server starts without the environment that coverage.py measures its child processes by, and a worker that is
killed writes nothing. So under `coverage run` each worker measures itself, and saves what it has whenever it answers.
"""

from __future__ import annotations

import os
import socket
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from tableturn.tools import forkserver

ROOT = Path(__file__).parents[2]
ROOMS = ("agent", "tools", "prompts", "serve", "evals")

# What the fork server runs before its own program.
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from tests.support.worker_coverage import measure_forked_workers as measure; measure({file!r}); "
)


def measure_workers() -> None:
    """Have fork servers measure their workers, if this process is measured."""
    measured: Any = sys.modules.get("coverage")
    if measured is not None and (current := measured.Coverage.current()) is not None:
        file = str(Path(current.config.data_file).absolute())
        forkserver._PROGRAM = _START.format(file=file) + forkserver._PROGRAM


def measure_forked_workers(file: str) -> None:
    """Measure every process that this one forks, into files beside `file`."""
    coverage: Any = import_module("coverage")
    wire: Any = import_module("tableturn.tools.database.wire")
    send = wire.send
    measuring: list[Any] = []

    def start() -> None:
        source = [str(ROOT / room) for room in ROOMS]
        measuring[:] = [coverage.Coverage(file, True, branch=True, config_file=False, source=source)]
        measuring[0].start()

    def save_and_send(line: socket.socket, *message: Any) -> None:
        # Writes into its file; saving would give that another name, which a confined worker may not.
        for one in measuring:
            one.get_data()
        send(line, *message)

    wire.send = save_and_send
    os.register_at_fork(after_in_child=start)
