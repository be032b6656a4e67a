"""The text under which a question is indexed by form: its skeleton, and marks for what the skeleton leaves out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

from ..database.schema import Schema
from ..sql import question_skeleton
from ..values.match import ValueMatch
from ..words import FUNCTION_WORDS, fold, listed_words, name_parts, stem
from .compact_schema import read_compact

SkeletonForm = Literal["marked", "plain"]
"""`marked` leaves a schema's common words in and adds marks; `plain` is the paper's (revision chain 3.1.2)."""

_TOKEN = re.compile(r"\"[^\"]+\"|(?<!\w)'[^']+'(?!\w)|“[^“”]+”|[^\W\d_]+(?:['’][^\W\d_]+)?|\d+(?:[.,:-]\d+)*|[,?.]")
_SMALL = FUNCTION_WORDS | listed_words("list number order total")
"""Words that ask for SQL, also where a schema has them; it may well have a name, a type or a date that is asked for."""

_ENDS_LIST = listed_words("of for whose that with where which who from in by order sorted ordered ? .")


def mask(
    question: str, schema: str | Schema | None, values: Sequence[ValueMatch] = (), form: SkeletonForm = "marked"
) -> str:
    """Return the key by which questions of one form are near each other, whatever their database (3.1.2).

    The skeleton removes what distinguishes forms of SQL: how many columns are asked for, how many values are given, how
    many tables take part. So it is followed by marks such as `#columns2 #values1 #numbers0 #tables1`, which embeddings
    see as words. The form `plain` is the skeleton alone, with all words of the schema masked.
    """
    read = schema if isinstance(schema, Schema) else read_compact(schema or "")
    if form == "plain":
        return question_skeleton(question, read, values, every_name=True)
    tables, holders = _words(
        tuple((table.name, tuple(column.name for column in table.columns)) for table in read.tables)
    )
    tokens = [(token, stem(fold(token))) for token in _TOKEN.findall(question)]
    kinds = [_kind(token, stemmed, place, tables, holders) for place, (token, stemmed) in enumerate(tokens)]
    named = sum(kind == "value" != before for before, kind in zip(["", *kinds], kinds, strict=False))
    named += sum(match.mention.islower() and not match.mention.isdigit() for match in values)
    said = {stemmed for _, stemmed in tokens}
    needed = {index for index, name in enumerate(tables) if name and name <= said}
    for (_, stemmed), kind in zip(tokens, kinds, strict=True):
        held_by = holders[stemmed] if kind == "column" else set[int]()
        if 0 < len(held_by) <= 2 and not held_by & needed and not any(stemmed in name for name in tables):
            needed.add(min(held_by))
    marks = f"#columns{min(_listed(tokens, kinds), 4)} #values{min(named, 2)} #numbers{min(kinds.count('number'), 2)}"
    return f"{question_skeleton(question, read, values)} {marks} #tables{min(len(needed), 3)}"


def _kind(
    token: str, stemmed: str, place: int, tables: Sequence[frozenset[str]], holders: Mapping[str, set[int]]
) -> str:
    if token[0] in "\"'“":
        return "value"
    if token[0].isdigit():
        return "number"
    if fold(token) in _SMALL or not token[0].isalpha():
        return ""
    if stemmed in holders:
        return "column"
    if any(stemmed in name for name in tables):
        return "table"
    return "value" if token[0].isupper() and place else ""


def _listed(tokens: Sequence[tuple[str, str]], kinds: Sequence[str]) -> int:
    """Count the things that the question's opening list names."""
    listed, started = 1, False
    for (token, _), kind in zip(tokens, kinds, strict=True):
        started = started or kind in ("column", "table")
        if started and token.lower() in _ENDS_LIST:
            break
        listed += started and token.lower() in (",", "and")
    return listed


@lru_cache(maxsize=256)
def _words(
    names: tuple[tuple[str, tuple[str, ...]], ...],
) -> tuple[tuple[frozenset[str], ...], Mapping[str, set[int]]]:
    """Return the stems of each table's name, and for each stem of a column's name the tables that hold it."""
    columns: dict[str, set[int]] = {}
    for index, (_, held) in enumerate(names):
        for word in (word for column in held for word in _stems(column)):
            columns.setdefault(word, set()).add(index)
    return tuple(frozenset(_stems(table)) for table, _ in names), columns


def _stems(name: str) -> list[str]:
    return list(map(stem, name_parts(name)))
