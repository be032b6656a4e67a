"""What of a question's wording tells the form of its query: words and pairs of neighbours, values masked."""

from __future__ import annotations

import re
from itertools import pairwise

_QUOTED = re.compile(r"\"[^\"]+\"|(?<!\w)'[^']+'(?!\w)|“[^”]+”|‘[^’]+’")
_WORD = re.compile(r"[a-z]+|\d+|[<>=]+")

VALUE, NUMBER, START, END = "_", "#", "<", ">"


def grams(question: str) -> frozenset[str]:
    """The question's words and pairs of neighbouring words, its beginning and end marked."""
    masked = " \n ".join(_QUOTED.split(question.lower()))
    words = [START]
    for part in masked.split("\n"):
        words += [NUMBER if word.isdigit() else word for word in _WORD.findall(part)]
        words.append(VALUE)
    words[-1] = END
    return frozenset(words) | {f"{one} {next_one}" for one, next_one in pairwise(words)}
