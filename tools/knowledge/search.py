"""Finding the definitions that a question needs: by its words, and by the tables and columns that it is about."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rapidfuzz import fuzz, process

from ..values.schema_words import name_words
from ..values.text_words import fold, stem, stems
from .entry import Entry, Item, Selection

LIKELY = 0.5
"""Probability from which a linked table or column counts as what the question is about."""

_LINE = 4
"""Characters that one line of a list takes beside its text."""

_PLURAL = re.compile(r"\b([A-Z0-9]{2,})s\b")
"""An abbreviation in the plural: SRs."""

_TYPO_LENGTH, _TYPO = 5, 88.0
"""Shortest word that may be mistyped, and least likeness, of 100, to the word that was meant."""

_SMALL = """
    a an and are as at be by do does each for from has have how in is it its list many me more most much no not of on
    one or our show than that the their there to this was we were what when where which who with you your give all any
    per every number
"""
_STOP = frozenset(stem(word) for word in _SMALL.split())


@dataclass
class _Found:
    """An entry with how well it fits, and which words of the question are its name."""

    score: float
    matched: frozenset[str] = field(default_factory=frozenset[str])


class KnowledgeIndex:
    """Entries by their words. May be used from several threads once it is made."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = tuple(entries)
        self._phrases: dict[str, list[tuple[int, tuple[str, ...]]]] = defaultdict(list)
        self._words: dict[str, list[int]] = defaultdict(list)
        self._items: dict[Item, list[int]] = defaultdict(list)
        self._always: list[int] = []
        for number, entry in enumerate(self._entries):
            for phrase in self._names(entry):
                # Under its rarest word alone a phrase is found once, whatever else stands in the question.
                self._phrases[max(phrase, key=len)].append((number, phrase))
            for word in {word for word in _stems(entry.text) if word not in _STOP}:
                self._words[word].append(number)
            for item in entry.about:
                self._items[item].append(number)
            if entry.kind == "convention" and not entry.about:
                self._always.append(number)
        self._vocabulary = sorted(
            {word for phrases in self._phrases.values() for _, phrase in phrases for word in phrase}
        )
        self._known = frozenset(self._vocabulary)
        self._by_length: dict[int, list[str]] = defaultdict(list)
        for word in sorted(self._known):
            if len(word) >= _TYPO_LENGTH - 1:
                self._by_length[len(word)].append(word)

    @staticmethod
    def _names(entry: Entry) -> list[tuple[str, ...]]:
        """The words by which a question asks for an entry."""
        phrases = list(entry.phrases)
        if entry.kind == "table":
            phrases.append(tuple(stem(word) for word in name_words(entry.about[0][0])))
        phrases += [tuple(_stems(meaning)) for _, meaning in entry.values]
        return [phrase for phrase in dict.fromkeys(phrases) if any(word not in _STOP for word in phrase)]

    def find(self, question: str, linked: Iterable[tuple[str, str | None, float]], characters: int) -> Selection:
        """What a question needs.

        Args:
            question: Self-contained, or with the words of the turn that it leans on.
            linked: The linker's probabilities, `(table, column or None, p)`.
            characters: How long all lines may be together.
        """
        asked = self._mended(_stems(question))
        found = self._by_name(asked)
        items = {(table, column or ""): p for table, column, p in linked if p >= LIKELY}
        # What a definition reads, the question is about too; what a definition itself uses may be used.
        read = {item for number in found if self._entries[number].sql for item in self._entries[number].about}
        self._by_item(items, {item for item in read if item[1]}, asked, found)
        for number in self._always:
            found.setdefault(number, _Found(0.1))
        ranked = sorted(found.items(), key=lambda pair: (-pair[1].score, pair[0]))
        shown: list[Entry] = []
        room = characters
        for number, _ in ranked:
            cost = len(self._entries[number].line) + _LINE
            if cost <= room:
                shown.append(self._entries[number])
                room -= cost
        return Selection(tuple(shown), len(ranked) - len(shown))

    def knows(self, word: str) -> bool:
        """Whether a word stands in a name, a meaning or a coded value."""
        found = stem(fold(word))
        return found in self._known or found in self._words

    def _mended(self, asked: Sequence[str]) -> Counter[str]:
        """The question's stems, mistyped ones as what was meant."""
        mended: Counter[str] = Counter()
        for word in asked:
            if word not in self._known and word not in self._words and len(word) >= _TYPO_LENGTH:
                near = [other for length in (-1, 0, 1) for other in self._by_length.get(len(word) + length, ())]
                hit = process.extractOne(word, near, scorer=fuzz.ratio, score_cutoff=_TYPO)
                word = hit[0] if hit else word
            mended[word] += 1
        return mended

    def _by_name(self, asked: Counter[str]) -> dict[int, _Found]:
        """Entries whose name, or a name of whose values, stands in the question; a longer name covers a shorter one."""
        hits: list[tuple[int, frozenset[str]]] = []
        for word in asked:
            for number, phrase in self._phrases.get(word, ()):
                needed = Counter(phrase)
                if all(asked[part] >= times for part, times in needed.items()):
                    hits.append((number, frozenset(phrase)))
        found: dict[int, _Found] = {}
        for number, phrase in sorted(hits, key=lambda hit: -len(hit[1])):
            covered = any(phrase < other.matched for known, other in found.items() if known != number)
            if not covered and (number not in found or len(phrase) > len(found[number].matched)):
                found[number] = _Found(_weight(self._entries[number]) + len(phrase), phrase)
        return found

    def _by_item(
        self, items: Mapping[Item, float], read: Collection[Item], asked: Counter[str], found: dict[int, _Found]
    ) -> None:
        """Descriptions and rules of what the question is about, and rules of what definitions read."""
        for item in {**items, **dict.fromkeys(read)}:
            for number in self._items.get(item, ()):
                if number not in found and self._fits(self._entries[number], items, read, asked):
                    found[number] = _Found(items.get(item, 1.0))

    def _fits(self, entry: Entry, items: Mapping[Item, float], read: Collection[Item], asked: Counter[str]) -> bool:
        """Whether an entry about an item of the question belongs to it."""
        match entry.kind:
            case "never":
                return any(item in items for item in entry.about)
            case "column" | "convention":
                columns = [item for item in entry.about if item[1]]
                return any(item in items or item in read for item in (columns or entry.about))
            case "join":
                tables = {table for table, _ in entry.about}
                return all((table, "") in items for table in tables) and self._shares(entry, asked)
            case _:
                return False

    def _shares(self, entry: Entry, asked: Counter[str]) -> bool:
        """Whether a text has rare words of the question."""
        shared = [word for word in set(_stems(entry.text)) & set(asked) if word not in _STOP]
        return sum(math.log(1 + len(self._entries) / len(self._words[word])) for word in shared) >= math.log(
            1 + len(self._entries)
        )


def _weight(entry: Entry) -> float:
    """Terms and metrics are more specific than descriptions."""
    return {"metric": 3.0, "term": 3.0, "column": 2.0}.get(entry.kind, 1.5)


def _stems(text: str) -> list[str]:
    return stems(_PLURAL.sub(r"\1", text))
