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
_ORDER = re.compile(r"\border\s+by\b(.*)", re.I | re.S)
_DOWN = re.compile(r"\bdesc\b|\border\s+by\s+-", re.I)


def contradiction(question: str, sql: str) -> str:
    """Why the SQL cannot answer the question, of what can be told from their words alone; empty if nothing is wrong.

    Args:
        question: Self-contained.
        sql: One query.
    """
    if not _ORDER.search(sql) or _DOWN.search(sql) or _UPWARDS.search(question):
        return ""
    if _DESCENDING.search(question):
        return "the question asks for descending order, and the SQL orders the other way"
    if _TOP.search(question):
        return "the question asks for the top ones, and the SQL orders from the lowest up"
    return ""
