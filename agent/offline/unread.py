"""What an answer left out: words of the question, and mentions that were found but came to nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...tools.frames import Column, Frame, Scalar
from ...tools.linking.join_path import join_path
from ...tools.mentions import Mention
from ...tools.mentions.lexicon import HARMLESS
from .reading import Reading

_FIND_OUT = re.compile(r"\bfind out\b")
_EDITING = frozenset({"only", "same"})
"""Words that say no more than that the query before is edited."""
_TITLES = ("name", "names", "title", "titles")


@dataclass(frozen=True)
class _Content:
    """All that a frame holds, inner queries included."""

    tables: frozenset[str]
    columns: frozenset[Column]
    literals: tuple[str, ...]
    ranked: bool


def unread(reading: Reading, frame: Frame, editing: bool = False) -> tuple[str, ...]:
    """The words of a question that may matter and have no part in its frame.

    Args:
        reading: The question.
        frame: What is answered.
        editing: Whether the question changes the query before.
    """
    left = [*words_left(reading, frame, editing), *literals_left(reading)]
    return tuple(dict.fromkeys([*left, *(mark.text for mark in lost(reading, frame))]))


def repeats(frame: Frame) -> bool:
    """Whether all that is shown is what was said: `who bought the lamp` read as the name of the lamp."""
    fixed = {g[0].term for g in frame.where if len(g) == 1 and g[0].operator == "=" and isinstance(g[0].value, Scalar)}
    return frame.combine is None and bool(frame.select) and fixed.issuperset(frame.select)


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
    content = _content(reading, frame)
    marks = {id(mark): mark for mark in reading.marks}
    return [mark for mark in marks.values() if not _serves(mark, content)]


def _serves(mark: Mention, content: _Content) -> bool:
    if mark.kind in ("v", "q", "n"):
        return _compared(mark, content.literals)
    if mark.kind == "s":
        return content.ranked
    if mark.kind in ("a", "o") or mark.text.lower() in _TITLES or mark.table in content.tables:
        return True
    meant = {Column(hit.table, hit.column) for hit in mark.hits if hit.column is not None} | {mark.column}
    return not content.columns.isdisjoint(meant)


def _compared(mark: Mention, literals: tuple[str, ...]) -> bool:
    """Whether a literal of the frame comes from a mention; years become bounds, words become patterns."""
    if mark.kind == "n" and mark.literal in (0, 1):
        return True
    said = {mark.literal, *(match.value for match in mark.matches)}
    texts = {str(value).lower() for value in said} | {mark.text.lower()}
    if isinstance(mark.literal, int):
        texts.add(str(mark.literal + 1))
    return any(text in literal for text in texts for literal in literals)


def _content(reading: Reading, frame: Frame) -> _Content:
    frames = list(frame.nested())
    tables: set[str] = set()
    for one in frames:
        tables.update(one.used())
        for key in join_path(reading.names.schema, one.used()):
            tables.update((key.table, key.ref_table))
    said = [c.value for one in frames for group in (*one.where, one.having) for c in group]
    said += [one.limit for one in frames]
    extremes = any(term.aggregate in ("min", "max") for one in frames for term in one.select)
    return _Content(
        tables=frozenset(tables),
        columns=frozenset(column for one in frames for column in one.columns()),
        literals=tuple(str(one).lower() for one in said if one is not None and not isinstance(one, Frame)),
        ranked=extremes or any(one.order for one in frames),
    )
