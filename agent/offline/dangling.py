"""Questions that speak of "them" and of nothing else: without a turn before, only the person knows who they are."""

from __future__ import annotations

import re

from ...tools.database.schema import Schema

MOST = 6
"""Tables that are offered, at most."""

_PRONOUN = r"(?:them|they|those|these|it|this|that|ones?)"
_FILLER = (
    r"(?:show|list|give|tell|display|find|return|get|print|count|sort|order|how|many|much|are|is|was|were|there|all|of"
    r"|what|who|which|the|a|me|us|to|please|can|could|would|you|i|want|like|see|do|does|we|have|now|again|about|and|some"
    r"|each|every|number)"
)
_WHOLE = re.compile(rf"^\W*(?:(?:{_FILLER}|{_PRONOUN})\b\W*)+$", re.IGNORECASE)
_MEANT = re.compile(rf"\b(?:all )?(?:of )?(?P<pronoun>{_PRONOUN})\b(?: all\b)?", re.IGNORECASE)


def pronoun(question: str) -> str | None:
    """The word that stands for what is asked about; None where the question names something itself."""
    found = _MEANT.search(question) if _WHOLE.match(question) else None
    return found["pronoun"] if found else None


def named(question: str, meant: str) -> str:
    """The question with what its pronoun stands for in its place."""
    return _MEANT.sub(lambda _: meant.strip(" .?!"), question, count=1)


def offered(schema: Schema) -> tuple[str, ...]:
    """What it could stand for: the database's tables."""
    return tuple(table.name.replace("_", " ") for table in schema.tables[:MOST])
