"""A question taken apart, and the database values that it mentions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from ..words import STOP_WORDS, Word, key, words

WHOLE = frozenset(("exact", "case", "inflection"))  # how a whole value is mentioned, spelt right
LONGEST = 10  # words of the longest mention that is looked for
_MOST_WORDS = 400  # words that are read: a question has fewer, and a pasted text shall not take its time

_QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|(?<!\w)'((?:[^']|'(?=\w))+)'(?!\w)|‘([^’]+)’")


@dataclass(frozen=True)
class ValueMatch:
    """A database value that a question mentions."""

    table: str
    column: str
    value: str  # in the database's spelling
    mention: str  # the question's words that stand for it
    start: int  # character offset of the mention in the question
    end: int  # offset just past the mention
    score: float  # from 0 to 1; 1 is the same text
    # `exact`, `case`, `inflection`, `typo`, `abbreviation`, `part`, or `flag`: a yes or no of the column that the
    # mention names.
    how: str


@dataclass(frozen=True)
class Span:
    """Words that may mention a value."""

    first: int  # number of the first word
    last: int  # number past the last
    start: int  # character offset
    end: int  # offset just past it
    text: str  # as written
    key: str  # what it is looked up by
    similarity: float = 1.0  # less where a word is taken for a misspelt one


@dataclass(frozen=True)
class Question:
    """A question taken apart."""

    text: str
    words: tuple[Word, ...]
    quoted: tuple[tuple[int, int], ...]  # character ranges between quotation marks

    @classmethod
    def of(cls, text: str) -> Question:
        """Take a question apart."""
        quoted = tuple(match.span(match.lastindex or 0) for match in _QUOTED.finditer(text))
        return cls(text, words(text)[:_MOST_WORDS], quoted)

    def says_nothing(self, number: int) -> bool:
        """Whether a word is too common to mention a value by itself; a capital ("May", "IT") or quotes tell."""
        word = self.words[number]
        return is_function_word(word) and (word.text == "I" or not self.sets_off(word))

    def sets_off(self, word: Word) -> bool:
        """Whether a word stands out by capitals or quotes; capitals that begin a sentence are no sign."""
        return (word.text[0].isupper() and not self.begins(word.start)) or self.in_quotes(word.start, word.end)

    def begins(self, start: int) -> bool:
        """Whether a sentence or line begins at this place."""
        before = self.text[:start].rstrip("\"'“‘( \t")
        return not before or before[-1] in ".?!:\n"

    def in_quotes(self, start: int, end: int) -> bool:
        """Whether a place lies between quotation marks."""
        return any(first <= start and end <= last for first, last in self.quoted)

    def fills_quotes(self, start: int, end: int) -> bool:
        """Whether a place is all that stands between quotation marks, punctuation aside."""
        return any(
            first <= start and end <= last and not re.search(r"\w", self.text[first:start] + self.text[end:last])
            for first, last in self.quoted
        )

    def between(self, start: int, end: int) -> list[Word]:
        """Return the words at a place."""
        return [word for word in self.words if start <= word.start and word.end <= end]

    def is_inside(self, start: int, end: int, others: Iterable[tuple[int, int]], own: Set[str]) -> bool:
        """Whether one of other places holds this one and words that are not the column's own name."""
        return any(
            first <= start
            and end <= last
            and not {word.stem for word in self.between(first, start) + self.between(end, last)} <= own
            for first, last in others
        )

    def span(self, first: int, last: int, stemmed: Sequence[str], similarity: float = 1.0) -> Span:
        """Return the span of some words, to be looked up by these stems."""
        start, end = self.words[first].start, self.words[last - 1].end
        return Span(first, last, start, end, self.text[start:end], key(stemmed), similarity)

    def spans(self, respelt: Mapping[int, Sequence[tuple[str, float]]]) -> dict[str, list[Span]]:
        """Return the spans that may be mentions, by key.

        Args:
            respelt: For misspelt words, by number, the stems that they may stand for, with their similarity.
        """
        found: dict[str, list[Span]] = defaultdict(list)
        total = len(self.words)
        telling = [not self.says_nothing(number) for number in range(total)]
        for first in range(total):
            for last in range(first + 1, min(first + LONGEST, total) + 1):
                if not any(telling[first:last]):
                    continue
                stemmed = [word.stem for word in self.words[first:last]]
                span = self.span(first, last, stemmed)
                found[span.key].append(span)
                wrong = [number for number in range(first, last) if number in respelt]
                for choice in range(3 if len(wrong) == 1 else min(1, len(wrong))):
                    similarity = 1.0
                    for number in wrong:
                        stemmed[number - first], like = respelt[number][min(choice, len(respelt[number]) - 1)]
                        similarity = min(similarity, like)
                    span = self.span(first, last, stemmed, similarity)
                    found[span.key].append(span)
        return found


def is_function_word(word: Word) -> bool:
    """Whether a word is one that questions are made of, however it is written."""
    return word.folded in STOP_WORDS
