"""A query's traits: the few choices of form in which drafts for one question differ."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from sqlglot import exp

from ..sql.query import Query
from ..sql.untrusted import analysis_or

Traits = Mapping[str, str]
"""Trait to value, `{"outputs": "2", "order": "desc+limit", ...}`."""

_NONE = "none"
_MOST = 4
"""Output columns and tables are told apart up to here."""

_ODD = (exp.Case, exp.Cast, exp.Window, exp.Coalesce, exp.Substring)
"""What is written to make a result look nice, and hardly ever asked for."""


@lru_cache(maxsize=512)
@analysis_or(None)
def traits(sql: str, dialect: str = "sqlite") -> Traits | None:
    """Return the traits of a query, written in a dialect by sqlglot's name; None if it cannot be parsed."""
    tree = Query.of(sql, dialect).tree
    first = _first_select(tree)
    if first is None:
        return None
    return {
        "outputs": _outputs(first),
        "aggregates": _aggregates(first),
        "tables": str(min(len(list(tree.find_all(exp.Table))), _MOST)),
        "outer_join": _yes(any((join.side or "") != "" for join in tree.find_all(exp.Join))),
        "order": _order(tree),
        "inner_order": _yes(any(s.args.get("order") for s in tree.find_all(exp.Select) if s is not tree)),
        "group": _has(tree, exp.Group),
        "having": _has(tree, exp.Having),
        "compound": type(tree).__name__.lower() if isinstance(tree, exp.SetOperation) else _NONE,
        "nested": _nested(tree),
        "count_distinct": _yes(any(isinstance(count.this, exp.Distinct) for count in tree.find_all(exp.Count))),
        "like": _has(tree, exp.Like, exp.ILike),
        "or": _has(tree, exp.Or),
        "between": _has(tree, exp.Between),
        "above": ">=" if tree.find(exp.GTE) else ">" if tree.find(exp.GT) else _NONE,
        "below": "<=" if tree.find(exp.LTE) else "<" if tree.find(exp.LT) else _NONE,
        "null": _has(tree, exp.Is),
        "odd": _has(tree, *_ODD),
        "with": _has(tree, exp.With),
    }


def followed(sql: str | None, dialect: str = "sqlite") -> frozenset[str]:
    """What the turn before leads to expect, as words beside the question's: the traits of its query."""
    found = traits(sql, dialect) if sql else None
    return frozenset(f"~{trait}={value}" for trait, value in (found or {}).items())


def _first_select(tree: exp.Expr) -> exp.Select | None:
    """The SELECT that names the output columns."""
    node: exp.Expr | None = tree
    while isinstance(node, exp.SetOperation | exp.Subquery):
        node = node.this
    return node if isinstance(node, exp.Select) else None


def _outputs(select: exp.Select) -> str:
    if any(item.is_star and not isinstance(item.unalias(), exp.Count) for item in select.expressions):
        return "*"
    return str(min(len(select.expressions), _MOST))


def _aggregates(select: exp.Select) -> str:
    """The aggregate functions among the output columns."""
    outputs = [item.unalias() for item in select.expressions]
    kinds = {
        type(item).__name__.lower() if isinstance(item, exp.AggFunc) else "expression"
        for item in outputs
        if item.find(exp.AggFunc)
    }
    return ",".join(sorted(kinds)) or _NONE


def _order(tree: exp.Expr) -> str:
    order = tree.args.get("order")
    if order is None:
        return _NONE
    direction = "desc" if order.expressions[0].args.get("desc") else "asc"
    return f"{direction}+limit" if tree.args.get("limit") else direction


def _nested(tree: exp.Expr) -> str:
    """How a query stands within the query."""
    if any(isinstance(negated.this, exp.In) and negated.this.args.get("query") for negated in tree.find_all(exp.Not)):
        return "not in"
    if any(found.args.get("query") for found in tree.find_all(exp.In)):
        return "in"
    parents = [type(query.parent) for query in tree.find_all(exp.Subquery)]
    if exp.EQ in parents:
        return "equals"
    if any(parent in (exp.GT, exp.LT, exp.GTE, exp.LTE) for parent in parents):
        return "compared"
    if tree.find(exp.Exists):
        return "exists"
    several = not isinstance(tree, exp.SetOperation) and len(list(tree.find_all(exp.Select))) > 1
    return "other" if several else _NONE


def _has(tree: exp.Expr, *kinds: type[exp.Expr]) -> str:
    return _yes(tree.find(*kinds) is not None)


def _yes(found: bool) -> str:
    return "yes" if found else "no"
