"""What an answer left out: words of the question, and mentions that were found but came to nothing."""

from __future__ import annotations

import re

from ...tools.frames import Column, Frame, joined
from ...tools.mentions import Mention
from ...tools.mentions.lexicon import HARMLESS
from .reading import Reading

_FIND_OUT = re.compile(r"\bfind out\b")
_EDITING = frozenset({"only", "same"})
"""Words that say no more than that the query before is edited."""
_TITLES = ("name", "names", "title", "titles")


def unread(reading: Reading, frame: Frame, editing: bool = False) -> tuple[str, ...]:
    """The words of a question that may matter and have no part in its frame.

    Args:
        reading: The question.
        frame: What is answered.
        editing: Whether the question changes the query before.
    """
    left = [*words_left(reading, frame, editing), *literals_left(reading)]
    return tuple(dict.fromkeys([*left, *(mark.text for mark in lost(reading, frame))]))


def unplaced(reading: Reading) -> tuple[str, ...]:
    """The words of a question that came to nothing at all."""
    return tuple(dict.fromkeys([*words_left(reading, None), *literals_left(reading)]))


def words_left(reading: Reading, frame: Frame | None, editing: bool = False) -> list[str]:
    """Words that no mention and no pattern took, and operations that the frame lacks."""
    text = _FIND_OUT.sub("find", " . ".join([reading.text, *reading.dropped]))
    harmless = HARMLESS | _EDITING if editing else HARMLESS
    left = [word.lstrip("#") for word in text.split() if not word.startswith("@") and word not in harmless]
    if frame is None:
        return left
    frames = list(frame.nested())
    if "#sort" in text and not any(one.order for one in frames):
        left.append("sort")
    if "each" in reading.fired and frame.limit is not None and not any(one.group for one in frames):
        left.append("each")
    return left


def literals_left(reading: Reading) -> list[str]:
    """Values, numbers, comparisons and superlatives that no pattern took."""
    return [reading.mark(marker).text for marker in reading.markers("onvqs")]


def lost(reading: Reading, frame: Frame) -> list[Mention]:
    """The mentions that contribute nothing to a frame."""
    tables = joined(frame, reading.names.schema)
    columns = {column for one in frame.nested() for column in one.columns()}
    literals = [str(literal).lower() for literal in frame.literals()]

    def serves(mark: Mention) -> bool:
        if mark.kind in ("v", "q", "n"):
            return mark.literal in (0, 1) or any(text in literal for text in _spellings(mark) for literal in literals)
        if mark.kind == "s":
            return frame.ranks()
        if mark.kind in ("a", "o") or mark.text.lower() in _TITLES or mark.table in tables:
            return True
        return not columns.isdisjoint(
            {Column(hit.table, hit.column) for hit in mark.hits if hit.column} | {mark.column}
        )

    return [mark for mark in {id(mark): mark for mark in reading.marks}.values() if not serves(mark)]


def _spellings(mark: Mention) -> set[str]:
    """How a literal may come from a mention, in lower case; a year may become the bound after it."""
    said = {mark.literal, mark.text, *(match.value for match in mark.matches)}
    after = {mark.literal + 1} if isinstance(mark.literal, int) else set[int]()
    return {str(value).lower() for value in said | after}
