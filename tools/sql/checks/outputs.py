"""Output columns against what was asked: what the question's wording makes likely, and no more."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot import exp

from ..conditions import base_column, literal
from ..findings import Asked, Finding
from ..name_stems import name_stems, stem
from ..scope import Resolution, Scope
from .words import conditions, reads_tables, turns

_ASKS_NUMBER = re.compile(
    r"^(?:how many|(?:count|find|give|show|return|tell me|what is|what's)(?: me)?(?: the)?(?: total)? number of)\b"
)
_QUANTITY = re.compile(
    r"\b(?:how (?:many|much|often|long)|numbers?|counts?|totals?|amounts?|averages?|means?|sums?|frequency|times"
    r"|percentage|statistics)\b"
)
_MORE = re.compile(r"\b(?:and|along with|together with|as well as|also|including|how many|each|per|every)\b")
"""Words after the list of things asked for that may ask for more."""

_AVERAGE = re.compile(r"\baverages?\b|\b(?:the|a|an|what|their|its) mean\b(?! that)")
"""Asked for as a number; `what do you mean` asks for none."""

_ASKS_FIGURE = re.compile(
    r"^(?:please )?(?:how many\b|(?:what (?:is|was)|what's|count|show|find|give|return|calculate|compute|tell)"
    r"(?: me| us)? (?:the )?(?:(?:average|mean) |(?:total )?numbers? of (?!the\b|an?\b)))"
)
_AND_NUMBER = re.compile(r"\b(?:and|along with|together with) (?:the (?:total )?number of (?!the\b|an?\b)|how many\b)")

_ASKS_MORE = re.compile(r"\band (?:what|which|who|where|when|list|show|give|name|tell)\b|[?.;] \w")
"""Asks for something beside the number."""

_HEAD = re.compile(
    r"^(?:please )?(?:what (?:is|are|were|was)|show|list|give|find|return|display|tell)(?: me| us| out)? "
    r"(?:both )?(?:all )?(?:the )?(?P<items>[a-z][a-z '-]*?(?:, [a-z '-]+?)*,? and (?:the )?[a-z '-]+?) "
    r"(?:of|for|from|in|that|which|who|whose|with|where|when|on|at|having)\b"
)
_FILLER = frozenset(
    "the a an all both their its his her each every different distinct unique corresponding".split()  # noqa: SIM905
)
_PREPOSITIONS = frozenset({"of", "for", "in", "on", "by", "with", "per", "from", "at"})


def output_findings(asked: Asked, tree: exp.Expr, resolution: Resolution) -> list[Finding]:
    """Findings about the output columns.

    Args:
        asked: The question.
        tree: The query.
        resolution: Its names.
    """
    if not resolution.scopes:
        return []
    question = " ".join(asked.question.lower().split())
    top = _first_select(resolution)
    return [
        *_number(question, top, resolution),
        *_left_out_number(question, top, resolution),
        *_extra_count(question, top, resolution),
        *_average(question, tree, resolution),
        *_listed(question, top, tree, resolution),
    ]


def _first_select(resolution: Resolution) -> Scope:
    """The SELECT that names the output columns: the first that is in no other and in no WITH."""
    outer = (scope for scope in resolution.scopes if scope.select.find_ancestor(exp.Select, exp.CTE) is None)
    return next(outer, resolution.scopes[0])


def _number(question: str, top: Scope, resolution: Resolution) -> Iterator[Finding]:
    outputs = [item.unalias().unnest() for item in top.select.expressions]
    if not _ASKS_NUMBER.match(question) or any(_may_be_number(item, resolution) for item in outputs):
        return
    message, place = "The question asks how many, but the query returns no number.", _shown(top, resolution)
    certain = _surely_no_number(question, outputs, resolution)
    yield Finding("output_columns", "warning", message, place, "select count(*)", certain)


def _left_out_number(question: str, top: Scope, resolution: Resolution) -> Iterator[Finding]:
    """`the teams and the number of members of each` where the query gives names alone."""
    if _AND_NUMBER.search(question) is None or turns(question) or not reads_tables(resolution):
        return
    if any(top.select.args.get(clause) is not None for clause in ("having", "order", "limit", "where")):
        return
    outputs = [item.unalias().unnest() for item in top.select.expressions]
    if all(_holds_no_number(item, resolution) for item in outputs):
        message, place = "The question also asks for a number, but the query returns none.", _shown(top, resolution)
        yield Finding("output_columns", "warning", message, place, "add count(*)", proof=True)


def _holds_no_number(item: exp.Expr, resolution: Resolution) -> bool:
    """Whether an output is a column of texts of which those known have no digit."""
    column = base_column(item, resolution)
    samples = "".join(map(str, column[1].samples)) if column is not None else ""
    return column is not None and column[1].kind == "text" and bool(samples) and not any(map(str.isdigit, samples))


def _surely_no_number(question: str, outputs: Sequence[exp.Expr], resolution: Resolution) -> bool:
    """Whether a number alone is asked for, and each output is a key or a column of texts without digits.

    A column that the question names may hold what is asked for in words, as a grade does.
    """
    if not _ASKS_FIGURE.match(question) or _ASKS_MORE.search(question) or not reads_tables(resolution):
        return False
    words = set(_stems(re.sub(r"[^a-z ]", " ", question)))
    for item in outputs:
        column = base_column(item, resolution)
        if column is None or not (column[1].primary_key or _holds_no_number(item, resolution)):
            return False
        if column[1].kind == "text" and column[1].primary_key and not _holds_no_number(item, resolution):
            return False
        if words & set(name_stems(column[1].name)) and not question.startswith("how many "):
            return False
    return True


def _may_be_number(item: exp.Expr, resolution: Resolution) -> bool:
    column = base_column(item, resolution)
    if column is None:
        return not isinstance(item, exp.Star | exp.Literal)
    return column[1].kind == "number" and not (column[1].primary_key or column[1].likely_key)


def _extra_count(question: str, top: Scope, resolution: Resolution) -> Iterator[Finding]:
    outputs = top.select.expressions
    counts = [item for item in outputs if isinstance(item.unalias(), exp.Count)]
    if not counts or len(counts) == len(outputs) or _QUANTITY.search(question):
        return
    place = resolution.text(counts[0].unalias())
    message = f"The query also returns {place}, which the question does not ask for."
    yield Finding("output_columns", "warning", message, place, f"leave {place} out of the SELECT list")


def _average(question: str, tree: exp.Expr, resolution: Resolution) -> Iterator[Finding]:
    if not _AVERAGE.search(question) or tree.find(exp.Avg) is not None:
        return
    columns = {word for reference in resolution.references for word in name_stems(reference.column)}
    if columns & {"averag", "avg", "mean"} or (tree.find(exp.Sum) and tree.find(exp.Div)):
        return
    message = "The question speaks of an average, but the query computes none."
    outputs = [item.unalias().unnest() for item in _first_select(resolution).select.expressions]
    certain = _surely_no_number(question, outputs, resolution)
    yield Finding("output_columns", "warning", message, "", "use avg(...)", certain)


def _listed(question: str, top: Scope, tree: exp.Expr, resolution: Resolution) -> Iterator[Finding]:
    """`What are the name and age of ...`: as many columns as things listed, where each thing is a column's name."""
    head = _HEAD.match(question)
    if head is None:
        return
    items = [_stems(item) for item in re.split(r", and |, | and ", head["items"])]
    columns = {name_stems(name) for scope in resolution.scopes for name in _column_names(scope)}
    if not all(item and any(_names(item, column) for column in columns) for item in items):
        return
    outputs = top.select.expressions
    if any(item.is_star for item in outputs):
        message = f"The question asks for {len(items)} things by name, but the query returns all columns."
        yield Finding("output_columns", "info", message, _shown(top, resolution), "select the columns by name")
    elif len(outputs) < len(items) or (len(outputs) > len(items) and not _MORE.search(question[head.end("items") :])):
        # Columns beside those asked for may be there to tell the rows apart.
        number = f"{len(outputs)} column{'s' if len(outputs) > 1 else ''}"
        message = f"The question asks for {head['items']}, but the query returns {number}."
        certain = len(outputs) < len(items) and _surely_left_out(question, items, outputs, tree, resolution)
        yield Finding(
            "output_columns", "warning", message, _shown(top, resolution), f"select {len(items)} columns", certain
        )


def _surely_left_out(
    question: str,
    items: Sequence[tuple[str, ...]],
    outputs: Sequence[exp.Expr],
    tree: exp.Expr,
    resolution: Resolution,
) -> bool:
    """Whether each output is a plain column that is asked for, and another thing asked for is neither read nor fixed.

    One column may hold two things, as an address or a full name does, an expression may join them, and what the
    question itself tells need not be shown again.
    """
    found = [base_column(item.unalias(), resolution) for item in outputs]
    named = [name_stems(column[1].name) for column in found if column is not None]
    if len(named) < len(outputs) or not all(any(_names(item, column) for item in items) for column in named):
        return False
    if turns(question) or not reads_tables(resolution):
        return False
    fixed = [
        name_stems(column.name)
        for part in conditions(tree)
        if isinstance(part, exp.EQ) and literal(part.expression, resolution) is not None
        for column in part.find_all(exp.Column)
    ]
    return any(not any(_names(item, column) for column in (*named, *fixed)) for item in items)


def _stems(words: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in words.replace("-", " ").split() if word not in _FILLER)


def _names(item: tuple[str, ...], column: tuple[str, ...]) -> bool:
    """Whether the words of a listed thing name a column: its last word does, and the others are not at odds."""
    if _PREPOSITIONS & set(item):
        return False
    return item[-1] in column and (len(item) == 1 or set(item) >= set(column) or set(item) <= set(column))


def _column_names(scope: Scope) -> Iterator[str]:
    for source in scope.sources:
        yield from (source.columns or {}).values()


def _shown(top: Scope, resolution: Resolution) -> str:
    return ", ".join(resolution.text(item) for item in top.select.expressions)[:200]
