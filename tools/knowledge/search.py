"""The knowledge of one database, as one person may see it: checked, and found by words, tables and columns."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING

from ..linking.vocabulary import shipped
from ..values.match import ValueMatch
from ..words import (
    FUNCTION_WORDS,
    IRREGULAR_PLURALS,
    NUMBER_WORDS,
    STOP_WORDS,
    fold,
    listed_words,
    name_stems,
    name_words,
    question_words,
    stem,
    stems,
    synonyms,
    taken_for,
)
from .check import Problem, check_entries, join_key
from .entry import Entry, Item, Selection

if TYPE_CHECKING:
    from ..database import Database
    from ..database.schema import Schema
    from .read import Layers

_RARE = 0.9
"""What words of an entry that are in the question must weigh together for it to be shown for them alone; a word that no
other entry has weighs 1."""

# The same where the question is about the entry's table, and the least share of a name that stands in the question.
_MOST = 0.7
_COMMON = 0.3  # what a word counts in a name where the schema's names or questions of any kind have it
_LIKELY = 0.5  # probability from which a linked table or column counts as what the question is about
_POSSIBLE = 0.15  # the same of a column whose name the question says, in a table that it is about; less says nothing
_LINE = 4  # characters that one line of a list takes beside its text
_TYPO_LENGTH = 5  # letters of the shortest word that may be mistyped
_SYNONYM, _KIN, _LEARNED = 0.8, 0.7, 0.3
"""What another word for the same and another form of a word count, and the least weight of a learned association."""

_HEAD, _BEGINNING, _TAIL = 4, 5, 3
"""Letters of the shortest word with other forms, those that two forms share, and those that they may differ in."""

_PLURAL = re.compile(r"\b([A-Z0-9]{2,})s\b")  # an abbreviation in the plural: SRs

_ABBREVIATION = re.compile(r"[A-Z][A-Z0-9]{2,5}")
_LONGEST = 4  # words of which an abbreviation is looked for

_STOP = frozenset(
    stem(word)
    for word in FUNCTION_WORDS
    | NUMBER_WORDS.keys()
    | listed_words("all any every give its list no not number our per this we were you your")
)
"""Stems that no entry is found by; other stop words may stand in its name: `active until`."""


BUDGET = 1_800  # characters of definitions that a question is shown at most, about six hundred tokens


# What is certainly meant as a word of its own: an abbreviation, or a word in quotes.
_JARGON = re.compile(r"(?<![\w.'’-])(?:([A-Z][A-Z0-9&/]*[A-Z0-9])s?|[\"“]([^\"”]{2,40})[\"”])(?![\w'’-])")

_FAMILIAR = frozenset(
    """
    AD AM AND ASC ASAP AVG BC CEO CFO CM COUNT CSV CTO DB DESC DVD EN EST ETC EU FAQ FR GB GMT HTML HTTP ID IDS IN IP IT
    JSON KG KM KPI LA LIMIT MAX MB MIN NASA NO NOT NULL NY OK OR PC PDF PIN PM PNG SQL SUM TV UK UN URL US USA USD UTC
    VIP XML YES ZIP EUR GBP JPY YTD MTD QTD TOP ALL ANY BY ON OF TO IS ARE WHO HOW WHAT WHEN I
""".split()  # noqa: SIM905 - read as a sentence
)
"""Abbreviations that need no explanation, and words that people write in capitals."""


class Wording:
    """The words of entries and names, found by what people say for them: mistyped, in other forms, or other words."""

    def __init__(self, names: Collection[str], words: Collection[str]) -> None:
        """Index stems: `names` may be mistyped, `words` are all."""
        self._words = frozenset(words)
        self._by_length: dict[int, list[str]] = defaultdict(list)
        for word in sorted(names):
            self._by_length[len(word)].append(word)
        self._by_head: dict[str, list[str]] = defaultdict(list)
        for word in sorted(self._words):
            self._by_head[word[:_HEAD]].append(word)

    def mended(self, word: str) -> str:
        """Return a stem, or what was meant if it is mistyped."""
        word = IRREGULAR_PLURALS.get(word, word)
        if word in self._words or len(word) < _TYPO_LENGTH:
            return word
        near = [other for length in (-1, 0, 1) for other in self._by_length.get(len(word) + length, ())]
        hit = taken_for(word, near)
        return hit[0] if hit else word

    def meant(self, word: str) -> Mapping[str, float]:
        """Return the stems that a question's stem may stand for, each with what it counts."""
        found = {other: _KIN for other in self._by_head.get(word[:_HEAD], ()) if _kin(word, other)}
        found |= dict.fromkeys(self._words & _synonyms().get(word, frozenset()), _SYNONYM)
        return found | {word: 1.0}

    def named(self, word: str) -> frozenset[str]:
        """Return the stems of names that questions with a stem were learned to be about."""
        pairs = shipped().pairs.get(word, {})
        return self._words & {part for part, weight in pairs.items() if weight >= _LEARNED}


@cache
def _synonyms() -> Mapping[str, frozenset[str]]:
    """Return synonyms both ways: it is not known which of the two somebody wrote in an entry."""
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


@dataclass(frozen=True)
class _Asked:
    """What a question says."""

    words: Counter[str]  # its stems, mistyped ones as what was meant
    meant: Mapping[str, Mapping[str, float]]  # for each that says something, what it may stand for, with what it counts
    said: Mapping[str, float]  # all that they stand for, with what that counts at best
    named: frozenset[str]  # words of names that such questions were learned to be about

    def mentions(self, *names: str) -> bool:
        """Whether a word of a name is said."""
        return any(word in self.said for name in names for word in _name(name))

    def says(self, *names: str) -> bool:
        """Whether every word of all names is said."""
        words = [word for name in names for word in _name(name)]
        return bool(words) and all(word in self.said for word in words)

    def means(self, name: str) -> bool:
        """Whether every word of a name is said, or goes with what is said."""
        words = _name(name)
        return bool(words) and all(word in self.said or word in self.named for word in words)


@lru_cache(maxsize=20_000)
def _name(name: str) -> tuple[str, ...]:
    """Return the words of a name that say something."""
    return tuple(word for word in name_stems(name) if word != "id") if name else ()


class _Topic:
    """What a question is about.

    `p` has the linker's probabilities of what is at least possible, without a column for a table; `read` what the
    definitions that it needs read; `keys` the table to which each foreign key column refers.
    """

    def __init__(
        self, asked: _Asked, p: Mapping[Item, float], read: Collection[Item], keys: Mapping[Item, str]
    ) -> None:
        self.asked, self.p, self.read, self.keys = asked, p, read, keys
        self.likely = {item for item, share in p.items() if share >= _LIKELY}
        self.tables = {table for table, column in self.likely if not column} | {table for table, _ in read}

    def needs(self, entry: Entry, shares: bool) -> bool:
        """Whether the question needs a description or a rule, whose items' words may have something rare in common."""
        near = shares and any(table in self.tables for table, _ in entry.about)
        match entry.kind:
            case "column":
                return near or any(
                    item in self.likely or item in self.read or self._meant(item) for item in entry.about
                )
            case "convention":
                return near or any(map(self._said, [item for item in entry.about if item[1]] or entry.about))
            case "never":
                return any(map(self._tempting, entry.about)) or self._instead(entry)
            case "join":
                both = all(table in self.tables for table, _ in entry.about)
                return both and (shares or all(self.asked.means(column) for _, column in entry.about if column))
            case _:
                return False

    def _meant(self, item: Item) -> bool:
        return item[0] in self.tables and item in self.p and self.asked.means(item[1])

    def _said(self, item: Item) -> bool:
        """Whether the question speaks of an item: a value found in it is not enough."""
        return (item in self.likely and self.asked.mentions(*item)) or (bool(item[1]) and self.asked.says(*item))

    def _tempting(self, item: Item) -> bool:
        """Whether a query would use an item: the likeliest or a mentioned column, or a key on the way."""
        table, column = item
        if item in self.likely:
            best = max(p for (other, held), p in self.p.items() if other == table and bool(held) == bool(column))
            return self.p[item] >= best or self.asked.mentions(column)
        reached = any(other in self.tables and target == table for (other, _), target in self.keys.items())
        return self.keys.get(item) in self.tables and (reached or table in self.tables)

    def _instead(self, entry: Entry) -> bool:
        """Whether the question is about what must be used instead, and does not say of which table."""
        return any(
            column and entry.text.startswith(f"use {table}.{column} instead") and not self.asked.mentions(table)
            for table, column in self.likely
        )


@dataclass
class _Hit:
    """How well an entry fits, and which words of the question are its name."""

    score: float
    matched: frozenset[str] = field(default_factory=frozenset[str])


class Knowledge:
    """Definitions that hold on a database, and why others do not; made once a version of the files and of the schema.

    May be used from several threads once it is made.
    """

    def __init__(self, entries: Sequence[Entry], problems: Sequence[Problem], schema: Schema) -> None:
        """Use `of`."""
        self.entries = tuple(entries)
        self.problems = tuple(problems)
        self.schema = schema
        self._names = [_names(entry) for entry in self.entries]
        self._phrases: dict[str, list[tuple[int, tuple[str, ...]]]] = defaultdict(list)
        self._short: list[tuple[int, str]] = []
        self._words: dict[str, list[int]] = defaultdict(list)
        self._ruled: dict[str, list[int]] = defaultdict(list)
        self._always = [n for n, one in enumerate(self.entries) if one.kind == "convention" and not one.about]
        for number, entry in enumerate(self.entries):
            self._add(number, entry)
        whole = math.log(1 + len(self.entries))
        self._rarity = {word: math.log(1 + len(self.entries) / len(held)) / whole for word, held in self._words.items()}
        self._keys = {(key.table, column): key.ref_table for key in schema.foreign_keys for column in key.columns}
        items = [item for table in schema.tables for item in (table, *table.columns)]
        self._schema_words = frozenset(word for item in items for word in name_stems(item.name))
        self._common = self._schema_words | _says_little()
        self._known = frozenset(word for names in self._names for name in names for word in name)
        self._wording = Wording(self._known, self._known | self._words.keys() | self._schema_words)

    @classmethod
    def of(cls, layers: Layers, database: Database) -> Knowledge:
        """Return the entries of all layers, checked against a database as whoever asks may see it."""
        bare = database.schema()
        entries, problems = check_entries(layers, database)
        linked = {frozenset((key.table, key.ref_table)) for key in bare.foreign_keys}
        keys = [join_key(entry, bare) for entry in entries if entry.kind == "join"]
        more = [key for key in keys if frozenset((key.table, key.ref_table)) not in linked]
        return cls(entries, problems, replace(bare, foreign_keys=(*bare.foreign_keys, *more)))

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

    def find(
        self, question: str, linked: Iterable[tuple[str, str | None, float]] = (), characters: int = BUDGET
    ) -> Selection:
        """Return what a question needs, the most specific first, in lines of so many characters together.

        The question is self-contained, or with the words of the turn that it leans on; `linked` has the linker's
        probabilities, `(table, column or None, p)`.
        """
        asked = self._read(question)
        found = self._by_name(asked.words)
        self._by_abbreviation(question, found)
        self._by_meaning(asked, found)
        self._by_item(asked, {(table, column or ""): p for table, column, p in linked if p >= _POSSIBLE}, found)
        for number in self._always:
            found.setdefault(number, _Hit(0.1))
        ranked = sorted(found.items(), key=lambda pair: (-pair[1].score, pair[0]))
        shown: list[Entry] = []
        room = characters
        for number, _ in ranked:
            cost = len(self.entries[number].line) + _LINE
            if cost <= room:
                shown.append(self.entries[number])
                room -= cost
        return Selection(tuple(shown), len(ranked) - len(shown))

    def knows(self, word: str) -> bool:
        """Whether a word stands in a name, a meaning or a coded value."""
        found = stem(fold(word))
        return found in self._known or found in self._words

    def _read(self, question: str) -> _Asked:
        words = Counter(map(self._wording.mended, _stems(question)))
        meant = {word: self._wording.meant(word) for word in words.keys() - _STOP}
        said: dict[str, float] = {}
        for word, others in meant.items():
            for other, share in others.items():
                # A word of the schema stands for itself, or for another that the schema has.
                if word not in self._schema_words or other in self._schema_words:
                    said[other] = max(share, said.get(other, 0.0))
        return _Asked(words, meant, said, frozenset(name for word in meant for name in self._wording.named(word)))

    def _by_name(self, asked: Counter[str]) -> dict[int, _Hit]:
        """Return entries whose name, or a name of whose values, is in the question; a longer covers a shorter one."""
        hits: list[tuple[int, frozenset[str]]] = []
        for word in asked:
            for number, phrase in self._phrases.get(word, ()):
                if Counter(phrase) <= asked:
                    hits.append((number, frozenset(phrase)))
        found: dict[int, _Hit] = {}
        for number, phrase in sorted(hits, key=lambda hit: -len(hit[1])):
            covered = any(phrase < other.matched for known, other in found.items() if known != number)
            if not covered and (number not in found or len(phrase) > len(found[number].matched)):
                found[number] = _Hit(_weight(self.entries[number]) + len(phrase), phrase)
        return found

    def _by_abbreviation(self, question: str, found: dict[int, _Hit]) -> None:
        """Add entries named by an abbreviation that the question spells out."""
        words = [fold(word) for word in re.findall(r"[^\W_]+", question)] if self._short else []
        sizes = range(2, _LONGEST + 1)
        runs = [words[start : start + size] for size in sizes for start in range(len(words) - size + 1)]
        spelt = [run for run in runs if run[0] not in _STOP and run[-1] not in _STOP]
        for number, short in self._short:
            run = next((run for run in spelt if run[0][0] == short[0] and abbreviates(short, run)), None)
            if run and number not in found:
                found[number] = _Hit(_weight(self.entries[number]) + len(run), frozenset(map(stem, run)))

    def _by_meaning(self, asked: _Asked, found: dict[int, _Hit]) -> None:
        """Add entries of which rare words, or most of the name, are in the question; numbers are no such words."""
        used = {word for hit in found.values() for word in hit.matched}
        words = {word for word in asked.meant if word not in used and not word.isdigit()}
        for number, weight in self._shared(asked, words).items():
            entry = self.entries[number]
            named = entry.kind in ("term", "metric", "table") and any(
                self._share(name, asked) >= _MOST for name in self._names[number]
            )
            if number not in found and (weight >= _RARE or named):
                found[number] = _Hit(_weight(entry) + min(weight, 1.0))

    def _by_item(self, asked: _Asked, p: Mapping[Item, float], found: dict[int, _Hit]) -> None:
        """Add descriptions and rules of what the question, or a definition that it needs, is about."""
        read = {item for number in found if self.entries[number].sql for item in self.entries[number].about}
        topic = _Topic(asked, p, read, self._keys)
        weights = self._shared(asked, asked.meant)
        tables = {table for table, _ in (*p, *read)} | {table for table in self._ruled if asked.mentions(table)}
        tables |= {table for (table, _), goal in self._keys.items() if goal in topic.tables}
        for number in sorted({number for table in tables for number in self._ruled.get(table, ())} - found.keys()):
            entry = self.entries[number]
            if topic.needs(entry, weights.get(number, 0.0) >= _MOST):
                found[number] = _Hit(max(p.get(item, 0.0) for item in entry.about))

    def _shared(self, asked: _Asked, words: Collection[str]) -> dict[int, float]:
        """Return what the words weigh that each entry shares with some of the question; the schema's weigh nothing."""
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

    def _share(self, name: Sequence[str], asked: _Asked) -> float:
        """Return how much of a name is in the question, rare words counting more."""
        counts = {word: _COMMON if word in self._common else self._rarity[word] for word in name}
        return sum(asked.said.get(word, 0.0) * count for word, count in counts.items()) / sum(counts.values())


def unknown_words(question: str, schema: Schema, values: Iterable[ValueMatch], knowledge: Knowledge) -> tuple[str, ...]:
    """Return abbreviations and quoted words of a question that stand in no name, value or definition, in order.

    Ordinary words are left to whoever writes the query: that one knows the language.
    """
    if question.isupper():
        return ()
    items = [item.name for table in schema.tables for item in (table, *table.columns)]
    names = {stem(word) for item in items for word in name_words(item)}
    whole = set(map(fold, items))
    mentioned = [(match.start, match.end) for match in values]
    found: list[str] = []
    for hit in _JARGON.finditer(question):
        word = hit[1] or hit[2]
        if hit[1] and (word in _FAMILIAR or re.fullmatch(r"[QH][1-4]|[A-Z]?\d+[A-Z]?", word)):
            continue
        parts = re.findall(r"\w+", word)
        explained = all(stem(fold(part)) in names or knowledge.knows(part) for part in parts) or fold(word) in whole
        in_value = any(start < hit.end() and hit.start() < end for start, end in mentioned)
        sample = any(word.lower() in str(cell).lower() for t in schema.tables for c in t.columns for cell in c.samples)
        if not (explained or in_value or sample):
            found.append(word)
    return tuple(dict.fromkeys(found))


def _names(entry: Entry) -> list[tuple[str, ...]]:
    """Return the words by which a question asks for an entry."""
    phrases = list(entry.phrases)
    if entry.kind == "table":
        phrases.append(name_stems(entry.about[0][0]))
    phrases += [tuple(_stems(meaning)) for _, meaning in entry.values]
    return [phrase for phrase in dict.fromkeys(phrases) if any(word not in _STOP for word in phrase)]


@cache
def _says_little() -> frozenset[str]:
    """Return stems of words that questions over any data are made of."""
    return _STOP | question_words() | frozenset(map(stem, STOP_WORDS))


def _weight(entry: Entry) -> float:
    """Return what an entry's kind counts: terms and metrics are more specific than descriptions."""
    return {"metric": 3.0, "term": 3.0, "column": 2.0}.get(entry.kind, 1.5)


def _stems(text: str) -> list[str]:
    return stems(_PLURAL.sub(r"\1", text))
