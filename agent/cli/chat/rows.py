"""Commands about the rows of the answer that was shown last."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from ....tools.errors import SettingsError
from ... import verbs
from ..output import write_chart
from ..rows import Rows, as_records
from .chat import PAGE, Chat, Pages, interrupted

if TYPE_CHECKING:
    from ....tools.charts import Chart

_MOST = 1_000
"""Rows that are shown at a time."""


def more(chat: Chat, rest: str) -> RenderableType:
    """The next rows."""
    with interrupted() as cancellation:
        _pages(chat).next(_count(rest, "/more 50"), chat, cancellation)
    return shown_page(_pages(chat))


def some(chat: Chat, rest: str) -> RenderableType:
    """Rows by their numbers."""
    found = re.fullmatch(r"(\d{1,7})(?:\s*-\s*(\d{1,7}))?", rest)
    if found is None:
        raise SettingsError("say which rows: /rows 50 shows the first fifty, /rows 101-120 rows 101 to 120")
    first, last = (1, int(found[1])) if found[2] is None else (int(found[1]), int(found[2]))
    if not 1 <= first <= last:
        raise SettingsError(f"there are no rows {rest}: rows are numbered from 1")
    if last - first >= _MOST:
        raise SettingsError(f"that is more than {_MOST:,} rows at a time: /export writes them all to a file")
    with interrupted() as cancellation:
        _pages(chat).part(first - 1, last, chat, cancellation)
    return shown_page(_pages(chat))


def wide(chat: Chat, rest: str) -> RenderableType:
    """The rows that were shown last as records, or so many from there."""
    pages = _pages(chat)
    if rest:
        with interrupted() as cancellation:
            pages.part(pages.now.first, pages.now.first + _count(rest, "/wide 3"), chat, cancellation)
    now = pages.now
    return Group(as_records(pages.answer.headings, now.rows, now.first + 1), Text(now.caption, style="dim"))


def export(chat: Chat, rest: str) -> str:
    """All rows as a file."""
    if not rest:
        raise SettingsError("name the file: /export sales.csv, or .json, .jsonl, .md, .xlsx, .parquet")
    answer = chat.choose("", "export")[0].answer
    with interrupted() as cancellation:
        written = verbs.export(answer, chat.resources, Path(rest).expanduser(), cancellation=cancellation)
    return f"wrote {written.rows:,} rows to {rest}{'; the query gives more' if written.truncated else ''}"


def chart(chat: Chat, rest: str) -> RenderableType:
    """The result as a picture."""
    answer = chat.choose("", "draw")[0].answer
    if rest:
        return write_chart(answer, Path(rest).expanduser())[1]
    drawn = verbs.chart(answer)
    return "no chart fits this result" if drawn is None else _Drawn(drawn)


@dataclass(frozen=True)
class _Drawn:
    """A chart, as wide as where it is printed."""

    chart: Chart

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from ....tools.charts.draw import drawn

        yield drawn(self.chart, console)


def shown_page(pages: Pages) -> RenderableType:
    """The page that was turned to last, as a table."""
    return Rows(pages.answer.headings, pages.now.rows, pages.now.caption)


def _pages(chat: Chat) -> Pages:
    if chat.pages is None:
        raise SettingsError("there are no rows to show: the last answer has none")
    return chat.pages


def _count(rest: str, example: str) -> int:
    if not rest:
        return PAGE
    if not rest.isdecimal() or not 1 <= int(rest) <= _MOST:
        raise SettingsError(f"say how many rows: a number up to {_MOST:,}, as in {example}")
    return int(rest)
