"""Reads one question by itself: mentions, grammar, frame."""

from __future__ import annotations

import re
from dataclasses import replace

from . import counting, ellipsis, ranking, rows
from .frames import Column, Frame
from .mentions import Mention, find_mentions, resolve, words_of
from .reading import CUES, NOTHING, Asked, Reading, read_stages
from .select import to_frame

_COMPARED = 0.04
GRAMMAR = (counting, ranking, rows, ellipsis)
"""The modules whose patterns fill `STAGES`."""


def parse(asked: Asked, base: Frame = NOTHING) -> Reading:
    """Reads a question, with the query that the conversation is about."""
    context = base.used()
    words = words_of(CUES["that"].sub(r"\1 this", asked.text) if context else asked.text)
    # A value that stands in two columns alike is more likely to take the place of one that the base compares.
    compared = {condition.term.column for one in base.nested() for group in one.where for condition in group}
    values = [replace(v, score=v.score + _COMPARED * (Column(v.table, v.column) in compared)) for v in asked.values]
    items = find_mentions(words, asked.names, values)
    fits = resolve(items, asked.names, context)
    marks = [item for item in items if isinstance(item, Mention)]
    numbers = iter(range(len(marks)))
    text = " ".join(item if isinstance(item, str) else f"@{item.kind}{next(numbers)}" for item in items)
    reading = Reading(asked, marks, re.sub(r"(?: \.)+$", "", text), base, fits)
    read_stages(reading, *["shorter"] * bool(context), "terms", "negation", "ranking", "rows")
    reading.frame = to_frame(reading)
    return reading
