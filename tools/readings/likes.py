"""Which of two columns of like names a question means: the customer's country, or the store's."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from sqlglot import exp

from ..database.schema import ColumnSchema, ForeignKey, TableSchema
from ..sql.explain.phrases import plain_name
from ..sql.scope import Scope, Source
from ..stemming import singular
from ..values.schema_words import name_stems
from ..values.text_words import stem
from .query import Query, Rival, column_of, folded, parts, rows_of

_KINDS = tuple(
    frozenset({word}) for word in ("country", "city", "region", "province", "district", "county", "currency", "price")
)
"""What two tables both have and a question may mean of either."""

_ASIDE = frozenset(map(stem, ("code", "name", "id", "unit", "the")))


@dataclass(frozen=True)
class _Other:
    """A like-named column, and the reference by which its table is reached; None where the query reads the table."""

    table: TableSchema
    column: ColumnSchema
    source: Source | None = None
    key: ForeignKey | None = None


def likes(query: Query) -> Iterator[Rival]:
    """The query by a like-named column of another table: one that it reads, or that its rows refer to."""
    for scope in query.scopes:
        facts = rows_of(query, scope)
        if facts is None or facts.table is None:
            continue
        done: set[str] = set()
        for reference, source, column in query.references(scope):
            kind = _kind(column)
            if not kind or column.name in done or reference.clause not in ("where", "group", "select", "order"):
                continue
            done.add(column.name)
            if source.table is None or _is_named(query, source, column, facts):
                continue
            others = _others(query, scope, facts, source, column, kind)
            if others:
                yield _by(query, scope, facts, source, column, min(others, key=partial(_distance, column)))


def _kind(column: ColumnSchema) -> str:
    own = parts(column.name)
    return next((word for kind in _KINDS for word in kind if word in own), "")


def _is_named(query: Query, source: Source, column: ColumnSchema, facts: Source) -> bool:
    """Whether the question names the column's table, or words of the column's that tell it from others."""
    table = source.table
    assert table is not None
    kind = _kind(column)
    telling = [part for part in name_stems(column.name) if part != stem(kind) and part not in _ASIDE]
    if any(part in query.said.stems for part in telling):
        return True
    if source is facts:
        return not telling
    return any(part in query.said.stems for part in name_stems(table.name) if part != stem(kind))


def _others(query: Query, scope: Scope, facts: Source, source: Source, column: ColumnSchema, kind: str) -> list[_Other]:
    assert facts.table is not None
    assert source.table is not None
    found = [
        _Other(held.table, named, held)
        for held in scope.sources
        if held is not source and held.table is not None and held.table.name != source.table.name
        for named in held.table.columns
        if _alike(named, column, kind) and (held.table.name, named.name) not in query.used
    ]
    read = {held.table.name for held in scope.sources if held.table is not None}
    for key in query.schema.foreign_keys:
        other = query.schema.table(key.ref_table)
        if key.table != facts.table.name or len(key.columns) != 1 or other is None or other.name in read:
            continue
        found += [_Other(other, named, None, key) for named in other.columns if _alike(named, column, kind)]
    return found


def _alike(one: ColumnSchema, other: ColumnSchema, kind: str) -> bool:
    return kind in parts(one.name) and one.kind == other.kind and _coded(one) == _coded(other)


def _distance(column: ColumnSchema, other: _Other) -> float:
    """How unlike two columns are in what they hold, by how many different values they have."""
    return abs(math.log((column.distinct or 1) / (other.column.distinct or 1)))


def _coded(column: ColumnSchema) -> bool:
    return not parts(column.name).isdisjoint({"code", "id"})


def _by(query: Query, scope: Scope, facts: Source, source: Source, column: ColumnSchema, other: _Other) -> Rival:
    copy = query.copy()
    alias = other.source.node.alias_or_name if other.source is not None else _free(scope, other.table)
    if other.key is not None:
        on = exp.EQ(
            this=column_of(facts, other.key.columns[0]),
            expression=exp.column(other.key.ref_columns[0], table=alias, quoted=True),
        )
        joined = exp.alias_(exp.table_(other.table.name, quoted=True), alias, table=True, quoted=True)
        copy.of(scope.select).join(joined, on=on, join_type="left", copy=False)
    for reference, held, named in query.references(scope):
        if held is source and named is column:
            copy.of(reference.node).replace(exp.column(other.column.name, table=alias, quoted=True))
    for source_node in _unqualified(query, scope):
        node = copy.of(source_node[0])
        node.set("table", exp.to_identifier(source_node[1].node.alias_or_name, quoted=True))
    return Rival("like", f"by {_said(other.table, other.column)}", f"by {_said(source.table, column)}", copy.sql)


def _unqualified(query: Query, scope: Scope) -> Iterator[tuple[exp.Column, Source]]:
    """Columns written without their table, which a further table could make ambiguous."""
    for reference, source, _ in query.references(scope):
        if not reference.node.table and not source.using:
            yield reference.node, source


def _free(scope: Scope, table: TableSchema) -> str:
    taken = {folded(source) for source in scope.sources}
    name = "the_" + "_".join(sorted(parts(table.name)))
    return name if name not in taken else f"{name}_2"


def _said(table: TableSchema | None, column: ColumnSchema) -> str:
    name = plain_name(column.name).removesuffix(" code").removesuffix(" id")
    return f"the {name} of the {singular(plain_name(table.name)) if table is not None else ''}".rstrip()
