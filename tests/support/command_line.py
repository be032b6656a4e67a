"""The command line, run within the test's process, or in a fresh interpreter as a person runs it."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from unittest import mock

from tableturn.agent.cli import main
from tableturn.evals.lab.commands import app as lab


def tableturn(
    *args: str, given: str = "", streams: str = "apart", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs `main` here: much faster than a fresh interpreter, and otherwise the same.

    Args:
        args: The command and its options.
        given: Standard input.
        streams: "together" where standard error goes where standard output goes, as on a terminal.
        environment: Variables to set meanwhile.
    """
    return _run(main, args, given, streams, environment)


def laboratory(*args: str) -> subprocess.CompletedProcess[str]:
    """Runs a command of `python -m tableturn.evals.lab` here."""
    return _run(lab, args)


def _run(
    command: Callable[[], object],
    args: Sequence[str],
    given: str = "",
    streams: str = "apart",
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    out = io.StringIO()
    err = out if streams == "together" else io.StringIO()
    code = 0
    with (
        mock.patch.object(sys, "argv", ["tableturn", *args]),
        mock.patch.object(sys, "stdin", io.StringIO(given)),
        mock.patch.dict(os.environ, environment or {}),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            command()
        except SystemExit as stopped:
            code = stopped.code if isinstance(stopped.code, int) else int(stopped.code is not None)
    return subprocess.CompletedProcess(args, code, out.getvalue(), "" if err is out else err.getvalue())


def fresh_tableturn(*args: str, given: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs `python -m tableturn` in a process of its own: for what only a fresh interpreter shows."""
    return subprocess.run(
        [sys.executable, "-m", "tableturn", *args],
        input=given,
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | environment,
        check=False,
    )
