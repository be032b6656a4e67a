"""A question's words against the query: a superlative that is missing or turned round, a comparison turned round."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from ..findings import Finding
from ..scope import Resolution

_MOST = re.compile(r"(?<!\bat )\b(?:most|highest|largest|greatest|biggest|maximum)\b(?! of\b)")
_LEAST = re.compile(r"(?<!\bat )\b(?:least|lowest|smallest|fewest|minimum)\b(?! (?:\d|one\b|two\b|three\b))")

_NUMBER = r"(?: than)?(?: the)?(?: year| age)? (\d+(?:\.\d+)?)\b"
_MORE = re.compile(
    r"\b(?:more|greater|higher|larger|longer|older|bigger|over|above|exceeds?|exceeding|after|later)" + _NUMBER
)
_LESS = re.compile(r"\b(?:less|fewer|smaller|lower|shorter|younger|below|under|before|earlier)" + _NUMBER)

_NEGATION = re.compile(r"\b(?:not?|never|none|neither|nor|without|except|only|all|every)\b|n't\b")
"""Words after which the opposite comparison may be right."""

_HELD = re.compile(r"most|high|larg|great|big|max|least|low|small|few|min|top|best|worst|peak", re.IGNORECASE)
"""In a column's name: the superlative may be a value that is stored."""

_RANKS = re.compile(r"rank|pos|place|order|level|grade|class|priority|date|time|year|age|birth", re.IGNORECASE)
"""In a column's name: its smallest value may be the highest, as first place is."""

_PICKS = (exp.Max, exp.Min, exp.Limit, exp.Fetch, exp.Window, exp.Order, exp.All, exp.ArgMax, exp.ArgMin)
"""What may answer a superlative."""


def wording_findings(question: str, tree: exp.Expr, resolution: Resolution) -> Iterator[Finding]:
    """Contradictions that are as good as proved.

    Args:
        question: In lower case, one blank between words.
        tree: The query.
        resolution: Its names.
    """
    yield from _superlative(question, tree, resolution)
    yield from _comparison(question, tree, resolution)


def _superlative(question: str, tree: exp.Expr, resolution: Resolution) -> Iterator[Finding]:
    most, least = _MOST.search(question), _LEAST.search(question)
    asked = most or least
    if asked is None or (most and least):
        return
    if tree.find(*_PICKS) is None:
        columns = [reference.column for reference in resolution.references]
        if columns and not any(map(_HELD.search, columns)):
            message = f"The question asks for the {asked[0]}, but the query picks none out."
            yield Finding("question_contradicted", "warning", message, "", "order the rows and limit them", proof=True)
        return
    order, limited = tree.args.get("order"), tree.args.get("limit") is not None
    if order is None or not limited or len(order.expressions) != 1:
        return
    term = order.expressions[0]
    key = term.this.unnest()
    descending = bool(term.args.get("desc"))
    if descending == bool(most) or not isinstance(key, exp.Column | exp.Count | exp.Sum | exp.Avg | exp.Max | exp.Min):
        return
    if not any(_RANKS.search(column.name) for column in key.find_all(exp.Column)):
        place = resolution.text(term)
        first = "smallest" if most else "largest"
        message = f"The question asks for the {asked[0]}, but {place} puts the {first} first."
        advice = f"order by {resolution.text(term.this)} {'DESC' if most else 'ASC'}"
        yield Finding("question_contradicted", "warning", message, place, advice, proof=True)


def _comparison(question: str, tree: exp.Expr, resolution: Resolution) -> Iterator[Finding]:
    """`more than 5` where the query has `< 5`, unless a negation on either side could account for it."""
    if _NEGATION.search(question) or tree.find(exp.Not, exp.Except, exp.Case) is not None:
        return
    more, less = _MORE.findall(question), _LESS.findall(question)
    if bool(more) == bool(less):
        return
    for node in tree.find_all(*((exp.LT, exp.LTE) if more else (exp.GT, exp.GTE))):
        number = node.expression.unnest()
        if isinstance(number, exp.Literal) and number.name in (more or less):
            place = resolution.text(node)
            what = f"{'more' if more else 'less'} than {number.name}"
            message = f"The question asks for {what}, but the query has {place}."
            yield Finding("question_contradicted", "warning", message, place, "turn the comparison round", proof=True)
