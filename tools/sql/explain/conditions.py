"""Conditions in plain English, negated ones too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from sqlglot import exp

from ..keywords import quote_text
from .phrases import bracketed


class Says(Protocol):
    """Says what conditions compare."""

    def say(self, node: exp.Expr) -> str:
        """An expression as a noun phrase, a condition as a clause."""
        ...

    def all_of(self, nodes: list[exp.Expr], last: str = "and") -> str:
        """A list of expressions."""
        ...

    def text(self, node: exp.Expr) -> str | None:
        """A string's content; None for anything else."""
        ...

    @property
    def query(self) -> Callable[[exp.Expr], str]:
        """Says a sub-query as a noun phrase."""
        ...


_VERBS: dict[type[exp.Expr], tuple[str, str]] = {
    exp.EQ: ("is", "is not"),
    exp.NEQ: ("is not", "is"),
    exp.GT: ("is more than", "is at most"),
    exp.GTE: ("is at least", "is less than"),
    exp.LT: ("is less than", "is at least"),
    exp.LTE: ("is at most", "is more than"),
    exp.NullSafeEQ: ("is the same as", "is not the same as"),
    exp.NullSafeNEQ: ("is not the same as", "is the same as"),
    exp.Is: ("is", "is not"),
    exp.Glob: ("matches the pattern", "does not match the pattern"),
    exp.Match: ("matches the search", "does not match the search"),
    exp.RegexpLike: ("matches the expression", "does not match the expression"),
}
CONDITIONS = (*_VERBS, exp.Connector, exp.Not, exp.Like, exp.ILike, exp.In, exp.Between, exp.Exists, exp.Escape)
"""Kinds of expressions that `condition` says."""


def condition(speaker: Says, node: exp.Expr, negated: bool = False) -> str:
    """A condition as a clause.

    Args:
        speaker: Says what is compared.
        node: The condition, one of `CONDITIONS` or anything else.
        negated: Whether NOT stands before it.
    """
    node = node.unnest()
    if isinstance(node, exp.Not):
        return condition(speaker, node.this, not negated)
    if isinstance(node, exp.Connector) and not negated:
        return _connected(speaker, node)
    if isinstance(node, exp.Exists):
        return f"there is {'no' if negated else 'a'} row among ({speaker.query(node.this)})"
    if isinstance(node, exp.In):
        return _in(speaker, node, negated)
    if isinstance(node, exp.Between):
        bounds = f"{speaker.say(node.args['low'])} and {speaker.say(node.args['high'])}"
        return f"{speaker.say(node.this)} is {'not ' if negated else ''}between {bounds}"
    if isinstance(node, exp.Escape) and isinstance(node.this, exp.Like | exp.ILike):
        pattern = f"{speaker.say(node.this.expression)} with escape {speaker.say(node.expression)}"
        return _pattern(speaker, node.this, pattern, negated)
    if isinstance(node, exp.ILike):
        return f"{_like(speaker, node, negated)}, in any case of its letters"
    if isinstance(node, exp.Like):
        return _like(speaker, node, negated)
    if type(node) in _VERBS:
        return _compared(speaker, node, negated)
    said = speaker.say(node)
    return f"it is not so that {bracketed(said)}" if negated else said


def _connected(speaker: Says, node: exp.Connector) -> str:
    word = " and " if isinstance(node, exp.And) else " or "
    texts: list[str] = []
    for part in node.flatten(unnest=False):
        said = condition(speaker, part)
        texts.append(f"({said})" if isinstance(part.unnest(), exp.Connector) else said)
    return word.join(texts)


def _compared(speaker: Says, node: exp.Expr, negated: bool) -> str:
    left, right = node.this, node.args["expression"]
    verb = _VERBS[type(node)][negated]
    if isinstance(right.unnest(), exp.Null):
        if isinstance(node, exp.Is | exp.NullSafeEQ | exp.NullSafeNEQ):
            return f"{speaker.say(left)} is {'known' if ' not' in verb else 'missing'}"
        return f"{speaker.say(left)} {verb} equal to NULL (which never holds)"
    return f"{speaker.say(left)} {verb} {speaker.say(right)}"


def _in(speaker: Says, node: exp.In, negated: bool) -> str:
    is_ = "is not" if negated else "is"
    left, query = speaker.say(node.this), node.args.get("query")
    if query is not None:
        return f"{left} {is_} among ({speaker.query(query)})"
    if node.args.get("field") is not None:
        return f"{left} {is_} among the rows of {speaker.say(node.args['field'])}"
    return f"{left} {is_} {'one of ' if len(node.expressions) > 1 else ''}{speaker.all_of(node.expressions, 'or')}"


def _like(speaker: Says, node: exp.Like | exp.ILike, negated: bool) -> str:
    negated ^= bool(node.args.get("negate"))
    text = speaker.text(node.expression)
    core = text.strip("%") if text is not None else ""
    if text is None or not core or "%" in core or "_" in core:
        return _pattern(speaker, node, speaker.say(node.expression), negated)
    verbs = {
        (True, True): ("starts and ends with", "does not start and end with"),
        (True, False): ("ends with", "does not end with"),
        (False, True): ("starts with", "does not start with"),
        (False, False): ("is", "is not"),
    }
    verbs[True, True] = ("contains", "does not contain")
    verb = verbs[text.startswith("%"), text.endswith("%")][negated]
    return f"{speaker.say(node.this)} {verb} {quote_text(core)}"


def _pattern(speaker: Says, node: exp.Like | exp.ILike, pattern: str, negated: bool) -> str:
    negated ^= bool(node.args.get("negate")) and isinstance(node.parent, exp.Escape)
    return f"{speaker.say(node.this)} {'does not match' if negated else 'matches'} the pattern {pattern}"
