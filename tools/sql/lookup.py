"""How SQLite finds the column that a name means, from the innermost SELECT outwards."""

from __future__ import annotations

from sqlglot import exp

from .names import fold, squeeze
from .scope import Clause, Reference, ReferenceKind, Scope, Source

_ROWID = frozenset({"rowid", "oid", "_rowid_"})


def look_up(node: exp.Column, scope: Scope | None, clause: Clause) -> Reference:
    """What a column expression stands for.

    Args:
        node: The expression.
        scope: The SELECT in which it stands, its sources and aliases complete.
        clause: Where in that SELECT.
    """
    if isinstance(node.this, exp.Star):
        return _star(node, scope, clause)
    name = fold(node.name)
    if node.table:
        return _qualified(node, name, scope, clause)
    alias_first = clause == "order" and _is_whole_term(node)
    level = scope
    while level is not None:
        if alias_first and level is scope and name in level.aliases:
            return Reference(node, scope, clause, "alias", level, column=node.name)
        reference = _among_sources(node, name, level, scope, clause)
        if reference is not None:
            return reference
        if name in level.aliases and (level is not scope or clause != "select"):
            return Reference(node, scope, clause, "alias", level, column=node.name)
        level = level.parent
    return Reference(node, scope, clause, _unfound(node, scope), column=node.name)


def _among_sources(node: exp.Column, name: str, level: Scope, scope: Scope | None, clause: Clause) -> Reference | None:
    holders = [source for source in level.sources if source.columns is not None and name in source.columns]
    distinct = [source for index, source in enumerate(holders) if index == 0 or name not in source.using]
    if len(distinct) > 1:
        return Reference(node, scope, clause, "ambiguous", level, distinct[0], node.name, tuple(distinct))
    if distinct:
        source = distinct[0]
        declared = source.columns[name] if source.columns else node.name
        return Reference(node, scope, clause, "column", level, source, declared)
    if any(source.columns is None or _has_hidden_columns(source) for source in level.sources):
        return Reference(node, scope, clause, "open", level, column=node.name)
    if name in _ROWID and len(level.sources) == 1 and level.sources[0].table is not None:
        return Reference(node, scope, clause, "rowid", level, level.sources[0], name)
    return None


def _qualified(node: exp.Column, name: str, scope: Scope | None, clause: Clause) -> Reference:
    wanted = fold(node.table)
    level = scope
    while level is not None:
        named = [source for source in level.sources if source.name == wanted]
        holders = [source for source in named if source.columns is None or name in source.columns]
        if len(holders) > 1:
            return Reference(node, scope, clause, "ambiguous", level, holders[0], node.name, tuple(holders))
        if holders:
            source = holders[0]
            kind: ReferenceKind = "open" if source.columns is None else "column"
            declared = source.columns[name] if source.columns else node.name
            return Reference(node, scope, clause, kind, level, source, declared)
        if named:
            source = named[0]
            if name in _ROWID and source.table is not None:
                return Reference(node, scope, clause, "rowid", level, source, name)
            kind = "open" if _has_hidden_columns(source) else "unknown"
            return Reference(node, scope, clause, kind, level, source, node.name)
        level = level.parent
    return Reference(node, scope, clause, "unknown_source", column=node.name)


def _star(node: exp.Column, scope: Scope | None, clause: Clause) -> Reference:
    for source in scope.sources if scope else ():
        if source.name == fold(node.table):
            return Reference(node, scope, clause, "star", scope, source, "*")
    return Reference(node, scope, clause, "unknown_source", column="*")


def _is_whole_term(node: exp.Column) -> bool:
    """Whether a column is all of an ORDER BY term, parentheses and collation aside; then aliases come first."""
    above = node.parent
    while isinstance(above, exp.Paren | exp.Collate):
        above = above.parent
    return isinstance(above, exp.Ordered) and isinstance(above.parent, exp.Order)


def _unfound(node: exp.Column, scope: Scope | None) -> ReferenceKind:
    """A name that no scope has: in double quotes it is a string, or the text of a sub-query's nameless column."""
    quoted = node.this.args.get("quoted") and not node.this.meta.get("bracketed")
    level = scope
    while level is not None:
        if any(squeeze(node.name) in source.texts for source in level.sources):
            return "text_name"
        level = level.parent
    return "string" if quoted else "unknown"


def _has_hidden_columns(source: Source) -> bool:
    return source.table is not None and source.table.kind == "virtual"
