"""The command line. What a command needs is imported when it runs, so that `--help` answers at once."""

from __future__ import annotations

import sys

from ...tools.errors import TableturnError
from .app import app

USAGE_ERROR = 2


def main() -> None:
    """Runs a command; an error of ours is one line on standard error and exit code 2."""
    try:
        app()
    except TableturnError as error:
        sys.stderr.write(f"tableturn: {error}\n")
        sys.exit(USAGE_ERROR)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
