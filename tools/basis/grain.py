"""What a row of a result is."""

from __future__ import annotations

import re
from typing import Literal

from sqlglot import exp

from ..sql.conditions import base_column, is_aggregate
from ..sql.explain.phrases import listed, plain_name
from ..sql.explain.query import Explainer
from ..sql.repeating import repeating
from ..sql.scope import Resolution, Scope, Source
from ..stemming import singular
from .conditions import reads_only_sources

Duplicates = Literal["kept", "removed", "none"]
"""Whether equal rows of a result are kept, were removed, or cannot be."""

_JOINS = ("", "INNER", "OUTER", "CROSS", "STRAIGHT")
_ROW_FUNCTIONS = re.compile(
    r"^(unnest|flatten|generate_|explode|inline|regexp_matches|range$)|_(each|keys|elements|to_table|recordset|array_text)",
    re.IGNORECASE,
)


def grain_of(tree: exp.Expr, resolution: Resolution) -> tuple[str, Duplicates]:
    """What a row is, in words, and what becomes of duplicates; empty words where that cannot be told."""
    tree = tree.unnest()
    if isinstance(tree, exp.SetOperation):
        all_rows = isinstance(tree, exp.Union) and tree.args.get("distinct") is False
        return "", "kept" if all_rows else "removed"
    if not isinstance(tree, exp.Select) or not resolution.scopes:
        return "", "kept"
    scope = next(scope for scope in resolution.scopes if scope.select is tree)
    if any(_gives_rows(node) for item in tree.expressions for node in item.find_all(exp.Func)):
        return "", "removed" if _distinct(tree) else "kept"
    if (distinct := tree.args.get("distinct")) is not None and distinct.args.get("on") is not None:
        on = distinct.args["on"]
        return f"one row per {_said(on.expressions or [on], resolution)}", "kept"
    if _distinct(tree):
        return "one row per different value" if len(tree.expressions) == 1 else "each row once", "removed"
    if (group := tree.args.get("group")) is not None:
        return _grouped(group, scope, resolution)
    if any(_is_own_aggregate(node, scope) for item in tree.expressions for node in item.find_all(exp.Func)):
        return "a single row", "none"
    if tree.args.get("having") is not None:
        return "a single row", "none"
    # An aggregate in a window's own terms, or a function that may be one, also makes one row of all.
    unsure = any(
        is_aggregate(node) and node.find_ancestor(exp.Select) is tree and not isinstance(node.parent, exp.Window)
        for item in tree.expressions
        for node in item.find_all(exp.Func)
    )
    unknown = not resolution.rules.is_sqlite and any(item.find(exp.Anonymous) for item in tree.expressions)
    return ("", "kept") if unsure or unknown else _plain(scope, resolution)


def _distinct(select: exp.Select) -> bool:
    distinct = select.args.get("distinct")
    return distinct is not None and distinct.args.get("on") is None


def _gives_rows(node: exp.Expr) -> bool:
    """Whether a call gives several rows for one."""
    if isinstance(node, exp.Explode | exp.ExplodingGenerateSeries | exp.Unnest | exp.UDTF):
        return node.find_ancestor(exp.From, exp.Join) is None
    return isinstance(node, exp.Anonymous) and bool(_ROW_FUNCTIONS.search(node.name))


def _is_own_aggregate(node: exp.Expr, scope: Scope) -> bool:
    return (
        is_aggregate(node) and node.find_ancestor(exp.Select) is scope.select and node.find_ancestor(exp.Window) is None
    )


def _grouped(group: exp.Expr, scope: Scope, resolution: Resolution) -> tuple[str, Duplicates]:
    """The terms of GROUP BY, or the table whose key they are."""
    several = any(group.args.get(kind) for kind in ("rollup", "cube", "grouping_sets", "totals"))
    if not group.expressions or several or group.find(exp.Rollup, exp.Cube, exp.GroupingSets) is not None:
        return "", "kept"
    terms = [_term(term, scope, resolution) for term in group.expressions]
    outputs = [item.unalias().unnest() for item in scope.select.expressions]
    shown = all(any(resolution.text(term) == resolution.text(item) for item in outputs) for term in terms)
    if len(terms) == 1 and (thing := _key_of(terms[0], resolution)):
        return f"one row per {thing}", "none" if shown else "kept"
    return f"one row per {_said(terms, resolution)}", "none" if shown else "kept"


def _said(terms: list[exp.Expr], resolution: Resolution) -> str:
    """Terms in plain words; those that have none as the query has them."""
    speaker = Explainer(resolution).speaker
    return listed(
        [
            speaker.say(term).removeprefix("the ") if speaker.has_words(term) else f"“{resolution.text(term)}”"
            for term in terms
        ]
    )


def _term(term: exp.Expr, scope: Scope, resolution: Resolution) -> exp.Expr:
    """A term of GROUP BY, where it is an alias or a number what that stands for."""
    node = term.unnest()
    if isinstance(node, exp.Literal) and node.is_int and 0 < int(node.name) <= len(scope.select.expressions):
        return scope.select.expressions[int(node.name) - 1].unalias().unnest()
    reference = resolution.at(node)
    if reference is not None and reference.kind == "alias" and reference.column.lower() in scope.aliases:
        return scope.aliases[reference.column.lower()].unnest()
    return node


def _key_of(node: exp.Expr, resolution: Resolution) -> str:
    """The table whose only key a column is, as a noun."""
    found = base_column(node, resolution)
    source = found[0].source if found else None
    if found is None or source is None or source.table is None or source.table.primary_key != (found[1].name,):
        return ""
    if found[0].owner is None or _is_optional(source, found[0].owner):
        return ""  # rows without one are a group too
    return thing_of(source)


def _plain(scope: Scope, resolution: Resolution) -> tuple[str, Duplicates]:
    """The rows of the table that each row of FROM has one of, and only one."""
    if any(source.table is None for source in scope.sources) or not scope.sources or not reads_only_sources(scope):
        return "", "kept"
    joins = [source.join for source in scope.sources if source.join is not None]
    if any(join.side not in ("", "LEFT") or join.kind not in _JOINS for join in joins):
        return "", "kept"
    source = row_source(scope, resolution)
    if source is None and any(join.side for join in joins):
        return "", "kept"
    if source is None:
        return f"one row per pairing of {listed([thing_of(source) for source in scope.sources])}", "kept"
    key = source.table.primary_key if source.table is not None else ()
    outputs = {
        found[1].name
        for item in scope.select.expressions
        if (found := base_column(item.unalias(), resolution)) is not None and found[0].source is source
    }
    shown = bool(key) and (set(key) <= outputs or scope.select.is_star)
    return f"one row per {thing_of(source)}", "none" if shown else "kept"


def row_source(scope: Scope, resolution: Resolution) -> Source | None:
    """The source whose rows no other one repeats: FROM has one row, at most, for each; None if there is none."""
    if len(scope.sources) == 1:
        return scope.sources[0]
    sure = (source for source in scope.sources if not _is_optional(source, scope))
    return next((source for source in sure if not repeating(source, scope, resolution)), None)


def _is_optional(source: Source, scope: Scope) -> bool:
    """Whether rows of the result may lack this source, as by a LEFT JOIN."""
    joins = [other.join for other in scope.sources if other.join is not None]
    return any(join.side in ("RIGHT", "FULL") for join in joins) or (
        source.join is not None and source.join.side not in ("", None)
    )


def thing_of(source: Source) -> str:
    """A row of a source, as a noun."""
    return singular(plain_name(source.table.name if source.table is not None else source.name))
