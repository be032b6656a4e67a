"""The meaning of one row of a result."""

from __future__ import annotations

from typing import Literal

from sqlglot import exp

from ..labels import Labels
from ..sql.explain import QueryExplainer
from ..sql.query import Query
from ..sql.scope import SETS, QuerySource, Scope, is_aggregate_call, returns_several_rows
from ..words import fold, humanize_name

Duplicates = Literal["kept", "removed", "none"]
"""Whether equal rows of a result are kept, were removed, or cannot be."""

_JOINS = ("", "INNER", "OUTER", "CROSS", "STRAIGHT_JOIN")


def describe_result_grain(query: Query, labels: Labels) -> tuple[str, Duplicates]:
    """Return what a result row stands for (the grain), if known, and how duplicates are treated."""
    tree = query.tree.unnest()
    if isinstance(tree, exp.SetOperation):
        all_rows = isinstance(tree, exp.Union) and tree.args.get("distinct") is False
        return "", "kept" if all_rows else "removed"
    scope = query.find_scope(tree)
    if scope is None:
        return "", "kept"
    select, distinct = scope.select, scope.select.args.get("distinct")
    calls = [node for item in select.expressions for node in query.find(exp.Func, within=item)]
    on = distinct.args.get("on") if distinct is not None else None
    several = [node for node in calls if returns_several_rows(node)]
    sources = query.find(exp.From, exp.Join) if several else []
    source_calls = {id(node) for source in sources for node in query.find(*SETS, within=source)}
    if any(id(node) not in source_calls for node in several):
        return "", "removed" if distinct is not None and on is None else "kept"
    if on is not None:
        return _format_row_per(on.expressions or [on], query, labels), "kept"
    if distinct is not None:
        return labels.say("row_per_value" if len(select.expressions) == 1 else "each_row_once"), "removed"
    if select.args.get("group") is not None:
        return _describe_group_grain(scope, query, labels)
    own_calls = {id(node) for node in query.find_in(scope, exp.Func)}
    aggregates = [node for node in calls if is_aggregate_call(node) and id(node) in own_calls]
    if select.args.get("having") is not None or any(query.ancestor(node, exp.Window) is None for node in aggregates):
        return labels.say("one_row"), "none"
    # An aggregate in a window's own terms, or a function that may be one, also makes one row of all.
    unsure = any(not isinstance(node.parent, exp.Window) for node in aggregates)
    unknown = not query.rules.is_sqlite and any(isinstance(node, exp.Anonymous) for node in calls)
    return ("", "kept") if unsure or unknown else _describe_row_grain(scope, query, labels)


def _describe_group_grain(scope: Scope, query: Query, labels: Labels) -> tuple[str, Duplicates]:
    """Return what a row of a grouped query stands for: a table's row, or the GROUP BY terms."""
    terms = query.resolve_group_by_terms(scope)
    if terms is None:
        return "", "kept"
    outputs = {query.text(item.unalias().unnest()) for item in scope.select.expressions}
    duplicates: Duplicates = "none" if all(query.text(term) in outputs for term in terms) else "kept"
    column = query.column(terms[0]) if len(terms) == 1 else None
    # Rows without a row of an optional table are a group too.
    if column is None or not column.is_primary_key or column.scope.is_source_optional(column.source):
        return _format_row_per(terms, query, labels), duplicates
    return labels.say("row_per_row", table=_get_source_name(column.source)), duplicates


def _format_row_per(terms: list[exp.Expr], query: Query, labels: Labels) -> str:
    """Return a text such as `one row per city`; a term is quoted as SQL if words are lacking."""
    explainer = QueryExplainer(query)
    term_texts = [
        explainer.say(term).removeprefix("the ")
        if explainer.can_describe_in_words(term) and labels.are_english
        else f"“{query.text(term)}”"
        for term in terms
    ]
    return labels.say("row_per", terms=labels.join(term_texts))


def _describe_row_grain(scope: Scope, query: Query, labels: Labels) -> tuple[str, Duplicates]:
    """Return what a row of an ungrouped query stands for: a table's row, or joined rows."""
    if not scope.sources or len(scope.tables) < len(scope.sources) or not scope.has_only_listed_sources:
        return "", "kept"
    joins = [source.join for source in scope.sources if source.join is not None]
    if any(join.side not in ("", "LEFT") or join.kind not in _JOINS for join in joins):
        return "", "kept"
    source = query.find_unrepeated_source(scope)
    if source is None:
        names = labels.join([_get_source_name(source) for source in scope.sources])
        optional = any(source.side for source in scope.sources)
        return "" if optional else labels.say("row_per_pairing", tables=names), "kept"
    key = source.table.primary_key if source.table is not None else ()
    columns = [query.column(item.unalias()) for item in scope.select.expressions]
    outputs = {column.schema.name for column in columns if column is not None and column.source is source}
    stars = [item for item in scope.select.expressions if item.is_star]
    is_whole = any(isinstance(star, exp.Star) or fold(star.table) == fold(source.name) for star in stars)
    has_key = bool(key) and (set(key) <= outputs or is_whole)
    return labels.say("row_per_row", table=_get_source_name(source)), "none" if has_key else "kept"


def _get_source_name(source: QuerySource) -> str:
    return humanize_name(source.table.name if source.table is not None else source.name)
