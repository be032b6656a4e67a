"""Tables in Markdown."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

_CODE_WITH_BAR = re.compile(r"`([^`]*\|[^`]*)`")


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table between empty lines; a `|` in a cell stays one."""
    return f"\n{_line(headings)}|{'---|' * len(headings)}\n{''.join(map(_line, rows))}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |\n"


def _cell(text: str) -> str:
    """A cell. Forges and sites read a `|` within backquotes each in their own way; an entity they read alike."""
    code = _CODE_WITH_BAR.sub(lambda found: f"<code>{html.escape(found[1])}</code>", " ".join(text.split()))
    return code.replace("|", "&#124;")
