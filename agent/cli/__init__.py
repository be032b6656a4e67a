"""The command line. What a command needs is imported when it runs, so that `--help` answers at once."""

from __future__ import annotations

import sys

from .app import app


def main() -> None:
    """Runs a command."""
    try:
        app(prog_name="tableturn")
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
