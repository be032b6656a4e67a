"""What each name of a query is called in its regular form."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from .names import fold, quote_name, quote_text
from .parse import Parsed
from .scope import Reference, Resolution, Scope, Source


@dataclass
class Edits:
    """Changes to a query's tokens.

    Attributes:
        text: Offset of a token's first character to what is written instead.
        dropped: Offsets of the tokens that are left out; an `AS` before a dropped alias goes with it.
        aliases: Offsets of names that need `AS` before them.
        mask: Written instead of every literal; None writes literals as they are.
    """

    text: dict[int, str] = field(default_factory=dict)
    dropped: set[int] = field(default_factory=set)
    aliases: set[int] = field(default_factory=set)
    mask: str | None = None


def rename(parsed: Parsed, resolution: Resolution) -> Edits:
    """Names in lower case, columns qualified, aliases removed where nothing needs them, quoted words as strings."""
    edits = Edits()
    for identifier in parsed.tree.find_all(exp.Identifier):
        start = identifier.meta.get("start")
        if start is not None:
            edits.text[start] = quote_name(identifier.name)
            if isinstance(identifier.parent, exp.Alias | exp.TableAlias) and identifier.arg_key in ("alias", "this"):
                edits.aliases.add(start)
    kept = _kept_aliases(resolution)
    for scope in resolution.scopes:
        for source in scope.sources:
            _drop_alias(source, kept, edits)
    for reference in resolution.references:
        _write_reference(reference, kept, edits)
    return edits


def _kept_aliases(resolution: Resolution) -> set[Source]:
    """Sources whose alias tells them apart from another table of the same name, here or in between."""
    kept: set[Source] = set()
    for scope in resolution.scopes:
        for source in scope.sources:
            others = [other for other in scope.sources if other is not source]
            if not source.own or any(source.own in (other.own, other.name) for other in others):
                kept.add(source)
    for reference in resolution.references:
        source = reference.source
        if source is not None and reference.owner is not reference.scope and _hidden(reference, source.own):
            kept.add(source)
    return kept


def _hidden(reference: Reference, name: str) -> bool:
    """Whether a scope between a correlated reference and its owner has a source of that name."""
    level: Scope | None = reference.scope
    while level is not None and level is not reference.owner:
        if any(name in (source.own, source.name) for source in level.sources):
            return True
        level = level.parent
    return False


def _visible(source: Source, kept: set[Source]) -> str:
    return source.name if source in kept else source.own


def _drop_alias(source: Source, kept: set[Source], edits: Edits) -> None:
    alias = source.node.args.get("alias")
    if alias is None or source in kept or not isinstance(alias.this, exp.Identifier) or alias.args.get("columns"):
        return
    start = alias.this.meta.get("start")
    if start is not None:
        edits.dropped.add(start)


def _write_reference(reference: Reference, kept: set[Source], edits: Edits) -> None:
    node, source = reference.node, reference.source
    start = node.this.meta.get("start")
    if reference.kind == "string":
        if start is not None:
            edits.text[start] = quote_text(reference.column)
        return
    if source is None:
        return
    visible = _visible(source, kept)
    qualifier = node.args.get("table")
    if qualifier is not None:
        if not node.args.get("db") and qualifier.meta.get("start") is not None:
            edits.text[qualifier.meta["start"]] = quote_name(visible)
    elif reference.kind in ("column", "rowid") and start is not None and _can_qualify(reference, visible):
        edits.text[start] = f"{quote_name(visible)}.{quote_name(fold(node.name))}"


def _can_qualify(reference: Reference, visible: str) -> bool:
    owner, source = reference.owner, reference.source
    if not visible or owner is None or source is None:
        return False
    if sum(visible in (other.name, other.own) for other in owner.sources) > 1 and source.name != visible:
        return False
    correlated = owner is not reference.scope and reference.scope is not None
    return not owner.merges(fold(reference.column)) and not (correlated and _hidden(reference, visible))
