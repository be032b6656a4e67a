"""Finding the definitions that a question needs: by its words, and by the tables and columns that it is about."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from ..linking.unheld import question_words
from ..values.question import stop_words
from ..values.schema_words import name_stems
from ..values.text_words import fold, stem, stems
from .entry import Entry, Item, Selection
from .in_play import POSSIBLE, Asked, InPlay
from .said import Wording, abbreviates, runs

if TYPE_CHECKING:
    from ..database.schema import Schema

_RARE = 0.9
"""What words of an entry that are in the question must weigh together for it to be shown for them alone; a word that no
other entry has weighs 1."""

_MOST = 0.7
"""The same where the question is about the entry's table, and the least share of a name that stands in the question."""

_COMMON = 0.3
"""What a word counts in a name where the schema's names or questions of any kind have it."""

_LINE = 4
"""Characters that one line of a list takes beside its text."""

_PLURAL = re.compile(r"\b([A-Z0-9]{2,})s\b")
"""An abbreviation in the plural: SRs."""

_ABBREVIATION = re.compile(r"[A-Z][A-Z0-9]{2,5}")
_LONGEST = 4
"""Words of which an abbreviation is looked for."""

_SMALL = """
    a an and are as at be by do does each for from has have how in is it its list many me more most much no not of on
    one or our show than that the their there to this was we were what when where which who with you your give all any
    per every number two three four five six seven eight nine ten twelve fifteen twenty fifty hundred thousand
"""
_STOP = frozenset(stem(word) for word in _SMALL.split())


@dataclass
class _Found:
    """An entry with how well it fits, and which words of the question are its name."""

    score: float
    matched: frozenset[str] = field(default_factory=frozenset[str])


class KnowledgeIndex:
    """Entries by their words. May be used from several threads once it is made."""

    def __init__(self, entries: Sequence[Entry], schema: Schema) -> None:
        """Indexes entries that hold on a database."""
        self._entries = tuple(entries)
        self._names = [_names(entry) for entry in self._entries]
        self._phrases: dict[str, list[tuple[int, tuple[str, ...]]]] = defaultdict(list)
        self._short: list[tuple[int, str]] = []
        self._words: dict[str, list[int]] = defaultdict(list)
        self._ruled: dict[str, list[int]] = defaultdict(list)
        self._always: list[int] = []
        for number, entry in enumerate(self._entries):
            self._add(number, entry)
        whole = math.log(1 + len(self._entries))
        self._rarity = {
            word: math.log(1 + len(self._entries) / len(held)) / whole for word, held in self._words.items()
        }
        self._keys = {(key.table, column): key.ref_table for key in schema.foreign_keys for column in key.columns}
        items = [item for table in schema.tables for item in (table, *table.columns)]
        self._schema_words = frozenset(word for item in items for word in name_stems(item.name))
        self._common = self._schema_words | _says_little()
        self._known = frozenset(word for names in self._names for name in names for word in name)
        self._wording = Wording(self._known, self._known | self._words.keys() | self._schema_words)

    def _add(self, number: int, entry: Entry) -> None:
        for phrase in self._names[number]:
            # Under its longest word alone a phrase is found once, whatever else stands in the question.
            self._phrases[max(phrase, key=len)].append((number, phrase))
        for name in (entry.name, *entry.also) if entry.kind in ("term", "metric") else entry.also:
            if _ABBREVIATION.fullmatch(name):
                self._short.append((number, fold(name)))
        for word in {*_stems(entry.text), *(word for name in self._names[number] for word in name)} - _STOP:
            self._words[word].append(number)
        for table in {table for table, _ in entry.about if entry.kind not in ("term", "metric", "table")}:
            self._ruled[table].append(number)
        if entry.kind == "convention" and not entry.about:
            self._always.append(number)

    def find(self, question: str, linked: Iterable[tuple[str, str | None, float]], characters: int) -> Selection:
        """What a question needs.

        Args:
            question: Self-contained, or with the words of the turn that it leans on.
            linked: The linker's probabilities, `(table, column or None, p)`.
            characters: How long all lines may be together.
        """
        asked = self._read(question)
        found = self._by_name(asked.words)
        self._by_abbreviation(question, found)
        self._by_meaning(asked, found)
        self._by_item(asked, {(table, column or ""): p for table, column, p in linked if p >= POSSIBLE}, found)
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

    def _read(self, question: str) -> Asked:
        words = Counter(map(self._wording.mended, _stems(question)))
        meant: dict[str, Mapping[str, float]] = {}
        said: dict[str, float] = {}
        for word in words.keys() - _STOP:
            meant[word] = self._wording.meant(word)
            for other, share in meant[word].items():
                # A word of the schema stands for itself, or for another that the schema has.
                if word not in self._schema_words or other in self._schema_words:
                    said[other] = max(share, said.get(other, 0.0))
        return Asked(words, meant, said, frozenset(name for word in meant for name in self._wording.named(word)))

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

    def _by_abbreviation(self, question: str, found: dict[int, _Found]) -> None:
        """Entries named by an abbreviation that the question spells out."""
        words = [fold(word) for word in re.findall(r"[^\W_]+", question)] if self._short else []
        spelt = [run for run in runs(words, 2, _LONGEST) if run[0] not in _STOP and run[-1] not in _STOP]
        for number, short in self._short:
            run = next((run for run in spelt if run[0][0] == short[0] and abbreviates(short, run)), None)
            if run and number not in found:
                found[number] = _Found(_weight(self._entries[number]) + len(run), frozenset(map(stem, run)))

    def _by_meaning(self, asked: Asked, found: dict[int, _Found]) -> None:
        """Entries of which rare words, or most of the name, stand in the question; numbers are no such words."""
        used = {word for hit in found.values() for word in hit.matched}
        words = {word for word in asked.meant if word not in used and not word.isdigit()}
        for number, weight in self._shared(asked, words).items():
            entry = self._entries[number]
            named = entry.kind in ("term", "metric", "table") and any(
                self._share(name, asked) >= _MOST for name in self._names[number]
            )
            if number not in found and (weight >= _RARE or named):
                found[number] = _Found(_weight(entry) + min(weight, 1.0))

    def _by_item(self, asked: Asked, p: Mapping[Item, float], found: dict[int, _Found]) -> None:
        """Descriptions and rules of what the question, or a definition that it needs, is about."""
        read = {item for number in found if self._entries[number].sql for item in self._entries[number].about}
        play = InPlay(asked, p, read, self._keys)
        weights = self._shared(asked, asked.meant)
        tables = {table for table, _ in (*p, *read)} | {table for table in self._ruled if asked.mentions(table)}
        tables |= {table for (table, _), goal in self._keys.items() if goal in play.tables}
        for number in sorted({number for table in tables for number in self._ruled.get(table, ())} - found.keys()):
            entry = self._entries[number]
            if play.needs(entry, weights.get(number, 0.0) >= _MOST):
                found[number] = _Found(max(p.get(item, 0.0) for item in entry.about))

    def _shared(self, asked: Asked, words: Collection[str]) -> dict[int, float]:
        """What the words weigh that each entry shares with some of the question; those of the schema weigh nothing."""
        weights: dict[int, float] = defaultdict(float)
        for word in words:
            if word in self._common:
                continue
            best: dict[int, float] = {}
            # Another word for what the schema has is one of the schema's too.
            counted = float(self._schema_words.isdisjoint(asked.meant[word]))
            for other, share in asked.meant[word].items():
                for number in self._words.get(other, ()):
                    best[number] = max(best.get(number, 0.0), counted * share * self._rarity[other])
            for number, weight in best.items():
                weights[number] += weight
        return weights

    def _share(self, name: Sequence[str], asked: Asked) -> float:
        """How much of a name stands in the question, rare words counting more."""
        counts = {word: _COMMON if word in self._common else self._rarity[word] for word in name}
        return sum(asked.said.get(word, 0.0) * count for word, count in counts.items()) / sum(counts.values())


def _names(entry: Entry) -> list[tuple[str, ...]]:
    """The words by which a question asks for an entry."""
    phrases = list(entry.phrases)
    if entry.kind == "table":
        phrases.append(name_stems(entry.about[0][0]))
    phrases += [tuple(_stems(meaning)) for _, meaning in entry.values]
    return [phrase for phrase in dict.fromkeys(phrases) if any(word not in _STOP for word in phrase)]


@cache
def _says_little() -> frozenset[str]:
    """Stems of words that questions over any data are made of."""
    return _STOP | question_words() | frozenset(map(stem, stop_words()))


def _weight(entry: Entry) -> float:
    """Terms and metrics are more specific than descriptions."""
    return {"metric": 3.0, "term": 3.0, "column": 2.0}.get(entry.kind, 1.5)


def _stems(text: str) -> list[str]:
    return stems(_PLURAL.sub(r"\1", text))
