"""Checks of an example's SQL against its question, since a model would copy a mistake; its regular form."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from sqlglot import exp

from ..errors import SQLParseError
from ..sql import Query, regularize
from ..sql.mend import mend_string_quotes
from ..sql.parse import return_default_if_unparsable
from ..sql.texts import read_in_any_dialect
from ..words import NUMBER_WORDS, make_word_set
from .example import Example
from .masking import parse_compact_schema

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
_MASKED = re.compile(
    r"\[?\b(?:MASK|VALUE|UNK)\b\]?|<\s*(?:mask|value|unk|literal)\s*>|\[(?:mask|value|unk|literal)\]|_{2,}"
)
_MASKED_TEXTS = make_word_set("? _ [mask] <mask> mask terminal value [value] <value> <unk>")


def find_contradiction(question: str, sql: str) -> str:
    """Return why the SQL contradicts the words of the question; empty if nothing is wrong."""
    if not any(each.search(question) for each in (_HIGHEST, _LOWEST, _DESCENDING, _TOP)) or not _ORDER.search(sql):
        return ""  # most examples, whose SQL need not be read
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
    terms = [term for order in query.tree.find_all(exp.Order) for term in order.expressions]
    if not terms or any(map(_is_descending, terms)) or _UPWARDS.search(question):
        return ""
    if _DESCENDING.search(question):
        return "the question asks for descending order, and the SQL orders the other way"
    if _TOP.search(question):
        return "the question asks for the top ones, and the SQL orders from the lowest up"
    return ""


def _is_descending(term: exp.Expr) -> bool:
    return bool(term.args.get("desc")) or isinstance(term.this, exp.Neg)


def fix_string_quotes(example: Example) -> Example:
    """Return the example with double-quoted texts in its SQL put in single quotes."""
    tables = parse_compact_schema(example.schema).tables
    columns = {column.name.lower() for table in tables for column in table.columns}
    return replace(example, sql=mend_string_quotes(example.sql, columns))


@return_default_if_unparsable("")
def find_example_fault(question: str, sql: str) -> str:
    """Return why an example would mislead a model; empty if nothing is wrong."""
    if wrong := find_contradiction(question, sql):
        return wrong
    query = Query.of(sql, "sqlite")
    tree = query.tree.unnest()
    texts = (literal.name.strip().lower() for literal in tree.find_all(exp.Literal) if literal.is_string)
    if _MASKED.search(question) or not _MASKED_TEXTS.isdisjoint(texts):
        return "a value is masked: it stands for nothing that the question says"
    if superlative := find_missing_rank(question, query):
        return f"the question asks for {superlative!r}, and the query ranks nothing"
    return ""


def find_missing_rank(question: str, query: Query) -> str:
    """Return the superlative of a question whose query ranks nothing; empty if nothing is missing.

    Where a column is called so ("the highest position"), it may be what the question means.
    """
    superlatives = [match[0] for match in _SUPERLATIVE.finditer(question)]
    names = " ".join(column.name.lower() for column in query.tree.find_all(exp.Column))
    named = any(superlative[:3].lower() in names for superlative in superlatives)
    return "" if named or query.ranks_rows else next(iter(superlatives), "")


@lru_cache(maxsize=1_024)
def regularize_example(example: Example) -> Example:
    """Return the example with its SQL in regular form (CREDIT-SQL 3.2), if it can be parsed."""
    try:
        return replace(example, sql=regularize(example.sql, parse_compact_schema(example.schema)))
    except SQLParseError:
        return example
