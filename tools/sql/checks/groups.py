"""Doubts about aggregates: columns beside them that are of no particular row, and sums over text."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ..conditions import base_column, conjuncts, is_aggregate, join_conditions
from ..dialects import Rules
from ..findings import Finding
from ..keywords import fold
from ..lookup import key_of
from ..scope import Reference, Resolution, Scope

_Key = tuple[int, str]
"""A source's identity and a folded column name."""


def group_findings(resolution: Resolution) -> list[Finding]:
    """Bare columns beside aggregates, and aggregates of columns that hold the wrong kind of thing."""
    found = list(bare_columns(resolution))
    for scope in resolution.scopes if resolution.rules.loose_types else ():
        for node in scope.select.find_all(exp.Sum, exp.Avg):
            found += _text_aggregate(node, resolution)
    return found


def bare_columns(resolution: Resolution) -> Iterator[Finding]:
    """Columns that are neither grouped by nor aggregated: errors where the engine refuses them, else doubts."""
    rules = resolution.rules
    for scope in resolution.scopes:
        group = scope.select.args.get("group")
        if not rules.loose_groups and any(item.find(exp.Anonymous) for item in scope.select.expressions):
            continue  # an aggregate function that sqlglot does not know, perhaps
        if rules.is_sqlite and extreme_of(scope) is not None:
            continue  # SQLite documents that such columns are of the row with the minimum or maximum
        for reference in bare_references(scope, resolution, rules):
            place = resolution.text(reference.node)
            if not rules.loose_groups:
                message = f"{place} is neither grouped by nor aggregated, which {rules.engine} refuses."
                yield Finding("bare_column", "error", message, place, f"add {place} to GROUP BY, or aggregate it")
            elif group is None:
                message = f"{place} stands beside an aggregate without GROUP BY: it is of an arbitrary row."
                yield Finding(
                    "bare_column", "warning", message, place, f"add GROUP BY {place}, or leave it out", proof=True
                )
            else:
                message = f"{place} is neither grouped by nor aggregated: within a group it is of an arbitrary row."
                yield Finding("bare_column", "info", message, place, f"add {place} to GROUP BY, or aggregate it")


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


def extreme_of(scope: Scope) -> exp.Expr | None:
    """The MIN or MAX that is a SELECT's only aggregate."""
    aggregates = _aggregates(scope)
    return aggregates[0] if len(aggregates) == 1 and isinstance(aggregates[0], exp.Min | exp.Max) else None


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


def _text_aggregate(node: exp.Expr, resolution: Resolution) -> Iterator[Finding]:
    found = base_column(node.this, resolution)
    if found is None or found[1].kind != "text" or not found[1].type:
        return
    if any(isinstance(sample, int | float) or _numeric(sample) for sample in found[1].samples):
        return
    place = resolution.text(node)
    message = f"{place} adds up a column that is declared {found[1].type}; text that is no number counts as 0."
    yield Finding("type_mismatch", "info" if not found[1].samples else "warning", message, place)


def _numeric(sample: object) -> bool:
    try:
        float(str(sample).replace(",", ""))
    except ValueError:
        return False
    return True


def _is_window(node: exp.Expr) -> bool:
    return isinstance(node.parent, exp.Window) or isinstance(node.parent and node.parent.parent, exp.Window)


def _key(reference: Reference) -> _Key:
    return id(reference.source), fold(reference.column)
