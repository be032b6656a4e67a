"""The words of an answer, made from its result alone, without a model.

Names are the database's own, in words, without the unit that stands at the numbers. What one of `kunden` is called is
not known: they stand before a colon or in a list. English alone puts them into a phrase (`revenue by month`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise

from sqlglot import exp

from ...tools.basis.basis import build_query_basis
from ...tools.database import Database, Estimate
from ...tools.errors import SQLParseError
from ...tools.formats import (
    ColumnFormat,
    FormatKind,
    choose_column_formats,
    format_cell,
)
from ...tools.labels import Labels
from ...tools.measures import find_measure
from ...tools.sql import COUNT, ColumnHeading, Query, SearchedLiteral, explain, headings, read_query
from ...tools.words import QUARTER, humanize_name
from ..advice import call_with_fallback, with_fallback
from ..records import AnswerRecord, Note, PlainCell, PlainResult, Readings

COLUMNS_IN_WORDS = 8  # so many columns are named at most: the names of more stand over the rows
ROWS_IN_WORDS = 5  # longest result that is spelled out
_MEASURES: frozenset[FormatKind] = frozenset({"number", "money", "percent"})
_NAMES_IN_WORDS = 3  # more measures of a sentence, or names beside them, are not named
TEXT_CHARACTERS = 60  # longest value in words; longer ones are cut with an ellipsis


@dataclass(frozen=True)
class ColumnDisplay:
    """The headings and formats with which a result's columns are displayed."""

    headings: tuple[ColumnHeading, ...] = ()
    formats: tuple[ColumnFormat, ...] = ()
    is_ordered: bool = False  # whether the query orders its rows
    locale: str = ""  # of the answer
    is_summary: bool = True  # whether the query sums up rows, or is not known
    is_limited: bool = False  # whether there are as many rows as a LIMIT of the query lets through

    @property
    def words(self) -> tuple[str, ...]:
        """The column headings as texts."""
        return tuple(heading.words for heading in self.headings)

    @property
    def meanings(self) -> tuple[str, ...]:
        """The column headings for a sentence: what a column means, if the query tells that."""
        return tuple(map(self._say_heading, self.headings))

    def _say_heading(self, heading: ColumnHeading) -> str:
        if heading.meaning == COUNT:
            return self.labels.say("count")
        return heading.meaning or heading.words if self.labels.are_english else heading.words

    @property
    def labels(self) -> Labels:
        """The fixed texts around the columns."""
        return Labels(self.locale)


def phrase_result(result: PlainResult, looks: ColumnDisplay) -> str:
    """Return a result as a sentence: the values if there are few, otherwise a summary."""
    rows, names, labels = result.rows, looks.meanings, looks.labels
    if not rows:
        return labels.say("no_rows")
    first = [_format_value(cell, form) for cell, form in zip(rows[0], looks.formats, strict=True)]
    if len(rows) == 1 and len(names) == 1:
        noun = looks.headings[0].counted
        if not noun or not isinstance(rows[0][0], int):
            return f"{capitalize(names[0])}: {first[0]}."
        # Whether a name is a noun for many is certain of few, and what one of them is called of none.
        if looks.headings[0].counts_all and rows[0][0] > 1 and _PLURAL.fullmatch(noun):
            return capitalize(labels.say("there_are", count=first[0], things=noun))
        return f"{capitalize(noun)}: {first[0]}."
    if len(names) == 1:
        values = [_format_value(row[0], looks.formats[0]) for row in rows[:ROWS_IN_WORDS]]
        separator = "; " if any("," in value for value in values) else ", "
        text = labels.say("values", len(rows)) if len(rows) > ROWS_IN_WORDS else separator.join(values)
        # How many there are of more than are read is for whoever counts them to say: here are the first.
        text = f"{separator.join(values)}{separator}…" if result.truncated else f"{text}."
        return f"{capitalize(names[0])}: {text}"
    if len(rows) == 1 and len(names) <= COLUMNS_IN_WORDS:
        return capitalize("; ".join(f"{name}: {value}" for name, value in zip(names, first, strict=True))) + "."
    return (
        _phrase_series(result, looks)
        or _phrase_ranking(result, looks)
        or _phrase_breakdown(result, looks)
        or format_row_count(result, labels)
    )


_PLURAL = re.compile(r"[a-z]{3,}[^\W\daisuw]s")
"""An English word for many, by its form: `orders`, and not `status`, `analysis` or `news`."""

_PERIODS: dict[FormatKind, str] = {"month": "month", "year": "year", "date": "date", "minute": "time", "second": "time"}


def _find_period(form: ColumnFormat, cells: Sequence[PlainCell]) -> str:
    """Return what the times in a column are called; empty if it has none. Quarters have no format of their own."""
    are_quarters = form.kind == "text" and all(QUARTER.fullmatch(str(cell)) for cell in cells)
    return "quarter" if are_quarters else _PERIODS.get(form.kind, "")


def _phrase_series(result: PlainResult, looks: ColumnDisplay) -> str:
    """Return a sentence about numbers over time; empty if the result is not a time series."""
    columns = zip(looks.formats, zip(*result.rows, strict=True), strict=True)
    periods = [_find_period(form, cells) for form, cells in columns]
    times = [place for place, period in enumerate(periods) if period]
    measures = [name for name, form in zip(looks.meanings, looks.formats, strict=True) if form.kind in _MEASURES]
    if len(times) != 1 or len(measures) != len(looks.meanings) - 1 or len(measures) > _NAMES_IN_WORDS:
        return ""
    points = [row[times[0]] for row in result.rows]
    order = sorted({point for point in points if point is not None}, key=str)
    if len(order) < len(points):
        return ""
    form, labels = looks.formats[times[0]], looks.labels
    count = labels.say(periods[times[0]], len(points))
    count = labels.say("the_first", count=count) if result.truncated else count
    first, last = (format_cell(point, form) for point in (order[0], order[-1]))
    return capitalize(labels.say("series", measures=labels.join(measures), count=count, first=first, last=last))


def _phrase_ranking(result: PlainResult, looks: ColumnDisplay) -> str:
    """Return a sentence about a ranking by a number; empty if the result is not a ranking."""
    kinds = [form.kind for form in looks.formats]
    if not looks.is_ordered or len(kinds) != 2 or "text" not in kinds or not _MEASURES.intersection(kinds):
        return ""
    name, measure = kinds.index("text"), 1 - kinds.index("text")
    names, numbers = ([row[place] for row in result.rows] for place in (name, measure))
    values = [number for number in numbers if isinstance(number, int | float)]
    if len(set(names)) < len(names) or None in names or len(values) < len(numbers) or values[0] == values[-1]:
        return ""
    order = {(number < following) - (number > following) for number, following in pairwise(values)} - {0}
    leaders = names[: values.count(values[0])]
    if len(order) > 1 or len(leaders) > ROWS_IN_WORDS:
        return ""
    labels = looks.labels
    return labels.say(
        "ranking_up" if order == {1} else "ranking",
        of="" if result.truncated or looks.is_limited else labels.say("of", len(names)),
        measure=looks.meanings[measure],
        first=labels.join([_format_value(leader, looks.formats[name]) for leader in leaders]),
        value=format_cell(values[0], looks.formats[measure]),
    )


def _phrase_breakdown(result: PlainResult, looks: ColumnDisplay) -> str:
    """Return a sentence about measures per name, or a list of names; empty if neither fits."""
    measures = [name for name, form in zip(looks.meanings, looks.formats, strict=True) if form.kind in _MEASURES]
    names = [name for name, form in zip(looks.meanings, looks.formats, strict=True) if form.kind not in _MEASURES]
    labels, columns = looks.labels, list(looks.meanings)
    listing = not labels.are_english or (measures and not looks.is_summary)
    if listing and len(columns) <= COLUMNS_IN_WORDS and not result.truncated:
        headings = map(_put_unit_in_brackets, columns, looks.formats)
        return f"{labels.say('rows', len(result.rows))}: {labels.join([*headings])}."
    if not listing and names and max(len(names), len(measures)) <= _NAMES_IN_WORDS:
        text = labels.join(names)
        text = f"{labels.join(measures)} by {text}" if measures else text
    elif not result.truncated:
        return ""
    else:
        more_count = len(columns) - _NAMES_IN_WORDS
        columns[_NAMES_IN_WORDS:] = [labels.say("more_columns", more_count)] if more_count > 0 else []
        text = labels.join(columns)
    count = "" if result.truncated else f", {labels.say('rows', len(result.rows))}"
    return f"{capitalize(text)}{count}."


def _put_unit_in_brackets(name: str, form: ColumnFormat) -> str:
    """Return a column's name with the unit of its numbers in brackets, as in `fee (EUR)`."""
    return f"{name} ({form.measure})" if form.measure and find_measure(name.split()[-1]) != form.measure else name


def format_row_count(result: PlainResult, labels: Labels) -> str:
    """Return the number of rows as a sentence."""
    return f"{labels.say('rows', result.row_count)}."


def format_answer_cost(answer: AnswerRecord, labels: Labels) -> str:
    """Return the cost of an answer as text: queries, model requests and seconds."""
    count, failures = len(answer.attempts), sum(attempt.error is not None for attempt in answer.attempts)
    queries = labels.say("queries", count) if count else ""
    if failures:
        queries = labels.say("one_failed" if count == 1 else "some_failed", queries=queries, failed=failures)
    model = labels.say("no_model") if answer.translator == "offline" else ""
    if calls := answer.usage.llm_calls:
        model = labels.say("model_requests", calls)
    return ", ".join(filter(None, (queries, model, f"{labels.number(answer.usage.seconds, 1)} s")))


WITHHELD = "The rows are shown only to the person who asked, because they contain data that must not leave."
"""Stands for the words of a result that are made for the person alone; see `delivery`."""


def dump_estimate(estimate: Estimate | None) -> dict[str, int | None] | None:
    """Return the estimated cost of a query as plain values: rows and bytes."""
    return None if estimate is None else {"rows": estimate.rows, "bytes": estimate.bytes}


def phrase_answer(result: PlainResult, looks: ColumnDisplay, literals: Sequence[SearchedLiteral] = ()) -> str:
    """Return the text for a result; if nothing came out, name the values that no row has."""
    if result.withheld:
        return WITHHELD
    labels = looks.labels
    causes, others = list[str](), list[str]()
    for literal in [each for each in literals if each.absent][:ROWS_IN_WORDS]:
        condition = literal.describe_condition(humanize_name(literal.column))
        fact = labels.say("no_row_has", table=humanize_name(literal.table), condition=condition)
        (causes if literal.needed and not result.rows else others).append(fact)
    if causes:
        told = labels.say("no_rows_because", why=f" {labels.say('and')} ".join(causes))
    else:
        told = phrase_result_or_count(result, looks)
    return " ".join([told, *(f"{capitalize(fact)}." for fact in others)])


def phrase_result_or_count(result: PlainResult, looks: ColumnDisplay) -> str:
    """Return a result as a sentence; if that fails, return the number of rows."""
    return call_with_fallback("phrasing", lambda: phrase_result(result, looks), format_row_count(result, looks.labels))


@with_fallback("phrasing", None)
def analyze_sql(sql: str | None, database: Database) -> Query | None:
    """Return the analysis of an answer's query; None if there is no query or it cannot be read."""
    return read_query(sql or "", database.schema())


def build_display(
    query: Query | None, result: PlainResult, locale: str = "", definitions: Mapping[str, str] | None = None
) -> ColumnDisplay:
    """Return the headings and formats of a query's columns; `definitions` explain measures."""
    labels = Labels(locale)

    def name_column(heading: ColumnHeading, column: str, form: ColumnFormat) -> ColumnHeading:
        plain_name = humanize_name(column)
        if heading.counted and heading.words == f"number of {heading.counted}":
            return replace(heading, words=labels.say("number_of", things=heading.counted))
        if heading.words != plain_name:  # the meaning of an expression, in English
            told = labels.translate(heading.words)
            # Its other words are those of names.
            is_told = {*told.split()} & {*heading.words.split()} <= {*re.findall(r"\w+", plain_name)}
            return replace(heading, words=told if labels.are_english or is_told else plain_name)
        words = [word for word in plain_name.split() if find_measure(word) != form.measure]
        short = " ".join(words) if form.measure and " " not in column else ""
        return replace(heading, words=short) if short and short.replace(" ", "_") not in result.columns else heading

    def make_display() -> ColumnDisplay:
        formats = choose_column_formats(query, result.columns, result.rows, definitions, locale)
        names = map(name_column, headings(query, result.columns), result.columns, formats)
        is_summary = query is None or bool(query.find(exp.Group, exp.AggFunc))
        is_ordered = query is not None and bool(query.order)
        is_limited = is_ordered and query and query.limit and query.limit.name == str(result.row_count)
        return ColumnDisplay(tuple(names), formats, is_ordered, locale, is_summary, bool(is_limited))

    plain = (ColumnFormat(locale=locale),) * len(result.columns)
    return call_with_fallback(
        "headings", make_display, ColumnDisplay(tuple(map(ColumnHeading, result.columns)), plain, locale=locale)
    )


@with_fallback("phrasing", "")
def summarize_answer(answer: AnswerRecord) -> str:
    """Summarize an answer in one line for later turns: the columns and the first row."""
    columns = ", ".join(answer.columns)
    if not answer.rows:
        return f"no rows of {columns}"
    first = ", ".join("NULL" if cell is None else cut(cell, TEXT_CHARACTERS) for cell in answer.rows[0])
    return f"{len(answer.rows)}{'+' if answer.truncated else ''} rows of {columns}; first: {first}"


@with_fallback("phrasing", "")
def explain_query(query: Query | None) -> str:
    """Explain a query in plain words; return '' without a query, or if parsing fails."""
    try:
        return explain(query) if query else ""
    except SQLParseError:
        return ""


def put_result(record: AnswerRecord, result: PlainResult, looks: ColumnDisplay) -> AnswerRecord:
    """Return a record with the rows of a result, and how they are displayed."""
    return replace(
        record,
        columns=result.columns,
        rows=result.rows,
        row_count=result.row_count,
        truncated=result.truncated,
        withheld=result.withheld,
        headings=looks.words,
        formats=looks.formats,
    )


def describe_other_query(record: AnswerRecord, query: Query | None, looks: ColumnDisplay) -> AnswerRecord:
    """Return a record of another query's basis in place of its own; its rows are not counted."""
    basis = None
    with suppress(SQLParseError):
        basis = build_query_basis(query, record.question, origin="edited", labels=looks.labels) if query else None
    return replace(record, basis=basis, readings=Readings(), ledger=None)


@with_fallback("phrasing", ())
def list_remarks(result: PlainResult, labels: Labels) -> tuple[Note, ...]:
    """Return remarks on a result's rows, such as that some are missing; none if withheld."""
    cuts = (Note(labels.say("only_first", result.row_count), "cut"),) if result.truncated else ()
    return () if result.withheld else (*map(Note, result.notes), *cuts)


def _format_value(cell: PlainCell, form: ColumnFormat) -> str:
    return Labels(form.locale).say("no_value") if cell is None else cut(format_cell(cell, form), TEXT_CHARACTERS)


def capitalize(words: str) -> str:
    """Return words with a capital letter at the beginning."""
    return words[:1].upper() + words[1:]


def cut(cell: object, most: int) -> str:
    """Return a cell as text, shortened to a maximum length."""
    text = str(cell)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def number_choices(choices: Sequence[str]) -> list[str]:
    """Return the choices, each with a number in front."""
    return [f"{number}. {choice}" for number, choice in enumerate(choices, 1)]


def format_rows_shown(shown_count: int, count: int, truncated: bool, labels: Labels) -> str:
    """Return a text such as `20 of 300 rows`; '' if all rows are shown."""
    numbers = {"shown": labels.number(shown_count), "count": labels.number(count)}
    return "" if count <= shown_count else labels.say("rows_shown_or_more" if truncated else "rows_shown", **numbers)
