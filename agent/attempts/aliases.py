"""Whether two spellings could stand for one thing: `USA` and `United States`, `female` and `F`, a typing error."""

from __future__ import annotations

import re

from rapidfuzz.distance import OSA

_WORD = re.compile(r"\w+")
_SHORT_YEAR, _YEAR = re.compile(r"\d\d$"), re.compile(r"\d{4}$")

_LETTERS_PER_TYPO = 5
"""One typing error is allowed for so many letters: `Iran` is not `Iraq`."""


def may_match(one: str, other: str) -> bool:
    """Whether they could; a number matches no other, except a year by its last two digits.

    Args:
        one: Casefolded.
        other: Likewise.
    """
    short, long = sorted((_WORD.findall(one), _WORD.findall(other)), key=lambda words: len("".join(words)))
    if not short or any(character.isdigit() for character in one + other):
        return short == long or _is_year(one, other)
    if _abbreviates(short, long) or _abbreviates(long, short):
        return True
    left, right = " ".join(short), " ".join(long)
    return OSA.distance(left, right) <= min(len(left), len(right)) // _LETTERS_PER_TYPO


def _is_year(short: str, long: str) -> bool:
    return bool(_SHORT_YEAR.match(short) and _YEAR.match(long)) and long[2:] == short


def _abbreviates(some: list[str], others: list[str]) -> bool:
    """Whether the words are all among the others or begin them, or are one word that starts with their initials."""
    if all(any(other.startswith(word) for other in others) for word in some):
        return True
    initials = "".join(word[0] for word in others)
    return len(some) == 1 and len(initials) > 1 and some[0].startswith(initials) and len(some[0]) <= len(initials) + 1
