"""Values that a question may mention, with how well they fit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest

from ..words import name_stems
from .aliases import aliases
from .indexed_columns import IndexedColumns, flagged
from .nearest import nearest_words
from .question import Question, Span, spans
from .store import Store, Stored, StoredColumn

_COMMON = 100
"""A word that more values hold is only looked for together with its neighbour."""

_PARTS = 30
"""Most values of which only a part is mentioned."""

_LONGEST_INITIALS = 6

_LEAST_SHARE = 0.35
"""How much of a value, in letters, must be said: less is chance more often than not."""


@dataclass(frozen=True)
class Candidate:
    """A value that a span may mention; `score` and `how` as in a match."""

    value: Stored
    span: Span
    score: float
    how: str


def candidates(question: Question, store: Store, indexed: IndexedColumns) -> Iterator[Candidate]:
    """All candidates, the same value perhaps more than once."""
    respelt = _respelt(question, indexed.names, store)
    by_key = spans(question, respelt)
    for value in store.by_key(list(by_key)):
        for span in by_key[value.key]:
            yield Candidate(value, span, *_fit(span, value.text))
    yield from _by_alias(question, by_key, store, indexed.columns)
    yield from _by_part(question, respelt, store)
    for value, number, score in flagged(question, indexed):
        yield Candidate(value, question.span(number, number + 1, []), score, "flag")


def _fit(span: Span, text: str) -> tuple[float, str]:
    if span.similarity < 1:
        return 0.9 * span.similarity, "typo"
    if span.text == text:
        return 1.0, "exact"
    if span.text.casefold() == text.strip().casefold():
        return 0.97, "case"
    return 0.9, "inflection"


def _by_alias(
    question: Question, by_key: Mapping[str, Sequence[Span]], store: Store, columns: Mapping[int, StoredColumn]
) -> Iterator[Candidate]:
    """Values by another name: from the list of such names, and by initials, in both directions."""
    wanted = {
        alias: span
        for group in by_key.values()
        for span in group
        if span.similarity == 1
        for alias in aliases(span.text, span.key)
    }
    found = store.by_key(list({alias.key for alias in wanted}))
    for alias, span in wanted.items():
        for value in found:
            if value.key != alias.key or (alias.code and value.text.strip() != alias.text):
                continue
            column = columns[value.column]
            if not alias.columns or alias.columns & {*name_stems(column.name), *name_stems(column.table)}:
                yield Candidate(value, span, 0.75 if alias.code else 0.85, "abbreviation")
    upper = {span.text.lower(): span for group in by_key.values() for span in group if _is_initials(span.text)}
    for value, initials in store.by_initials(list(upper)):
        yield Candidate(value, upper[initials], 0.8, "abbreviation")
    said = _said_initials(question, by_key)
    for value in store.by_key(list(said)):
        if _is_initials(value.text.strip()):
            yield Candidate(value, said[value.key], 0.8, "abbreviation")


def _said_initials(question: Question, by_key: Mapping[str, Sequence[Span]]) -> dict[str, Span]:
    """The first letters of three to six words that say something, each with its words: what a code may stand for."""
    return {
        letters: span
        for group in by_key.values()
        for span in group
        if 3 <= span.last - span.first <= _LONGEST_INITIALS
        and not any(question.says_nothing(number) for number in range(span.first, span.last))
        and (letters := "".join(word.folded[0] for word in question.words[span.first : span.last])).isalpha()
    }


def _is_initials(text: str) -> bool:
    return 3 <= len(text) <= _LONGEST_INITIALS and text.isalpha() and text.isupper()


def _respelt(question: Question, names: Container[str], store: Store) -> dict[int, list[tuple[str, float]]]:
    """For each word that no value holds, the nearest words that values hold."""
    respelt: dict[int, list[tuple[str, float]]] = {}
    for number, word in enumerate(question.words):
        if len(word.stem) < 4 or word.stem.isdigit() or word.stem in names or question.says_nothing(number):
            continue
        if store.knows(word.stem):
            continue
        near = nearest_words(word.stem, store)
        if near:
            respelt[number] = [(other, 1 - distance / len(word.stem)) for distance, other in near]
    return respelt


def _by_part(
    question: Question, respelt: Mapping[int, Sequence[tuple[str, float]]], store: Store
) -> Iterator[Candidate]:
    """Values of which the question says some words only, one of them at least spelt right."""
    words = {
        number: (respelt[number][0] if number in respelt else (word.stem, 1.0))
        for number, word in enumerate(question.words)
        if len(word.stem) > 1 and not question.says_nothing(number)
    }
    numbers: dict[int, list[int]] = defaultdict(list)
    for number, (stemmed, _) in words.items():
        for value_id in store.with_word(stemmed, _COMMON):
            numbers[value_id].append(number)
    for number, following in zip(words, list(words)[1:], strict=False):
        if following == number + 1:
            for value_id in store.with_words(words[number][0], words[following][0], _COMMON):
                numbers[value_id] = sorted({*numbers[value_id], number, following})
    found: list[tuple[float, Stored, list[int]]] = []
    for value in store.by_id(list(numbers)):
        run = _longest_run(numbers[value.id])
        share = sum(len(words[number][0]) for number in run) / len(value.key)
        if _LEAST_SHARE <= share < 1 and any(number not in respelt for number in run):
            found.append((share, value, run))
    for share, value, run in nlargest(_PARTS, found, key=lambda part: part[0]):
        similarity = min(words[number][1] for number in run)
        span = question.span(run[0], run[-1] + 1, [], similarity)
        yield Candidate(value, span, (0.4 + 0.4 * share) * similarity, "part")


def _longest_run(numbers: Sequence[int]) -> list[int]:
    """The longest run of words that follow each other, one word between them allowed."""
    best: list[int] = []
    run: list[int] = []
    for number in numbers:
        run = [*run, number] if run and number - run[-1] <= 2 else [number]
        if len(run) > len(best):
            best = run
    return best
