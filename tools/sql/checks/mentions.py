"""Values that the question mentions and the query does not look for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from sqlglot import exp

from ...database.schema import Schema
from ..conditions import literal, operands
from ..constants import constants
from ..findings import Asked, Finding, Mention
from ..scope import Resolution
from .words import reads_tables


def mention_findings(asked: Asked, sql: str, resolution: Resolution, schema: Schema) -> Iterator[Finding]:
    """One finding for each mention that the query uses in none of the values that it may stand for.

    A mention within a longer one says nothing of its own.

    Args:
        asked: The question, with the values that it mentions.
        sql: The query.
        resolution: Its names.
        schema: The database's schema.
    """
    mentions = asked.mentions
    found = constants(sql, schema.dialect)
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
        advice = f"look for {one.value!r}"
        searched = _searched(resolution, schema)
        certain = (
            _is_value(asked.question, start, end)
            and not any(mention.table.lower() in searched for mention in meant)
            and _surely_unused(asked.question, start, end, meant, resolution)
        )
        yield Finding("unused_value", "warning", message, "", advice, certain)


_LABELS = re.compile(r"\b(?:alias|column|heading|label|header)\s+(?:it\s+|as\s+|named\s+|called\s+)?$", re.IGNORECASE)
"""Before a quoted text that is a name for what the query gives."""

_ADDRESSED = re.compile(
    r"(?:\b(?:for|to|me|us|thanks|thank you|hi|hello|dear|please|send|give|tell|email|i am|i'm|name is)|,)"
    r"\s+(?:the\s+)?$",
    re.IGNORECASE,
)
"""Before a name of somebody who is spoken to, or for."""

_MANNER = re.compile(r"\b(?:in|by|as)\s+(?:the\s+)?$", re.IGNORECASE)
"""Before a language or a format."""


def _surely_unused(question: str, start: int, end: int, meant: Sequence[Mention], resolution: Resolution) -> bool:
    """Whether the query looks for no constant at all, though the question quotes one or names one of its tables.

    A column of one value only needs no condition, and what a query picks by something else may come to the same.
    """
    before, after = question[:start].rstrip(_QUOTES), question[end:]
    quoted = len(before) < start
    named = _LABELS if quoted else _ADDRESSED
    if _WIDENS.search(question) or named.search(before) or (not quoted and after.startswith(",")):
        return False
    constants_there = any(
        not isinstance(found.parent, exp.Limit | exp.Fetch)
        for scope in resolution.scopes
        for found in scope.select.find_all(exp.Literal)
    )
    if constants_there or not reads_tables(resolution):
        return False
    tables = [source.table for scope in resolution.scopes for source in scope.sources if source.table is not None]
    columns = [table.column(mention.column) for mention in meant for table in tables if table.name == mention.table]
    if not columns:
        sure = " " in question[start:end] or question[start:end].isdecimal()
        return quoted or (sure and not _MANNER.search(before))
    return all(column is not None and column.distinct != 1 for column in columns)


_WIDENS = re.compile(r"\b(?:also|too|even|includ\w*|regardless|whether|if)\b", re.IGNORECASE)
"""Words that set a condition aside."""


def _searched(resolution: Resolution, schema: Schema) -> set[str]:
    """Tables, lower case, of which the query picks rows by a constant, be it in a column that refers to them.

    A name may be looked for by its code or key: `country_code = 'FR'` for France.
    """
    found: set[str] = set()
    for scope in resolution.scopes:
        for node in scope.select.find_all(exp.EQ, exp.In, exp.Like):
            for (reference, column), operand in operands(node, resolution):
                if literal(operand, resolution) is None or reference.source is None or reference.source.table is None:
                    continue
                table = reference.source.table.name.lower()
                found.add(table)
                for key in schema.foreign_keys:
                    if key.table.lower() == table and column.name.lower() in map(str.lower, key.columns):
                        found.add(key.ref_table.lower())
    return found


_QUOTES = "'\"“”‘’`"
"""Marks around what is surely a value."""

_LONG_NUMBER = 3
"""Digits from which a number is more likely a key or a year than a count."""


def _is_value(question: str, start: int, end: int) -> bool:
    """Whether the question's words can hardly be anything but a value: quoted, or spelled as names and keys are.

    A small number counts things, and a word in lower case, or the first of a sentence, is most often a word. Where a
    question is in capitals, nothing tells names from words.
    """
    mention = question[start:end]
    before, after = question[:start].rstrip(), question[end:].lstrip()
    if before[-1:] in _QUOTES and after[:1] in _QUOTES and before and after:
        return True
    if not any(map(str.isalpha, mention)):
        return mention.isdecimal() and len(mention) >= _LONG_NUMBER and question[start - 1 : start] not in (".", ",")
    first = not before or before[-1] in ".!?,;"
    return mention != mention.lower() and question != question.upper() and (not first or " " in mention)
