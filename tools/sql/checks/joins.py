"""Doubts about joins: tables that nothing connects, and conditions beside the foreign keys."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ...database.schema import ForeignKey, Schema
from ..conditions import base_column, is_aggregate, join_conditions, limit_count, own_references, split
from ..findings import Finding
from ..keywords import fold
from ..scope import Reference, Resolution, Scope, Source
from ..suggest import join_condition, keys_between, one_of, path_between

_SAID_OF_ANYTHING = frozenset({"id", "code", "key", "uid"})
"""Column names whose being the same in two tables means nothing."""


def join_findings(resolution: Resolution, schema: Schema) -> list[Finding]:
    """Cartesian products, and comparisons of columns where a foreign key says otherwise."""
    found: list[Finding] = []
    for scope in resolution.scopes:
        found += _unconnected(scope, resolution, schema)
        found += _beside_keys(scope, resolution, schema)
    return found


def _unconnected(scope: Scope, resolution: Resolution, schema: Schema) -> Iterator[Finding]:
    groups = _connected(scope, resolution)
    if len(groups) < 2:
        return
    first, second = groups[0][0], groups[1][0]
    names = [one_of([_shown(source) for source in group]) for group in groups[:3]]
    message = f"Nothing joins {' with '.join(names)}: every row of one is combined with every row of the other."
    tables = [source.table.name for source in groups[0] if source.table]
    goal = second.table.name if second.table else ""
    path = path_between(schema, tables, goal) if goal and tables else []
    suggestion = f"join ON {' AND '.join(join_condition(key, resolution.rules) for key in path)}" if path else ""
    yield Finding("cartesian_product", "warning", message, f"{_shown(first)}, {_shown(second)}", suggestion)
    between = [key for key in path if len(path) > 1]
    if between:
        missing = sorted({fold(name) for key in between for name in (key.table, key.ref_table)} - _own(scope))
        if missing:
            text = f"The tables are linked only through {one_of(missing)}, which the query does not read."
            yield Finding("missing_join", "warning", text, _shown(second), suggestion)


def _connected(scope: Scope, resolution: Resolution) -> list[list[Source]]:
    """Sources in groups that conditions connect; one-row sub-queries and table functions belong to any group."""
    sources = [source for source in scope.sources if not _joins_freely(source)]
    group = {id(source): index for index, source in enumerate(sources)}

    def unite(members: list[Source]) -> None:
        known = [group[id(source)] for source in members if id(source) in group]
        for key, value in group.items():
            if value in known:
                group[key] = min(known)

    for part in _all_conditions(scope):
        unite([reference.source for reference in own_references(part, scope, resolution) if reference.source])
    for position, source in enumerate(scope.sources):
        if source.using:
            unite([source, *(other for other in scope.sources[:position] if source.using & set(other.columns or ()))])
    members: dict[int, list[Source]] = {}
    for source in sources:
        members.setdefault(group[id(source)], []).append(source)
    return list(members.values())


def _all_conditions(scope: Scope) -> Iterator[exp.Expr]:
    for key in ("where", "having"):
        clause = scope.select.args.get(key)
        if clause is not None:
            yield from split(clause.this)
    for source in scope.sources:
        yield from join_conditions(source)


def _joins_freely(source: Source) -> bool:
    is_function = isinstance(source.node, exp.Table) and not isinstance(source.node.this, exp.Identifier)
    if is_function or isinstance(source.node, exp.UDTF):
        return True
    query = source.query.unnest() if source.query is not None else None
    if isinstance(query, exp.Values):
        return True
    if not isinstance(query, exp.Select):
        return False
    count = limit_count(query)
    if query.args.get("from_") is None or (count is not None and count.name == "1"):
        return True
    return query.args.get("group") is None and any(
        is_aggregate(node) for item in query.expressions for node in item.walk()
    )


def _beside_keys(scope: Scope, resolution: Resolution, schema: Schema) -> Iterator[Finding]:
    for part in _all_conditions(scope):
        if not isinstance(part, exp.EQ):
            continue
        left, right = base_column(part.left, resolution), base_column(part.right, resolution)
        if left is None or right is None or left[0].source is right[0].source:
            continue
        if left[0].owner is not scope or right[0].owner is not scope:
            continue
        one, other = left[0], right[0]
        keys = keys_between(schema, _table(one), _table(other))
        if keys and not _matches_key(one, other, keys, schema):
            message = f"{resolution.text(part)} compares columns that no foreign key links."
            advice = one_of([f"ON {join_condition(key, resolution.rules)}" for key in keys])
            yield Finding("suspicious_join", "warning", message, resolution.text(part), f"join {advice}")


def _matches_key(one: Reference, other: Reference, keys: list[ForeignKey], schema: Schema) -> bool:
    pair = {_end(one), _end(other)}
    for key in keys:
        ends = zip(key.columns, key.ref_columns, strict=True)
        if any({(fold(key.table), fold(a)), (fold(key.ref_table), fold(b))} == pair for a, b in ends):
            return True
    same_name = fold(one.column) == fold(other.column) and fold(one.column) not in _SAID_OF_ANYTHING
    return same_name or bool(_targets(one, schema) & _targets(other, schema))


def _targets(reference: Reference, schema: Schema) -> set[tuple[str, str]]:
    """What a column refers to by a foreign key, itself included."""
    found = {_end(reference)}
    for key in schema.foreign_keys:
        for column, target in zip(key.columns, key.ref_columns, strict=True):
            if (fold(key.table), fold(column)) == _end(reference):
                found.add((fold(key.ref_table), fold(target)))
    return found


def _end(reference: Reference) -> tuple[str, str]:
    return fold(_table(reference)), fold(reference.column)


def _table(reference: Reference) -> str:
    assert reference.source is not None
    assert reference.source.table is not None
    return reference.source.table.name


def _own(scope: Scope) -> set[str]:
    return {source.own for source in scope.sources}


def _shown(source: Source) -> str:
    return source.node.name or source.name or "the sub-query"
