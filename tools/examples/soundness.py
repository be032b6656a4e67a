"""Checks of an example's SQL against its question, since a model would copy a mistake."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace

from sqlglot import exp

from ..database.schema import Schema
from ..errors import SQLParseError
from ..sql import Query
from ..sql.parse import return_default_if_unparsable
from ..words import NUMBER_WORDS, make_word_set
from .compact_schema import parse_compact_schema
from .example import Example

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
_OTHER_DIALECTS = ("postgres", "mysql", "duckdb")
"""Dialects that SQL may be of that is not read as SQLite's."""

_COUNT = rf"(?:\d+|{'|'.join(NUMBER_WORDS)})"
_ORDER = re.compile(r"\border\s+by\b", re.I)
_TOP = re.compile(rf"\btop {_COUNT}\b", re.I)

_ASKED = r"\b(?:which|what|who|whose|find|show|list|name|give)\b.*"
_EXTREME = r"fewest|highest|lowest|largest|smallest"
_SUPERLATIVE = re.compile(
    rf"{_ASKED}\b(?:has|have|had|with|by|is|are|was|were)\s+(?:\w+\s+)?the\s+"
    rf"(?:most|least|{_EXTREME}|greatest|longest|shortest|oldest|youngest|cheapest)\b"
    rf"|^{_ASKED}\bthe (?:{_COUNT} )?"
    rf"(?:(?:most|least) (?!of\b|common\b|one\b|recent\b)|(?:{_EXTREME}|cheapest)\b)",
    re.I | re.S,
)
_SORTED = re.compile(r"\b(?:order|sort|rank|arrange|ascending|descending|alphabetical)|\bfrom\b.*\bto\b|\btop\b", re.I)
_EACH = re.compile(r"\b(?:for|of|in|by|from|at|on) (?:each|every)\b(?! other)", re.I)
_MASKED = re.compile(
    r"\[?\b(?:MASK|VALUE|UNK)\b\]?|<\s*(?:mask|value|unk|literal)\s*>|\[(?:mask|value|unk|literal)\]|_{2,}"
)
_MASKED_TEXTS = make_word_set("? _ [mask] <mask> mask terminal value [value] <value> <unk>")
_RANKS = (exp.Order, exp.Max, exp.Min, exp.RowNumber, exp.All)
_MAKES_ONE = (exp.Max, exp.Min, exp.Limit, exp.Fetch, exp.Window, exp.Subquery, exp.Exists, exp.All)


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


def read_in_any_dialect(sql: str) -> Query:
    """Return the analysis of an example's SQL, whose engine it does not name; raise `SQLParseError` if unparsable."""
    for dialect in ("sqlite", *_OTHER_DIALECTS):
        with suppress(SQLParseError):
            return Query.of(sql, dialect)
    return Query.of(sql, "sqlite")


def _is_descending(term: exp.Expr) -> bool:
    return bool(term.args.get("desc")) or isinstance(term.this, exp.Neg)


def fix_string_quotes(example: Example) -> Example:
    """Return the example with double-quoted texts in its SQL put in single quotes."""
    try:
        query = Query.of(example.sql, "sqlite")
    except SQLParseError:
        return example
    known = parse_compact_schema(example.schema) if example.schema else Schema("", ())
    columns = {column.name.lower() for table in known.tables for column in table.columns}
    sql = query.sql
    # What a column is compared with; elsewhere a word in double quotes may be a name.
    values = [node for node in query.tree.find_all(exp.Column) if isinstance(node.parent, exp.Predicate)]
    values = [node for node in values if node.arg_key in ("expression", "expressions", "low", "high")]
    for node in sorted(values, key=lambda node: -node.this.meta.get("start", 0)):
        start, end = node.this.meta.get("start", 0), node.this.meta.get("end", 0) + 1
        is_text = node.this.args.get("quoted") and not node.table and node.name.lower() not in columns
        if is_text and sql[start : start + 1] == '"' == sql[end - 1 : end]:
            sql = sql[:start] + exp.Literal.string(node.name).sql("sqlite") + sql[end:]
    return replace(example, sql=sql) if sql != query.sql else example


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
    if _SUPERLATIVE.search(question) and not _SORTED.search(question) and not _selects_extreme_row(query, question):
        return "the question asks for the one with the most or the least, and the SQL does not pick it"
    counts = any(each.find(exp.Count, exp.Sum, exp.Avg) for each in tree.expressions)
    groups = tree.args.get("group") or tree.args.get("distinct") or tree.find(exp.Window, exp.Subquery)
    if counts and not groups and isinstance(tree, exp.Select) and _EACH.search(question):
        return "the question counts for each, and the SQL has no GROUP BY"
    return ""


def _selects_extreme_row(query: Query, question: str) -> bool:
    """Whether the SQL selects an extreme row, by LIMIT, MAX, MIN, a window or a sub-query.

    Where a column is called so ("the highest position"), it may be what the question means.
    """
    words = set(re.findall(r"\w+est\b|\bmost\b", question.lower()))
    named = any(word in column.name.lower() for column in query.tree.find_all(exp.Column) for word in words)
    return named or query.limit is not None or query.tree.unnest().find(*_MAKES_ONE) is not None


def ranks_rows(query: Query) -> bool:
    """Whether the SQL orders or compares rows, such as by ORDER BY, MAX, NOT EXISTS or ALL."""
    absent = (each.parent for each in query.tree.find_all(exp.Exists))
    return query.tree.find(*_RANKS) is not None or any(isinstance(parent, exp.Not) for parent in absent)
