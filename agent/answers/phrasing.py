"""The words of an answer, made from its result without a model."""

from __future__ import annotations

from collections.abc import Sequence

from ...tools.database import Database, Estimate
from ...tools.errors import SQLParseError
from ...tools.sql import Heading, SearchedLiteral, explain
from ...tools.sql import headings as headings_of
from ...tools.words import singular
from ..advice import advise, advisory
from ..evidence.choose_attempt import is_empty
from ..records import AnswerRecord, PlainCell, Result

COLUMNS_IN_WORDS = 8  # so many columns are named at most: the names of more stand over the rows
ROWS_IN_WORDS = 5  # longest result that is spelled out
TEXT_CHARACTERS = 60  # longest value in words; longer ones are cut with an ellipsis


def phrase(result: Result, headings: Sequence[Heading]) -> str:
    """Return the result as a sentence: its values if short, else its size."""
    rows = result.rows
    if not rows:
        return "No rows match."
    columns = [heading.words for heading in headings]
    if len(rows) == 1 and len(columns) == 1:
        cell, counted = rows[0][0], headings[0].counted
        if counted and isinstance(cell, int):
            return f"{cell:,} {singular(counted) if cell == 1 else counted}."
        return f"{columns[0]}: {_value(cell)}."
    if len(rows) <= ROWS_IN_WORDS and len(columns) == 1:
        return f"{columns[0]}: {', '.join(_value(row[0]) for row in rows)}."
    if len(rows) == 1 and len(columns) <= COLUMNS_IN_WORDS:
        return ", ".join(f"{name}: {_value(cell)}" for name, cell in zip(columns, rows[0], strict=True)) + "."
    return say_row_count(columns, len(rows), result.truncated)


def say_row_count(columns: Sequence[str], rows: int, truncated: bool) -> str:
    """Return the number of rows in words."""
    of = ", ".join(columns) if len(columns) <= COLUMNS_IN_WORDS else f"{len(columns)} columns"
    return f"{'More than ' if truncated else ''}{rows:,} {'row' if rows == 1 else 'rows'} of {of}."


def cut_note(rows: int) -> str:
    """Return a note that there are more rows than a result may have."""
    return f"Only the first {rows:,} rows are shown."


_PLAIN_FAILURES: dict[str | None, str] = {
    "timeout": "This took more than {seconds} s. Try a shorter period or fewer rows.",
    "too_large": "The result is too large. Ask for fewer rows or columns, or for a summary.",
}


def failed(error: str, kind: str | None, seconds: float) -> str:
    """Return why a question has no answer, in plain words."""
    return _PLAIN_FAILURES.get(kind, error).replace("{seconds}", f"{seconds:g}")


WITHHELD = "The rows are shown only to the person who asked, because they contain data that must not leave."
"""Stands for the words of a result that are made for the person alone; see `delivery`."""


def shown(estimate: Estimate | None) -> dict[str, int | None] | None:
    """Return a query's expected cost as plain values."""
    return None if estimate is None else {"rows": estimate.rows, "bytes": estimate.bytes}


def phrase_answer(result: Result, headings: Sequence[Heading], literals: Sequence[SearchedLiteral] = ()) -> str:
    """Return a result in words; if empty, also which of the query's texts no row has."""
    missing = [f"no row of {literal.table} has {literal.condition}" for literal in literals if literal.missing]
    if missing and not (result.withheld or result.rows):
        return f"No rows match: {', and '.join(missing)}."
    return WITHHELD if result.withheld else phrase_or_count(result, headings)


def phrase_or_count(result: Result, headings: Sequence[Heading]) -> str:
    """Return the result in words, or its number of rows."""
    plain = f"{'More than ' if result.truncated else ''}{result.row_count:,} rows."
    return advise("phrasing", lambda: phrase(result, headings), plain)


def name_columns(sql: str | None, columns: Sequence[str], database: Database) -> tuple[Heading, ...]:
    """Return the headings of a query's columns in plain words."""
    own = tuple(map(Heading, columns))

    def call() -> tuple[Heading, ...]:
        try:
            return own if sql is None else headings_of(sql, columns, database.schema())
        except SQLParseError:
            return own

    return advise("headings", call, own)


@advisory("phrasing", "")
def summarize(answer: AnswerRecord) -> str:
    """Return the result in one line, for later turns: its shape and its first row."""
    columns = ", ".join(answer.columns)
    if not answer.rows:
        return f"no rows of {columns}"
    first = ", ".join(map(_value, answer.rows[0]))
    return f"{len(answer.rows)}{'+' if answer.truncated else ''} rows of {columns}; first: {first}"


@advisory("phrasing", "")
def explain_query(sql: str | None, database: Database) -> str:
    """Return what a query means in plain words; '' without one, or if it cannot be read."""
    try:
        return "" if sql is None else explain(sql, database.schema())
    except SQLParseError:
        return ""


@advisory("phrasing", ())
def list_remarks(result: Result) -> tuple[str, ...]:
    """Return what a reader should know before relying on the result."""
    return () if result.withheld else tuple(describe_rows(result))


def describe_rows(result: Result) -> list[str]:
    """Return what a reader should know about the rows."""
    found = list(result.notes)
    if result.truncated:
        found.append(cut_note(result.row_count))
    if is_empty(result) and result.rows:
        found.append("The result is a single NULL: nothing matched.")
    return found


def _value(cell: PlainCell) -> str:
    return "NULL" if cell is None else cut(cell, TEXT_CHARACTERS)


def cut(cell: object, most: int) -> str:
    """Return a cell as text, shortened to a maximum length."""
    text = str(cell)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def number_choices(choices: Sequence[str]) -> list[str]:
    """Return the choices with their numbers."""
    return [f"{number}. {choice}" for number, choice in enumerate(choices, 1)]


def say_rows_shown(shown: int, count: int, truncated: bool) -> str:
    """Return how many of the rows are shown; '' if all are."""
    return "" if count <= shown else f"{shown:,} of {count:,}{' or more' if truncated else ''} rows"
