"""Words of a question beside those of an entry: mistyped ones, other forms, other words for the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import takewhile

from rapidfuzz import fuzz, process

from ..linking.vocabulary import shipped
from ..values.schema_words import synonyms
from ..values.text_words import stem

_TYPO_LENGTH, _TYPO = 5, 88.0
"""Shortest word that may be mistyped, and least likeness, of 100, to the word that was meant."""

_SYNONYM, _KIN, _LEARNED = 0.8, 0.7, 0.3
"""What another word for the same and another form of a word count, and the least weight of a learned association."""

_HEAD, _BEGINNING, _TAIL = 4, 5, 3
"""Letters of the shortest word with other forms, those that two forms share, and those that they may differ in."""

_PLURALS = {"women": "woman", "men": "man", "children": "child", "people": "person", "feet": "foot"}
"""Stems of plurals that no stemmer brings back."""


class Wording:
    """The words of entries and names, found by what people say for them."""

    def __init__(self, names: Collection[str], words: Collection[str]) -> None:
        """Indexes stems: `names` may be mistyped, `words` are all."""
        self._words = frozenset(words)
        self._by_length: dict[int, list[str]] = defaultdict(list)
        for word in sorted(names):
            if len(word) >= _TYPO_LENGTH - 1:
                self._by_length[len(word)].append(word)
        self._by_head: dict[str, list[str]] = defaultdict(list)
        for word in sorted(self._words):
            self._by_head[word[:_HEAD]].append(word)

    def mended(self, word: str) -> str:
        """A stem, or what was meant where it is mistyped."""
        word = _PLURALS.get(word, word)
        if word in self._words or len(word) < _TYPO_LENGTH:
            return word
        near = [other for length in (-1, 0, 1) for other in self._by_length.get(len(word) + length, ())]
        hit = process.extractOne(word, near, scorer=fuzz.ratio, score_cutoff=_TYPO)
        return hit[0] if hit else word

    def meant(self, word: str) -> Mapping[str, float]:
        """The stems that a question's stem may stand for, each with what it counts."""
        found = {other: _KIN for other in self._by_head.get(word[:_HEAD], ()) if _kin(word, other)}
        found |= dict.fromkeys(self._words & _synonyms().get(word, frozenset()), _SYNONYM)
        return found | {word: 1.0}

    def named(self, word: str) -> frozenset[str]:
        """The stems of names that questions with a stem were learned to be about."""
        pairs = shipped().pairs.get(word, {})
        return self._words & {part for part, weight in pairs.items() if weight >= _LEARNED}


@cache
def _synonyms() -> Mapping[str, frozenset[str]]:
    """Both ways: it is not known which of the two somebody wrote in an entry."""
    found: dict[str, set[str]] = defaultdict(set)
    for word, others in synonyms().items():
        for other in others:
            found[stem(word)].add(stem(other))
            found[stem(other)].add(stem(word))
    return {word: frozenset(others) for word, others in found.items()}


def _kin(word: str, other: str) -> bool:
    """Whether two stems are likely forms of one word: `frequent` and `frequenc`, `canadian` and `canada`."""
    short, long = sorted((word, other), key=len)
    if len(short) < _HEAD or not (short.isalpha() and long.isalpha()):
        return False
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(short, long, strict=False)))
    return len(long) - shared <= _TAIL and (shared == len(short) or shared >= _BEGINNING)


def abbreviates(short: str, words: Sequence[str]) -> bool:
    """Whether beginnings of all words, in order, make up an abbreviation: LATAM of "Latin American"."""
    if not words:
        return not short
    first, rest = words[0], words[1:]
    return any(
        first.startswith(short[:length]) and abbreviates(short[length:], rest)
        for length in range(1, len(short) - len(rest) + 1)
    )


def runs(words: Sequence[str], least: int, most: int) -> Iterable[tuple[str, ...]]:
    """Runs of so many neighbouring words."""
    for size in range(least, most + 1):
        for start in range(len(words) - size + 1):
            yield tuple(words[start : start + size])
