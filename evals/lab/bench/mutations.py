"""Revisions that a careless model makes of a good query: a part left out, or turned round."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from ....tools.errors import SQLParseError
from ....tools.sql import parse_select
from ...datasets import Dataset

_TURNED: Mapping[type[exp.Expr], type[exp.Binary]] = {
    exp.GT: exp.LT,
    exp.LT: exp.GT,
    exp.GTE: exp.LTE,
    exp.LTE: exp.GTE,
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
}


def mutate_drafts(asked: Dataset, drafts: Mapping[str, str], mutation: str) -> dict[str, str]:
    """Return each question's draft with a mutation."""
    return {question.id: mutate(drafts[question.id], mutation) for question in asked.questions}


def swap_drafts(asked: Dataset, drafts: Mapping[str, str]) -> dict[str, str]:
    """Return for each question another one's draft of the same database."""
    found: dict[str, str] = {}
    for question in asked.questions:
        same = [drafts[other.id] for other in asked.questions if other.database == question.database]
        own = drafts[question.id]
        # Neighbours often ask the same: half-way round the list.
        start = (same.index(own) + len(same) // 2) % len(same)
        found[question.id] = next((sql for sql in same[start:] + same[:start] if sql != own), own)
    return found


def mutate(sql: str, mutation: str) -> str:
    """Return the query with a mutation of `MUTATIONS`; as it is if that changes nothing or it cannot be parsed."""
    try:
        tree = parse_select(sql)
    except SQLParseError:
        return sql
    before = tree.sql("sqlite")
    after = MUTATIONS[mutation](tree).sql("sqlite")
    return sql if after == before else after


def _without_column(tree: exp.Expr) -> exp.Expr:
    for select in _outer(tree):
        if len(select.expressions) > 1:
            select.expressions[-1].pop()
    return tree


def _without_condition(tree: exp.Expr) -> exp.Expr:
    """The last condition of WHERE, the whole clause where it is the only one."""
    for select in _outer(tree):
        where = select.args.get("where")
        if where is not None and isinstance(where.this, exp.And):
            where.set("this", where.this.this)
        elif where is not None:
            where.pop()
    return tree


def _without_having(tree: exp.Expr) -> exp.Expr:
    for having in list(tree.find_all(exp.Having)):
        having.pop()
    return tree


def _without_distinct(tree: exp.Expr) -> exp.Expr:
    for distinct in list(tree.find_all(exp.Distinct)):
        if isinstance(distinct.parent, exp.Count):
            distinct.replace(distinct.expressions[0])
        else:
            distinct.pop()
    return tree


def _without_limit(tree: exp.Expr) -> exp.Expr:
    for clause in ("order", "limit"):
        tree.set(clause, None)
    return tree


def _turned_comparisons(tree: exp.Expr) -> exp.Expr:
    for node in list(tree.find_all(*_TURNED)):
        if node.find_ancestor(exp.Join, exp.Select, exp.Subquery).__class__ is exp.Join:
            continue
        node.replace(_TURNED[type(node)](this=node.this, expression=node.expression))
    return tree


def _turned_order(tree: exp.Expr) -> exp.Expr:
    for order in tree.find_all(exp.Ordered):
        down = not order.args.get("desc")
        order.set("desc", down)
        order.set("nulls_first", not down)
    return tree


def _without_negation(tree: exp.Expr) -> exp.Expr:
    def positive(node: exp.Expr) -> exp.Expr:
        return node.this if isinstance(node, exp.Not | exp.Except) else node

    return tree.transform(positive)


def _outer(tree: exp.Expr) -> list[exp.Select]:
    """The SELECTs whose rows are the result: one, or a compound's."""
    nested = (exp.Subquery, exp.In, exp.Exists, exp.CTE)
    return [select for select in tree.find_all(exp.Select) if select.find_ancestor(*nested) is None]


MUTATIONS: Mapping[str, Callable[[exp.Expr], exp.Expr]] = {
    "without_column": _without_column,
    "without_condition": _without_condition,
    "without_having": _without_having,
    "without_distinct": _without_distinct,
    "without_limit": _without_limit,
    "without_negation": _without_negation,
    "turned_comparisons": _turned_comparisons,
    "turned_order": _turned_order,
}
"""By name, what makes of a tree another one; the tree itself may change."""
