"""Columns as sub-queries pass them on."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ..sql.dialects import fold
from ..sql.query import Query, TableColumn
from ..sql.scope import QuerySource, Scope, SourceColumn

_CHOOSING = (exp.Case, exp.If)


def find_passed_column(query: Query, node: exp.Expr) -> TableColumn | None:
    """Return the column that an expression is, as the table has it that sub-queries pass on."""
    at = query.reference(node.unnest())
    *_, (_, source, name) = [*iterate_passing_sources(query, node)] or [(None, None, "")]
    if at is None or at.owner is None or at.source is None or source is None or source.table is None:
        return None
    column = source.table.column(source.get_declared_column_name(name))
    return TableColumn(at.node, at.clause, at.owner, at.source, source.table, column) if column else None


def list_optional_sources(query: Query, *nodes: exp.Expr) -> list[QuerySource]:
    """Return the sources that columns come from and that rows may lack, here or in sub-queries that pass them on."""
    places = (place for node in nodes for place in iterate_passing_sources(query, node))
    return [source for scope, source, _ in places if scope.is_source_optional(source)]


def iterate_passing_sources(query: Query, node: exp.Expr) -> Iterator[tuple[Scope, QuerySource, str]]:
    """Yield the source of a column and the sources that sub-queries have it from, with its name there."""
    at = query.reference(node.unnest())
    if at is None or at.kind != "column" or at.owner is None or at.source is None:
        return
    scope, source, (_, name) = at.owner, at.source, at.place
    yield scope, source, name
    while source.query is not None and (scope := query.find_scope(source.query.unnest())) is not None:
        places, is_plain = find_output(query, source, scope, name)
        inner = [other for other in scope.sources for place, _ in places if place == id(other)]
        if not is_plain or len(inner) != 1:
            return
        source, ((_, name),) = inner[0], places
        yield scope, source, name


def find_output(query: Query, source: QuerySource, scope: Scope, name: str) -> tuple[frozenset[SourceColumn], bool]:
    """Return the columns that a sub-query's column is made of, and whether it is just one."""
    outputs, names = scope.select.expressions, [*(source.columns or ())]
    named = names if len(outputs) == len(names) else [fold(item.alias_or_name) for item in outputs]
    if name in named and not (item := outputs[named.index(name)]).is_star:
        output = item.unalias().unnest()
        return find_places(query, scope, output), isinstance(output, exp.Column)
    # A star stands for several columns.
    return frozenset((id(other), name) for other in scope.sources if name in (other.columns or ())), True


def find_places(query: Query, scope: Scope, node: exp.Expr, *, only_given: bool = False) -> frozenset[SourceColumn]:
    """Return the columns in an expression, or only those in its result, not in its conditions."""
    every = node.walk(prune=lambda sub: only_given and isinstance(sub, exp.Predicate))
    nodes = (sub for sub in every if not (only_given and sub.arg_key == "this" and isinstance(sub.parent, _CHOOSING)))
    refs = (query.reference(sub) for sub in nodes if isinstance(sub, exp.Column))
    return frozenset(ref.place for ref in refs if ref is not None and ref.owner is scope and ref.source is not None)
