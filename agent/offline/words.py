"""Words: of the grammar's lists, of a question and of identifiers, with their stems.

The lists of `data/lexicon.json` add to those of `tools.words`: common English, no training text, no database's names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, cast

from ...tools import words as common

_LISTS = cast(
    "dict[str, Any]", json.loads(files(__name__.rpartition(".")[0]).joinpath("data/lexicon.json").read_text("utf-8"))
)


def _load_word_set(name: str) -> frozenset[str]:
    return frozenset(_LISTS[name].split())


def _load_word_lists(name: str) -> dict[str, tuple[str, ...]]:
    return {word: tuple(text.split()) for word, text in _LISTS[name].items()}


def _load_phrases_by_first_word() -> Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]:
    phrases: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for marker, text in _LISTS["phrases"].items():
        for phrase in text.split(" | "):
            words = tuple(phrase.split())
            phrases.setdefault(words[0], []).append((words, marker))
    return {first: tuple(sorted(options, key=lambda option: -len(option[0]))) for first, options in phrases.items()}


IRREGULAR: Mapping[str, str] = common.IRREGULAR_PLURALS | _LISTS["irregular"]
"""Words whose singular no stemmer finds."""

ABBREVIATIONS = common.SHORT_FORMS | _load_word_lists("abbreviations")
"""Meanings of common abbreviations in identifiers."""

SUFFIXES = ("name", "id", "code", "type", "date", "number", "year", "time", "title", "count", "description")
"""Words that are often glued to the end of an identifier's part."""

GENERIC = _load_word_set("generic")
"""Words that alone say too little to stand for a longer name."""

NOISE = _load_word_set("noise")
"""Words without meaning for the grammar, dropped before it."""

COMMANDS = common.FUNCTION_WORDS - NOISE | _load_word_set("commands")
"""Words that ask or connect, and are never names or values by themselves."""

CHAIN = _load_word_set("chain")
"""Words across which a column list still belongs to the table that follows it."""

HARMLESS = common.FUNCTION_WORDS - {"more", "most"} | _load_word_set("harmless")
"""Words that may stay unread without harm: not those that compare."""

UNSPOKEN = _load_word_set("unspeakable")
"""Words for what a frame cannot express, unless the schema or a value contains them."""

NUMBERS: Mapping[str, int] = common.NUMBER_WORDS | _LISTS["numbers"]

COMPARATIVES = {word: (text[0], text[1:]) for word, text in _load_word_lists("comparatives").items()}
"""Comparing words: the operator, and the column words that the adjective is about."""

SUPERLATIVES = {word: (text[0] == "most", text[1:]) for word, text in _load_word_lists("superlatives").items()}
"""Superlatives: whether they descend, and the column words that the adjective is about."""

ADJECTIVES = _load_word_lists("adjectives")
"""Adjectives after `most` and `least`, with the column words that they are about."""

PHRASES = _load_phrases_by_first_word()
"""First word to the fixed phrases that begin with it, longest first, each with the marker that the grammar knows."""

_TOKEN = re.compile(
    r"\"[^\"]+\"|“[^”]+”|(?<![A-Za-z])'[^']+'(?![A-Za-z])|(?<![A-Za-z])`[^`']+[`']"
    r"|\d{4}-\d\d?-\d\d?(?: \d\d?:\d\d(?::\d\d)?)?|\d+/\d+/\d+|\d+(?:,\d{3})+(?:\.\d+)?"
    r"|(?<!\w)-?\d+(?:\.\d+)?(?![A-Za-z0-9])"
    r"|[^\W_]+n't\b|[^\W_]+(?:[-.&/_][^\W_]+)*|'s\b|[<>]=?|!=|[=,;?!%$@]|\.(?=\s+[^a-z\s]|\s*$)"
)
_NUMBER = re.compile(r"(?<=\w )no\. (?!no\b)", re.IGNORECASE)
_STRAIGHT = str.maketrans("‘’´", "'''")
_PAIR_WORDS = ("first", "last", "middle", "start", "end", "short", "full")
_QUOTES = "\"'“”`"


@dataclass(frozen=True)
class Token:
    """A word, number, punctuation mark or quoted text of a question.

    Attributes:
        text: As written; without its quotes.
        lower: In lower case.
        stem: Stem of `lower`.
        start: Character offset in the question.
        end: Offset just past it.
        quoted: Whether it stood in quotes.
    """

    text: str
    lower: str
    stem: str
    start: int
    end: int
    quoted: bool = False


@lru_cache(maxsize=50_000)
def stem_word(word: str) -> str:
    """Return the stem of a lower-case word; irregular plurals become singular first."""
    word = IRREGULAR.get(word, word)
    return common.stem_english_word(word) if len(word) > 2 else word


def split_question_into_words(question: str) -> tuple[Token, ...]:
    """Split a question into words; hyphenated words stay whole."""
    tokens: list[Token] = []
    # `room no.` is no negation; as long as before, so that offsets stay.
    for match in _TOKEN.finditer(_NUMBER.sub("num ", question.translate(_STRAIGHT))):
        text = match.group()
        is_quoted = text[0] in _QUOTES and len(text) > 2 and text != "'s"
        text = text[1:-1].strip() if is_quoted else text
        lower = text.lower()
        tokens.append(Token(text, lower, stem_word(common.fold(lower)), match.start(), match.end(), is_quoted))
    return tuple(_repeat_shared_noun(tokens))


def _repeat_shared_noun(words: list[Token]) -> list[Token]:
    """Rewrite `first and last name` as `first name and last name`; the added word has no width."""
    tokens: list[Token] = []
    for index, word in enumerate(words):
        tokens.append(word)
        if word.lower not in _PAIR_WORDS:
            continue
        end = index + 1
        while end < len(words) and words[end].lower in (",", "and", "or", *_PAIR_WORDS):
            end += 1
        if end < len(words) and words[end - 1].lower in _PAIR_WORDS and end > index + 2:
            noun = words[end]
            tokens.append(Token(noun.text, noun.lower, noun.stem, word.end, word.end))
    return tokens


@lru_cache(maxsize=20_000)
def split_identifier(identifier: str) -> tuple[str, ...]:
    """Split an identifier such as `LName` or `productname` into words, and expand abbreviations."""
    chunks = [chunk for chunk in re.split(r"[_\W]+", identifier) if chunk]
    words = [(low,) if (low := one.lower()) in ABBREVIATIONS else common.split_name_into_words(one) for one in chunks]
    return tuple(piece for chunk in words for word in chunk for piece in _split_identifier_piece(word))


def _split_identifier_piece(piece: str) -> tuple[str, ...]:
    if piece in ABBREVIATIONS:
        return ABBREVIATIONS[piece]
    for suffix in SUFFIXES:
        head = piece.removesuffix(suffix)
        if head and head != piece and piece not in IRREGULAR and (len(head) > 3 or split_identifier(head) != (head,)):
            return (*split_identifier(head), *ABBREVIATIONS.get(suffix, (suffix,)))
    return (piece,)
