"""Output columns against what was asked: what the question's wording makes likely, and no more."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from ..conditions import base_column
from ..findings import Asked, Finding
from ..name_stems import name_stems, stem
from ..scope import Resolution, Scope

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
        *_extra_count(question, top, resolution),
        *_average(question, tree, resolution),
        *_listed(question, top, resolution),
    ]


def _first_select(resolution: Resolution) -> Scope:
    """The SELECT that names the output columns: the first that is in no other and in no WITH."""
    outer = (scope for scope in resolution.scopes if scope.select.find_ancestor(exp.Select, exp.CTE) is None)
    return next(outer, resolution.scopes[0])


def _number(question: str, top: Scope, resolution: Resolution) -> Iterator[Finding]:
    outputs = [item.unalias().unnest() for item in top.select.expressions]
    if not _ASKS_NUMBER.match(question) or any(_may_be_number(item, resolution) for item in outputs):
        return
    message = "The question asks how many, but the query returns no number."
    yield Finding("output_columns", "warning", message, _shown(top, resolution), "select count(*)", proof=True)


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
    yield Finding("output_columns", "warning", message, "", "use avg(...)", proof=True)


def _listed(question: str, top: Scope, resolution: Resolution) -> Iterator[Finding]:
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
        yield Finding(
            "output_columns",
            "warning",
            message,
            _shown(top, resolution),
            f"select {len(items)} columns",
            proof=len(outputs) < len(items),
        )


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
