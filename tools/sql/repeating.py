"""Which tables of a FROM have several rows for one row of another."""

from __future__ import annotations

from sqlglot import exp

from .conditions import conjuncts, join_conditions, literal
from .keywords import fold
from .scope import Resolution, Scope, Source


def repeating(source: Source, scope: Scope, resolution: Resolution) -> list[Source]:
    """The other sources of which several rows may belong to one row of this."""
    fixed, pairs = _equalities(scope, resolution)
    known = [source]
    left = [other for other in scope.sources if other is not source]
    while True:
        bound = fixed | {
            one for pair in pairs for one, other in (pair, pair[::-1]) if any(other[0] == id(held) for held in known)
        }
        single = [other for other in left if _is_single(other, bound)]
        if not single:
            return left
        known += single
        left = [other for other in left if other not in single]


_Column = tuple[int, str]
"""A source's identity and a folded column name."""


def _equalities(scope: Scope, resolution: Resolution) -> tuple[set[_Column], list[tuple[_Column, _Column]]]:
    """Columns that equal a constant, and pairs of equal columns."""
    fixed: set[_Column] = set()
    pairs: list[tuple[_Column, _Column]] = []
    for part in (*conjuncts(scope), *(part for source in scope.sources for part in join_conditions(source))):
        if not isinstance(part, exp.EQ):
            continue
        ends = [resolution.at(side.unnest()) for side in (part.left, part.right)]
        columns = [
            (id(end.source), fold(end.column))
            for end in ends
            if end is not None and end.source is not None and end.owner is scope and end.kind in ("column", "rowid")
        ]
        if len(columns) == 2:
            pairs.append((columns[0], columns[1]))
        elif columns and any(literal(side, resolution) is not None for side in (part.left, part.right)):
            fixed.add(columns[0])
    for place, source in enumerate(scope.sources):
        for name in source.using:
            pairs += [((id(source), name), (id(other), name)) for other in scope.sources[:place]]
    return fixed, pairs


def _is_single(source: Source, bound: set[_Column]) -> bool:
    """Whether what binds a source's columns leaves one row of it."""
    key = source.table.key if source.table is not None else ()
    return bool(key) and all((id(source), fold(column)) in bound for column in key)
