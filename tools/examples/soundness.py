"""What is wrong with an example: shown to a model, a pair whose SQL does not do what its question says is copied."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace

from sqlglot import exp

from ..errors import SQLParseError
from ..sql import Query
from ..words import listed_words
from .compact_schema import read_compact
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
_TOP = re.compile(r"\btop (?:\d+|two|three|four|five|six|seven|eight|nine|ten)\b", re.I)
_ORDER = re.compile(r"\border\s+by\b", re.I)
_DOWN = re.compile(r"\bdesc\b|\border\s+by\s+-", re.I)

_ASKED = r"\b(?:which|what|who|whose|find|show|list|name|give)\b.*"
_EXTREME = r"fewest|highest|lowest|largest|smallest"
_SUPERLATIVE = re.compile(
    rf"{_ASKED}\b(?:has|have|had|with|by|is|are|was|were)\s+(?:\w+\s+)?the\s+"
    rf"(?:most|least|{_EXTREME}|greatest|longest|shortest|oldest|youngest|cheapest)\b"
    rf"|^{_ASKED}\bthe (?:(?:\d+|one|two|three|four|five|ten) )?"
    rf"(?:(?:most|least) (?!of\b|common\b|one\b|recent\b)|(?:{_EXTREME}|cheapest)\b)",
    re.I | re.S,
)
_EITHER_WAY = re.compile(
    r"rank|pos|place|order|level|grade|class|priority|date|time|year|age|birth|most|high|larg|great|big|max|least|low|small"
    r"|few|min|top|best|worst",
    re.I,
)
"""In a column's name: its smallest value may be the highest, as first place is, or it may say what it holds."""

_SORTED = re.compile(r"\b(?:order|sort|rank|arrange|ascending|descending|alphabetical)|\bfrom\b.*\bto\b|\btop\b", re.I)
_EACH = re.compile(r"\b(?:for|of|in|by|from|at|on) (?:each|every)\b(?! other)", re.I)
_MASKED = re.compile(
    r"\[?\b(?:MASK|VALUE|UNK)\b\]?|<\s*(?:mask|value|unk|literal)\s*>|\[(?:mask|value|unk|literal)\]|_{2,}"
)
_MASKED_TEXTS = listed_words("? _ [mask] <mask> mask terminal value [value] <value> <unk>")
_MAKES_ONE = (exp.Max, exp.Min, exp.Limit, exp.Fetch, exp.Window, exp.Subquery, exp.Exists, exp.All)


def contradiction(question: str, sql: str) -> str:
    """Say why a query cannot answer a question, as their words and its order tell; empty if nothing is wrong."""
    if not _ORDER.search(sql):
        return ""
    if _turned_round(question, sql):
        return "the question asks for the most or the least, and the SQL puts the opposite first"
    if _DOWN.search(sql) or _UPWARDS.search(question):
        return ""
    if _DESCENDING.search(question):
        return "the question asks for descending order, and the SQL orders the other way"
    if _TOP.search(question):
        return "the question asks for the top ones, and the SQL orders from the lowest up"
    return ""


def mended(example: Example) -> Example:
    """Return the example with its texts in single quotes: in double ones they are names but in SQLite and MySQL.

    What may be a name stays as it is: what is no side of a comparison, and what the example's schema has as a column.
    """
    if (tree := _tree(example.sql)) is None:
        return example
    columns = {column.name.lower() for table in read_compact(example.schema).tables for column in table.columns}
    sql = Query.of(example.sql, "sqlite").sql
    found = [node for node in tree.find_all(exp.Column) if _is_quoted_text(node) and node.name.lower() not in columns]
    for node in sorted(found, key=lambda node: -node.this.meta["start"]):
        start, end = node.this.meta["start"], node.this.meta["end"]
        if sql[start] == '"' == sql[end]:
            sql = sql[:start] + exp.Literal.string(node.name).sql("sqlite") + sql[end + 1 :]
    return replace(example, sql=sql) if found else example


def _is_quoted_text(node: exp.Column) -> bool:
    """Whether a word in double quotes is what something is compared with."""
    compared = isinstance(node.parent, exp.Predicate) and node.arg_key in ("expression", "expressions", "low", "high")
    return compared and not node.table and bool(node.this.args.get("quoted"))


def fault(question: str, sql: str) -> str:
    """Say why an example would teach wrong, of its words and the form of its SQL; empty if nothing does."""
    if (tree := _tree(sql)) is None:
        return ""
    texts = (literal.name.strip().lower() for literal in tree.find_all(exp.Literal) if literal.is_string)
    if _MASKED.search(question) or not _MASKED_TEXTS.isdisjoint(texts):
        return "a value is masked: it stands for nothing that the question says"
    if wrong := contradiction(question, sql):
        return wrong
    if _SUPERLATIVE.search(question) and not _SORTED.search(question) and not _picks(tree, question):
        return "the question asks for the one with the most or the least, and the SQL does not pick it"
    counts = any(each.find(exp.Count, exp.Sum, exp.Avg) for each in tree.expressions)
    groups = tree.args.get("group") or tree.args.get("distinct") or tree.find(exp.Window, exp.Subquery)
    if counts and not groups and isinstance(tree, exp.Select) and _EACH.search(question):
        return "the question counts for each, and the SQL has no GROUP BY"
    return ""


def _picks(tree: exp.Expr, question: str) -> bool:
    """Whether something in the SQL picks the first: a limit, a largest or smallest, a comparison with all others.

    Where a column is called so ("the highest position"), it may be what the question means.
    """
    words = set(re.findall(r"\w+est\b|\bmost\b", question.lower()))
    named = any(word in column.name.lower() for column in tree.find_all(exp.Column) for word in words)
    return named or tree.find(*_MAKES_ONE) is not None


def _turned_round(question: str, sql: str) -> bool:
    """Whether the first of an order is kept, and that is the least where the most is asked for, or the reverse."""
    most = _HIGHEST.search(question) and not _UPWARDS.search(question)
    least = _LOWEST.search(question) and not _DOWNWARDS.search(question)
    tree = _tree(sql) if most or least else None
    order = tree.args.get("order") if tree is not None and tree.args.get("limit") else None
    if order is None or len(order.expressions) != 1:
        return False
    term = order.expressions[0]
    key = term.this.unnest()
    if not isinstance(key, exp.Column | exp.Count | exp.Sum | exp.Avg | exp.Max | exp.Min):
        return False
    # A number or a sum of something is the highest where it is largest, whatever that is called.
    counts = isinstance(key, exp.Count | exp.Sum)
    named = any(_EITHER_WAY.search(column.name) for column in key.find_all(exp.Column))
    return (counts or not named) and bool(term.args.get("desc")) != bool(most)


def _tree(sql: str) -> exp.Expr | None:
    with suppress(SQLParseError):
        return Query.of(sql, "sqlite").tree
    return None
