"""Mistyped words: those of the grammar, and those that name tables and columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rapidfuzz import process
from rapidfuzz.distance import DamerauLevenshtein

from ....tools.values.match import ValueMatch
from . import lexicon
from .lexicon import COMMANDS, COMPARATIVES, PHRASES, SUPERLATIVES, UNSPEAKABLE
from .name_index import NameIndex
from .question_words import Word, spelled_out, stem, words_of

_ALIKE = 0.8
_LONG = 7
"""Letters from which any slip is put right; in a shorter word only letters swapped or one left out."""

_LISTS = (COMMANDS, UNSPEAKABLE, COMPARATIVES, SUPERLATIVES, lexicon.NOISE, lexicon.HARMLESS, lexicon.NUMBERS)
_PHRASES = [phrase for options in PHRASES.values() for phrase, _ in options]
_GRAMMAR = frozenset(word for words in (*_LISTS, lexicon.ORDINALS, *_PHRASES) for word in words if word.isalpha())
_REAL = _GRAMMAR | lexicon.LOOKALIKES


def respelled(question: str, names: NameIndex, find: Callable[[str], Iterable[ValueMatch]]) -> str:
    """The question with mistyped words of the grammar put right: `wich`, `hwo many`.

    Args:
        question: As asked.
        names: Whose words are left alone, mistyped or not.
        find: Finds the values that a question mentions; their words are left alone too.
    """
    typos = [(word, meant) for word in words_of(question) if (meant := _meant(word, names))]
    spans = [(match.start, match.end) for match in find(question) if match.how != "typo"] if typos else []
    for word, meant in reversed(typos):
        if not any(start < word.end and word.start < end for start, end in spans):
            question = f"{question[: word.start]}{meant}{question[word.end :]}"
    return question


def _meant(word: Word, names: NameIndex) -> str | None:
    """The grammar's word that is meant by one that is neither in it nor in the schema, if only one comes near."""
    typed = word.lower
    is_name = word.text[:1].isupper() and word.start > 0
    if word.quoted or is_name or len(typed) < 3 or not typed.isalpha() or typed in _REAL or word.stem in names.known:
        return None
    if corrected(word, names) != word.stem:
        return None
    near = [other for other in _GRAMMAR if other[0] == typed[0] and DamerauLevenshtein.distance(typed, other) == 1]
    swapped = [other for other in near if sorted(other) == sorted(typed)]
    slipped = [other for other in near if not (other.startswith(typed) or typed.startswith(other))]
    short = [other for other in slipped if 3 < len(typed) < len(other)]
    options = swapped or (slipped if len(typed) >= _LONG else short)
    return options[0] if len(options) == 1 else None


def corrected(word: Word, names: NameIndex) -> str:
    """The word's stem; for one that looks mistyped, that of the schema's word nearest to it; for `flight_id`, both."""
    if "_" in word.text and not word.quoted:
        return " ".join(stem(part) for part in spelled_out(word.text))
    if word.quoted or len(word.lower) < 5 or not word.lower.isalpha() or word.stem in names.known:
        return word.stem
    if any(word.lower in known for known in (COMMANDS, UNSPEAKABLE, SUPERLATIVES, COMPARATIVES, PHRASES)):
        return word.stem
    for size in (4, 3):
        if len(word.lower) >= size + 3 and word.lower[:size] in names.short:
            return word.lower[:size]
    if word.stem.endswith(("or", "er")) and word.stem[:-2] in names.known and len(word.stem) > 5:
        return word.stem[:-2]
    if len(word.stem) >= 4:
        longer = [known for known in names.vocabulary if known.startswith(word.stem)]
        if len(longer) == 1:
            return longer[0]
    near = process.extractOne(
        word.stem, names.vocabulary, scorer=DamerauLevenshtein.normalized_similarity, score_cutoff=_ALIKE
    )
    return near[0] if near and len(near[0]) > 4 and near[0][0] == word.stem[0] else word.stem
