"""The key of a question for searches by form: its skeleton, and counts that it lacks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import compress, count, dropwhile, groupby, takewhile
from typing import Literal

from ..database.schema import Schema
from ..derived import cache_in_first_argument
from ..sql import make_question_skeleton
from ..values.match import ValueMatch
from ..words import FUNCTION_WORDS, fold, make_word_set, split_name, stem_word
from .compact_schema import parse_compact_schema

SkeletonForm = Literal["marked", "plain"]
"""`marked` leaves a schema's common words in and adds marks; `plain` is the paper's (revision chain 3.1.2)."""

_TOKEN = re.compile(r"\"[^\"]+\"|(?<!\w)'[^']+'(?!\w)|“[^“”]+”|[^\W\d_]+(?:['’][^\W\d_]+)?|\d+(?:[.,:-]\d+)*|[,?.]")
_SMALL = FUNCTION_WORDS | make_word_set("list number order total")
"""Words that ask for SQL, also where a schema has them; it may well have a name, a type or a date that is asked for."""

_ENDS_LIST = make_word_set("of for whose that with where which who from in by order sorted ordered ? .")


def mask(
    question: str, schema: str | Schema | None, values: Sequence[ValueMatch] = (), form: SkeletonForm = "marked"
) -> str:
    """Return a question's skeleton and marks of counts, as a similarity search key (3.1.2).

    The skeleton removes what distinguishes forms of SQL: how many columns are asked for, how many values are given, how
    many tables take part. So it is followed by marks such as `#columns2 #values1 #numbers0 #tables1`, which embeddings
    see as words. The form `plain` is the skeleton alone, with all words of the schema masked.
    """
    read = schema if isinstance(schema, Schema) else parse_compact_schema(schema or "")
    if form == "plain":
        return make_question_skeleton(question, read, values, every_name=True)
    tables, holders = _index_name_stems(read)
    tokens = _TOKEN.findall(question)
    stems = [stem_word(fold(token)) for token in tokens]

    def classify_token(token: str, stemmed: str, place: int) -> str:
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

    kinds = list(map(classify_token, tokens, stems, count()))
    named = sum(kind == "value" for kind, _ in groupby(kinds))
    named += sum(match.mention.islower() and not match.mention.isdigit() for match in values)
    needed = {index for index, name in enumerate(tables) if name and name.issubset(stems)}
    for stemmed in compress(stems, (kind == "column" for kind in kinds)):
        held_by = holders[stemmed]
        if len(held_by) <= 2 and not held_by & needed and not any(stemmed in name for name in tables):
            needed.add(min(held_by))
    listed, numbers = min(_count_listed_items(tokens, kinds), 4), min(kinds.count("number"), 2)
    marks = f"#columns{listed} #values{min(named, 2)} #numbers{numbers}"
    return f"{make_question_skeleton(question, read, values)} {marks} #tables{min(len(needed), 3)}"


def _count_listed_items(tokens: Sequence[str], kinds: Sequence[str]) -> int:
    """Count the items in the list that begins a question, by its commas and `and`s."""
    opening = dropwhile(lambda pair: pair[1] not in ("column", "table"), zip(tokens, kinds, strict=True))
    listed = takewhile(lambda word: word not in _ENDS_LIST, (token.lower() for token, _ in opening))
    return 1 + sum(word in (",", "and") for word in listed)


@cache_in_first_argument
def _index_name_stems(schema: Schema) -> tuple[list[set[str]], dict[str, set[int]]]:
    """Return the stems of each table name, and the table numbers for each column name stem."""
    columns: dict[str, set[int]] = {}
    for index, table in enumerate(schema.tables):
        for word in (word for column in table.columns for word in split_name(column.name)):
            columns.setdefault(stem_word(word), set()).add(index)
    return [set(map(stem_word, split_name(table.name))) for table in schema.tables], columns
