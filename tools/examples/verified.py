"""Answers from verified queries: the same question again, or with other values."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import dropwhile

from sqlglot.tokenizer_core import TokenType

from ..database.schema import Schema
from ..sql import Query
from ..sql.dialects import quote_string_literal
from ..sql.parse import QueryToken, return_default_if_unparsable
from ..sql.scope import normalize_constant_text
from ..words import Word, make_word_set, words
from .example import Example

Spell = Callable[[str, str, str], str | None]
"""How a column spells a text, `(table, column, text)`; None where it does not hold it."""

_POLITE = make_word_set("please can could you show give tell me us i want to see need know")
"""What may stand before a question without changing what is asked."""
_SMALL = make_word_set("please a an the")
"""What may stand anywhere in it."""

_SLOTS = 4
"""Values in a question up to which values are changed."""
_VALUE = r"((?: \S+ ){1,6}?)"
"""What stands for a value in a pattern of `_join_words`."""

_TELLING = frozenset("&%#*@/\\‰!")
"""Punctuation that is more than that, inside a question."""
_SIGNS = frozenset(("Ps", "Pe", "Pd", "Pc", "Sm", "Sc", "Sk", "So", "No"))
"""Categories of characters that are no words and change a question's meaning: operators, brackets, dashes, currencies
and other symbols (`>=`, `C++`, `A-`), but no punctuation of sentences."""
_NO_SIGN = re.compile(r"[^\W_]+| ")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True)
class VerifiedAnswer:
    """A verified example and its SQL for a new question; `changed` lists (old, new) values."""

    example: Example
    sql: str
    changed: tuple[tuple[str, str], ...] = ()


def find_verified(question: str, candidates: Iterable[Example], schema: Schema, spell: Spell) -> VerifiedAnswer | None:
    """Return the first verified example whose question is the same or differs only in values.

    Values count as others only where the query compares a column with the one, and that column holds the other. What
    the query does not name stays as it is, so it must be the same in both questions. The question is self-contained;
    of the candidates, the most similar stand first.
    """
    tokens, candidates = _extract_significant_words(question), list(candidates)
    if same := [
        example
        for example in candidates
        if _join_singular_words(_extract_significant_words(example.question)) == _join_singular_words(tokens)
    ]:
        literal = " ".join(question.split()).casefold()
        # Of several, the one that is spelt alike.
        best = min(same, key=lambda example: " ".join(example.question.split()).casefold() != literal)
        return VerifiedAnswer(best, best.sql)
    with_values = (_adapt_verified_answer(tokens, question, example, schema, spell) for example in candidates)
    return next(filter(None, with_values), None)


def _extract_significant_words(question: str) -> list[Word]:
    """Return a question's words and signs without articles and opening polite phrases."""
    tokens = (word for word in _split_words(question.rstrip("!")) if word.folded not in _SMALL or _is_uppercase(word))
    return list(dropwhile(lambda word: word.folded in _POLITE and not _is_uppercase(word), tokens))


def _split_words(text: str) -> list[Word]:
    """Return the words and signs of a text, in text order."""
    signs = (
        Word(sign, place, place + 1, sign, sign)
        for place, sign in enumerate(text)
        if sign in _TELLING or unicodedata.category(sign) in _SIGNS
    )
    return sorted((*words(text), *signs), key=lambda word: word.start)


def _is_uppercase(word: Word) -> bool:
    """Whether a word in capitals is a name, as in US or grade A."""
    return word.text.isupper() and word.folded != "i" and (len(word.text) > 1 or word.start > 0)


def _join_singular_words(tokens: Iterable[Word]) -> str:
    """Join words without plural endings, each surrounded by spaces."""
    # Stems would be too coarse, as nobody looks again: orders, ordered.
    return "".join(f" {re.sub(r'(?<=..[^s])s$', '', word.folded)} " for word in tokens)


@return_default_if_unparsable(None)
def _adapt_verified_answer(
    new_words: Sequence[Word], question: str, example: Example, schema: Schema, spell: Spell
) -> VerifiedAnswer | None:
    """Return a verified example's SQL with the new question's values; None if impossible."""
    old_words, text = _extract_significant_words(example.question), example.sql.casefold()
    new_text, old_text = _join_singular_words(new_words), _join_singular_words(old_words)
    # Not a column's values alone tell ">= 5" from "5": of one whose values may not leave, every text counts as held.
    if _NO_SIGN.sub("", new_text) != _NO_SIGN.sub("", old_text):
        return None
    # Reading the query costs most: words of its question that the new one lacks must stand in it as constants.
    if any(_join_singular_words([word]) not in new_text and word.text.casefold() not in text for word in old_words):
        return None
    query = Query.of(example.sql, schema.dialect, schema)
    slots = _find_constants(query, old_text)
    if not 0 < len(slots) <= _SLOTS:
        return None
    longest_first = sorted(slots, key=len, reverse=True)
    pieces = re.split(f"({'|'.join(map(re.escape, longest_first))})", old_text)
    match = re.fullmatch("".join(_VALUE if n % 2 else re.escape(piece) for n, piece in enumerate(pieces)), new_text)
    changes: list[tuple[str, str]] = []
    edits: list[tuple[QueryToken, str]] = []
    for number, key in enumerate(pieces[1::2] if match else (), 1):
        if not match or match[number] == key:
            continue
        first, last = (new_text.count(" ", 0, edge) // 2 for edge in match.span(number))
        now = question[new_words[first].start : new_words[last - 1].end]
        tokens, columns = slots[key]
        spellings = {spell(*column, now) for column in columns} or {now if _NUMBER.fullmatch(now) else None}
        if len(spellings) > 1 or (value := spellings.pop()) is None:
            return None
        changes.append((tokens[0].text, value))
        edits += [(token, quote_string_literal(value, schema.dialect) if columns else value) for token in tokens]
    sql = query.sql
    for token, value in sorted(edits, key=lambda edit: -edit[0].start):
        sql = sql[: token.start] + value + sql[token.end + 1 :]
    return VerifiedAnswer(example, sql, tuple(changes)) if changes else None


def _find_constants(query: Query, words: str) -> dict[str, tuple[Sequence[QueryToken], Sequence[tuple[str, str]]]]:
    """Return the query's constants that occur exactly once in `words`, by their words."""
    columns: dict[str, list[tuple[str, str]]] = {}
    for column, operand in (pair for node, _ in query.comparisons for pair in query.list_column_comparisons(node)):
        if isinstance(text := query.literal(operand), str):
            columns.setdefault(normalize_constant_text(text), []).append(column.item)
    constants: dict[str, list[QueryToken]] = {}
    for token in query.tokens:
        if token.token_type in (TokenType.STRING, TokenType.NUMBER):
            constants.setdefault(_join_singular_words(_split_words(token.text)), []).append(token)
    slots: dict[str, tuple[Sequence[QueryToken], Sequence[tuple[str, str]]]] = {}
    for key, tokens in constants.items():
        (kind, text), *others = {(token.token_type, token.text) for token in tokens}
        places = columns.get(text.casefold(), ()) if kind == TokenType.STRING else ()
        if words.count(key) == 1 and not others and (places or (kind == TokenType.NUMBER and _NUMBER.fullmatch(text))):
            slots[key] = tokens, places
    return slots
