"""Values that the question mentions and the query does not look for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from .constants import constants
from .findings import Finding, Mention


def mention_findings(mentions: Sequence[Mention], sql: str) -> Iterator[Finding]:
    """One finding for each mention that the query uses in none of the values that it may stand for.

    A mention within a longer one says nothing of its own.

    Args:
        mentions: The values that the question mentions.
        sql: The query.
    """
    found = constants(sql)
    spans = {(mention.start, mention.end) for mention in mentions}

    def place(mention: Mention) -> tuple[int, int]:
        return mention.start, mention.end

    for (start, end), same in groupby(sorted(mentions, key=place), key=place):
        if any((first, last) != (start, end) and first <= start and end <= last for first, last in spans):
            continue
        meant = list(same)
        if any(found.looks_for(text) for mention in meant for text in (mention.value, mention.mention)):
            continue
        one = meant[0]
        message = (
            f"The question mentions {one.value!r}, which {one.table}.{one.column} holds; the query uses it nowhere."
        )
        yield Finding("unused_value", "warning", message, "", f"look for {one.value!r} if the question is about it")
