"""The command line; imports happen when a command runs, so that `--help` answers at once."""

from __future__ import annotations

import gc
import sys
from io import TextIOWrapper

from .app import app
from .root import RootCommandGroup

__all__ = ["RootCommandGroup", "app", "main"]


def main() -> None:
    """Run the command line; replace characters that cannot be read or shown."""
    # What is imported stays: by default it is looked through for garbage hundreds of times before the first answer.
    gc.set_threshold(50_000, 20, 20)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):  # the latter: C, POSIX
            stream.reconfigure(errors="replace")
    try:
        app(prog_name="tableturn")
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
