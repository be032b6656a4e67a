"""The text under which a question is indexed by form: its skeleton, and marks for what the skeleton leaves out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ..database.schema import Schema
from ..sql import question_skeleton
from ..values.match import ValueMatch
from ..values.text_words import fold, stem
from .compact_schema import read_compact

SkeletonForm = Literal["marked", "plain"]
"""`marked` leaves a schema's common words in and adds marks; `plain` is the paper's (revision chain 3.1.2)."""

_TOKEN = re.compile(r"\"[^\"]+\"|(?<!\w)'[^']+'(?!\w)|“[^“”]+”|[^\W\d_]+(?:['’][^\W\d_]+)?|\d+(?:[.,:-]\d+)*|[,?.]")
_NAME_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
_SMALL_WORDS = """
    a an and are as at be by do does each for from has have how in is it list many me more most much number of on or
    order show than that the their there to total was what when where which who whose with
"""
_SMALL = frozenset(_SMALL_WORDS.split())
_LIST_ENDS = "of for whose that with where which who from in by order sorted ordered ? ."
_ENDS_LIST = frozenset(_LIST_ENDS.split())


@dataclass(frozen=True)
class _Words:
    """Stems of a schema's names: which tables each stands for, and which tables hold a column of that name."""

    tables: tuple[frozenset[str], ...]
    of_table: frozenset[str]
    of_column: dict[str, frozenset[int]]


def mask(
    question: str, schema: str | Schema | None, values: Sequence[ValueMatch] = (), form: SkeletonForm = "marked"
) -> str:
    """The key by which questions of one form are near each other, whatever their database (revision chain 3.1.2).

    The skeleton removes what distinguishes forms of SQL: how many columns are asked for, how many values are given, how
    many tables take part. So it is followed by marks such as `#columns2 #values1 #numbers0 #tables1`, which embeddings
    see as words.

    Args:
        question: Of an example or of a turn.
        schema: Whose words are masked; text in the compact prompt form, or None for values only.
        values: Mentions of database values.
        form: `plain` for the skeleton alone, with all words of the schema masked.
    """
    read = schema if isinstance(schema, Schema) else read_compact(schema or "")
    if form == "plain":
        return question_skeleton(question, read, values, every_name=True)
    return " ".join([question_skeleton(question, read, values), *_marks(question, _words(_names(read)), values)])


def _marks(question: str, words: _Words, values: Sequence[ValueMatch]) -> Iterator[str]:
    tokens = _TOKEN.findall(question)
    kinds = [_kind(token, place, words) for place, token in enumerate(tokens)]
    yield f"#columns{min(_listed(tokens, kinds), 4)}"
    named = sum(1 for before, kind in zip(["", *kinds], kinds, strict=False) if kind == "value" != before)
    unmarked = sum(1 for match in values if match.mention.islower() and not match.mention.isdigit())
    yield f"#values{min(named + unmarked, 2)}"
    yield f"#numbers{min(kinds.count('number'), 2)}"
    yield f"#tables{min(_tables(tokens, kinds, words), 3)}"


def _kind(token: str, place: int, words: _Words) -> str:
    if token[0] in "\"'“":
        return "value"
    if token[0].isdigit():
        return "number"
    folded = fold(token)
    if folded in _SMALL or not token[0].isalpha():
        return ""
    stemmed = stem(folded)
    if stemmed in words.of_column:
        return "column"
    if stemmed in words.of_table:
        return "table"
    return "value" if token[0].isupper() and place else ""


def _listed(tokens: list[str], kinds: list[str]) -> int:
    """How many things the question's opening list names."""
    listed, started = 1, False
    for token, kind in zip(tokens, kinds, strict=True):
        started = started or kind in ("column", "table")
        if started and token.lower() in _ENDS_LIST:
            break
        listed += started and token.lower() in (",", "and")
    return listed


def _tables(tokens: list[str], kinds: list[str], words: _Words) -> int:
    """How many tables it takes to have all that the question names."""
    stems = {stem(fold(token)) for token in tokens}
    needed = {index for index, name in enumerate(words.tables) if name and name <= stems}
    for token, kind in zip(tokens, kinds, strict=True):
        holders = words.of_column.get(stem(fold(token)), frozenset()) if kind == "column" else frozenset[int]()
        if 0 < len(holders) <= 2 and not holders & needed and stem(fold(token)) not in words.of_table:
            needed.add(min(holders))
    return len(needed)


def _names(schema: Schema) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((table.name, tuple(column.name for column in table.columns)) for table in schema.tables)


@lru_cache(maxsize=256)
def _words(names: tuple[tuple[str, tuple[str, ...]], ...]) -> _Words:
    tables = tuple(frozenset(_stems(table)) for table, _ in names)
    columns: dict[str, set[int]] = {}
    for index, (_, held) in enumerate(names):
        for column in held:
            for word in _stems(column):
                columns.setdefault(word, set()).add(index)
    return _Words(tables, frozenset().union(*tables), {word: frozenset(found) for word, found in columns.items()})


def _stems(name: str) -> list[str]:
    return [stem(fold(part)) for part in _NAME_PART.findall(name)]
