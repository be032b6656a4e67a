"""An answer as JSON, text for a model, Markdown and HTML.

In HTML everything that a person, a model or a database wrote is escaped.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from html import escape
from io import BytesIO
from typing import Any

from ...tools.charts.chart import can_render_charts, render_chart_image
from ...tools.errors import ExportError
from ...tools.examples import Example
from ...tools.export import escape_markdown, export_rows
from ...tools.formats import format_rows
from ...tools.knowledge import Entry
from ...tools.terminal import sanitize_text
from ...tools.values import ValueMatch
from ..evidence.confidence import choose_confidence_level
from ..evidence.feedback import format_result_csv
from ..records import Attempt, PlainResult
from ..state import AgentState, dump_fields, get_attempts, load_turn
from .answer import JSON_KEYS, Answer
from .paging import make_first_page
from .phrasing import capitalize, cut, dump_estimate, format_answer_cost, format_rows_shown, number_choices

ROWS_SHOWN = 20  # rows in a text or a table; a chart is of all of them
_TABLES, _COLUMNS, _VALUES = 6, 8, 8  # how many are told of

_CELL = 200
_BOX = "font-family:sans-serif;font-size:13px;line-height:1.4;max-width:60em"
_TABLE = "border-collapse:collapse;margin:.5em 0"
_CELLS = "padding:2px 8px;border-bottom:1px solid #8884;text-align:"
_CODE = "background:#8881;padding:6px 8px;overflow-x:auto;white-space:pre-wrap"
_QUIET = "color:#888"


def render_answer_json(answer: Answer) -> dict[str, Any]:
    """Return an answer as plain JSON values, with exactly the keys of `JSON_KEYS`."""
    fields: dict[str, Any] = dump_fields(answer.record, JSON_KEYS) | {
        "answered": answer.answered,
        "headings": answer.headings,
    }
    fields["chart"] = answer.chart if answer.asks_for_chart else None
    fields["notes"], fields["note_kinds"] = answer.notes, answer.note_kinds
    fields["text"] = "\n".join([answer.text, *number_choices(answer.choices)])
    fields["estimate"] = dump_estimate(answer.estimate)
    fields["formats"] = list(map(asdict, answer.formats))
    if answer.ledger is not None:
        fields["ledger"] = {**fields["ledger"], "line": answer.ledger.write_line(answer.labels, answer.formats)}
    return {key: fields[key] for key in JSON_KEYS}


def render_answer(answer: Answer) -> dict[str, Any]:
    """Return an answer as JSON, with its first rows, dates and errors as people read them."""
    date = answer.basis and answer.basis.date
    days = {name: getattr(date, name) for name in ("first", "last", "newest")} if date else {}
    fields = answer.to_dict()
    for attempt in fields["attempts"]:
        attempt["error"] = attempt["error"] and answer.labels.say_error(attempt["error"])
    return {
        "answer": fields,
        "choices": list(answer.choices),
        "page": asdict(make_first_page(answer)) if answer.answered else None,
        "dates": {name: answer.labels.date(day) for name, day in days.items()},
    }


def render_answer_text(answer: Answer) -> str:
    """Return an answer as text for a model: the words, the SQL and the first rows."""
    if not answer.answered:
        choices = "".join(f"\n- {choice}" for choice in answer.choices)
        error = "".join(f"\nThe last error: {attempt.error}" for attempt in answer.attempts[-1:] if attempt.error)
        return f"{answer.status}: {answer.text}{error}{choices}"
    rows = format_result_csv(PlainResult(answer.columns, answer.rows, answer.truncated), ROWS_SHOWN)
    meaning = f"\nMeaning: {answer.explanation}" if answer.explanation else ""
    basis = "".join(f"\n{line}" for line in list_basis_lines(answer))
    label = "\nAnswered without a model, by the offline translator." if answer.translator == "offline" else ""
    sure = "".join(f"\n{capitalize(text)}." for text in (answer.certainty, answer.trust) if text)
    return f"{answer.text}\nSQL: {answer.sql}{meaning}{basis}\n{rows}{sure}{label}"


def render_answer_markdown(answer: Answer, rows: int) -> str:
    """Return an answer in Markdown, for chat front ends."""
    paragraphs = [escape_markdown(answer.text), *map(escape_markdown, number_choices(answer.choices))]
    if answer.sql:
        fence = max(re.findall("`{3,}", answer.sql), default="``", key=len) + "`"
        paragraphs.append(f"{fence}sql\n{answer.sql}\n{fence}")
    if answer.answered and answer.rows:
        table = BytesIO()
        export_rows(answer.headings, answer.rows[:rows], table, "md", answer.formats)
        paragraphs.append(table.getvalue().decode().strip())
        if answer.row_count > rows:
            paragraphs.append(f"({answer.row_count:,} rows, the first {rows} of them shown)")
    if answer.explanation:
        paragraphs.append(f"*{escape_markdown(answer.explanation)}*")
    paragraphs += [f"*Note: {escape_markdown(note)}*" for note in answer.notes]
    if answer.certainty:
        paragraphs.append(escape_markdown(f"{capitalize(answer.certainty)}."))
    return "\n\n".join(paragraphs)


def list_basis_lines(answer: Answer) -> tuple[str, ...]:
    """Return the basis of an answer, in about three lines."""
    return () if answer.basis is None else tuple(answer.basis.text(answer.labels).splitlines())


def render_answer_html(answer: Answer) -> str:
    """Return an answer in HTML, with collapsible details.

    No script, nothing from a network.
    """
    parts, labels = [f"<b>{_escape_html(answer.question)}</b>"], answer.labels
    if answer.rephrased not in ("", answer.question):
        parts.append(f'<div style="{_QUIET}">{labels.say("read_as")} {_escape_html(answer.rephrased)}</div>')
    parts.append(f"<p>{_escape_html(answer.text).replace(chr(10), '<br>')}</p>")
    parts += [f'<div style="{_QUIET}">{_escape_html(text)}</div>' for text in (answer.certainty, answer.trust) if text]
    parts += [f"<div>{_escape_html(choice)}</div>" for choice in number_choices(answer.choices)]
    if answer.sql:
        parts.append(f'<pre style="{_CODE}">{_render_sql_html(answer.sql)}</pre>')
    if answer.columns:
        parts.append(_render_rows_html(answer))
    if chart := _render_chart_html(answer):
        parts.append(chart)
    if lines := list_basis_lines(answer):
        parts.append(_render_details_html(labels.say("what_this_rests_on"), lines))
    steps = [f"{format_answer_cost(answer, labels)}, {answer.model}", *filter(None, [answer.explanation])]
    steps += [f"{labels.say('page_query')} {line}" for line in _list_attempts(answer)]
    steps += [f"{labels.say('notes')}: {labels.translate(note)}" for note in answer.notes]
    parts.append(_render_details_html(labels.say("how_this_came_about"), steps))
    return f'<div class="tableturn-answer" style="{_BOX}">{"".join(parts)}</div>'


def _escape_html(text: object) -> str:
    return escape(sanitize_text(str(text)))


def _render_sql_html(sql: str) -> str:
    """Return a query as HTML, with colours."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers.sql import SqlLexer

    return highlight(sanitize_text(sql), SqlLexer(), HtmlFormatter(nowrap=True, noclasses=True)).rstrip("\n")


def _render_rows_html(answer: Answer) -> str:
    alignments = ["right" if form.is_numeric else "left" for form in answer.formats]
    names = zip(answer.headings, alignments, strict=True)
    head = "".join(f'<th style="{_CELLS}{alignment}">{_escape_html(name)}</th>' for name, alignment in names)
    rows = format_rows(answer.rows[:ROWS_SHOWN], answer.formats)
    body = "".join(f"<tr>{''.join(map(_render_cell_html, row, alignments))}</tr>" for row in rows)
    row_note = format_rows_shown(ROWS_SHOWN, len(answer.rows), answer.truncated, answer.labels)
    caption = f'<div style="{_QUIET}">{row_note}</div>' if row_note else ""
    return f'<table style="{_TABLE}"><tr>{head}</tr>{body}</table>{caption}'


def _render_cell_html(cell: str | None, alignment: str) -> str:
    quiet, text = (f";{_QUIET}", "NULL") if cell is None else ("", cut(cell, _CELL))
    return f'<td style="{_CELLS}{alignment}{quiet}">{_escape_html(text)}</td>'


def _render_chart_html(answer: Answer) -> str:
    """Return the chart of an answer as an HTML image, in which no script can run."""
    spec = answer.chart
    if spec is None or not can_render_charts():
        return ""
    try:
        image = base64.b64encode(render_chart_image(spec, "svg")).decode()
    except ExportError:
        return ""
    return f'<img alt="{_escape_html(answer.question)}" style="max-width:100%" src="data:image/svg+xml;base64,{image}">'


def _render_details_html(summary: str, lines: Sequence[str]) -> str:
    items = "".join(f"<div>{_escape_html(line)}</div>" for line in lines)
    return f'<details style="{_QUIET}"><summary>{summary}</summary>{items}</details>'


def _list_attempts(answer: Answer) -> Iterator[str]:
    """Yield each query that was tried, with what came of it."""
    for number, attempt in enumerate(answer.attempts, 1):
        yield f"{number}. {attempt.tell_outcome(answer.labels)}: {' '.join(attempt.sql.split())}"
        if attempt.feedback and not attempt.error:  # feedback repeats the error, with advice for the model
            yield f"   {answer.labels.say('written_again', why=' '.join(attempt.feedback.split()))}"


@dataclass(frozen=True)
class AnswerBackground:
    """The background of an answer: tables, values, knowledge, examples and queries."""

    tables: tuple[tuple[str, float, tuple[str, ...]], ...]  # most probable first: name, probability, columns
    values: tuple[ValueMatch, ...]  # database values that the question mentions, the surest first
    knowledge: tuple[Entry, ...]  # definitions that it needs
    examples: tuple[Example, ...]  # answered questions that it was shown
    attempts: tuple[Attempt, ...]  # queries that were run


def read_answer_background(state: AgentState) -> AnswerBackground:
    """Return the background of the current turn."""
    turn = load_turn(state)
    sure = {table: p for table, column, p in turn.items if column is None}
    tables = tuple((name, sure.get(name, 0.0), columns) for name, columns in turn.shown)
    return AnswerBackground(tables, turn.values, turn.knowledge, turn.examples, get_attempts(state))


def list_answer_reasons(answer: Answer, why: AnswerBackground | None) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the sections that explain an answer: each heading with its lines."""
    labels = answer.labels
    tables = why.tables if why else ()
    table_lines = [
        f"{table} {p:.2f}: {', '.join(columns[:_COLUMNS])}{', ...' if len(columns) > _COLUMNS else ''}"
        for table, p, columns in tables[:_TABLES]
    ]
    if len(tables) > _TABLES:
        table_lines.append(labels.say("more_tables", len(tables) - _TABLES))
    stop = labels.say_error(answer.stopped)  # in English
    if not labels.are_english and answer.stop_kind:
        stop = labels.say(f"stopped_{answer.stop_kind}")
    sure = answer.certainty
    if answer.answered and not sure:
        sure = labels.say(choose_confidence_level(answer.confidence, ""))
        if not (answer.ledger and answer.ledger.not_counted):
            remark = answer.readings.line or (answer.ledger and answer.ledger.line)
            sure += f": {labels.say('except_told' if remark else 'nothing_against')}"
    sections = {
        "read_as": (answer.rephrased,) if answer.rephrased else (),
        "rests_on": list_basis_lines(answer),
        "rows_left_out": (answer.ledger.other_sql,) if answer.ledger and answer.ledger.other_sql else (),
        "likely_tables": tuple(table_lines),
        "found_values": tuple(
            labels.say(
                "value_found",
                mention=repr(match.mention),
                value=repr(match.value),
                place=f"{match.table}.{match.column} ({match.how})",
            )
            for match in (why.values if why else ())[:_VALUES]
        ),
        "definitions": tuple(entry.line for entry in answer.used_knowledge),
        "examples": tuple(f"{example.question} ({example.source})" for example in (why.examples if why else ())),
        "tried": tuple(_list_attempts(answer)),
        "ended": (stop,) if stop else (),
        "how_sure": tuple(filter(None, (sure, answer.trust))),
        "notes": tuple(labels.translate(note) for note in answer.notes if note not in answer.text),
        "cost": (f"{answer.model}: {format_answer_cost(answer, labels)}, {labels.say('tokens', answer.usage.tokens)}",),
    }
    return ((labels.say(heading), lines) for heading, lines in sections.items() if lines)
