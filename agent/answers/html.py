"""An answer as HTML for notebooks: everything that a person, a model or a database wrote is escaped."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from ...tools.charts.render import can_render, picture
from ...tools.errors import ExportError
from ...tools.terminal import safe
from ..records import PlainCell
from .basis import basis_lines

if TYPE_CHECKING:
    from .answer import Answer

ROWS_SHOWN = 20
"""Rows in the table; the chart is of all of them."""

_CELL = 200
_STYLE = (
    "font-family:sans-serif;font-size:13px;line-height:1.4;max-width:60em",
    "border-collapse:collapse;margin:.5em 0",
    "padding:2px 8px;border-bottom:1px solid #8884;text-align:",
    "background:#8881;padding:6px 8px;overflow-x:auto;white-space:pre-wrap",
    "color:#888",
)
_BOX, _TABLE, _CELLS, _CODE, _QUIET = _STYLE


def answer_html(answer: Answer) -> str:
    """The question, the SQL, the rows, the chart, and, folded, what it rests on and how it came about.

    No script, nothing from a network.
    """
    parts = [f"<b>{_text(answer.question)}</b>"]
    if answer.rephrased not in ("", answer.question):
        parts.append(f'<div style="{_QUIET}">read as {_text(answer.rephrased)}</div>')
    parts.append(f"<p>{_text(answer.text).replace(chr(10), '<br>')}</p>")
    parts += [f'<div style="{_QUIET}">{_text(said)}</div>' for said in (answer.certainty, answer.trust) if said]
    parts += [f"<div>{number}. {_text(choice)}</div>" for number, choice in enumerate(answer.choices, 1)]
    if answer.sql:
        parts.append(f'<pre style="{_CODE}">{_sql(answer.sql)}</pre>')
    if answer.columns:
        parts.append(_table(answer.headings, answer.rows, answer.truncated))
    if chart := _chart(answer):
        parts.append(chart)
    if lines := basis_lines(answer):
        items = "".join(f"<div>{_text(line)}</div>" for line in lines)
        parts.append(f'<details style="{_QUIET}"><summary>what this rests on</summary>{items}</details>')
    parts.append(_steps(answer))
    return f'<div class="tableturn-answer" style="{_BOX}">{"".join(parts)}</div>'


def _text(text: object) -> str:
    return escape(safe(str(text)))


def _sql(sql: str) -> str:
    """The query in colours, where Pygments is there to give them."""
    sql = safe(sql)
    try:
        from pygments import highlight
        from pygments.formatters import HtmlFormatter
        from pygments.lexers.sql import SqlLexer
    except ImportError:
        return escape(sql)
    return highlight(sql, SqlLexer(), HtmlFormatter(nowrap=True, noclasses=True)).rstrip("\n")


def _table(headings: Sequence[str], rows: Sequence[Sequence[PlainCell]], truncated: bool) -> str:
    head = "".join(f'<th style="{_CELLS}left">{_text(name)}</th>' for name in headings)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows[:ROWS_SHOWN])
    more = f"{ROWS_SHOWN} of {len(rows):,}{' or more' if truncated else ''} rows" if len(rows) > ROWS_SHOWN else ""
    caption = f'<div style="{_QUIET}">{more}</div>' if more else ""
    return f'<table style="{_TABLE}"><tr>{head}</tr>{body}</table>{caption}'


def _cell(cell: PlainCell) -> str:
    if cell is None:
        return f'<td style="{_CELLS}left;{_QUIET}">NULL</td>'
    text = str(cell)
    text = text if len(text) <= _CELL else text[: _CELL - 1] + "…"
    return f'<td style="{_CELLS}{"left" if isinstance(cell, str) else "right"}">{_text(text)}</td>'


def _chart(answer: Answer) -> str:
    """The chart as an image, in which nothing can run."""
    spec = answer.chart
    if spec is None or not can_render():
        return ""
    try:
        drawn = base64.b64encode(picture(spec, "svg")).decode()
    except ExportError:
        return ""
    return f'<img alt="{_text(answer.question)}" style="max-width:100%" src="data:image/svg+xml;base64,{drawn}">'


def _steps(answer: Answer) -> str:
    """What was tried on the way, what it means, and what to know about it."""
    lines = [f"{answer.status}, {answer.usage.llm_calls} model call(s), {answer.model}"]
    lines += [answer.explanation] if answer.explanation else []
    for number, attempt in enumerate(answer.attempts, 1):
        rows = "ran" if attempt.row_count is None else f"{attempt.row_count} row(s)"
        lines.append(f"attempt {number}: {f'failed: {attempt.error}' if attempt.error else rows}: {attempt.sql}")
    lines += [f"note: {note}" for note in answer.notes]
    items = "".join(f"<div>{_text(line)}</div>" for line in lines)
    return f'<details style="{_QUIET}"><summary>how this came about</summary>{items}</details>'
