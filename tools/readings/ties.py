"""What shares the last place that LIMIT lets through."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ..sql.conditions import base_column, limit_count
from .query import Query, Rival

FURTHER = 50
"""Rows after the last place that are looked at."""

_LONGEST = 200


def ties(query: Query) -> Iterator[Rival]:
    """The query with more rows, and what they are ordered by beside them."""
    tree = query.tree
    if not isinstance(tree, exp.Select) or tree.args.get("offset") is not None or tree.args.get("distinct"):
        return
    order, count = tree.args.get("order"), limit_count(tree)
    if order is None or not isinstance(count, exp.Literal) or not count.is_int or int(count.name) > _LONGEST:
        return
    if tree.is_star or query.said.has("any") or _is_unique(query, order):
        return
    copy, scope = query.copy(), query.resolution.scopes[0]
    select, keys = copy.of(tree), list[exp.Expr]()
    for term in order.expressions:
        node = term.this.unnest()
        if isinstance(node, exp.Literal) and node.is_int and 0 < int(node.name) <= len(tree.expressions):
            node = tree.expressions[int(node.name) - 1].unalias()
        elif isinstance(node, exp.Column) and not node.table and node.name.lower() in scope.aliases:
            reference = query.resolution.at(node)
            node = scope.aliases[node.name.lower()] if reference is None or reference.kind == "alias" else node
        keys.append(node.copy())
    for number, key in enumerate(keys):
        select.append("expressions", exp.alias_(key, f"tie_{number}", quoted=True))
    limit = int(count.name)
    copy.of(count).replace(exp.Literal.number(limit + FURTHER))
    words = "with those that share the last place" if limit > 1 else "with those that share the first place"
    yield Rival("ties", words, "what ties with the last one shown is left out", copy.sql, len(tree.expressions), limit)


def _is_unique(query: Query, order: exp.Expr) -> bool:
    """Whether rows cannot tie, as they are ordered by a table's key."""
    scope = query.resolution.scopes[0]
    if len(scope.sources) != 1 or scope.select.args.get("group") is not None:
        return False
    for term in order.expressions:
        found = base_column(term.this, query.resolution)
        table = scope.sources[0].table
        if found is not None and table is not None and table.primary_key == (found[1].name,):
            return True
    return False
