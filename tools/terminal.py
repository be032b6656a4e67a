"""What is printed at a terminal: nothing that a database, a file or a model wrote may steer it."""

from __future__ import annotations

import json
import sys

_KEPT = frozenset("\n\t")


def safe(text: str) -> str:
    """Return the text without control characters, changes of direction and other marks that are not to be seen."""
    return "".join(mark if mark.isprintable() or mark in _KEPT else "\N{REPLACEMENT CHARACTER}" for mark in text)


def say(text: object) -> None:
    """Print a line to standard output."""
    sys.stdout.write(f"{safe(str(text))}\n")
    sys.stdout.flush()


def say_json(value: object) -> None:
    """Print a value as one line of JSON to standard output; what may not be printed as it is stands there escaped."""
    line = json.dumps(value, ensure_ascii=False)
    sys.stdout.write("".join(mark if mark.isprintable() else json.dumps(mark)[1:-1] for mark in line) + "\n")
    sys.stdout.flush()


def warn(text: object) -> None:
    """Print a line to standard error."""
    sys.stderr.write(f"{safe(str(text))}\n")
    sys.stderr.flush()
