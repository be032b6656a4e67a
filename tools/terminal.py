"""Output to a terminal, safe from text of a database, a file or a model."""

from __future__ import annotations

import json
import sys

_KEPT = frozenset("\n\t\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}")  # the latter two stand in formatted numbers


def sanitize_text(text: str) -> str:
    """Replace control characters and other invisible characters in a text."""
    return "".join(mark if mark.isprintable() or mark in _KEPT else "\N{REPLACEMENT CHARACTER}" for mark in text)


def say(text: object) -> None:
    """Print a line to standard output."""
    sys.stdout.write(f"{sanitize_text(str(text))}\n")
    sys.stdout.flush()


def print_json_line(value: object) -> None:
    """Print a value as one line of JSON, with unprintable characters escaped."""
    line = json.dumps(value, ensure_ascii=False)
    sys.stdout.write("".join(mark if mark.isprintable() else json.dumps(mark)[1:-1] for mark in line) + "\n")
    sys.stdout.flush()


def warn(text: object) -> None:
    """Print a line to standard error."""
    sys.stderr.write(f"{sanitize_text(str(text))}\n")
    sys.stderr.flush()
