"""The columns of an index, and what the finder takes from the schema: names, and which columns are flags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ..database import Schema
from ..words import fold, name_stems, stem
from .question import Question
from .store import Store, Stored, StoredColumn

YES = frozenset(("1", "t", "true", "y", "yes"))
NO = frozenset(("0", "f", "false", "n", "no"))
NOT = frozenset(("no", "non", "not", "never", "without", "neither", "nor", "isn", "aren", "doesn", "don", "didn"))
_ASIDE = frozenset(("a", "flag", "has", "have", "indic", "is", "of", "on", "the", "was", "yn"))
"""Stems in a column's name that say nothing of what it is about."""


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
        flags = {column: values for column, values in few if all(v.text.casefold() in YES | NO for v in values)}
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
