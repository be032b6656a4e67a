"""What patterns for conditions share: their grammar, their connecting words, dates and numbers."""

from __future__ import annotations

import re

from .frame import Column, Condition, Frame, Scalar, Term
from .reading import Grammar, Reading

FILTERS = Grammar()
IS = (
    r"(?: is| are| was| were| of| that| #who| value| values| be| in| has| have| equal| to| =| being| falls| lies|"
    r" named| called| either| or| by| year| number| code| no| #o=| from| as| for| on| ,| @t\d+)*"
)
CUT = r"(?:(?:with|have|has|having|had|whose|#who|where|and|is|are|was|were|of|in|by) )*"
_FLIPPED = {">": "<", ">=": "<=", "<": ">", "<=": ">="}


def add_condition(
    reading: Reading, term: Term, operator: str, value: Scalar | tuple[Scalar, Scalar] | Frame | None
) -> str:
    """Adds a condition on rows or, for an aggregate, on groups; gives back what takes the words' place."""
    if term.aggregate:
        reading.having.append(Condition(term, operator, value))  # type: ignore[arg-type]
        reading.per_subject = True
    else:
        return stands(reading, Condition(term, operator, value))  # type: ignore[arg-type]
    return ""


def stands(reading: Reading, *conditions: Condition) -> str:
    """Adds conditions of which one must hold, and leaves a marker of where they stood."""
    reading.where.append(conditions)
    return f"@w{len(reading.where) - 1}"


def literal_number(reading: Reading, marker: str) -> Scalar:
    """The literal behind a marker."""
    literal = reading.mark(marker).literal
    assert literal is not None
    return literal


def is_year(reading: Reading, value: Scalar) -> bool:
    """Whether a number is likely a year."""
    return isinstance(value, int) and 1500 <= value <= 2100


def compare_dated(reading: Reading, column: Column, operator: str, value: Scalar) -> str:
    """A comparison of a column with a number, where the column may hold dates and the number be a year."""
    schema = reading.names.column(column)
    if is_year(reading, value) and (schema.kind == "time" or _holds_dates(schema.samples)):
        if operator == "=":
            return add_condition(
                reading, Term(column), "like", f"%{value}%" if not _iso(schema.samples) else f"{value}%"
            )
        if operator in (">", "<="):
            return add_condition(reading, Term(column), {">": ">=", "<=": "<"}[operator], f"{int(value) + 1}")
        return add_condition(reading, Term(column), operator, str(value))
    if schema.kind == "text" and not isinstance(value, str):
        value = str(value) if operator == "=" else value
    return add_condition(reading, Term(column), operator, value)


def _holds_dates(samples: tuple[object, ...]) -> bool:
    return any(isinstance(s, str) and re.search(r"\d{4}[-/]|[-/]\d{4}|, \d{4}", s) for s in samples)


def _iso(samples: tuple[object, ...]) -> bool:
    return any(isinstance(s, str) and re.match(r"\d{4}-", s) for s in samples)


def comparison_of(reading: Reading, text: str, column: Column | None = None) -> str:
    """The operator among some words; an older person has the smaller birth date."""
    found = re.search(r"@o\d+", text)
    if found is None:
        return "="
    mark = reading.mark(found.group())
    if column is not None and "birth" in mark.hints and "birth" in column.name.lower():
        return _FLIPPED.get(mark.operator, mark.operator)
    return mark.operator
