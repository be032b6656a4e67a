"""What a revision is told about the attempt before it, each part switchable by settings."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from ..tools.database import Schema
from ..tools.errors import SQLParseError
from ..tools.sql import Finding, used_items
from ..tools.values import ValueMatch
from .records import Attempt, CodeResult, Result
from .settings import Settings

CELL_CHARACTERS = 80
"""Longest cell shown in feedback; longer ones are cut with an ellipsis."""

COLUMNS_SHOWN = 12
"""Columns whose contents are shown at most."""


@dataclass(frozen=True)
class Feedback:
    """The parts of a feedback; an empty part is not said.

    Attributes:
        problems: The execution error and the static findings (revision chain 3.2.1 (1), SQL-CRAFT 2).
        explanation: What the SQL means and how that differs from the question (revision chain 3.2.1 (2)).
        contents: Values of the columns involved, those the question mentions first (revision chain 3.2.1 (3)).
        result: The result as CSV (SQL-CRAFT 2, IC-Loop).
        code: The pandas code's result, where it differs from the SQL's.
    """

    problems: str = ""
    explanation: str = ""
    contents: str = ""
    result: str = ""
    code: str = ""

    @property
    def text(self) -> str:
        """All parts, for people."""
        return "\n".join(
            part for part in (self.problems, self.explanation, self.contents, self.result, self.code) if part
        )


def problems(attempt: Attempt, findings: Sequence[Finding], settings: Settings) -> str:
    """The error and the findings, one a line."""
    lines: list[str] = []
    if attempt.error and settings.feedback_error:
        lines.append(f"The query failed ({attempt.error_kind}): {attempt.error}")
    elif attempt.result is not None and not attempt.result.rows and settings.feedback_findings:
        lines.append("The query ran but gave no rows.")
    if settings.feedback_findings:
        lines += [describe(finding) for finding in findings if finding.severity != "info"]
    return "\n".join(lines)


def describe(finding: Finding) -> str:
    """A finding in one line."""
    hint = f" {finding.suggestion}" if finding.suggestion else ""
    return f"{finding.message}{hint}"


def contents(sql: str, schema: Schema, mentioned: Sequence[ValueMatch]) -> str:
    """Sample values of the columns that the query uses, and the values that the question mentions."""
    lines = [f"{match.table}.{match.column} holds {_cell(match.value)}" for match in mentioned]
    shown = 0
    for table, name in _columns(sql, schema):
        column = schema.column(table, name)
        if column is None or not column.samples or shown == COLUMNS_SHOWN:
            continue
        shown += 1
        lines.append(f"{table}.{column.name}: {', '.join(_cell(value) for value in column.samples)}, ...")
    return "\n".join(lines)


def _columns(sql: str, schema: Schema) -> list[tuple[str, str]]:
    try:
        return sorted(used_items(sql, schema).columns)
    except SQLParseError:
        return []


def result_csv(result: Result, rows: int) -> str:
    """The first rows as CSV, with how many there were."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(result.columns)
    writer.writerows([_cell(cell) for cell in row] for row in result.rows[:rows])
    if result.row_count > rows or result.truncated:
        out.write(f"... ({result.row_count}{' or more' if result.truncated else ''} rows in all)\n")
    return out.getvalue()


def code_csv(code: CodeResult | None, rows: int) -> str:
    """The code's result as `result_csv`, and of which tables it saw only a sample."""
    if code is None:
        return ""
    seen = f"Computed over a sample of the rows of {', '.join(code.sampled)}:\n" if code.sampled else ""
    return seen + result_csv(code.result, rows)


def _cell(value: object) -> str:
    text = "NULL" if value is None else repr(value) if isinstance(value, bytes) else str(value)
    text = " ".join(text.split())
    return text if len(text) <= CELL_CHARACTERS else text[: CELL_CHARACTERS - 1] + "…"
