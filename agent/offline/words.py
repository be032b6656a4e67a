"""Words: of the grammar's lists, of a question and of identifiers, with their stems.

The lists are in `data/lexicon.json`: common English, no training text and no database's names; a text there is a list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, cast

from ...tools.words import IRREGULAR_PLURALS, NUMBER_WORDS, english_stem, fold, name_words

_LISTS = cast(
    "dict[str, Any]", json.loads(files(__name__.rpartition(".")[0]).joinpath("data/lexicon.json").read_text("utf-8"))
)


def _words(name: str) -> frozenset[str]:
    return frozenset(_LISTS[name].split())


def _lists(name: str) -> Mapping[str, tuple[str, ...]]:
    return {word: tuple(text.split()) for word, text in _LISTS[name].items()}


def _phrases() -> Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]:
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for marker, text in _LISTS["phrases"].items():
        for phrase in text.split(" | "):
            words = tuple(phrase.split())
            found.setdefault(words[0], []).append((words, marker))
    return {first: tuple(sorted(options, key=lambda option: -len(option[0]))) for first, options in found.items()}


IRREGULAR: Mapping[str, str] = IRREGULAR_PLURALS | _LISTS["irregular"]
"""Words whose singular no stemmer finds."""

ABBREVIATIONS = _lists("abbreviations")
"""What common parts of identifiers stand for."""

SUFFIXES = ("name", "id", "code", "type", "date", "number", "year", "time", "title", "count", "description")
"""Words that are often glued to the end of an identifier's part."""

GENERIC = _words("generic")
"""Words that alone say too little to stand for a longer name."""

NOISE = _words("noise")
"""Words that carry nothing for the grammar; they are dropped before it."""

COMMANDS = _words("commands")
"""Words that ask or connect, and are never names or values by themselves."""

CHAIN = _words("chain")
"""Words across which a column list still belongs to the table that follows it."""

HARMLESS = _words("harmless")
"""Words that may stay unread without harm."""

UNSPEAKABLE = _words("unspeakable")
"""Words for what no query frame can say, unless the schema or a value says them."""

NUMBERS: Mapping[str, int] = NUMBER_WORDS | _LISTS["numbers"]

COMPARATIVES = {word: (text[0], text[1:]) for word, text in _lists("comparatives").items()}
"""Comparing words: the operator, and the column words that the adjective is about."""

SUPERLATIVES = {word: (text[0] == "most", text[1:]) for word, text in _lists("superlatives").items()}
"""Superlatives: whether they descend, and the column words that the adjective is about."""

ADJECTIVES = _lists("adjectives")
"""What `most ...` and `least ...` are about, where that is a column."""

PHRASES = _phrases()
"""First word to the fixed phrases that begin with it, longest first, each with the marker that the grammar knows."""

_TOKEN = re.compile(
    r"\"[^\"]+\"|“[^”]+”|(?<![A-Za-z])'[^']+'(?![A-Za-z])|(?<![A-Za-z])`[^`']+[`']"
    r"|\d{4}-\d\d?-\d\d?(?: \d\d?:\d\d(?::\d\d)?)?|\d+/\d+/\d+|\d+(?:,\d{3})+(?:\.\d+)?"
    r"|(?<!\w)-?\d+(?:\.\d+)?(?![A-Za-z0-9])"
    r"|[^\W_]+n't\b|[^\W_]+(?:[-.&/_][^\W_]+)*|'s\b|[<>]=?|!=|[=,;?!%$@]|\.(?=\s+[^a-z\s]|\s*$)"
)
_NUMBER = re.compile(r"(?<=\w )no\. (?!no\b)", re.IGNORECASE)
_STRAIGHT = str.maketrans("‘’´", "'''")
_PAIRED = ("first", "last", "middle", "start", "end", "short", "full")
_QUOTES = "\"'“”`"


@dataclass(frozen=True)
class QuestionWord:
    """One word, number, punctuation mark or quoted text of a question.

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
def stem(word: str) -> str:
    """Return the stem of a lower-case word, irregular plurals included."""
    word = IRREGULAR.get(word, word)
    return english_stem(word) if len(word) > 2 else word


def words_of(question: str) -> tuple[QuestionWord, ...]:
    """Return the words of a question; hyphenated ones stay whole."""
    found: list[QuestionWord] = []
    # `room no.` is no negation; as long as before, so that offsets stay.
    for match in _TOKEN.finditer(_NUMBER.sub("num ", question.translate(_STRAIGHT))):
        text = match.group()
        quoted = text[0] in _QUOTES and len(text) > 2 and text != "'s"
        text = text[1:-1].strip() if quoted else text
        lower = text.lower()
        found.append(QuestionWord(text, lower, stem(fold(lower)), match.start(), match.end(), quoted))
    return tuple(_shared_noun(found))


def _shared_noun(words: list[QuestionWord]) -> list[QuestionWord]:
    """`first and last name` as `first name and last name`; the word put in has no width."""
    found: list[QuestionWord] = []
    for at, word in enumerate(words):
        found.append(word)
        if word.lower not in _PAIRED:
            continue
        end = at + 1
        while end < len(words) and words[end].lower in (",", "and", "or", *_PAIRED):
            end += 1
        if end < len(words) and words[end - 1].lower in _PAIRED and end > at + 2:
            noun = words[end]
            found.append(QuestionWord(noun.text, noun.lower, noun.stem, word.end, word.end))
    return found


@lru_cache(maxsize=20_000)
def spelled_out(identifier: str) -> tuple[str, ...]:
    """A name's words with more abbreviations spelled out and glued words split: `LName`, `productname`, `dob`."""
    chunks = [chunk for chunk in re.split(r"[_\W]+", identifier) if chunk]
    words = [(chunk.lower(),) if chunk.lower() in ABBREVIATIONS else name_words(chunk) for chunk in chunks]
    return tuple(part for chunk in words for word in chunk for part in _split(word))


def _split(part: str) -> tuple[str, ...]:
    if part in ABBREVIATIONS:
        return ABBREVIATIONS[part]
    for suffix in SUFFIXES:
        head = part.removesuffix(suffix)
        if head and head != part and part not in IRREGULAR and (len(head) > 3 or spelled_out(head) != (head,)):
            return (*spelled_out(head), *ABBREVIATIONS.get(suffix, (suffix,)))
    return (part,)
