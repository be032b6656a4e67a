"""The key of a question for searches by form: its skeleton, and counts that it lacks.

What is masked are the words of a schema, also of one that an example holds as a text in the compact form.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import compress, count, dropwhile, groupby, takewhile
from typing import Literal

from ..database.rendering.compact import parse_compact_schema
from ..database.schema import Schema
from ..derived import cache_in_first_argument
from ..errors import SQLParseError
from ..sql import make_question_skeleton, regularize
from ..values.match import ValueMatch
from ..words import FUNCTION_WORDS, fold, make_word_set, split_name, stem_word
from .example import Example

SkeletonForm = Literal["marked", "plain"]
"""`marked` leaves a schema's common words in and adds marks; `plain` is the paper's (revision chain 3.1.2)."""

_TOKEN = re.compile(r"\"[^\"]+\"|(?<!\w)'[^']+'(?!\w)|“[^“”]+”|[^\W\d_]+(?:['’][^\W\d_]+)?|\d+(?:[.,:-]\d+)*|[,?.]")
_SMALL = FUNCTION_WORDS | make_word_set("list number order total")
"""Words that ask for SQL, also where a schema has them; it may well have a name, a type or a date that is asked for."""

_ENDS_LIST = make_word_set("of for whose that with where which who from in by order sorted ordered ? .")


def mask_question(
    question: str, schema: str | Schema | None, values: Sequence[ValueMatch] = (), form: SkeletonForm = "marked"
) -> str:
    """Return a question's search key: its skeleton and marks such as `#columns2` (3.1.2).

    The skeleton removes what distinguishes forms of SQL: how many columns are asked for, how many values are given, how
    many tables take part. So it is followed by marks such as `#columns2 #values1 #numbers0 #tables1`, which embeddings
    see as words. The form `plain` is the skeleton alone, with all words of the schema masked.
    """
    parsed_schema = schema if isinstance(schema, Schema) else parse_compact_schema(schema or "")
    if form == "plain":
        return make_question_skeleton(question, parsed_schema, values, every_name=True)
    tables, holders = _index_name_stems(parsed_schema)
    tokens = _TOKEN.findall(question)
    stems = [stem_word(fold(token)) for token in tokens]

    def classify_token(token: str, stem: str, position: int) -> str:
        if token[0] in "\"'“":
            return "value"
        if token[0].isdigit():
            return "number"
        if fold(token) in _SMALL or not token[0].isalpha():
            return ""
        if stem in holders:
            return "column"
        if any(stem in name for name in tables):
            return "table"
        return "value" if token[0].isupper() and position else ""

    kinds = list(map(classify_token, tokens, stems, count()))
    value_count = sum(kind == "value" for kind, _ in groupby(kinds))
    value_count += sum(match.mention.islower() and not match.mention.isdigit() for match in values)
    table_numbers = {index for index, name in enumerate(tables) if name and name.issubset(stems)}
    for stem in compress(stems, (kind == "column" for kind in kinds)):
        held_by = holders[stem]
        if len(held_by) <= 2 and not held_by & table_numbers and not any(stem in name for name in tables):
            table_numbers.add(min(held_by))
    column_count, numbers = min(_count_listed_items(tokens, kinds), 4), min(kinds.count("number"), 2)
    marks = f"#columns{column_count} #values{min(value_count, 2)} #numbers{numbers}"
    return f"{make_question_skeleton(question, parsed_schema, values)} {marks} #tables{min(len(table_numbers), 3)}"


def _count_listed_items(tokens: Sequence[str], kinds: Sequence[str]) -> int:
    """Count the items in the list that begins a question, by its commas and `and`s."""
    opening = dropwhile(lambda pair: pair[1] not in ("column", "table"), zip(tokens, kinds, strict=True))
    tokens_in_list = takewhile(lambda word: word not in _ENDS_LIST, (token.lower() for token, _ in opening))
    return 1 + sum(word in (",", "and") for word in tokens_in_list)


@cache_in_first_argument
def _index_name_stems(schema: Schema) -> tuple[list[set[str]], dict[str, set[int]]]:
    """Return the stems of each table name, and the table numbers for each column name stem."""
    columns: dict[str, set[int]] = {}
    for index, table in enumerate(schema.tables):
        for word in (word for column in table.columns for word in split_name(column.name)):
            columns.setdefault(stem_word(word), set()).add(index)
    return [set(map(stem_word, split_name(table.name))) for table in schema.tables], columns


@lru_cache(maxsize=1_024)
def regularize_example(example: Example, dialect: str) -> Example:
    """Return the example with its SQL in regular form (CREDIT-SQL 3.2), if it is one query of the dialect."""
    try:
        schema = replace(parse_compact_schema(example.schema), dialect=dialect)
        return replace(example, sql=regularize(example.sql, schema))
    except SQLParseError:
        return example
