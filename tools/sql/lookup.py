"""How an engine finds the column that a name means, from the innermost SELECT outwards."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from .dialects import Clause, Rules
from .keywords import squeeze
from .scope import Reference, ReferenceKind, Scope, Source


def key_of(identifier: exp.Expr | None, rules: Rules) -> str:
    """What a written name is compared by; empty for none."""
    if identifier is None:
        return ""
    return rules.naming.key(identifier.name, in_quotes=bool(identifier.args.get("quoted")))


def look_up(node: exp.Column, scope: Scope | None, clause: Clause, rules: Rules) -> Reference:
    """What a column expression stands for.

    Args:
        node: The expression.
        scope: The SELECT in which it stands, its sources and aliases complete.
        clause: Where in that SELECT.
        rules: Of the query's dialect.
    """
    if isinstance(node.this, exp.Star):
        return _star(node, scope, clause, rules)
    name = key_of(node.this, rules)
    if node.table:
        return _qualified(node, name, scope, clause, rules)
    alias_first = clause == "order" and _is_whole_term(node)
    for level in _outwards(scope):
        if alias_first and level is scope and name in level.aliases:
            return Reference(node, scope, clause, "alias", level, column=node.name)
        reference = _among_sources(node, name, level, scope, clause, rules)
        if reference is not None:
            return reference
        if name in level.aliases and (level is not scope or clause in rules.aliases):
            return Reference(node, scope, clause, "alias", level, column=node.name)
    return Reference(node, scope, clause, _unfound(node, scope, rules), column=node.name)


def _outwards(scope: Scope | None) -> Iterator[Scope]:
    while scope is not None:
        yield scope
        scope = scope.parent


def _among_sources(
    node: exp.Column, name: str, level: Scope, scope: Scope | None, clause: Clause, rules: Rules
) -> Reference | None:
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
    if name in rules.hidden and len(level.sources) == 1 and level.sources[0].table is not None:
        return Reference(node, scope, clause, "rowid", level, level.sources[0], name)
    if not rules.is_sqlite and any(name == source.name for source in level.sources):
        return Reference(node, scope, clause, "open", level, column=node.name)  # a whole row, as in count(t)
    return None


def _qualified(node: exp.Column, name: str, scope: Scope | None, clause: Clause, rules: Rules) -> Reference:
    wanted = key_of(node.args["table"], rules)
    for level in _outwards(scope):
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
            if name in rules.hidden and source.table is not None:
                return Reference(node, scope, clause, "rowid", level, source, name)
            kind = "open" if _has_hidden_columns(source) else "unknown"
            return Reference(node, scope, clause, kind, level, source, node.name)
    if not rules.is_sqlite and _is_field(node, scope, rules):
        return Reference(node, scope, clause, "open", scope, column=node.name)
    return Reference(node, scope, clause, "unknown_source", column=node.name)


def _is_field(node: exp.Column, scope: Scope | None, rules: Rules) -> bool:
    """Whether what looks like a table is a column, or a table before a column, whose field is named."""
    first, *others = [key_of(node.args.get(part), rules) for part in ("catalog", "db", "table") if node.args.get(part)]
    for level in _outwards(scope):
        for source in level.sources:
            if source.columns is None or first in source.columns or (others and source.name == first):
                return True
    return False


def _star(node: exp.Column, scope: Scope | None, clause: Clause, rules: Rules) -> Reference:
    for source in scope.sources if scope else ():
        if source.name == key_of(node.args.get("table"), rules):
            return Reference(node, scope, clause, "star", scope, source, "*")
    return Reference(node, scope, clause, "unknown_source", column="*")


def _is_whole_term(node: exp.Column) -> bool:
    """Whether a column is all of an ORDER BY term, parentheses and collation aside; then aliases come first."""
    above = node.parent
    while isinstance(above, exp.Paren | exp.Collate):
        above = above.parent
    return isinstance(above, exp.Ordered) and isinstance(above.parent, exp.Order)


def _unfound(node: exp.Column, scope: Scope | None, rules: Rules) -> ReferenceKind:
    """A name that no scope has: the text of a sub-query's nameless column, or in SQLite's double quotes a string."""
    text = squeeze(node.name)
    if any(text in source.texts for level in _outwards(scope) for source in level.sources):
        return "text_name"
    quoted = node.this.args.get("quoted") and not node.this.meta.get("bracketed")
    return "string" if quoted and rules.words_as_text else "unknown"


def _has_hidden_columns(source: Source) -> bool:
    return source.table is not None and source.table.kind == "virtual"
