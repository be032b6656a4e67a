"""Values such as "yes", of columns that answer a question by their name: "students on scholarship"."""

from __future__ import annotations

from collections.abc import Iterator

from .indexed_columns import NO, IndexedColumns
from .question import Question
from .schema_words import name_stems
from .store import Stored
from .text_words import fold, stem

NOT = frozenset(("no", "non", "not", "never", "without", "neither", "nor", "isn", "aren", "doesn", "don", "didn"))
_ASIDE = frozenset(("a", "flag", "has", "have", "indic", "is", "of", "on", "the", "was", "yn"))
"""Stems in a column's name that say nothing of what it is about."""


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
