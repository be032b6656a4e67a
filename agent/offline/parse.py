"""Reads one question by itself: mentions, grammar, frame."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...tools.frames import Column, Frame
from ...tools.mentions import Mention, NameIndex, find_mentions, resolve, words_of
from ...tools.values.match import ValueMatch
from . import counting, ellipsis, ranking, rows
from .reading import Reading, masked, read_stages
from .select import to_frame

_COMPARED = 0.04
NOTHING = Frame()
"""What a conversation is about before its first answer."""

GRAMMAR = (counting, ranking, rows, ellipsis)
"""The modules whose patterns fill `STAGES`."""


_THAT = re.compile(r"\b(of|for|from|in|by|with|about|on|at|to|does|did|do|is|was|has|have) that\b", re.IGNORECASE)
_POINTED = re.compile(
    r"(?P<each>#each )?(?P<by>(?:of|for|from|in|by|with|about|on|at|to) )?(?P<those>this|those|these)(?: @n\d+)?"
    r" (?P<said>@[tcx]\d+)(?! @[cv])"
)


@dataclass(frozen=True)
class Asked:
    """A question with what there is to read it by: the schema's names, and the database's values that it mentions."""

    text: str
    names: NameIndex
    values: tuple[ValueMatch, ...] = ()


@dataclass(frozen=True)
class Parse:
    """A question as read.

    Attributes:
        frame: Its meaning.
        reading: How it came about.
        mask: The question with markers, before the grammar.
        rivals: Tables that it fits equally, where it names none.
        said: Stems of its words.
    """

    frame: Frame
    reading: Reading
    mask: str
    rivals: tuple[str, ...] = ()
    said: frozenset[str] = frozenset()


def parse(asked: Asked, base: Frame = NOTHING) -> Parse:
    """Reads a question, with the query that the conversation is about."""
    context = base.used()
    words = words_of(_THAT.sub(r"\1 this", asked.text) if context else asked.text)
    # A value that stands in two columns alike is more likely to take the place of one that the base compares.
    compared = {condition.term.column for one in base.nested() for group in one.where for condition in group}
    values = [replace(v, score=v.score + _COMPARED * (Column(v.table, v.column) in compared)) for v in asked.values]
    items = find_mentions(words, asked.names, values)
    implied = resolve(items, asked.names, context)
    mask, marks = masked(items)
    mask = _pointed(re.sub(r"(?: \.)+$", "", mask), marks, context)
    reading = Reading(asked.names, marks, mask, base)
    if context:
        read_stages(reading, "shorter")
    read_stages(reading, "terms", "negation", "ranking", "rows")
    return Parse(to_frame(reading), reading, mask, implied, frozenset(word.stem for word in words))


def _pointed(mask: str, marks: Sequence[Mention], context: Sequence[str]) -> str:
    """The mask with `those students` as `those`, where students are what the conversation is about."""

    def short(match: re.Match[str]) -> str:
        mark = marks[int(match["said"][2:])]
        told = mark.column.table if match["said"][1] == "c" and mark.column and match["by"] else mark.table
        counted = match["each"] and re.search(r"#howmany|#count|#avg|#sum|@s", mask[: match.start()])
        if told not in context or counted:
            return match[0]
        return f"of {match['those']}"

    return _POINTED.sub(short, mask) if context else mask
