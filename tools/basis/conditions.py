"""Which conditions every row of a result fulfils, and which hold in a part of the query alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from ..sql.conditions import is_aggregate, join_conditions, split
from ..sql.scope import Resolution, Scope, Source


@dataclass(frozen=True)
class Condition:
    """A condition of a query.

    Attributes:
        node: Its expression.
        scope: The SELECT that it belongs to.
        groups: Whether groups, and not rows, must fulfil it.
        partly: Whether rows of the result need not fulfil it.
    """

    node: exp.Expr
    scope: Scope
    groups: bool = False
    partly: bool = False


def own_scopes(tree: exp.Expr, resolution: Resolution) -> list[Scope]:
    """The SELECT that gives the rows, then those that it wholly reads from; none for a UNION and the like."""
    scopes = {id(scope.select): scope for scope in resolution.scopes}
    found: list[Scope] = []
    query: exp.Expr | None = tree
    while query is not None:
        scope = scopes.get(id(query.unnest()))
        if scope is None or scope in found:
            break
        found.append(scope)
        query = scope.sources[0].query if len(scope.sources) == 1 and reads_only_sources(scope) else None
    return found


def reads_only_sources(scope: Scope) -> bool:
    """Whether FROM has nothing but the SELECT's sources: no function that gives rows, no LATERAL."""
    joins = scope.select.args.get("joins") or ()
    return len(scope.sources) == len(joins) + 1 and not scope.select.args.get("laterals")


def conditions_of(tree: exp.Expr, resolution: Resolution) -> list[Condition]:
    """The conditions of a query's SELECTs, those of sub-queries in conditions left out, as they are part of them."""
    own = own_scopes(tree, resolution)
    found: list[Condition] = []
    for scope in resolution.scopes:
        if not _is_in_condition(scope.select):
            found += _of_select(scope, partly=scope not in own)
    return found


def _is_in_condition(node: exp.Expr) -> bool:
    while (parent := node.parent) is not None:
        if isinstance(parent, exp.Where | exp.Having | exp.Qualify):
            return True
        if isinstance(parent, exp.Join) and node.arg_key == "on":
            return True
        node = parent
    return False


def _of_select(scope: Scope, *, partly: bool) -> Iterator[Condition]:
    yield from (Condition(part, scope, False, partly) for part in _clause(scope, "where"))
    for source in scope.sources:
        optional = not _filters(source, scope)
        yield from (Condition(part, scope, False, partly or optional) for part in join_conditions(source))
    yield from (Condition(part, scope, False, partly) for part in _clause(scope, "qualify"))
    yield from (Condition(part, scope, True, partly) for part in _clause(scope, "having"))
    for part in _counted(scope):
        yield Condition(part, scope, False, True)


def _clause(scope: Scope, name: str) -> list[exp.Expr]:
    clause = scope.select.args.get(name)
    return split(clause.this) if clause is not None else []


def _filters(source: Source, scope: Scope) -> bool:
    """Whether the ON that brought a source in holds for every row."""
    joins = [other.join for other in scope.sources if other.join is not None]
    if source.join is None or any(join.side in ("RIGHT", "FULL") for join in joins):
        return False
    return not source.join.side and source.join.kind in ("", "INNER", "CROSS", "STRAIGHT", "SEMI")


def _counted(scope: Scope) -> Iterator[exp.Expr]:
    """The conditions under which aggregates count a row."""
    for node in scope.select.find_all(exp.Filter, exp.Func):
        if node.find_ancestor(exp.Select) is not scope.select:
            continue
        if isinstance(node, exp.Filter):
            yield from split(node.expression.this)
        elif is_aggregate(node) and isinstance(node.this, exp.Expr):
            yield from _within(node.this, scope)


def _within(inner: exp.Expr, scope: Scope) -> Iterator[exp.Expr]:
    """The conditions of CASE and IF in what is counted, or the condition that is itself added up."""
    if isinstance(inner, exp.Predicate | exp.Connector):
        yield inner
    for branch in inner.find_all(exp.If):
        simple = branch.parent.this if isinstance(branch.parent, exp.Case) else None
        if branch.find_ancestor(exp.Select) is scope.select and simple is None:
            yield from split(branch.this)
        elif branch.find_ancestor(exp.Select) is scope.select:
            assert branch.parent is not None
            yield branch.parent
