"""Reads one question by itself: mentions, grammar, frame."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...tools.values.match import ValueMatch
from .filters import FILTERS, join_alternatives
from .frame import Frame
from .mentions import find_mentions
from .names import NameIndex
from .negation import NEGATION
from .ordering import ORDERING
from .reading import Reading, masked
from .resolve import resolve
from .select import to_frame
from .terms import TERMS
from .words import words_of


@dataclass(frozen=True)
class Parse:
    """A question as read.

    Attributes:
        frame: Its meaning.
        reading: How it came about.
        mask: The question with markers, before the grammar.
        rivals: Tables that it fits equally, where it names none.
    """

    frame: Frame
    reading: Reading
    mask: str
    rivals: tuple[str, ...] = ()


def parse(question: str, names: NameIndex, values: Iterable[ValueMatch], context: Sequence[str] = ()) -> Parse:
    """Reads a question.

    Args:
        question: As asked.
        names: The schema's index.
        values: The database's values that it mentions.
        context: Tables that the conversation is about.
    """
    items = find_mentions(words_of(question), names, values)
    implied = resolve(items, names, context)
    mask, marks = masked(items)
    mask = re.sub(r"(?: \.)+$", "", mask)
    reading = Reading(names, marks, mask, tuple(context))
    TERMS.apply(reading)
    NEGATION.apply(reading)
    ORDERING.apply(reading)
    FILTERS.apply(reading)
    join_alternatives(reading)
    return Parse(to_frame(reading), reading, mask, implied)
