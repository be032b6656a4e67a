"""Word lists of the offline translator: common English, no training text and no database's names.

The lists are in `data/lexicon.json`; a text there is a list of words.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, cast

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


IRREGULAR: Mapping[str, str] = _LISTS["irregular"]
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

LOOKALIKES = _words("lookalikes")
"""Common words that differ from one of the grammar's by a slip of the keys."""

UNSPEAKABLE = _words("unspeakable")
"""Words for what no query frame can say, unless the schema or a value says them."""

NUMBERS: Mapping[str, int] = _LISTS["numbers"]

ORDINALS: Mapping[str, int] = _LISTS["ordinals"]

COMPARATIVES = {word: (text[0], text[1:]) for word, text in _lists("comparatives").items()}
"""Comparing words: the operator, and the column words that the adjective is about."""

SUPERLATIVES = {word: (text[0] == "most", text[1:]) for word, text in _lists("superlatives").items()}
"""Superlatives: whether they descend, and the column words that the adjective is about."""

ADJECTIVES = _lists("adjectives")
"""What `most ...` and `least ...` are about, where that is a column."""

ASKED = _lists("asked")
"""Question words, as regular expressions, with the column words that answer them."""

PHRASES = _phrases()
"""First word to the fixed phrases that begin with it, longest first, each with the marker that the grammar knows."""
