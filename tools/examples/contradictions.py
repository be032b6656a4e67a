"""Where an example's SQL says the opposite of its question: shown, it would teach that."""

from __future__ import annotations

import re

_DESCENDING = re.compile(r"\bdescending\b|\bdesc\b|\b(?:from )?(?:high(?:est)?|larg(?:e|est)) to (?:low|small)", re.I)
_TOP = re.compile(r"\btop (?:\d+|two|three|four|five|six|seven|eight|nine|ten)\b", re.I)
_UPWARDS = re.compile(
    r"\b(?:ascending|asc|lowest|least|fewest|smallest|earliest|oldest|shortest|longest|cheapest|youngest|alphabetical(?:ly)?)\b"
    r"|\b(?:rank|position|place)",
    re.I,
)
_MOST = re.compile(r"\b(?:most(?! recent)|highest|largest|biggest|greatest|maximum)\b", re.I)
_LEAST = re.compile(r"\b(?:least|lowest|fewest|smallest|minimum)\b", re.I)
_ONE = re.compile(r"\border\s+by\s+(?P<by>(?:(?!\border\s+by\b).)*)\blimit\s+1\s*;?\s*\Z", re.I | re.S)
_DOWNWARDS = re.compile(
    rf"{_MOST.pattern}|{_DESCENDING.pattern}|\b(?:most|latest|newest|best|recent|youngest|last)\b", re.I
)
_ORDER = re.compile(r"\border\s+by\b(.*)", re.I | re.S)
_DOWN = re.compile(r"\bdesc\b|\border\s+by\s+-", re.I)


def contradiction(question: str, sql: str) -> str:
    """Why the SQL cannot answer the question, of what can be told from their words alone; empty if nothing is wrong.

    Args:
        question: Self-contained.
        sql: One query.
    """
    if one := _ONE.search(sql):
        down = bool(_DOWN.search(one["by"]) or one["by"].lstrip().startswith("-"))
        if not down and _MOST.search(question) and not _UPWARDS.search(question):
            return "the question asks for the most, and the SQL takes the least"
        if down and _LEAST.search(question) and not _DOWNWARDS.search(question):
            return "the question asks for the least, and the SQL takes the most"
    if not _ORDER.search(sql) or _DOWN.search(sql) or _UPWARDS.search(question):
        return ""
    if _DESCENDING.search(question):
        return "the question asks for descending order, and the SQL orders the other way"
    if _TOP.search(question):
        return "the question asks for the top ones, and the SQL orders from the lowest up"
    return ""
