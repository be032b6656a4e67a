"""What each name of a query is called in its regular form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations

from sqlglot import exp

from ..database.quoting import Naming
from .keywords import quote_name, quote_text
from .lookup import key_of
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
    naming = resolution.rules.naming
    for identifier in parsed.tree.find_all(exp.Identifier):
        start = identifier.meta.get("start")
        if start is not None:
            edits.text[start] = quote_name(key_of(identifier, resolution.rules), naming)
            if _needs_as(identifier):
                edits.aliases.add(start)
    kept = _kept_aliases(resolution)
    for scope in resolution.scopes:
        for source in scope.sources:
            _drop_alias(source, kept, edits)
            named = source.node.this if isinstance(source.node, exp.Table) else None  # None for ROWS FROM (...), too
            if naming.tables_exact and named is not None and "start" in named.meta:
                edits.text[named.meta["start"]] = _own_name(source, naming)
    for reference in resolution.references:
        _write_reference(reference, kept, edits, naming)
    return edits


def _needs_as(identifier: exp.Identifier) -> bool:
    parent = identifier.parent
    if isinstance(parent, exp.TableAlias):
        return identifier.arg_key == "this" and not isinstance(parent.parent, exp.CTE)
    return isinstance(parent, exp.Alias)


def _kept_aliases(resolution: Resolution) -> set[Source]:
    """Sources whose alias is needed to tell them from another of the same name.

    Starts from those that occur twice and adds until all names that will be visible are distinct where they must be: in
    a SELECT, and between a correlated reference and what it refers to. The aliases of sources that end up without one
    play no part, which makes the outcome the same when it is computed again from the regular form.
    """
    kept = {source for scope in resolution.scopes for source in scope.sources if _cannot_drop(source, scope)}
    kept |= {
        reference.source for reference in resolution.references if reference.source and reference.node.args.get("db")
    }
    while True:
        clashing = {loser for pair in _must_differ(resolution) if (loser := _loser(*pair, kept)) is not None}
        if not clashing:
            return kept
        kept |= clashing


def _cannot_drop(source: Source, scope: Scope) -> bool:
    return not source.own or sum(source.own == other.own for other in scope.sources) > 1


def _must_differ(resolution: Resolution) -> Iterator[tuple[Source, Source]]:
    """Pairs of sources that must not have the same visible name."""
    for scope in resolution.scopes:
        yield from combinations(scope.sources, 2)
    for reference in resolution.references:
        if reference.source is not None:
            yield from ((reference.source, between) for between in _between(reference))


def _loser(first: Source, second: Source, kept: set[Source]) -> Source | None:
    """The one of two sources that must keep its alias because their visible names clash; None if they don't."""
    if _visible(first, kept) != _visible(second, kept):
        return None
    return next((source for source in (first, second) if source not in kept), None)


def _between(reference: Reference) -> Iterator[Source]:
    """Sources of the scopes from a correlated reference up to its owner, the owner's own left out."""
    level = reference.scope
    while level is not None and level is not reference.owner:
        yield from level.sources
        level = level.parent


def _visible(source: Source, kept: set[Source]) -> str:
    return source.name if source in kept else source.own


def _own_name(source: Source, naming: Naming) -> str:
    """What a query calls a table, or a CTE, that has no alias."""
    if not naming.tables_exact or source.query is not None:
        return quote_name(source.own, naming)
    return quote_name(source.table.name if source.table is not None else source.node.name, naming)


def _drop_alias(source: Source, kept: set[Source], edits: Edits) -> None:
    alias = source.node.args.get("alias")
    if alias is None or source in kept or not isinstance(alias.this, exp.Identifier):
        return
    start = alias.this.meta.get("start")
    if start is not None:
        edits.dropped.add(start)


def _write_reference(reference: Reference, kept: set[Source], edits: Edits, naming: Naming) -> None:
    node, source = reference.node, reference.source
    start = node.this.meta.get("start")
    if reference.kind == "string":
        if start is not None:
            edits.text[start] = quote_text(reference.column)
        return
    if source is None:
        return
    visible = _visible(source, kept)
    written = quote_name(visible, naming) if source in kept else _own_name(source, naming)
    qualifier = node.args.get("table")
    if qualifier is not None:
        if "start" in qualifier.meta:
            edits.text[qualifier.meta["start"]] = written
        return
    key = naming.key(node.name, in_quotes=bool(node.this.args.get("quoted")))
    if reference.kind in ("column", "rowid") and start is not None and _can_qualify(reference, key, visible, kept):
        edits.text[start] = f"{written}.{quote_name(key, naming)}"


def _can_qualify(reference: Reference, key: str, visible: str, kept: set[Source]) -> bool:
    owner = reference.owner
    if not visible or owner is None or owner.merges(key):
        return False
    if sum(_visible(other, kept) == visible for other in owner.sources) > 1:
        return False
    return reference.scope is None or all(_visible(between, kept) != visible for between in _between(reference))
