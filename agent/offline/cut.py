"""Follow-ups that take the first rows of what was shown: `the top 5`, `just the first one`."""

from __future__ import annotations

import re
from dataclasses import replace

from ...tools.errors import NotUnderstood
from ...tools.frames import Frame
from ...tools.mentions.lexicon import NUMBERS
from .parse import Parse

_MARKER = re.compile(r"@[a-z]\d+")
_COUNTS = "|".join([r"\d+", *NUMBERS])
_CUT = re.compile(
    r"(?:ok|okay|now|and|then|so|what|how|about|are|is|just|only|show|give|list|display|return|keep|limit|reduce|cut|take"
    r"|me|i|want|need|it|them|those|these|of|to|the|see|results?|#all|,|\s)*"
    rf"(?P<end>top|first|last|bottom)?\s*(?P<count>{_COUNTS})?"
    r"(?: (?:one|ones|of|them|those|these|rows?|results?|records?|entries|lines|items|only|please|from|the|list|in"
    r"|that|this|#who|\.))*[ .]*"
)
_LAST = ("last", "bottom")


def cut(base: Frame, parsed: Parse) -> Frame | None:
    """The base with only as many rows as the follow-up wants; None if it asks for anything else.

    Raises:
        NotUnderstood: The last rows of what has no order are wanted, or rows of a set operation.
    """
    match = _CUT.fullmatch(_plain(base, parsed))
    if match is None or not (match["end"] or (match["count"] and re.search(r"\b(?:only|just|limit)\b", match[0]))):
        return None
    said = match["count"] or "1"
    count = int(said) if said.isdecimal() else NUMBERS[said]
    if base.combine is not None:
        raise NotUnderstood("I cannot take the first rows of lists put together.")
    computed = next((term for term in base.select if term.aggregate), None)
    order = base.order
    if not order and base.group and computed is not None and match["end"] != "first":
        order = ((computed, True),)
    elif match["end"] in _LAST:
        order = tuple((term, not descends) for term, descends in order)
    if match["end"] in _LAST and not order:
        raise NotUnderstood("Those rows have no order, so none of them are the last. Say what to sort them by.")
    return replace(base, order=order, limit=count)


def _plain(base: Frame, parsed: Parse) -> str:
    """The question with its words for what the base shows made neutral."""

    def word(match: re.Match[str]) -> str:
        mark = parsed.reading.mark(match.group())
        if mark.kind in ("t", "x") and mark.table in base.used():
            return "ones"
        return str(mark.literal) if mark.kind == "n" else mark.text.lower()

    return _MARKER.sub(word, parsed.mask)
