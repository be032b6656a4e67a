"""Skeletons: queries and questions with the database's words masked (revision chain 3.1.2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rapidfuzz.distance import LCSseq
from sqlglot import exp

from ..database.schema import Schema
from ..derived import cache_in_first_argument
from ..words import FUNCTION_WORDS, fold, make_word_set, split_name, stem_english_word
from .parse import guard_nesting_depth
from .query import Query
from .regular import TokenEdits, is_alias_name, write_regular_query

if TYPE_CHECKING:
    from ..values.match import ValueMatch

MASK = "_"
"""Stands for a table, a column or a value."""

_WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?|\d+(?:[.,]\d+)*")
_QUOTED = re.compile(r"\"[^\"]+\"|(?<!\w)'[^']+'(?!\w)|“[^”]+”|‘[^’]+’")
_COMMON = FUNCTION_WORDS | make_word_set("list name number order total type year date id code")
"""Words that tell what is asked, also where a schema has them."""


@guard_nesting_depth
def make_sql_skeleton(sql: str, dialect: str = "sqlite") -> str:
    """Return the query in a standard form, with every name and literal masked."""
    query = Query.of(sql, dialect)
    edits = TokenEdits(mask=MASK)
    for identifier in query.find(exp.Identifier):
        start = identifier.meta.get("start")
        if start is None:
            continue
        if is_alias_name(identifier) or identifier.arg_key == "table":
            edits.deletions.add(start)
        else:
            edits.text[start] = MASK
    return write_regular_query(query, edits)


def make_question_skeleton(
    question: str, schema: Schema, values: Sequence[ValueMatch] = (), *, every_name: bool = False
) -> str:
    """Return the question in lower case, with schema words, values and numbers masked.

    Words of names that are too common to tell, such as `name`, are masked only with `every_name`, which leaves articles
    and the like.
    """
    masked_text = _QUOTED.sub(lambda m: " \0 ", _mask_value_mentions(question, values))
    words = _get_maskable_stems(schema, every_name)
    common = FUNCTION_WORDS if every_name else _COMMON
    parts: list[str] = []
    for match in re.finditer(r"\0|" + _WORD.pattern + r"|[?,;:]", masked_text):
        word = match[0].lower()
        hidden = word == "\0" or word[0].isdigit() or (word not in common and stem_english_word(fold(word)) in words)
        if hidden and parts and parts[-1] == MASK:
            continue
        parts.append(MASK if hidden else word)
    return " ".join(parts).strip("? ")


def compute_skeleton_similarity(a: str, b: str) -> float:
    """Return the similarity of two skeletons from 0 to 1, by their longest common subsequence."""
    if a == b:
        return 1.0
    first, second = a.split(), b.split()
    if not first or not second:
        return 0.0
    return 2 * LCSseq.similarity(first, second) / (len(first) + len(second))


def _mask_value_mentions(question: str, values: Iterable[ValueMatch]) -> str:
    """Return the question with value mentions masked; if some overlap, the first and longest."""
    pieces: list[str] = []
    position = 0
    for value in sorted(values, key=lambda v: (v.start, -v.end)):
        if value.start < position or value.end > len(question):
            continue
        pieces += [question[position : value.start], " \0 "]
        position = value.end
    return "".join([*pieces, question[position:]])


@cache_in_first_argument
def _get_maskable_stems(schema: Schema, every_name: bool) -> frozenset[str]:
    names = (name for table in schema.tables for name in (table.name, *(column.name for column in table.columns)))
    common_stems = map(stem_english_word, FUNCTION_WORDS if every_name else _COMMON)
    return frozenset(stem_english_word(part) for name in names for part in split_name(name)).difference(common_stems)
