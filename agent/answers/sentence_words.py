"""The words of a model's sentence: what is given by the question, the query or the schema, and what each may claim."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from typing import Literal, get_args

from ...tools.formats import find_measure
from ...tools.labels import find_language, make_word_pattern, read_languages
from ...tools.words import LONE_NUMBER_WORDS, fold, humanize_name, stem_word

GAP = "\0"
"""Stands for a place where the words around it are looked at."""

Claim = Literal[
    "high",
    "low",
    "either",
    "degree",
    "late",
    "early",
    "rises",
    "falls",
    "totals",
    "averages",
    "every",
    "whole",
    "distinct",
]
"""What words claim that the result may bear out; tools/data/languages.toml has the words."""

PERIODS = ("hour", "day", "week", "month", "quarter", "year")

STOPS = frozenset(",;:.!?()[]…–—。、，：；！？।॥؟")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff]")  # scripts without spaces
_ASIAN = re.compile(r"[\u2e80-\u9fff]")
_ALIKE = 4  # letters at their beginning that words of one stem share, as in Kunde and Kunden
_NO_WORDS = {
    "letters",
    "told",
    "prefixes",
    "examples",
    "over",
    "under",
    "from",
    "to",
}  # patterns of phrases and letters
_SHORT = 3  # letters of function words in languages without lists


@cache
def _compile_listed(language: str, kind: str) -> re.Pattern[str]:
    """Return the pattern of a language's words of a kind; `*` stands for all languages."""
    chosen = [*read_languages().values()] if language == "*" else [read_languages()[language or "others"]]
    return re.compile(make_word_pattern(" ".join(listed.get(kind, "") for listed in chosen)))


@cache
def compile_phrases(*kinds: str) -> re.Pattern[str]:
    """Return the pattern of all languages' phrases of some kinds, each kind in a group of its name."""
    found = {kind: "|".join(each[kind] for each in read_languages().values() if kind in each) for kind in kinds}
    groups = "|".join(f"(?P<{kind}>{phrases})" for kind, phrases in found.items())
    return re.compile(rf"(?<!\w)(?:{groups})(?!\w)", re.IGNORECASE)


@cache
def _compile_asian() -> re.Pattern[str]:
    listed = {
        word.strip("*")
        for each in read_languages().values()
        for kind in each.keys() - _NO_WORDS
        for word in each[kind].split()
    }
    return re.compile("|".join(sorted(filter(_ASIAN.match, listed), key=len, reverse=True)))


@cache
def read_number_words() -> tuple[dict[str, int], re.Pattern[str]]:
    """Return the values of spelled numbers, and the pattern of all words for numbers, of any language."""
    values, amounts = dict(LONE_NUMBER_WORDS), ""
    for listed in read_languages().values():
        numbers = [one.split("/") for one in listed.get("numbers", "").split()]
        values |= {fold(each): number for number, one in enumerate(numbers) for each in one if each != "_"}
        amounts += f" {listed.get('amounts', '')}"
    return values, re.compile(make_word_pattern(" ".join([*values, amounts])))


def is_listed(word: str, language: str, *kinds: str) -> bool:
    """Whether a word is of one of the kinds in a language; in one without lists, if it is listed for all of these."""
    return any(_compile_listed(language, kind).fullmatch(fold(word)) for kind in kinds)


@dataclass(frozen=True)
class GivenWords:
    """The words that a sentence may hold without a claim of its own."""

    text: str
    forms: frozenset[str]  # its words, folded, and their English stems

    @classmethod
    def read(cls, text: str) -> GivenWords:
        """Read the words of a text."""
        folded = {fold(word) for word in _list_words(text)}
        return cls(text, frozenset(folded | set(map(stem_word, folded))))

    @classmethod
    def of_names(cls, names: Iterable[str]) -> GivenWords:
        """Read the words of names of columns or tables."""
        return cls.read(" ".join(map(humanize_name, names)))

    def has(self, word: str, language: str) -> bool:
        """Whether a word is given; in other languages than English, one that begins alike."""
        folded = fold(word)
        if not self.forms.isdisjoint((folded, stem_word(folded))):
            return True
        if _UNSPACED.match(word):
            return word in self.text or (_ASIAN.match(word) is not None and set(word) <= set(self.text))
        return language != "en" and any(_is_alike(folded, form) for form in self.forms)

    def has_kind(self, *kinds: str) -> bool:
        """Whether a word of one of the kinds is given, in any language."""
        return any(is_listed(form, "*", *kinds) for form in self.forms)


def _is_alike(word: str, other: str) -> bool:
    """Whether words begin alike, or one has the other's beginning within, as `Monatsumsatz` has that of `Umsätze`."""
    if min(len(word), len(other)) >= _ALIKE:
        return word[:_ALIKE] in other or other[:_ALIKE] in word
    short, long = sorted((word, other), key=len)
    return len(short) >= _SHORT and long.startswith(short) and len(long) <= 2 * len(short)


def _list_words(text: str) -> list[str]:
    """Return the words, gaps and stops of a text; signs of vowels belong to words."""
    spaced = (
        mark if unicodedata.category(mark)[0] in "LMN" else f" {mark} " if mark == GAP or mark in STOPS else " "
        for mark in _compile_asian().sub(r" \g<0> ", text)
    )
    return "".join(spaced).split()


def _find_listed_language(text: str) -> str:
    language = find_language(text)
    return language if "neutral" in read_languages().get(language, {}) else ""


@dataclass(frozen=True)
class SentenceWords:
    """The words of a sentence, with what they may rest on."""

    words: tuple[str, ...]  # with gaps and stops
    language: str  # empty for one without lists
    question: tuple[str, ...]  # the words of the question
    asked: GivenWords  # the question and the names of the result's columns
    named: GivenWords  # the same, with the names and literals of the query
    names: GivenWords  # of tables, columns and rows, and literals: the words of `Top Gear` claim nothing

    @classmethod
    def read(cls, gapped: str, question: str, asked: str, named: str, names: str) -> SentenceWords:
        """Read the words of a sentence with gaps for its places."""
        given = [GivenWords.read(text) for text in (asked, f"{asked} {named}", names)]
        said, question_words = tuple(_list_words(gapped)), tuple(_list_words(question))
        both, alone = (
            cls(said, _find_listed_language(text), question_words, *given) for text in (f"{asked} {gapped}", gapped)
        )
        return alone if alone.are_known(with_short=False) else both

    def is_of(self, word: str, *kinds: str) -> bool:
        """Whether a word is of one of the kinds in the sentence's language."""
        return is_listed(word, self.language, *kinds)

    def has(self, *kinds: str) -> bool:
        """Whether a word is of one of the kinds."""
        return any(self.is_of(word, *kinds) for word in self.words)

    def find_claims(self) -> set[Claim]:
        """Return what the words claim."""
        return {claim for claim in get_args(Claim) if any(self.claims(word, claim) for word in self.words)}

    def claims(self, word: str, *kinds: str) -> bool:
        """Whether a word claims one of some kinds, and is not of a name."""
        return self.is_of(word, *kinds) and not self.names.has(word, "en")

    def list_denied(self, said: Sequence[str]) -> Iterator[str]:
        """Yield the words that a negation stands before, as in `have not been paid`, or within, as in `unpaid`."""
        for position, word in enumerate(said):
            if is_listed(word, self.language or "*", "negations"):
                behind = takewhile(lambda each: each not in STOPS, said[position + 1 : position + 4])
                yield from (each for each in behind if len(each) >= _ALIKE or not self.is_of(each, "neutral"))
            elif denied := self._strip_negation(word):
                yield denied

    def _strip_negation(self, word: str) -> str:
        """Return the word that a word such as `unpaid` denies, if it is given; else nothing."""
        for prefix in " ".join(each.get("prefixes", "") for each in read_languages().values()).split():
            rest = fold(word).removeprefix(prefix)
            if rest != fold(word) and len(rest) >= _ALIKE and self.named.has(rest, self.language):
                return rest
        return ""

    def are_known(self, *, with_short: bool) -> bool:
        """Whether each word is given or claims something known, or nothing."""
        return all(
            self.named.has(word, self.language)
            or self._is_listed_or_short(word, with_short=with_short)
            or find_measure(word)
            for word in self.words
            if not (word == GAP or word in STOPS or word.isdecimal())
        )

    def _is_listed_or_short(self, word: str, *, with_short: bool) -> bool:
        """Whether a word is listed; with `with_short` also a short one of a language without lists."""
        is_short = (
            with_short and not (self.language or _ASIAN.match(word)) and max(len(word), len(fold(word))) <= _SHORT
        )
        is_number = read_number_words()[1].fullmatch(fold(word)) is not None  # whether it is given is looked at apart
        kinds = read_languages()[self.language or "others"].keys() - _NO_WORDS
        return is_short or is_number or self.is_of(word, *kinds) or self._strip_negation(word) != ""

    def find_noun(self, position: int) -> str:
        """Return the first word after a position that may name a thing, within the clause; empty without one."""
        for word in self.words[position + 1 :]:
            if word == GAP or word in STOPS or word.isdecimal() or self.is_of(word, *PERIODS) or find_measure(word):
                return ""
            if not self._is_listed_or_short(word, with_short=True) or self.asked.has(word, self.language):
                return word
        return ""

    def list_clauses(self) -> Iterator[tuple[str, ...]]:
        """Yield the words of each clause."""
        ends = [position for position, word in enumerate(self.words) if word in STOPS]
        for start, end in zip([0, *ends], [*ends, len(self.words)], strict=True):
            yield self.words[start:end]

    def list_periods(self) -> Iterator[tuple[int, str]]:
        """Yield the position and the period of each word for one."""
        for position, word in enumerate(self.words):
            yield from ((position, period) for period in PERIODS if self.is_of(word, period))
