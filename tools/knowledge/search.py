"""The knowledge of one database for one person, found by words, tables and columns."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from ..linking.vocabulary import load_shipped_associations
from ..values.match import ValueMatch, get_schema_name_stems
from ..words import (
    FUNCTION_WORDS,
    IRREGULAR_PLURALS,
    NUMBER_WORDS,
    STOP_WORDS,
    find_intended_word,
    fold,
    load_synonyms,
    make_word_set,
    question_words,
    stem_name,
    stem_word,
    stems,
)
from .entry import Entry, Item, SelectedEntries
from .fragment import EntryProblem, check_entries, parse_join_entry

if TYPE_CHECKING:
    from ..database import Database
    from ..database.schema import Schema
    from .read import Layers

BUDGET = 1_800  # characters of definitions that a question is shown at most, about six hundred tokens

# What words of an entry that are in the question must weigh together for it to be shown for them alone (a word that no
# other entry has weighs 1); the same where the question is about its table, and the least share of a name.
_RARE, _MOST = 0.9, 0.7
_COMMON = 0.3  # what a word counts in a name where the schema's names or questions of any kind have it
_LIKELY = 0.5  # probability from which a linked table or column counts as what the question is about
_POSSIBLE = 0.15  # the same of a column whose name the question says, in a table that it is about; less says nothing
_LINE = 4  # characters that one line of a list takes beside its text
_TYPO_LENGTH = 5  # letters of the shortest word that may be mistyped
# What another word for the same and another form of a word count, and the least weight of a learned association.
_SYNONYM, _KIN, _LEARNED = 0.8, 0.7, 0.3
# Letters of the shortest word with other forms, those that two forms share, and those that they may differ in.
_HEAD, _BEGINNING, _TAIL = 4, 5, 3
_LONGEST = 4  # words of which an abbreviation is looked for

_ABBREVIATION = re.compile(r"[A-Z][A-Z0-9]{2,5}")
_PLURAL = re.compile(r"\b([A-Z0-9]{2,})s\b")  # an abbreviation in the plural: SRs
# What is certainly meant as a word of its own: an abbreviation, or a word in quotes.
_JARGON = re.compile(r"(?<![\w.'’-])(?:([A-Z][A-Z0-9&/]*[A-Z0-9])s?|[\"“]([^\"”]{2,40})[\"”])(?![\w'’-])")

_STOP = frozenset(map(stem_word, FUNCTION_WORDS | NUMBER_WORDS.keys())).union(
    stems("all any every give its list no not number our per this we were you your")
)
"""Stems that no entry is found by; other stop words may stand in its name: `active until`."""

_ADDRESSES = frozenset(map(stem_word, STOP_WORDS)).union(
    stems("""
        achtung always attention aviso beachte bitte caution das dies diese er es fyi hint hinweis immer important
        importante keep merke mind nb never nota note notiz remark remember reminder sie tip toujours warning was
        wer wichtig
    """)
)
"""Stems of words that define nothing before a colon or `ist`: `Please remember: ...`, `Das ist ...`."""

_FAMILIAR = make_word_set("""
    AD AM AND ASC ASAP AVG BC CEO CFO CM COUNT CSV CTO DB DESC DVD EN EST ETC EU FAQ FR GB GMT HTML HTTP ID IDS IN IP IT
    JSON KG KM KPI LA LIMIT MAX MB MIN NASA NO NOT NULL NY OK OR PC PDF PIN PM PNG SQL SUM TV UK UN URL US USA USD UTC
    VIP XML YES ZIP EUR GBP JPY YTD MTD QTD TOP ALL ANY BY ON OF TO IS ARE WHO HOW WHAT WHEN I
""")
"""Abbreviations that need no explanation, and words that people write in capitals."""


@cache
def _build_synonym_map() -> Mapping[str, set[str]]:
    """Return the synonyms of each word stem, in both directions."""
    both_ways: dict[str, set[str]] = defaultdict(set)
    for word, others in load_synonyms().items():
        for other in map(stem_word, others):
            both_ways[stem_word(word)].add(other)
            both_ways[other].add(stem_word(word))
    return both_ways


def _are_related_stems(word: str, other: str) -> bool:
    """Whether two stems are likely forms of one word, as `canadian` and `canada`."""
    shorter, longer = sorted((word, other), key=len)
    if len(shorter) < _HEAD or not (shorter.isalpha() and longer.isalpha()):
        return False
    common_length = next((index for index, letter in enumerate(shorter) if letter != longer[index]), len(shorter))
    return len(longer) - common_length <= _TAIL and (common_length == len(shorter) or common_length >= _BEGINNING)


def is_abbreviation(short: str, words: Sequence[str]) -> bool:
    """Whether `short` is made of the beginnings of all words, as LATAM of Latin American."""
    if not words:
        return not short
    first, rest = words[0], words[1:]
    return any(
        first.startswith(short[:length]) and is_abbreviation(short[length:], rest)
        for length in range(1, len(short) - len(rest) + 1)
    )


def _split_name_stems(name: str) -> list[str]:
    """Return the word stems of a name, without `id`."""
    return [word for word in stem_name(name) if word not in ("", "id")]


class Knowledge:
    """The knowledge entries that apply to a database; threads may share an instance.

    Attributes:
        entries: What holds.
        problems: What is left out, and why.
    """

    def __init__(self, entries: Sequence[Entry], problems: Sequence[EntryProblem], schema: Schema) -> None:
        """Use `Knowledge.of`."""
        self.entries = tuple(entries)
        self.problems = tuple(problems)
        self.schema = schema
        self._index = KnowledgeIndex(self.entries, schema)

    @classmethod
    def of(cls, layers: Layers, database: Database) -> Knowledge:
        """Build the knowledge from the entries that fit the database as this person sees it."""
        bare = database.schema()
        entries, problems = check_entries(layers, database)
        pairs = {frozenset((key.table, key.ref_table)) for key in bare.foreign_keys}
        keys = [parse_join_entry(entry, bare) for entry in entries if entry.kind == "join"]
        new_keys = [key for key in keys if frozenset((key.table, key.ref_table)) not in pairs]
        return cls(entries, problems, replace(bare, foreign_keys=(*bare.foreign_keys, *new_keys)))

    def find(
        self, question: str, linked: Iterable[tuple[str, str | None, float]] = (), characters: int = BUDGET
    ) -> SelectedEntries:
        """Return the entries that a question needs, most specific first, within `characters`.

        The question is self-contained, or with the words of the turn that it leans on; `linked` has the linker's
        probabilities, `(table, column or None, p)`.
        """
        possible = {(table, column or ""): p for table, column, p in linked if p >= _POSSIBLE}
        search = _KnowledgeSearch(self._index, question, possible)
        ranking = sorted(search.scores, key=lambda number: (-search.scores[number], number))
        entries: list[Entry] = []
        for entry in (self.entries[number] for number in ranking):
            if (cost := len(entry.line) + _LINE) <= characters:
                entries.append(entry)
                characters -= cost
        return SelectedEntries(tuple(entries), len(ranking) - len(entries))

    def find_unknown(self, question: str, values: Sequence[ValueMatch]) -> tuple[str, ...]:
        """Return abbreviations and quoted words that no name, value or definition explains."""
        if question.isupper():
            return ()
        tables = self.schema.tables
        names = {fold(item.name) for table in tables for item in (table, *table.columns)}
        vocabulary = self._index.vocabulary
        unknown: list[str] = []
        for hit in _JARGON.finditer(question):
            word = hit[1] or hit[2]
            if hit[1] and (word in _FAMILIAR or re.fullmatch(r"[QH][1-4]|[A-Z]?\d+[A-Z]?", word)):
                continue
            parts = re.findall(r"\w+", word)
            known = all(stem_word(fold(part)) in vocabulary for part in parts) or fold(word) in names
            in_value = any(match.start < hit.end() and hit.start() < match.end for match in values)
            sample = any(word.lower() in str(cell).lower() for t in tables for c in t.columns for cell in c.samples)
            if not (known or in_value or sample):
                unknown.append(word)
        return tuple(dict.fromkeys(unknown))


class KnowledgeIndex:
    """A search index of knowledge entries that also finds typos, word forms and synonyms."""

    def __init__(self, entries: Sequence[Entry], schema: Schema) -> None:
        self.entries = entries
        self.names = [_list_entry_phrases(entry) for entry in entries]
        self.phrases: dict[str, list[tuple[int, tuple[str, ...]]]] = defaultdict(list)
        self.short: list[tuple[int, str]] = []
        self.words: dict[str, list[int]] = defaultdict(list)
        self.by_table: dict[str, list[int]] = defaultdict(list)
        self.always = [n for n, entry in enumerate(entries) if entry.kind == "convention" and not entry.about]
        for number, entry in enumerate(entries):
            for phrase in self.names[number]:
                # Under its longest word alone a phrase is found once, whatever else stands in the question.
                self.phrases[max(phrase, key=len)].append((number, phrase))
            self.short += ((number, fold(name)) for name in entry.names if _ABBREVIATION.fullmatch(name))
            for word in {*_split_word_stems(entry.text)}.union(*self.names[number]) - _STOP:
                self.words[word].append(number)
            if entry.kind not in ("term", "metric", "table"):
                for table in {table for table, _ in entry.about}:
                    self.by_table[table].append(number)
        total = math.log(1 + len(entries))
        self.rarity = {word: math.log(1 + len(entries) / len(numbers)) / total for word, numbers in self.words.items()}
        self.keys = {(key.table, column): key.ref_table for key in schema.foreign_keys for column in key.columns}
        self.schema_words = get_schema_name_stems(schema)
        self.common = self.schema_words | _STOP | question_words() | frozenset(map(stem_word, STOP_WORDS))
        self.name_stems = frozenset(word for names in self.names for name in names for word in name)
        # Stems that a question may mean otherwise than it spells them: names alone may be mistyped.
        self._spelt = sorted(self.name_stems, key=lambda name: (len(name), name))
        self.vocabulary = self.name_stems | self.words.keys() | self.schema_words
        self._by_head: dict[str, list[str]] = defaultdict(list)
        for word in sorted(self.vocabulary):
            self._by_head[word[:_HEAD]].append(word)

    def correct_misspelt_stem(self, word: str) -> str:
        """Return the known stem that a misspelt stem stands for, or else the stem itself."""
        word = IRREGULAR_PLURALS.get(word, word)
        if word in self.vocabulary or len(word) < _TYPO_LENGTH:
            return word
        hit = find_intended_word(word, [name for name in self._spelt if abs(len(name) - len(word)) <= 1])
        return hit[0] if hit else word

    def find_related_stems(self, word: str) -> Mapping[str, float]:
        """Return the known stems that a question's stem may stand for, with weights."""
        meanings = {other: _KIN for other in self._by_head.get(word[:_HEAD], ()) if _are_related_stems(word, other)}
        return meanings | dict.fromkeys(self.vocabulary & _build_synonym_map().get(word, set()), _SYNONYM) | {word: 1.0}


def is_term_name(name: str, schema: Schema, *, addresses: bool = True) -> bool:
    """Whether a name has a searchable word; words such as `note` count if `addresses` is set."""
    return not _STOP.union(() if addresses else _ADDRESSES - get_schema_name_stems(schema)).issuperset(stems(name))


class _KnowledgeSearch:
    """A search for the entries that one question needs, with a score for each entry."""

    def __init__(self, index: KnowledgeIndex, question: str, p: Mapping[Item, float]) -> None:
        """Search with the linker's probabilities `p` of tables and columns."""
        self._index, self._p = index, p
        self.scores: dict[int, float] = {}  # of entries, by their number
        self._name_words: dict[int, frozenset[str]] = {}  # words of the question that are an entry's name
        # Its stems, mistyped ones as what was meant, and for each that says something what it may stand for.
        self._words = Counter(map(index.correct_misspelt_stem, _split_word_stems(question)))
        self._meanings = {word: index.find_related_stems(word) for word in self._words.keys() - _STOP}
        self._said_weights: dict[str, float] = {}  # all that they stand for, with what that counts at best
        for word, others in self._meanings.items():
            for other, share in others.items():
                # A word of the schema stands for itself, or for another that the schema has.
                if word not in index.schema_words or other in index.schema_words:
                    self._said_weights[other] = max(share, self._said_weights.get(other, 0.0))
        # Words of names that such questions were learned to be about.
        associations = (load_shipped_associations().pairs.get(word, {}).items() for word in self._meanings)
        self._topics = {name for pairs in associations for name, weight in pairs if weight >= _LEARNED}
        self._add_named_entries()
        self._add_abbreviated_entries(question)
        self._add_entries_with_shared_words()
        # What the definitions that it needs read, and what it is about.
        entries = (index.entries[number] for number in self.scores)
        self._items = {item for entry in entries if entry.sql for item in entry.about}
        self._likely = {item for item, share in p.items() if share >= _LIKELY}
        self._tables = {table for table, column in self._likely if not column} | {table for table, _ in self._items}
        self._add_descriptions_and_rules()
        for number in index.always:
            self.scores.setdefault(number, 0.1)

    def _add_named_entries(self) -> None:
        """Add entries named in the question; a longer name hides a shorter one."""
        phrases = [entry for word in self._words for entry in self._index.phrases.get(word, ())]
        hits = [(number, frozenset(phrase)) for number, phrase in phrases if Counter(phrase) <= self._words]
        for number, phrase in sorted(hits, key=lambda hit: -len(hit[1])):
            covered = any(phrase < other for other_number, other in self._name_words.items() if other_number != number)
            if not covered and len(phrase) > len(self._name_words.get(number, ())):
                self._add_entry(number, len(phrase), phrase)

    def _add_abbreviated_entries(self, question: str) -> None:
        """Add entries whose abbreviation the question spells out."""
        words = [fold(word) for word in re.findall(r"[^\W_]+", question)] if self._index.short else []
        sizes = range(2, _LONGEST + 1)
        runs = [words[start : start + size] for size in sizes for start in range(len(words) - size + 1)]
        content_runs = [run for run in runs if run[0] not in _STOP and run[-1] not in _STOP]
        for number, short in self._index.short:
            run = next((run for run in content_runs if run[0][0] == short[0] and is_abbreviation(short, run)), None)
            if run and number not in self.scores:
                self._add_entry(number, len(run), map(stem_word, run))

    def _add_entries_with_shared_words(self) -> None:
        """Add entries that share rare words, or most of a name, with the question."""
        words = {word for word in self._meanings if not word.isdigit()}.difference(*self._name_words.values())
        for number, weight in self._compute_shared_word_weights(words).items():
            is_named = self._index.entries[number].kind in ("term", "metric", "table") and any(
                self._compute_name_coverage(name) >= _MOST for name in self._index.names[number]
            )
            if number not in self.scores and (weight >= _RARE or is_named):
                self._add_entry(number, min(weight, 1.0))

    def _add_descriptions_and_rules(self) -> None:
        """Add descriptions and rules of the tables and columns that the question concerns."""
        weights = self._compute_shared_word_weights(self._meanings)
        tables = {table for table, _ in (*self._p, *self._items)} | set(filter(self._says_any, self._index.by_table))
        tables |= {table for (table, _), goal in self._index.keys.items() if goal in self._tables}
        numbers = {number for table in tables for number in self._index.by_table.get(table, ())}
        for number in numbers - self.scores.keys():
            entry = self._index.entries[number]
            if self._needs_entry(entry, weights.get(number, 0.0) >= _MOST):
                self.scores[number] = max(self._p.get(item, 0.0) for item in entry.about)

    def _add_entry(self, number: int, score: float, name_words: Iterable[str] = ()) -> None:
        """Add an entry with a score that ranks terms and metrics above descriptions."""
        kind = self._index.entries[number].kind
        self.scores[number] = {"metric": 3.0, "term": 3.0, "column": 2.0}.get(kind, 1.5) + score
        self._name_words[number] = frozenset(name_words)

    def _compute_shared_word_weights(self, words: Collection[str]) -> dict[int, float]:
        """Return for each entry the total weight of its words in common with `words`."""
        weights: dict[int, float] = defaultdict(float)
        for word in words:
            if word in self._index.common:
                continue
            best: dict[int, float] = {}
            # Another word for what the schema has is one of the schema's too.
            factor = float(self._index.schema_words.isdisjoint(self._meanings[word]))
            for other, share in self._meanings[word].items():
                for number in self._index.words.get(other, ()):
                    best[number] = max(best.get(number, 0.0), factor * share * self._index.rarity[other])
            for number, weight in best.items():
                weights[number] += weight
        return weights

    def _compute_name_coverage(self, name: Sequence[str]) -> float:
        """Return the share of a name that is in the question, weighted by rarity."""
        counts = {word: _COMMON if word in self._index.common else self._index.rarity[word] for word in name}
        return sum(self._said_weights.get(word, 0.0) * count for word, count in counts.items()) / sum(counts.values())

    def _says_any(self, *names: str) -> bool:
        """Whether the question mentions a word of any of the names."""
        return any(word in self._said_weights for name in names for word in _split_name_stems(name))

    def _says_all(self, *names: str, extra: Collection[str] = ()) -> bool:
        """Whether the question mentions every word of the names; `extra` words count too."""
        words = [word for name in names for word in _split_name_stems(name)]
        return bool(words) and all(word in self._said_weights or word in extra for word in words)

    def _needs_entry(self, entry: Entry, shares_word: bool) -> bool:
        """Whether the question needs a description or rule; `shares_word`: a rare word in common."""
        is_near = shares_word and any(table in self._tables for table, _ in entry.about)
        match entry.kind:
            case "column":
                return is_near or any(
                    item in self._likely
                    or item in self._items
                    or (item[0] in self._tables and item in self._p and self._says_all(item[1], extra=self._topics))
                    for item in entry.about
                )
            case "convention":
                # The question speaks of it: a value found in it is not enough.
                return is_near or any(
                    (item in self._likely and self._says_any(*item)) or (bool(item[1]) and self._says_all(*item))
                    for item in [item for item in entry.about if item[1]] or entry.about
                )
            case "never":
                # It is about what must be used instead, and does not say of which table.
                return any(map(self._is_likely_used, entry.about)) or any(
                    column and entry.text.startswith(f"use {table}.{column} instead") and not self._says_any(table)
                    for table, column in self._likely
                )
            case _:  # a join: other kinds are found by their words alone
                has_all_tables = all(table in self._tables for table, _ in entry.about)
                means = (self._says_all(column, extra=self._topics) for _, column in entry.about if column)
                return has_all_tables and (shares_word or all(means))

    def _is_likely_used(self, item: Item) -> bool:
        """Whether a query for the question would likely use a table or column."""
        table, column = item
        if item in self._likely:
            best = max(p for (other, part), p in self._p.items() if other == table and bool(part) == bool(column))
            return self._p[item] >= best or self._says_any(column)
        is_reached = any(other in self._tables and target == table for (other, _), target in self._index.keys.items())
        return self._index.keys.get(item) in self._tables and (is_reached or table in self._tables)


def _list_entry_phrases(entry: Entry) -> list[tuple[str, ...]]:
    """Return the phrases by which a question may ask for an entry."""
    phrases = list(entry.phrases)
    if entry.kind == "table":
        phrases.append(stem_name(entry.about[0][0]))
    phrases += [tuple(_split_word_stems(meaning)) for _, meaning in entry.values]
    return [phrase for phrase in dict.fromkeys(phrases) if any(word not in _STOP for word in phrase)]


def _split_word_stems(text: str) -> list[str]:
    return stems(_PLURAL.sub(r"\1", text))
