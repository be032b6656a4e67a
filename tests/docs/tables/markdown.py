"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table between empty lines; a `|` in a cell stays one."""
    return f"\n{_line(headings)}|{'---|' * len(headings)}\n{''.join(map(_line, rows))}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(' '.join(cell.split()).replace('|', chr(92) + '|') for cell in cells)} |\n"
