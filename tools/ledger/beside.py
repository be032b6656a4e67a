"""Other parts of a statement that may have the rows which one of its SELECTs leaves out."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, takewhile

from sqlglot import exp

from ..database.schema import TableSchema
from ..sql.query import Query
from ..sql.scope import Scope

_PARTED = (exp.SetOperation, exp.Subquery)


def is_read_beside(query: Query, scope: Scope, table: TableSchema) -> bool:
    """Whether the rows of a table that a SELECT leaves out may come into the result by another part."""
    joined = Counter(id(source.table) for source in scope.sources if not scope.is_source_optional(source))
    return _is_read_beside(query, scope, _Reading(query, table, joined), is_counted=False)


class _Reading:
    """What reads a table without the joins of the SELECT that leaves out rows of it."""

    def __init__(self, query: Query, table: TableSchema, joined: Counter[int]) -> None:
        self._query, self._table, self._joined = query, table, joined

    def is_in_from(self, scope: Scope, without: exp.Expr | None = None) -> bool:
        """Whether FROM reads the table, but for one of its sub-queries."""
        tables = Counter(id(s.table) for s in scope.sources if s.table is not None and not scope.is_source_optional(s))
        reads = any(source.table is self._table for source in scope.sources) and not self._joined <= tables
        inner = [source.query for source in scope.sources if source.query is not None and source.query is not without]
        return reads or any(map(self.is_in, inner))

    def is_in(self, tree: exp.Expr, without: exp.Expr | None = None) -> bool:
        """Whether a SELECT in an expression reads the table, but for those in a part of it."""
        for select in self._query.find(exp.Select, within=tree) if tree is not without else ():
            around = takewhile(lambda node: node is not tree, self._query.list_enclosing(select))
            is_aside = any(node is without or isinstance(node, exp.CTE) for node in around)
            if not is_aside and (scope := self._query.find_scope(select)) is not None and self.is_in_from(scope):
                return True
        return False


def _is_read_beside(query: Query, inner: Scope, reading: _Reading, *, is_counted: bool) -> bool:
    """Whether a part that takes rows of a SELECT, or that stands beside one that does, reads the table."""
    is_counted = is_counted or bool(query.find_aggregates(inner))
    around = query.list_enclosing(inner.select)[1:]
    nodes = [inner.select, *takewhile(lambda node: isinstance(node, _PARTED), around)]
    for part, union in pairwise(nodes):
        lists_both = isinstance(union, exp.SetOperation) and not isinstance(union, exp.Intersect)
        if lists_both and not is_counted and reading.is_in(union.expression if union.this is part else union.this):
            return True
    ids, outside = {*map(id, nodes)}, around[len(nodes) - 1 :]
    uses = [(reader, source) for reader in query.scopes for source in reader.sources if id(source.query) in ids]
    if any(reader.is_source_optional(source) and reading.is_in_from(reader, source.query) for reader, source in uses):
        return True
    readers = [reader for reader, _ in uses]
    reader = next((scope for scope in map(query.find_scope, outside) if scope is not None), None)
    if reader is not None and not readers and not isinstance(outside[0], exp.CTE):
        if _is_read_beside_condition(query, reader, nodes[-1], reading):
            return True
        readers = [reader]
    return any(_is_read_beside(query, reader, reading, is_counted=is_counted) for reader in readers)


def _is_read_beside_condition(query: Query, scope: Scope, inner: exp.Expr, reading: _Reading) -> bool:
    """Whether a SELECT reads the table beside a sub-query in an expression, and does not need its rows."""
    around = [*takewhile(lambda node: node is not scope.select, query.list_enclosing(inner))]
    needed = {id(part.node) for part in query.conditions(scope) if part.is_required or part.clause == "having"}
    place = next((place for place, node in enumerate(around) if id(node) in needed), None)
    if place is not None and not any(isinstance(node, exp.Not | exp.Or) for node in around[: place + 1]):
        return False
    return reading.is_in(around[-1 if place is None else place], inner) or reading.is_in_from(scope)
