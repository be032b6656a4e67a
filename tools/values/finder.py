"""From a question to the values it mentions, best first: what may be one, and how likely that is no coincidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from heapq import nlargest

from ..database import Schema
from ..words import fold, name_stems, stem
from .aliases import aliases
from .match import ValueMatch
from .nearest import nearest_words
from .question import Question, Span, read, spans
from .store import Store, Stored, StoredColumn

YES = frozenset(("1", "t", "true", "y", "yes"))
NO = frozenset(("0", "f", "false", "n", "no"))
NOT = frozenset(("no", "non", "not", "never", "without", "neither", "nor", "isn", "aren", "doesn", "don", "didn"))
_ASIDE = frozenset(("a", "flag", "has", "have", "indic", "is", "of", "on", "the", "was", "yn"))
"""Stems in a column's name that say nothing of what it is about."""

_GOOD = 0.9
"""Score from which a longer mention leaves little to those inside it."""

_COMMON = 100
"""A word that more values hold is only looked for together with its neighbour."""

_PARTS = 30
"""Most values of which only a part is mentioned."""

_LONGEST_INITIALS = 6

_LEAST_SHARE = 0.35
"""How much of a value, in letters, must be said: less is chance more often than not."""


@dataclass(frozen=True)
class IndexedColumns:
    """Indexed columns, flags among them, and the words of names.

    Attributes:
        columns: The indexed columns by number.
        names: The stems of all words in the names of tables and columns.
        flags: The values of each column that holds nothing but a yes and a no.
    """

    columns: Mapping[int, StoredColumn] = field(default_factory=dict[int, StoredColumn])
    names: frozenset[str] = frozenset()
    flags: Mapping[int, list[Stored]] = field(default_factory=dict[int, list[Stored]])

    @classmethod
    def of(cls, store: Store, schema: Schema) -> IndexedColumns:
        """The columns of a store, as far as it is filled."""
        items = [item for table in schema.tables for item in (table, *table.columns)]
        names = frozenset(part for item in items for part in name_stems(item.name))
        few = store.few_valued()
        said = {column: {value.text.casefold() for value in values} for column, values in few}
        flags = {n: values for n, values in few if said[n] <= YES | NO and said[n] & YES and said[n] & NO}
        return cls({column.id: column for column in store.columns()}, names, flags)


def flagged(question: Question, indexed: IndexedColumns) -> Iterator[tuple[Stored, int, float]]:
    """Values of flag columns that the question names by half or more, with the number of the naming word and a score.

    Both values are given: which one is meant is for the reader to say; the likelier one scores higher.
    """
    numbers = {word.stem: number for number, word in reversed(tuple(enumerate(question.words)))}
    negated = any(word.folded in NOT for word in question.words)
    for number, values in indexed.flags.items():
        column = indexed.columns[number]
        name = set(name_stems(column.name)) - _ASIDE - set(name_stems(column.table))
        if stem(fold(column.name)) in numbers:  # a name such as WiFi is written as one word
            name = {stem(fold(column.name))}
        named = [numbers[part] for part in name if part in numbers]
        if named and len(named) >= len(name) / 2:
            for value in values:
                likely = (value.text.casefold() in NO) == negated
                yield value, min(named), 0.5 + 0.1 * len(named) / len(name) + 0.1 * likely


@dataclass(frozen=True)
class Candidate:
    """A value that a span may mention; `score` and `how` as in a match."""

    value: Stored
    span: Span
    score: float
    how: str


def find(text: str, store: Store, indexed: IndexedColumns) -> list[ValueMatch]:
    """The values that a question mentions, best first, each once.

    Args:
        text: The question.
        store: Where values are looked up.
        indexed: The columns that it holds, and the schema's names.
    """
    question = read(text)
    found = list(candidates(question, store, indexed))
    ranking = _Ranking(question, indexed.names, found)
    best: dict[int, tuple[float, Candidate]] = {}
    for candidate in found:
        rank = ranking.of(candidate, indexed.columns[candidate.value.column])
        before = best.get(candidate.value.id)
        if before is None or rank > before[0]:
            best[candidate.value.id] = (rank, candidate)
    ranked = sorted(best.values(), key=lambda pair: (-pair[0], pair[1].span.start, pair[1].value.id))
    return [_match(candidate, indexed.columns[candidate.value.column]) for _, candidate in ranked]


class _Ranking:
    """How likely a candidate is a mention and no coincidence.

    For it speak, besides the fit: quotation marks, capitals, length, a column or table that the question names too.
    Against it: its words name a table or column; it lies inside a longer mention that fits (but for the words that
    name the column: "Sonoma" in "Sonoma County" may well be a value of the column `County`).
    """

    def __init__(self, question: Question, names: Set[str], found: Sequence[Candidate]) -> None:
        self._question = question
        self._names = names
        self._stems = {word.stem for word in question.words}
        self._taken = {(c.span.first, c.span.last) for c in found if c.score >= _GOOD}

    def of(self, candidate: Candidate, column: StoredColumn) -> float:
        span, question = candidate.span, self._question
        words = question.words[span.first : span.last]
        rank = candidate.score + 0.05 * min(len(words), 4)
        if question.fills_quotes(span.start, span.end):
            rank += 0.4
        elif question.in_quotes(span.start, span.end):
            rank += 0.1
        rank += 0.2 * sum(not word.text[0].islower() and not question.begins(word.start) for word in words) / len(words)
        own = set(name_stems(column.name))
        if self._inside(span.first, span.last, own):
            rank -= 0.5
        if candidate.how != "flag" and all(word.stem in self._names for word in words):
            rank -= 0.35
        return rank + 0.15 * self._named(own) + 0.1 * self._named(set(name_stems(column.table)))

    def _inside(self, first: int, last: int, own: Set[str]) -> bool:
        """Whether a longer mention holds these words and others that are not the column's own name."""
        for start, end in self._taken:
            if start <= first and last <= end:
                others = self._question.words[start:first] + self._question.words[last:end]
                if not {word.stem for word in others} <= own:
                    return True
        return False

    def _named(self, parts: Set[str]) -> float:
        return sum(part in self._stems for part in parts) / len(parts) if parts else 0.0


def _match(candidate: Candidate, column: StoredColumn) -> ValueMatch:
    span = candidate.span
    place = (column.table, column.name, candidate.value.text)
    return ValueMatch(*place, span.text, span.start, span.end, round(candidate.score, 3), candidate.how)


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
