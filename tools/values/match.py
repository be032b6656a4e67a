"""Questions and the database values that they mention, best first."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from heapq import nlargest
from importlib.resources import files

from ..database import Schema
from ..database.column_kinds import STAND_INS
from ..derived import cache_in_first_argument
from ..words import (
    OF_A_VALUE,
    TokenizedQuestion,
    compute_max_typos,
    find_nearest_names,
    find_similar,
    fold,
    key,
    stem_name,
    stems,
)
from .store import StoredValue, ValueStore

WHOLE = frozenset(("exact", "case", "inflection"))  # how a whole value is mentioned, spelt right
LONGEST = 10  # words of the longest mention that is looked for


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
    how: str  # `exact`, `case`, `inflection`, `typo`, `abbreviation` or `part`


@dataclass(frozen=True)
class MentionSpan:
    """A span of question words that may mention a value."""

    first: int  # number of the first word
    last: int  # number past the last
    start: int  # character offset
    end: int  # offset just past it
    text: str  # as written
    key: str  # what it is looked up by
    similarity: float = 1.0  # less where a word is taken for a misspelt one


# From a question to the values it mentions: what may be one, and how likely that is no coincidence.

_COMMON = 100  # a word that more values hold is only looked for together with its neighbour
_PARTS = 30  # most values of which only a part is mentioned
_LEAST_SHARE = 0.35  # how much of a value, in letters, must be said: less is chance more often than not
_CODE = 3  # other names of at most so many letters are codes: they are compared as written, as "US" is not "us"
# A value that a span may mention, and score and `how` as in a match.
Candidate = tuple[StoredValue, MentionSpan, float, str]


@cache_in_first_argument
def get_schema_name_stems(schema: Schema) -> frozenset[str]:
    """Return the stems of all words in the names of tables and columns."""
    items = [item for table in schema.tables for item in (table, *table.columns)]
    return frozenset(part for item in items for part in stem_name(item.name))


class IndexedValues:
    """The filled part of a value store, with its columns in memory."""

    def __init__(self, store: ValueStore, schema: Schema) -> None:
        self.store, self.names = store, get_schema_name_stems(schema)
        self.columns = {column.id: column for column in store.list_columns()}
        self.by_name = {(column.table.lower(), column.name.lower()): column for column in self.columns.values()}
        # A turn looks for the values of one question twice, and the next turn for those of the question before.
        self.find = lru_cache(maxsize=4)(partial(find_values, index=self))


def find_values(text: str, index: IndexedValues) -> tuple[ValueMatch, ...]:
    """Return the values that a question mentions, best first, each once."""
    question = TokenizedQuestion(text)
    candidates = list(_find_mention_candidates(question, index))
    ranges = {(span.start, span.end) for _, span, _, how in candidates if how in WHOLE}

    def get_sort_key(candidate: Candidate) -> tuple[float, int, int]:
        value, span, *_ = candidate
        return -_score_mention_candidate(candidate, question, index, ranges), span.start, value.id

    best: dict[int, ValueMatch] = {}
    for value, span, score, how in sorted(candidates, key=get_sort_key):
        column = index.columns[value.column]
        place = (column.table, column.name, value.text)
        best.setdefault(value.id, ValueMatch(*place, span.text, span.start, span.end, round(score, 3), how))
    return tuple(best.values())


def _score_mention_candidate(
    candidate: Candidate, question: TokenizedQuestion, index: IndexedValues, ranges: Set[tuple[int, int]]
) -> float:
    """Return the likelihood that a candidate is a mention and not a coincidence.

    For it speak, besides the fit: quotation marks, capitals, length, a column or table that the question names too.
    Against it: its words name a table or column; it lies inside a longer mention that fits (but for the words that
    name the column: "Sonoma" in "Sonoma County" may well be a value of the column `County`).
    """
    value, span, rank, _ = candidate
    column, words = index.columns[value.column], question.words[span.first : span.last]
    rank += 0.05 * min(len(words), 4)
    if question.quoted and question.is_range_in_quotes(span.start, span.end):
        rank += 0.4 if question.is_whole_quotation(span.start, span.end) else 0.1
    capitals = sum(not word.text[0].islower() and word.start not in question.openings for word in words)
    rank += 0.2 * capitals / len(words)
    column_stems = set(stem_name(column.name))
    if is_inside_larger_range(question, span.start, span.end, ranges, column_stems):
        rank -= 0.5
    if all(word.stem in index.names for word in words):
        rank -= 0.35
    question_stems = {word.stem for word in question.words}
    for weight, parts in ((0.15, column_stems), (0.1, set(stem_name(column.table)))):
        rank += weight * len(parts & question_stems) / len(parts) if parts else 0.0
    return rank


def _find_mention_candidates(question: TokenizedQuestion, index: IndexedValues) -> Iterator[Candidate]:
    """Yield all candidates for mentioned values; a value may occur more than once."""
    store = index.store
    respelt = _find_misspelt_words(question, index)
    by_key = _find_mention_spans(question, respelt)
    for value in store.find_values_by_field("key", by_key):
        for span in by_key[value.key]:
            if span.similarity < 1:
                yield value, span, 0.9 * span.similarity, "typo"
            elif span.text == value.text:
                yield value, span, 1.0, "exact"
            elif span.text.casefold() == value.text.strip().casefold():
                yield value, span, 0.97, "case"
            else:
                yield value, span, 0.9, "inflection"
    yield from _find_values_by_alias(question, by_key, index)
    yield from _find_values_by_part(question, respelt, store)


def is_inside_larger_range(
    question: TokenizedQuestion, start: int, end: int, others: Iterable[tuple[int, int]], column_stems: Set[str]
) -> bool:
    """Whether another range contains this one, and words with stems not in `column_stems`."""
    return any(
        first <= start
        and end <= last
        and not {w.stem for w in question.words if first <= w.start < start or end < w.end <= last} <= column_stems
        for first, last in others
    )


def _make_mention_span(
    question: TokenizedQuestion, first: int, last: int, parts: Sequence[str] = (), similarity: float = 1.0
) -> MentionSpan:
    """Return the span from word `first` up to word `last`, with `parts` as the look-up key."""
    start, end = question.words[first].start, question.words[last - 1].end
    return MentionSpan(first, last, start, end, question.text[start:end], key(parts), similarity)


def _find_mention_spans(
    question: TokenizedQuestion, respelt: Mapping[int, Sequence[tuple[str, float]]]
) -> dict[str, list[MentionSpan]]:
    """Return the spans of words that may mention values, by look-up key.

    `respelt` has, for misspelt words, by number, the stems that they may stand for, with their similarity.
    """
    by_key: dict[str, list[MentionSpan]] = defaultdict(list)
    total = len(question.words)
    for first in range(total):
        for last in range(first + 1, min(first + LONGEST, total) + 1):
            if all(question.common[first:last]):
                continue
            parts = [word.stem for word in question.words[first:last]]
            spans = [_make_mention_span(question, first, last, parts)]
            wrong = [number for number in range(first, last) if number in respelt]
            for choice in range(3 if len(wrong) == 1 else min(1, len(wrong))):
                similarity = 1.0
                for number in wrong:
                    parts[number - first], like = respelt[number][min(choice, len(respelt[number]) - 1)]
                    similarity = min(similarity, like)
                spans.append(_make_mention_span(question, first, last, parts, similarity))
            for span in spans:
                by_key[span.key].append(span)
    return by_key


def _find_values_by_alias(
    question: TokenizedQuestion, by_key: Mapping[str, Sequence[MentionSpan]], index: IndexedValues
) -> Iterator[Candidate]:
    """Yield values that the question mentions by an alias."""
    store, spans = index.store, [span for group in by_key.values() for span in group]
    aliases = {alias: span for span in spans if span.similarity == 1 for alias in find_aliases(span.text, span.key)}
    values = store.find_values_by_field("key", {alias.key for alias in aliases})
    for alias, span in aliases.items():
        for value in values:
            if value.key != alias.key or (alias.is_code and value.text.strip() != alias.text):
                continue
            column = index.columns[value.column]
            if not alias.columns or alias.columns & {*stem_name(column.name), *stem_name(column.table)}:
                yield value, span, 0.75 if alias.is_code else 0.85, "abbreviation"


def _find_misspelt_words(question: TokenizedQuestion, index: IndexedValues) -> dict[int, list[tuple[str, float]]]:
    """Return the most similar stored words for each question word that no value contains."""
    respelt: dict[int, list[tuple[str, float]]] = {}
    for number, word in enumerate(question.words):
        is_known = word.stem in index.names or question.common[number] or word.stem.isdigit()
        if is_known or not compute_max_typos(word.stem):
            continue
        # A short word in small letters is a word more often than a value with a wrong letter.
        if len(word.text) <= OF_A_VALUE[0] and not question.is_quoted_or_capitalized(word):
            continue
        if not index.store.has_word_stem(word.stem) and (near := _find_nearest_words(word.stem, index.store)):
            respelt[number] = [(other, 1 - distance / len(word.stem)) for distance, other in near]
    return respelt


def _find_values_by_part(
    question: TokenizedQuestion, respelt: Mapping[int, Sequence[tuple[str, float]]], store: ValueStore
) -> Iterator[Candidate]:
    """Yield values of which the question has only some words, at least one spelt correctly."""
    words = {
        number: (respelt[number][0] if number in respelt else (word.stem, 1.0))
        for number, word in enumerate(question.words)
        if len(word.stem) > 1 and not question.common[number]
    }
    numbers: dict[int, list[int]] = defaultdict(list)
    for number, (stem, _) in words.items():
        holders = store.find_value_ids_by_words((stem,), _COMMON + 1)
        for value_id in holders if len(holders) <= _COMMON else ():
            numbers[value_id].append(number)
    for number in words:
        if number + 1 in words:
            for value_id in store.find_value_ids_by_words((words[number][0], words[number + 1][0]), _COMMON):
                numbers[value_id] = sorted({*numbers[value_id], number, number + 1})
    matches: list[tuple[float, StoredValue, list[int]]] = []
    for value in store.find_values_by_field("id", numbers):
        run = _find_longest_word_run(numbers[value.id])
        share = sum(len(words[number][0]) for number in run) / len(value.key)
        if _LEAST_SHARE <= share < 1 and any(number not in respelt for number in run):
            matches.append((share, value, run))
    for share, value, run in nlargest(_PARTS, matches, key=lambda part: part[0]):
        similarity = min(words[number][1] for number in run)
        span = _make_mention_span(question, run[0], run[-1] + 1, similarity=similarity)
        yield value, span, (0.4 + 0.4 * share) * similarity, "part"


def _find_longest_word_run(numbers: Sequence[int]) -> list[int]:
    """Return the longest run of word numbers, with gaps of at most one word."""
    runs: list[list[int]] = [[]]
    for number in numbers:
        runs.append([*runs[-1], number] if runs[-1] and number - runs[-1][-1] <= 2 else [number])
    return max(runs, key=len)


# Other names of the same thing: countries and their people, states and their codes, months, sexes. The list holds what
# no index can work out from a database. A name is only ever a way to look a value up: that the value is in the
# database, spelt so, remains the condition.


@dataclass(frozen=True)
class ValueAlias:
    """Another name for the same thing, such as a country's code."""

    text: str  # as written
    key: str  # as the index looks it up
    columns: frozenset[str]  # stems of which a column's or table's name must hold one; none if any column will do
    is_code: bool  # whether it stands only for exactly this text


def find_aliases(mention: str, mention_key: str) -> tuple[ValueAlias, ...]:
    """Return the other names of the thing that a question mentions by one name."""
    groups = [
        group
        for group in _load_alias_groups().get(mention_key, ())
        if any(name.key == mention_key and (not name.is_code or name.text == mention) for name in group)
    ]
    return tuple(dict.fromkeys(name for group in groups for name in group if name.key != mention_key))


@cache
def _load_alias_groups() -> Mapping[str, list[tuple[ValueAlias, ...]]]:
    """Load the groups of names for the same thing, by the key of each name."""
    by_key: dict[str, list[tuple[ValueAlias, ...]]] = defaultdict(list)
    for group in json.loads((files(__package__ or "") / "data" / "aliases.json").read_text("utf-8")):
        columns = frozenset(stem for name in group.get("columns", []) for stem in stems(name))
        names = tuple(ValueAlias(name, key(stems(name)), columns, len(name) <= _CODE) for name in group["names"])
        for name_key in {name.key for name in names}:
            by_key[name_key].append(names)
    return by_key


# The values of one column that a text may have meant.

_FEW = 5_000
"""Values that are all compared; of a column that holds more, those that share a word with the text, or nearly."""

_WORD_HOLDERS = 500  # values taken for one word
_LOOKED_AT = 30  # values that are compared closely
_PART = 4  # letters and digits from which a text may be a part of what was meant


def find_nearest_values(index: IndexedValues, place: tuple[str, str], text: str, limit: int) -> tuple[str, ...]:
    """Return the values of a column that a text may mean: similar spellings and aliases."""
    store, parts = index.store, stems(text)
    if (column := index.by_name.get(place)) is None:
        return ()
    others = find_aliases(text.strip(), key(parts))
    aliases = [
        value.text
        for value in store.find_values_by_field("key", [other.key for other in others])
        if value.column == column.id and (len(value.text) > 1 or any(value.text == other.text for other in others))
    ]
    choices = store.list_values(column.id, _FEW) if column.value_count <= _FEW else []
    if column.value_count > _FEW:
        alike = {near for word in parts for near in (word, *(near for _, near in _find_nearest_words(word, store)))}
        ids = {number for word in alike for number in store.find_value_ids_by_words((word,), _WORD_HOLDERS)}
        choices = [value.text for value in store.find_values_by_field("id", ids) if value.column == column.id]
    near = find_nearest_names(text, choices, _LOOKED_AT)
    same = [choice for choice in near if _fold_words(choice) == _fold_words(text)]
    same = same or [choice for choice in near if parts and key(stems(choice)) == key(parts)]
    near_values = same or [*aliases, *(choice for choice in near if _is_similar_to_value(text, choice))]
    if not near_values and len(text) > OF_A_VALUE[0]:  # some words of a value, misspelt
        runs = {choice: _list_word_runs(choice, len(_fold_words(text))) for choice in near}
        near_values = [choice for choice in near if any(_is_similar_to_value(text, run) for run in runs[choice])]
    return tuple(dict.fromkeys(near_values))[:limit]


def _is_similar_to_value(text: str, value: str) -> bool:
    """Whether a text is a misspelt value, or consists of whole words of the value."""
    if text.strip().casefold() in STAND_INS:
        return False  # it asks for rows without a value: none is meant by it
    text_words, value_words = _fold_words(text), _fold_words(value)
    short, long = "".join(text_words), "".join(value_words)
    if len(short) >= _PART and f" {' '.join(text_words)} " in f" {' '.join(value_words)} ":
        return True
    # Of four letters, one that is another makes another word; two that changed places, or one twice, do not.
    is_respelt = len(short) >= len(long) == _PART and {*short} == {*long} and not value.isupper()
    most_typos = 1 if is_respelt else compute_max_typos(long, is_value=True)
    # Of "Model S", "Model E200" or "Class E Wagon": with another it is another value.
    code = r"\b\w?\d+\w?\b|\d+|\b\w\b" if len(text_words) == len(value_words) else r"\d+|\b\w$"
    parts = [re.findall(code, " ".join(words)) for words in (text_words, value_words)]
    has_same_parts = short[:1] == long[:1] and parts[0] == parts[1]
    return most_typos > 0 and has_same_parts and bool(find_similar(long, [short], is_value=not is_respelt))


def _list_word_runs(value: str, size: int) -> list[str]:
    words = _fold_words(value)
    return [" ".join(words[first : first + size]) for first in range(len(words) - size + 1)]


def _fold_words(text: str) -> list[str]:
    return [fold(word) for word in re.findall(r"[^\W_]+", text)]


def _find_nearest_words(word: str, store: ValueStore) -> list[tuple[int, str]]:
    """Return up to three indexed words most similar to a stem, with their edit distances.

    Only words that begin or end like it are considered: of a word with one wrong letter, one half is right.
    """
    return find_similar(word, store.find_similar_words(word, compute_max_typos(word)))[:3]
