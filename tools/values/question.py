"""A question as the finder reads it: words, which of them say nothing, and the spans that may be mentions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..words import STOP_WORDS, Word, key, words

LONGEST = 10
"""Words of the longest mention that is looked for."""

_MOST_WORDS = 400
"""Words that are read: a question has fewer, and a pasted text shall not take its time."""

_QUOTED = re.compile(r"\"([^\"]+)\"|“([^”]+)”|(?<!\w)'((?:[^']|'(?=\w))+)'(?!\w)|‘([^’]+)’")


@dataclass(frozen=True)
class Span:
    """Words that may mention a value.

    Attributes:
        first: Number of the first word.
        last: Number past the last.
        start: Character offset.
        end: Offset just past it.
        text: As written.
        key: What it is looked up by.
        similarity: 1, or less where a word is taken for a misspelt one.
    """

    first: int
    last: int
    start: int
    end: int
    text: str
    key: str
    similarity: float = 1.0


@dataclass(frozen=True)
class Question:
    """A question taken apart.

    Attributes:
        text: As asked.
        words: Its words.
        quoted: Character ranges between quotation marks.
    """

    text: str
    words: tuple[Word, ...]
    quoted: tuple[tuple[int, int], ...]

    def says_nothing(self, number: int) -> bool:
        """Whether a word is too common to mention a value by itself; a capital ("May", "IT") or quotes tell."""
        word = self.words[number]
        if not is_function_word(word):
            return False
        if word.text == "I":
            return True
        return not (word.text[0].isupper() and not self.begins(word.start)) and not self.in_quotes(word.start, word.end)

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

    def span(self, first: int, last: int, stemmed: Sequence[str], similarity: float = 1.0) -> Span:
        """The span of some words, to be looked up by these stems."""
        start, end = self.words[first].start, self.words[last - 1].end
        return Span(first, last, start, end, self.text[start:end], key(stemmed), similarity)


def is_function_word(word: Word) -> bool:
    """Whether a word is one that questions are made of, however it is written."""
    return word.folded in STOP_WORDS


def read(text: str) -> Question:
    """Takes a question apart."""
    quoted = tuple(match.span(match.lastindex or 0) for match in _QUOTED.finditer(text))
    return Question(text, words(text)[:_MOST_WORDS], quoted)


def spans(question: Question, respelt: Mapping[int, Sequence[tuple[str, float]]]) -> dict[str, list[Span]]:
    """The spans that may be mentions, by key.

    Args:
        question: Whose spans.
        respelt: For misspelt words, by number, the stems that they may stand for, with their similarity.
    """
    found: dict[str, list[Span]] = defaultdict(list)
    total = len(question.words)
    for first in range(total):
        for last in range(first + 1, min(first + LONGEST, total) + 1):
            if all(question.says_nothing(number) for number in range(first, last)):
                continue
            stemmed = [word.stem for word in question.words[first:last]]
            span = question.span(first, last, stemmed)
            found[span.key].append(span)
            wrong = [number for number in range(first, last) if number in respelt]
            for choice in range(3 if len(wrong) == 1 else min(1, len(wrong))):
                similarity = 1.0
                for number in wrong:
                    stands_for, like = respelt[number][min(choice, len(respelt[number]) - 1)]
                    stemmed[number - first] = stands_for
                    similarity = min(similarity, like)
                span = question.span(first, last, stemmed, similarity)
                found[span.key].append(span)
    return found
