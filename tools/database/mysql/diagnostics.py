"""What the server remarks on a query that it ran nevertheless: values cut, or read as something that they are not."""

from __future__ import annotations

from collections.abc import Callable

from ..table import Cell

_LISTED = 50
_TOLD = 3
_LONGEST = 200
# What a statement is written with, which its result doesn't depend on: words that will go, or have another spelling.
_OF_FORM = (1287, 1681, 3719, 3778)


def diagnostics(count: int, rows: Callable[[str], list[tuple[Cell, ...]]]) -> tuple[str, ...]:
    """A line for each kind of warning, with how many there were in all.

    Args:
        count: What the server counted, which comes with every result; it is asked for more only where that is not 0.
        rows: Runs a statement of our own, before anything else is sent.
    """
    if not count:
        return ()
    first: dict[Cell, str] = {}
    for level, code, message in rows(f"SHOW WARNINGS LIMIT {_LISTED}"):
        if level != "Note" and code not in _OF_FORM:
            first.setdefault(code, " ".join(str(message).split())[:_LONGEST])
    told = [f"The server warns: {message}." for message in list(first.values())[:_TOLD]]
    return (*told, f"There were {count:,} warnings in all.") if told and count > len(told) else tuple(told)
