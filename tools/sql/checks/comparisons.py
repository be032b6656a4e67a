"""Comparisons with a number that a question states: turned round in the query, or left out of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sqlglot import exp

from ..conditions import base_column, literal
from ..findings import Finding
from ..name_stems import name_stems, stem
from ..scope import Resolution
from .words import conditions, is_flat, is_standing, reads_tables, turns

_WORDS = {word: str(value) for value, word in enumerate("one two three four five six seven eight nine ten".split(), 1)}  # noqa: SIM905
_N = rf"(?P<n>\d+(?:\.\d+)?(?![,.]?\d)|{'|'.join(_WORDS)})\b"

_PHRASES: Mapping[str, re.Pattern[str]] = {
    "more": re.compile(
        rf"\b(?:(?:more|greater|higher|larger|longer|older|bigger|heavier|later|over|above|exceeds?|exceeding|after)"
        rf"(?: than)?(?: the)?(?: year| age)?|at least|(?=\d+ or (?:more|higher|greater|above|over)\b)) ?{_N}"
    ),
    "less": re.compile(
        rf"\b(?:(?:less|fewer|smaller|lower|shorter|younger|lighter|earlier|below|under|before)"
        rf"(?: than)?(?: the)?(?: year| age)?|at most|up to|(?=\d+ or (?:less|fewer|lower|below|under)\b)) ?{_N}"
    ),
    "equal": re.compile(rf"\bexactly {_N}"),
}
_TURNED: Mapping[str, tuple[type[exp.Expr], ...]] = {
    "more": (exp.LT, exp.LTE),
    "less": (exp.GT, exp.GTE),
    "equal": (exp.NEQ,),
}
_FLIPPED: Mapping[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.NEQ: exp.NEQ,
}

_NEGATION = re.compile(r"\b(?:not?|never|none|neither|nor|without|except|only|all|every)\b|n't\b")
"""Words after which the opposite comparison may be right."""

_ELSEWHERE = re.compile(r"^(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would)\b|[.;:!?] ")
"""Before a number that need be in no condition: what is answered by yes or no, or has a sentence of its own for it."""

_BETWEEN = re.compile(r"\bbetween\b|\bfrom\b.*\bto\b")


def comparison_findings(question: str, tree: exp.Expr, resolution: Resolution) -> Iterator[Finding]:
    """`more than 5` where the query has `< 5`, or no condition at all.

    Args:
        question: In lower case, one blank between words.
        tree: The query.
        resolution: Its names.
    """
    yield from _unequal(question, tree, resolution)
    asked = [
        (how, _WORDS.get(found["n"], found["n"]))
        for how, words in _PHRASES.items()
        for found in words.finditer(question)
    ]
    if len({how for how, _ in asked}) != 1 or _BETWEEN.search(question):
        return
    how, numbers = asked[0][0], {number for _, number in asked}
    plain = not turns(question) and is_flat(tree) and reads_tables(resolution)
    # At least one is what a join leaves.
    if (
        plain
        and len(asked) == 1
        and numbers.isdisjoint({"0", "1"})
        and _picks_nothing(tree)
        and not _ELSEWHERE.search(question)
    ):
        message = f"The question names a number, {asked[0][1]}, but the query has no condition."
        yield Finding("question_contradicted", "warning", message, "", "add the condition", proof=True)
        return
    if _NEGATION.search(question) or tree.find(exp.Not, exp.Except, exp.Case) is not None:
        return
    compared = [found for node in tree.find_all(*_FLIPPED, exp.EQ) for found in _with_number(node, numbers)]
    for node, operator, number in compared:
        if operator not in _TURNED[how]:
            continue
        place = resolution.text(node)
        what = f"{how} than {number}" if how != "equal" else f"exactly {number}"
        message = f"The question asks for {what}, but the query has {place}."
        certain = (
            plain
            and len(compared) == 1
            and any(node is part for part in conditions(tree))
            and not _may_be_bound(node, resolution)
        )
        yield Finding("question_contradicted", "warning", message, place, "turn the comparison round", certain)


def _unequal(question: str, tree: exp.Expr, resolution: Resolution) -> Iterator[Finding]:
    """`called Ann` where the query has `<> 'Ann'`; not where the column is shown, which may be of Ann's rivals."""
    if turns(question) or not (is_flat(tree) and reads_tables(resolution)):
        return
    shown = {column.name.lower() for item in tree.expressions for column in item.find_all(exp.Column)}
    for node in conditions(tree):
        column = base_column(node.this, resolution) if isinstance(node, exp.NEQ) else None
        if (
            column is None
            or column[1].name.lower() in shown
            or not isinstance(node.expression, exp.Literal | exp.Column)
        ):
            continue
        if literal(node.expression, resolution) is None or not node.expression.name.strip():
            continue
        text = re.escape(node.expression.name.strip().lower())
        said = rf"[\"'“‘]{text}[\"'”’]|\b(?:is|are|was|were|named|called|titled|equals?) (?:the |an? )?{text}(?!\w)"
        before = re.search(rf"(\w+) {text}(?![\w.,]\d|\w)", question)
        if re.search(said, question) or (before and stem(before[1]) in name_stems(column[1].name)):
            place = resolution.text(node)
            message = f"The question speaks of {node.expression.name!r}, but the query has {place}."
            yield Finding("question_contradicted", "warning", message, place, "look for the value itself", proof=True)


def _with_number(node: exp.Expr, numbers: set[str]) -> Iterator[tuple[exp.Expr, type[exp.Expr], str]]:
    """The comparison with one of the numbers, as it reads with the number on its right."""
    for side, other in (("this", "expression"), ("expression", "this")):
        number = node.args[side].unnest()
        if isinstance(number, exp.Literal) and number.name in numbers and not node.args[other].find(exp.Literal):
            operator = type(node) if side == "expression" else _FLIPPED.get(type(node), type(node))
            yield node, operator, number.name


def _may_be_bound(node: exp.Expr, resolution: Resolution) -> bool:
    """Whether what is compared is a rank, a date or a bound, or no column of numbers at all."""
    column = next(node.find_all(exp.Column), None)
    if node.find(exp.Count) is not None:
        return False
    found = base_column(column, resolution) if column is not None else None
    return found is None or found[1].kind != "number" or is_standing(node)


def _picks_nothing(tree: exp.Expr) -> bool:
    """Whether a query leaves out no row by any condition, limit or constant."""
    clauses = ("where", "having", "limit", "offset")
    return all(tree.args.get(clause) is None for clause in clauses) and tree.find(exp.Literal, exp.Boolean) is None
