"""Reads one question by itself: mentions, grammar, frame."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...tools.frames import Frame
from ...tools.mentions import NameIndex, find_mentions, resolve, words_of
from ...tools.values.match import ValueMatch
from . import counting, exclusions, ranking, rows
from .reading import STAGES, Reading, masked, read_stages
from .select import to_frame

GRAMMAR = (counting, exclusions, ranking, rows)
"""The modules whose patterns fill `STAGES`."""


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


def parse(question: str, names: NameIndex, values: Iterable[ValueMatch], context: Sequence[str] = ()) -> Parse:
    """Reads a question.

    Args:
        question: As asked.
        names: The schema's index.
        values: The database's values that it mentions.
        context: Tables that the conversation is about.
    """
    words = words_of(question)
    items = find_mentions(words, names, values)
    implied = resolve(items, names, context)
    mask, marks = masked(items)
    mask = re.sub(r"(?: \.)+$", "", mask)
    reading = Reading(names, marks, mask, tuple(context))
    read_stages(reading, *STAGES)
    exclusions.join_alternatives(reading)
    return Parse(to_frame(reading), reading, mask, implied, frozenset(word.stem for word in words))
