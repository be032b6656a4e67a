"""Which mentions have a part in a query."""

from __future__ import annotations

from collections.abc import Iterable

from ....tools.database.schema import Schema
from ..frames import Column, Frame, joined
from .mentions import Mention

_TITLES = ("name", "names", "title", "titles")


def unused(mentions: Iterable[Mention], frame: Frame, schema: Schema) -> list[Mention]:
    """The mentions that contribute nothing to a frame: no table, no column, no literal and no order of it is theirs."""
    tables = joined(frame, schema)
    columns = {column for one in frame.nested() for column in one.columns()}
    literals = [str(literal).lower() for literal in frame.literals()]

    def serves(mark: Mention) -> bool:
        if mark.kind in ("v", "q", "n"):
            return mark.literal in (0, 1) or any(text in literal for text in _spellings(mark) for literal in literals)
        if mark.kind == "s":
            return frame.ranks()
        if mark.kind in ("a", "o") or mark.text.lower() in _TITLES or mark.table in tables:
            return True
        own = {Column(hit.table, hit.column) for hit in mark.hits if hit.column}
        return not columns.isdisjoint({*own, mark.column})

    return [mark for mark in {id(mark): mark for mark in mentions}.values() if not serves(mark)]


def _spellings(mark: Mention) -> set[str]:
    """How a literal may come from a mention, in lower case; a year may become the bound after it."""
    forms = {mark.literal, mark.text, *(match.value for match in mark.matches)}
    after = {mark.literal + 1} if isinstance(mark.literal, int) else set[int]()
    return {str(value).lower() for value in forms | after}
