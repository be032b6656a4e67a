"""Contradictions between a query and its question: the wrong sort order, or no ranking."""

from __future__ import annotations

import re

from sqlglot import exp

from ..errors import SQLParseError
from ..words import NUMBER_WORDS
from .query import Query
from .texts import read_in_any_dialect

_HIGHEST = re.compile(r"(?<!\bat )\b(?:most(?! recent| of\b)|highest|largest|biggest|greatest|maximum)\b", re.I)
_LOWEST = re.compile(r"(?<!\bat )\b(?:least|lowest|fewest|smallest|cheapest|minimum)\b", re.I)
_UPWARDS = re.compile(
    r"\b(?:ascending|asc|lowest|least|fewest|smallest|earliest|oldest|shortest|longest|cheapest|youngest|alphabetical(?:ly)?)\b"
    r"|\b(?:rank|position|place)",
    re.I,
)
_DESCENDING = re.compile(r"\bdescending\b|\bdesc\b|\b(?:from )?(?:high(?:est)?|larg(?:e|est)) to (?:low|small)", re.I)
_DOWNWARDS = re.compile(
    rf"{_HIGHEST.pattern}|{_DESCENDING.pattern}|\b(?:most|latest|newest|best|recent|youngest|last)\b", re.I
)
_COUNT = rf"(?:\d+|{'|'.join(NUMBER_WORDS)})"
_ORDER = re.compile(r"\border\s+by\b", re.I)
_TOP = re.compile(rf"\btop {_COUNT}\b", re.I)

_SUPERLATIVE = re.compile(
    r"(?<!\bat )\b(?:most|least|top \w+|highest|lowest|largest|smallest|biggest|oldest|youngest|newest|latest|earliest"
    r"|longest|shortest|cheapest|best|worst|maximum|minimum)\b(?!\s+(?:of the time|likely))",
    re.I,
)


def find_contradiction(question: str, sql: str) -> str:
    """Return why the SQL contradicts the words of the question; empty if nothing is wrong."""
    if not any(cue.search(question) for cue in (_HIGHEST, _LOWEST, _DESCENDING, _TOP)) or not _ORDER.search(sql):
        return ""  # most questions, whose SQL need not be read
    try:
        query = read_in_any_dialect(sql)
    except SQLParseError:
        return ""
    if query.order and query.limit is not None and query.offset is None:
        down = any(map(_is_descending, query.order))
        if not down and _HIGHEST.search(question) and not _UPWARDS.search(question):
            return "the question asks for the most, and the SQL takes the least"
        if down and _LOWEST.search(question) and not _DOWNWARDS.search(question):
            return "the question asks for the least, and the SQL takes the most"
    terms = [term for order in query.find(exp.Order) for term in order.expressions]
    if not terms or any(map(_is_descending, terms)) or _UPWARDS.search(question):
        return ""
    if _DESCENDING.search(question):
        return "the question asks for descending order, and the SQL orders the other way"
    if _TOP.search(question):
        return "the question asks for the top ones, and the SQL orders from the lowest up"
    return ""


def _is_descending(term: exp.Expr) -> bool:
    return bool(term.args.get("desc")) or isinstance(term.this, exp.Neg)


def find_missing_rank(question: str, query: Query) -> str:
    """Return a superlative of the question if the query ranks nothing; else empty.

    Where a column is called so ("the highest position"), it may be what the question means.
    """
    superlatives = [match[0] for match in _SUPERLATIVE.finditer(question)]
    names = " ".join(column.name.lower() for column in query.find(exp.Column))
    is_column_name = any(superlative[:3].lower() in names for superlative in superlatives)
    return "" if is_column_name or query.ranks_rows else next(iter(superlatives), "")
