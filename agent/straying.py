"""Whether a revision answers another question than the one that was asked.

Everything else that tells attempts apart can be better by chance: another question's query runs, gives rows, and is in
perfect form. What gives it away is that it forgets what the question names, or looks for what nobody has named. The
rules were found on Spider train: of 6,904 gold queries 31 would give way to another question's, with them 1.
"""

from __future__ import annotations

import re

from ..tools.sql import Constants, constants
from .records import Attempt

LIKELY = 0.5
"""Probability from which the question is taken to ask for a schema item: more likely than not."""

SMALL = 10
"""Numbers up to here are written in words, or not at all: they need not be in the question."""

STEM = 4
"""Letters in which a text and a word of the question agree where one is an inflection of the other."""

_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def strays(attempt: Attempt, than: Attempt, said: str) -> bool:
    """Whether an attempt strays from the question where the one before it does not.

    Args:
        attempt: The revision.
        than: What it would replace.
        said: The person's words, in this turn and before, and the database values that they mention.
    """
    if set(than.named) - set(attempt.named):
        return True
    own, other = constants(attempt.sql), constants(than.sql)
    return _forgets(own, other, said) or _invents(own, other, said.casefold())


def _forgets(own: Constants, other: Constants, said: str) -> bool:
    """A text that the other one looks for, in whatever spelling, or a number that was said."""
    if any(not own.looks_for(text) for text in other.texts):
        return True
    return bool((other.numbers - own.numbers) & set(_NUMBER.findall(said)))


def _invents(own: Constants, other: Constants, said: str) -> bool:
    """One more text than the other one has, or a number, that nobody has named."""
    if len(own.texts) > len(other.texts):
        stems = {word[:STEM] for word in _WORD.findall(said)}
        new = (text for text in own.texts if text not in said and not other.looks_for(text))
        if any(not any(word[:STEM] in stems for word in _WORD.findall(text)) for text in new):
            return True
    return any(float(number) > SMALL and number not in said for number in own.numbers - other.numbers)
