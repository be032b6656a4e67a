"""Questions that speak of "them" before anything that they could be: only the person knows who is meant."""

from __future__ import annotations

import re

from ...tools.errors import NotUnderstood
from .reading import Reading

_PRONOUN = re.compile(
    r"\b(?:all )?(?:of )?(?P<pronoun>th(?:em|eirs?|ey)|hers?|his|him|he|she|its|th[eo]se(?! (?!are|were|have|is)\w))\b",
    re.IGNORECASE,
)


class UnresolvedPronoun(NotUnderstood):
    """A pronoun in the question refers to nothing that was asked before; `words` contains it.

    What to do: name what is meant.
    """


def unresolved_pronoun(question: str, reading: Reading) -> re.Match[str] | None:
    """The pronoun of a first question that comes before all that it could stand for, as `pronoun`."""
    found = _PRONOUN.search(question)
    named = [question.lower().find(m.text.lower()) for m in reading.marks if m.kind in "tcxv" and m.text]
    return found if found and not any(-1 < at < found.start() for at in named) else None
