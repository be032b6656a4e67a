"""What a revision is told about the attempt before it, each part switchable by settings."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ...prompts.templating import estimate_tokens
from ...tools.database import Schema
from ...tools.errors import SQLParseError
from ...tools.sql import Finding, used_items
from ...tools.values import ValueMatch
from ...tools.words import name_stems
from ..records import Attempt, CodeResult, Result
from ..settings import Settings
from .choose import near_value

P = TypeVar("P", int, str)

COLUMNS_SHOWN = 12
"""Columns whose contents are shown at most."""


@dataclass(frozen=True)
class Bounds:
    """How much of the database one part of a feedback shows.

    Attributes:
        rows: Of a result.
        cell: Characters of one value.
        tokens: Of the part, by our own estimate.
    """

    rows: int = 10
    cell: int = 80
    tokens: int = 1_500


def problems(attempt: Attempt, findings: Sequence[Finding], settings: Settings) -> str:
    """The error and the findings, one a line, none twice."""
    lines: list[str] = []
    said: Finding | None = None
    if attempt.error and settings.feedback_error and settings.feedback_names:
        # The checks know the nearest right names, and say what failed no worse than the database does.
        of_kind = (finding for finding in findings if finding.kind == attempt.error_kind)
        said = next((finding for finding in of_kind if finding.severity == "error"), None)
        lines.append(f"The query failed ({attempt.error_kind}): {describe(said) if said else attempt.error}")
    elif attempt.error and settings.feedback_error:
        lines.append(attempt.error)
    elif attempt.result is not None and not attempt.result.rows and settings.feedback_findings:
        lines.append("The query ran but gave no rows.")
    if settings.feedback_findings:
        if settings.gate and (sought := near_value(attempt)) and all(one.kind != "unknown_value" for one in findings):
            lines.append(f"No row of {sought.table} has {sought.condition}.")
        lines += [describe(finding) for finding in findings if finding.severity != "info" and finding is not said]
    return "\n".join(dict.fromkeys(lines))


def describe(finding: Finding) -> str:
    """A finding in one line; a doubt is put as a question, as a model takes every other wording for an order."""
    if not finding.proof:
        return (
            f"{finding.message} Is that meant{f', or should one {finding.suggestion}' if finding.suggestion else ''}?"
        )
    hint = f" {finding.suggestion}" if finding.suggestion else ""
    return f"{finding.message}{hint}"


def contents(sql: str, schema: Schema, mentioned: Sequence[ValueMatch], within: Bounds) -> str:
    """The values that the question mentions, then sample values of the columns that the query uses."""
    named = frozenset(_names_in(schema))
    told = [match for match in mentioned if not _is_name(match, named)]
    lines = [f"{match.table}.{match.column} holds {_cell(match.value, within.cell)}" for match in told]
    shown = 0
    for table, name in _columns(sql, schema):
        column = schema.column(table, name)
        if column is None or not column.samples or shown == COLUMNS_SHOWN:
            continue
        shown += 1
        values = ", ".join(_cell(value, within.cell) for value in column.samples)
        whole = column.distinct is not None and column.distinct <= len(column.samples)
        lines.append(f"{table}.{column.name}: {values}{'' if whole else ', ...'}")
    return "\n".join(_first(lines, within.tokens))


def _names_in(schema: Schema) -> Iterator[str]:
    """Stems of the words that name tables and columns."""
    for table in schema.tables:
        yield from name_stems(table.name)
        for column in table.columns:
            yield from name_stems(column.name)


def _is_name(match: ValueMatch, names: Collection[str]) -> bool:
    """Whether a part of a value was found only because the question names a column so: "city" is no Boise City."""
    return match.how == "part" and all(stem in names for stem in name_stems(match.mention))


def _columns(sql: str, schema: Schema) -> list[tuple[str, str]]:
    try:
        return sorted(used_items(sql, schema).columns)
    except SQLParseError:
        return []


def result_csv(result: Result, within: Bounds) -> str:
    """The first rows as CSV, and the first columns where one row would be too much, with how many there were."""
    head = [_cell(name, within.cell) for name in result.columns]
    rows = [[_cell(cell, within.cell) for cell in row] for row in result.rows[: within.rows]]
    # The widest column names and values have to leave room for a second line.
    costs = (max(estimate_tokens(row[number]) for row in [head, *rows]) + 1 for number in range(len(head)))
    wide = max(len(_first(costs, within.tokens // 2)), 1)
    shown = _first([_line(row[:wide]) for row in [head, *rows]], within.tokens) or [_line(head[:1])]
    if len(shown) <= result.row_count or result.truncated:
        shown.append(f"... ({result.row_count}{' or more' if result.truncated else ''} rows in all)")
    if wide < len(head):
        shown.append(f"... ({len(head)} columns in all)")
    return "".join(f"{line}\n" for line in shown)


def _line(cells: Sequence[str]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(cells)
    return out.getvalue()


def code_csv(code: CodeResult | None, within: Bounds) -> str:
    """The code's result as `result_csv`, and of which tables it saw only a sample."""
    if code is None:
        return ""
    seen = f"Computed over a sample of the rows of {', '.join(code.sampled)}:\n" if code.sampled else ""
    return seen + result_csv(code.result, within)


def _first(parts: Iterable[P], tokens: int) -> list[P]:
    """As many of the parts as fit: lines by their length, numbers as what they cost."""
    fitting: list[P] = []
    for part in parts:
        tokens -= part if isinstance(part, int) else estimate_tokens(part) + 1
        if tokens < 0:
            break
        fitting.append(part)
    return fitting


def _cell(value: object, characters: int) -> str:
    text = "NULL" if value is None else repr(value) if isinstance(value, bytes) else str(value)
    text = " ".join(text.split())
    return text if len(text) <= characters else text[: characters - 1] + "…"
