"""Learns which words of questions go with which words of names, on training databases."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...tools.linking import STAR
from ...tools.linking.associations import Associations
from ...tools.values.schema_words import name_words
from ...tools.values.text_words import stem, words
from .fit_linker_turns import Dialogue, LinkedDatabase

_LEAST_SEEN = 10
_LEAST_USED = 5
_LEAST_WEIGHT = 0.4
_MOST_WEIGHT = 3.0
_BELIEF = 4
"""Turns' worth of belief that a word of a question says nothing."""


def _counter() -> Counter[str]:
    return Counter()


def _pair_counter() -> Counter[tuple[str, str]]:
    return Counter()


@dataclass
class WordCounts:
    """How often words of questions met words of names.

    Attributes:
        there: Turns whose schema has the word in a name.
        used: Turns whose SQL uses such a name.
        there_with: The same, by a word of the question and the name's.
        used_with: Likewise.
        heads: Columns of used tables, by their names' last words.
        used_heads: Those of them that are used.
    """

    there: Counter[str] = field(default_factory=_counter)
    used: Counter[str] = field(default_factory=_counter)
    there_with: Counter[tuple[str, str]] = field(default_factory=_pair_counter)
    used_with: Counter[tuple[str, str]] = field(default_factory=_pair_counter)
    heads: Counter[str] = field(default_factory=_counter)
    used_heads: Counter[str] = field(default_factory=_counter)

    def add(self, dialogue: Dialogue) -> None:
        """Counts a dialogue's turns."""
        names = dialogue.database.names
        tables, columns = _stems(dialogue.database)
        there = frozenset[str]().union(*tables, *columns)
        for asked in dialogue.questions:
            use = names.past_use(asked.gold)
            numbers = {names.column_number[column] for column in use.columns if column[1] != STAR}
            used = frozenset[str]().union(
                *(columns[number] for number in numbers), *(tables[names.table_number[table]] for table in use.tables)
            )
            self.there.update(there)
            self.used.update(used)
            for word in {word.stem for word in words(asked.text)}:
                self.there_with.update((word, part) for part in there)
                self.used_with.update((word, part) for part in used)
            of_used = [number for number, (table, _) in enumerate(names.columns) if table in use.tables]
            self.heads.update(names.column_heads[number] for number in of_used)
            self.used_heads.update(names.column_heads[number] for number in numbers)

    def __iadd__(self, other: WordCounts) -> WordCounts:
        for name, counter in vars(self).items():
            counter.update(getattr(other, name))
        return self

    def associations(self) -> Associations:
        """Pairs whose name is used clearly more often where the question holds the word."""
        pairs: dict[str, dict[str, float]] = defaultdict(dict)
        for (word, part), used in self.used_with.items():
            there = self.there_with[word, part]
            if word == part or there < _LEAST_SEEN or used < _LEAST_USED:
                continue
            usual = self.used[part] / self.there[part]
            weight = math.log((used + _BELIEF * usual) / (there + _BELIEF) / usual)
            if weight > _LEAST_WEIGHT:
                pairs[word][part] = round(min(weight, _MOST_WEIGHT) / _MOST_WEIGHT, 3)
        usual_heads = {
            head: round((self.used_heads[head] + 0.5) / (count + 2), 3)
            for head, count in self.heads.items()
            if count >= 2 * _LEAST_SEEN
        }
        return Associations(dict(pairs), usual_heads)


def count_words(dialogues: Sequence[Dialogue]) -> WordCounts:
    """The counts of dialogues."""
    counts = WordCounts()
    for dialogue in dialogues:
        counts.add(dialogue)
    return counts


def _stems(database: LinkedDatabase) -> tuple[list[frozenset[str]], list[frozenset[str]]]:
    names = database.names
    return (
        [frozenset(map(stem, name_words(table))) for table in names.table_number],
        [frozenset(map(stem, name_words(column))) for _, column in names.columns],
    )
