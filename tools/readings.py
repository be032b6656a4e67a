"""Other readings of a question, as queries: their results, and ties with the last row."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from .database.rendering.text import one_line
from .database.table import Cell, PlainCell
from .formats import PLAIN_NUMBER, ColumnFormat, format_cell
from .labels import Labels
from .results import label_cells, same_result
from .sql.parse import return_default_if_unparsable
from .sql.query import Query

Rows = Sequence[Sequence[Cell]] | Sequence[Sequence[PlainCell]]

_ROUND = ((1e9, "billions"), (1e6, "millions"))
_TEXT = 40
_WORDS = 120
_EXCLUDES = re.compile(r"(?:without|excluding|ohne)\b", re.IGNORECASE)  # how a reading begins that says it all


Matter = Literal["meaning", "ties", "left_out", "net", "date", "like", "count", "missing", "zeros"]
"""What a question can leave open.

- `meaning`: what else its words can mean, as the writer of the query says.
- `ties`: what shares the last place that LIMIT lets through.

The others stand in answers of earlier versions alone.
"""


@dataclass(frozen=True)
class AlternativeReading:
    """Another interpretation of a question, with the query for that interpretation."""

    matter: Matter
    words: str  # how it reads the question: `by booking date`
    assumed: str  # how the query reads it; empty if that is not known
    sql: str
    outputs: int = 0  # columns of its result that answer the question; further ones say where ties are
    limit: int = 0  # for ties, the rows that the query lets through; 0 for all


@dataclass(frozen=True)
class Agreement:
    """The number of alternative readings that ran, and of those with the same result."""

    ran: int = 0
    same: int = 0


@dataclass(frozen=True)
class Outcome(AlternativeReading):
    """An alternative reading of a question, with the difference of the results in words."""

    says: str = ""  # in a few words; empty where it is the same

    @property
    def has_same_result(self) -> bool:
        """Whether the alternative reading gives the same result as the query."""
        return not self.says


@dataclass(frozen=True)
class ReadingResult:
    """The rows of a reading, for comparison with another reading."""

    rows: Rows
    truncated: bool = False
    formats: Sequence[ColumnFormat] = ()  # of its columns, where they are known


def compare_readings(
    rival: AlternativeReading, base: ReadingResult, other: ReadingResult, ordered: bool, locale: str = ""
) -> Outcome | None:
    """Compare the results of a query and an alternative; return None if not comparable."""
    if rival.matter == "ties":
        return _count_ties(rival, other, Labels(locale))
    # Nobody means what finds nothing.
    nothing = all(cell in (None, 0) for row in other.rows for cell in row)
    if base.truncated or other.truncated or nothing:
        return None
    if same_result(base.rows, other.rows, ordered=ordered):
        difference = ""
    else:
        difference = _describe_row_difference(base, other.rows, Labels(locale))
    return Outcome(**vars(rival), says=difference)


def _count_ties(rival: AlternativeReading, other: ReadingResult, labels: Labels) -> Outcome:
    keys = [tuple(row[rival.outputs :]) for row in other.rows[rival.limit - 1 :]]
    more = next((number for number, key in enumerate(keys) if key != keys[0]), len(keys)) - 1
    if more < 1:
        return Outcome(**vars(rival))
    # Where all that was looked at is tied, more may be.
    is_cut = more == FURTHER or (other.truncated and more == len(keys) - 1)
    says = labels.say("at_least_more" if is_cut else "more", more)
    return Outcome(**vars(replace(rival, words=_say_place(rival.limit, more, labels))), says=says)


def _say_place(limit: int, more: int, labels: Labels) -> str:
    return labels.say("sharing_last" if limit > 1 else "sharing_first", more)


def _describe_row_difference(result: ReadingResult, other: Rows, labels: Labels) -> str:
    base, forms = result.rows, result.formats
    if len(other) == 1 and len(other[0]) == 1:
        before = base[0][0] if len(base) == 1 and len(base[0]) == 1 else None
        return format_short_cell(other[0][0], before, labels.locale, forms[0] if len(forms) == 1 else None)
    if not other:
        return labels.say("without_rows")
    if len(base) == len(other) == 1 and len(base[0]) == len(other[0]):
        cells = zip(base[0], other[0], forms or (None,) * len(base[0]), strict=True)
        changes = (format_short_cell(cell, old, labels.locale, form) for old, cell, form in cells if cell != old)
        return ", ".join(changes)
    cells = label_cells(cell for rows in (base, other) for row in rows for cell in row)
    old = Counter(tuple(cells[cell] for cell in row) for row in base)
    new = Counter(tuple(cells[cell] for cell in row) for row in other)
    additions, losses, before = (new - old).total(), (old - new).total(), labels.number(len(base))
    if not losses or not additions:
        return labels.say("rows_fewer" if losses else "rows_more", losses or additions)
    if len(base) == len(other):
        return labels.say("rows_all_differ" if losses == len(base) else "rows_differ", losses, before=before)
    return labels.say("rows_instead", len(other), before=before)


def format_short_cell(cell: Cell, other: Cell = None, locale: str = "", form: ColumnFormat | None = None) -> str:
    """Format a value in few characters, but different from the value `other`."""
    if cell is None:
        return Labels(locale).say("nothing")
    if form is not None and form.kind in ("key", "year"):
        return format_cell(cell, form, locale)
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return one_line(" ".join(str(cell).split()), _TEXT)
    short_text = _format_short_number(cell, locale)
    looks_same = isinstance(other, int | float) and _format_short_number(other, locale) == short_text and other != cell
    return f"{cell:,}" if looks_same else short_text


def _format_short_number(number: float, locale: str) -> str:
    for size, unit in _ROUND:
        if abs(number) >= size:
            return Labels(locale).say(unit, number=format_cell(number / size, ColumnFormat("number", 1), locale))
    if isinstance(number, int) or number.is_integer():
        return format_cell(int(number), PLAIN_NUMBER, locale)
    if abs(number) >= 1_000:
        return format_cell(round(number), PLAIN_NUMBER, locale)
    return format_cell(number, ColumnFormat("number", 2), locale) if abs(number) >= 1 else f"{number:.3g}"


def summarize_outcomes(outcomes: Sequence[Outcome], locale: str = "") -> str:
    """Return one line of text about the outcomes that differ; empty if none differs."""
    line = "; ".join(_format_outcome(outcome, Labels(locale)) for outcome in outcomes if not outcome.has_same_result)
    return f"{line[:1].upper()}{line[1:]}." if line else ""


def _format_outcome(outcome: Outcome, labels: Labels) -> str:
    words = " ".join(outcome.words.split())[:_WORDS]
    if words == labels.say("another_reading") or (outcome.matter == "meaning" and _EXCLUDES.match(words)):
        return f"{words}: {outcome.says}"
    if outcome.matter == "meaning":
        return labels.say("read_otherwise", words=words, says=outcome.says)
    return f"{outcome.says} {outcome.words}"


# What shares the last place

FURTHER = 50
"""Rows after the last place that are looked at for ties."""

_LONGEST = 4_000  # characters of a query
_MOST_TIED = 200
"""Rows that a query may let through for its ties to be looked at."""


def has_unique_order(query: Query) -> bool:
    """Whether ORDER BY allows no ties, because it has a table's key or all that GROUP BY has."""
    scope = query.find_scope(query.tree)
    if scope is None:
        return False
    terms = [query.resolve_order_or_group_term(term.this, scope) for term in query.order]
    if scope.select.args.get("group") is not None:
        groups = query.resolve_group_by_terms(scope)
        return groups is not None and all(group in terms for group in groups)
    columns = map(query.column, terms) if len(scope.sources) == 1 else ()
    return any(column is not None and column.is_primary_key for column in columns)


@return_default_if_unparsable(None)
def make_tie_reading(query: Query, locale: str = "") -> AlternativeReading | None:
    """Return a reading that also shows rows tied with the last one; None without possible ties."""
    if len(query.sql) > _LONGEST:
        return None
    tree, count, scope = query.tree, query.limit, query.find_scope(query.tree)
    if scope is None or query.offset is not None or tree.args.get("distinct"):
        return None
    if not query.order or not isinstance(count, exp.Literal) or not count.is_int or int(count.name) > _MOST_TIED:
        return None
    options = count.parent and count.parent.args.get("limit_options")
    if options and (options.args.get("with_ties") or options.args.get("percent")):
        return None
    if tree.is_star or has_unique_order(query):
        return None
    keys = [query.resolve_order_or_group_term(term.this, scope) for term in query.order]
    limit = int(count.name)
    if limit == 1 and all(output.unalias() in keys for output in tree.expressions):
        return None  # the greatest value is one, however many have it
    edit = query.edit()
    for number, key in enumerate(keys):
        edit.of(scope.select).append("expressions", exp.alias_(key, f"tie_{number}", quoted=True))
    edit.of(count).replace(exp.Literal.number(limit + FURTHER))
    return AlternativeReading(
        "ties",
        _say_place(limit, 0, Labels(locale)),
        Labels(locale).say("ties_left_out"),
        edit.sql,
        len(tree.expressions),
        limit,
    )
