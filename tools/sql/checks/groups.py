"""Columns beside aggregates that are of no particular row."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ..conditions import conjuncts, is_aggregate, join_conditions
from ..dialects import Rules
from ..keywords import fold
from ..lookup import key_of
from ..scope import Reference, Resolution, Scope

_Key = tuple[int, str]
"""A source's identity and a folded column name."""


def bare_references(scope: Scope, resolution: Resolution, rules: Rules) -> list[Reference]:
    """The columns of a SELECT that are neither grouped by nor aggregated, and that the rules do not let pass."""
    group = scope.select.args.get("group")
    outputs = [item.unalias() for item in scope.select.expressions]
    if group is None and not _aggregates(scope):
        return []
    keys = _group_keys(group, scope, resolution)
    if keys is None:
        return []
    if not rules.loose_groups:
        clauses = (scope.select.args.get(key) for key in ("having", "order"))
        outputs += [clause for clause in clauses if clause is not None]
    fixed = _determined(keys, scope, resolution) if rules.loose_groups else keys
    owners_pass = rules.loose_groups or rules.name == "postgres"
    return [
        reference
        for item in outputs
        for reference in _outside_aggregates(item, scope, resolution)
        if _key(reference) not in fixed and not (owners_pass and _owns_fixed_key(reference, fixed))
    ]


def _aggregates(scope: Scope) -> list[exp.Expr]:
    nodes = (node for item in scope.select.expressions for node in item.unalias().walk())
    return [node for node in nodes if is_aggregate(node) and not _is_window(node)]


def _group_keys(group: exp.Group | None, scope: Scope, resolution: Resolution) -> set[_Key] | None:
    """Columns grouped by; None where an expression is, whose consequences are not followed, or several sets are."""
    keys: set[_Key] = set()
    if group is not None and not group.expressions:
        return None  # GROUP BY ALL, or sets in the older spelling of sqlglot's tree
    for term in group.expressions if group is not None else ():
        node = term.unnest()
        if isinstance(node, exp.Literal) and node.is_int and 0 < int(node.name) <= len(scope.select.expressions):
            node = scope.select.expressions[int(node.name) - 1].unalias()
        reference = resolution.at(node)
        if reference is not None and reference.kind == "alias":
            reference = resolution.at(scope.aliases[key_of(reference.node.this, resolution.rules)].unnest())
        if reference is None or reference.source is None:
            return None
        keys.add(_key(reference))
    return keys


def _determined(keys: set[_Key], scope: Scope, resolution: Resolution) -> set[_Key]:
    """The keys, and columns equal to them by join, or to a constant."""
    fixed = set(keys)
    pairs: list[tuple[_Key, _Key]] = []
    conditions = [*conjuncts(scope), *(part for source in scope.sources for part in join_conditions(source))]
    for part in conditions:
        if not isinstance(part, exp.EQ):
            continue
        left, right = resolution.at(part.left.unnest()), resolution.at(part.right.unnest())
        if left is not None and right is not None and left.source is not None and right.source is not None:
            pairs.append((_key(left), _key(right)))
        elif left is not None and left.source is not None and isinstance(part.right.unnest(), exp.Literal | exp.Column):
            fixed.add(_key(left))
    for source in scope.sources:
        shared = [fold(name) for name in source.using]
        pairs += [((id(source), name), (id(other), name)) for name in shared for other in scope.sources]
    for _ in range(len(pairs)):
        for one, other in pairs:
            if one in fixed or other in fixed:
                fixed |= {one, other}
    return fixed


def _owns_fixed_key(reference: Reference, fixed: set[_Key]) -> bool:
    """Whether the primary key of the column's table is among the fixed columns."""
    source = reference.source
    if source is None or source.table is None:
        return source is None or not source.columns
    key = source.table.key
    return bool(key) and all((id(source), fold(column)) in fixed for column in key)


def _outside_aggregates(item: exp.Expr, scope: Scope, resolution: Resolution) -> Iterator[Reference]:
    stack = [item]
    while stack:
        node = stack.pop()
        if is_aggregate(node) or isinstance(node, exp.Query | exp.Window | exp.Filter):
            continue
        reference = resolution.at(node) if isinstance(node, exp.Column) else None
        if reference is not None and reference.owner is scope and reference.kind in ("column", "rowid"):
            yield reference
        stack.extend(node.iter_expressions())


def _is_window(node: exp.Expr) -> bool:
    return isinstance(node.parent, exp.Window) or isinstance(node.parent and node.parent.parent, exp.Window)


def _key(reference: Reference) -> _Key:
    return id(reference.source), fold(reference.column)
