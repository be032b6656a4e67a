"""Words of a question that nothing explains: not the schema, not the database's values, not its knowledge."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..database.schema import Schema
from ..values.match import ValueMatch
from ..values.schema_words import name_words
from ..values.text_words import fold, stem
from .knowledge import Knowledge

_JARGON = re.compile(r"(?<![\w.'’-])(?:([A-Z][A-Z0-9&/]*[A-Z0-9])s?|[\"“]([^\"”]{2,40})[\"”])(?![\w'’-])")
"""What is certainly meant as a word of its own: an abbreviation, or a word in quotes."""

_NEED_NONE = """
    AD AM AND ASC ASAP AVG BC CEO CFO CM COUNT CSV CTO DB DESC DVD EN EST ETC EU FAQ FR GB GMT HTML HTTP ID IDS IN IP IT
    JSON KG KM KPI LA LIMIT MAX MB MIN NASA NO NOT NULL NY OK OR PC PDF PIN PM PNG SQL SUM TV UK UN URL US USA USD UTC
    VIP XML YES ZIP EUR GBP JPY YTD MTD QTD TOP ALL ANY BY ON OF TO IS ARE WHO HOW WHAT WHEN I
"""
_COMMON = frozenset(_NEED_NONE.split())
"""Abbreviations that need no explanation, and words that people write in capitals."""


def unknown_words(question: str, schema: Schema, values: Iterable[ValueMatch], knowledge: Knowledge) -> tuple[str, ...]:
    """Abbreviations and quoted words of a question that stand in no name, value or definition, in order.

    Ordinary words are left to whoever writes the query: that one knows the language.
    """
    if question.isupper():
        return ()
    names = {stem(word) for table in schema.tables for word in name_words(table.name)}
    names |= {stem(word) for table in schema.tables for column in table.columns for word in name_words(column.name)}
    whole = {fold(name) for table in schema.tables for name in (table.name, *(c.name for c in table.columns))}
    mentioned = [(match.start, match.end) for match in values]
    found: list[str] = []
    for hit in _JARGON.finditer(question):
        word = hit[1] or hit[2]
        if hit[1] and (word in _COMMON or re.fullmatch(r"[QH][1-4]|[A-Z]?\d+[A-Z]?", word)):
            continue
        parts = re.findall(r"\w+", word)
        explained = all(stem(fold(part)) in names or knowledge.knows(part) for part in parts) or fold(word) in whole
        in_value = any(start < hit.end() and hit.start() < end for start, end in mentioned)
        sample = any(word.lower() in str(cell).lower() for t in schema.tables for c in t.columns for cell in c.samples)
        if not (explained or in_value or sample):
            found.append(word)
    return tuple(dict.fromkeys(found))
