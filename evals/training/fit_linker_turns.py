"""What the schema linker is fitted on and measured on: turns with their evidence and what their gold SQL uses."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ...tools.database import Database
from ...tools.database.quoting import quoted
from ...tools.errors import DatabaseUnavailable
from ...tools.linking import STAR, PastTurn
from ...tools.linking.associations import Associations
from ...tools.linking.evidence import Evidence, Names, gather
from ...tools.linking.shape import Shape
from ...tools.linking.vocabulary import Shares
from ...tools.values import ValueIndex, ValueMatch
from ..datasets import Dataset

WINDOW = 5
FOLDS = 3

_LEAST_KEPT = 0.02
"""Least probability of items that later turns know of."""

Found = tuple[tuple[str, str | None, float], ...]
"""Items, each with its probability, as `PastTurn` holds them."""


@dataclass(frozen=True, eq=False)
class LinkedDatabase:
    """A database, as linking sees it."""

    names: Names
    shape: Shape

    @property
    def fold(self) -> int:
        """Which part of the databases it belongs to, by its name."""
        return zlib.crc32(self.names.schema.name.encode()) % FOLDS


@dataclass(frozen=True)
class Asked:
    """One question: its text, the gold SQL, and the database values that it mentions."""

    text: str
    gold: str
    values: tuple[ValueMatch, ...]


@dataclass(frozen=True)
class Dialogue:
    """The questions of an interaction, and what later turns see of each: SQL, and the items a linker found probable."""

    database: LinkedDatabase
    questions: tuple[Asked, ...]
    answers: tuple[str, ...]
    found: tuple[Found, ...] = ()

    def past(self, number: int) -> list[PastTurn]:
        """The turns before the one of that number, as far as the window reaches."""
        found = self.found or [()] * len(self.questions)
        seen = list(zip(self.questions, self.answers, found, strict=True))[max(0, number - WINDOW) : number]
        return [PastTurn(asked.text, sql=answer, items=items) for asked, answer, items in seen]


@dataclass(frozen=True, eq=False)
class LinkedTurn:
    """One turn: its number in the dialogue, its evidence, and 1 for what its gold SQL uses."""

    database: LinkedDatabase
    number: int
    evidence: Evidence
    tables: Shares
    columns: Shares
    stars: Shares


Score = Callable[[LinkedTurn], tuple[Shares, Shares]]
"""Probabilities of a turn's tables and columns."""


def read_dialogues(dataset: Dataset, cache: Path) -> list[Dialogue]:
    """The interactions of a dataset whose database is there, with gold SQL as their answers."""
    databases: dict[str, tuple[LinkedDatabase, ValueIndex] | None] = {}
    dialogues: list[Dialogue] = []
    for turns in dataset.interactions:
        name = turns[0].database
        if name not in databases:
            databases[name] = _opened(dataset, name, cache)
        found = databases[name]
        if found is not None:
            database, index = found
            questions = tuple(Asked(turn.text, turn.golds[0], index.find(turn.text)) for turn in turns)
            dialogues.append(Dialogue(database, questions, tuple(asked.gold for asked in questions)))
    return dialogues


def _opened(dataset: Dataset, name: str, cache: Path) -> tuple[LinkedDatabase, ValueIndex] | None:
    try:
        database = Database.open(dataset.database(name))
    except DatabaseUnavailable:
        return None
    names = Names(database.schema())
    return LinkedDatabase(names, Shape.of(names.schema, names)), ValueIndex.open(database, cache=cache)


def linked_turns(dialogue: Dialogue, associations: Associations) -> list[LinkedTurn]:
    """The turns of a dialogue whose gold SQL can be read."""
    turns = [linked_turn(dialogue, number, associations) for number in range(len(dialogue.questions))]
    return [turn for turn in turns if turn.tables.any()]


def linked_turn(dialogue: Dialogue, number: int, associations: Associations) -> LinkedTurn:
    """One turn of a dialogue."""
    asked, names = dialogue.questions[number], dialogue.database.names
    evidence = gather(asked.text, dialogue.past(number), asked.values, names, associations)
    used = names.past_use(asked.gold)
    return LinkedTurn(
        dialogue.database,
        number,
        evidence,
        np.array([float(name in used.tables) for name in names.table_number]),
        np.array([float(column in used.columns) for column in names.columns]),
        np.array([float((name, STAR) in used.columns) for name in names.table_number]),
    )


def gold_answers(dialogue: Dialogue, score: Score, associations: Associations) -> Dialogue:
    """The dialogue with gold SQL and the items that a linker found in its turns, one after another."""
    return _scored(dialogue, score, associations, lambda number, tables, columns: dialogue.questions[number].gold)


def own_answers(dialogue: Dialogue, score: Score, associations: Associations) -> Dialogue:
    """The dialogue with what a linker itself found in its turns, one after another, in the place of gold SQL."""
    names = dialogue.database.names
    return _scored(
        dialogue,
        score,
        associations,
        lambda _, tables, columns: stand_in(names.table_number, names.columns, tables, columns),
    )


def _scored(
    dialogue: Dialogue, score: Score, associations: Associations, answer: Callable[[int, Shares, Shares], str]
) -> Dialogue:
    count = len(dialogue.questions)
    answers, found = [""] * count, [Found()] * count
    for number in range(count):
        seen = replace(dialogue, answers=tuple(answers), found=tuple(found))
        tables, columns = score(linked_turn(seen, number, associations))
        answers[number] = answer(number, tables, columns)
        found[number] = _items(dialogue.database, tables, columns)
    return replace(dialogue, answers=tuple(answers), found=tuple(found))


def with_found(dialogue: Dialogue, found: Mapping[int, tuple[Shares, Shares]]) -> Dialogue:
    """The dialogue with probabilities of turns' items, by the turns' numbers."""
    numbers = range(len(dialogue.questions))
    return replace(
        dialogue,
        found=tuple(_items(dialogue.database, *found[number]) if number in found else () for number in numbers),
    )


def _items(database: LinkedDatabase, tables: Shares, columns: Shares) -> Found:
    """The items that are probable enough to be kept."""
    names = list(database.names.table_number)
    return (
        *((names[number], None, float(tables[number])) for number in np.flatnonzero(tables >= _LEAST_KEPT)),
        *(
            (*database.names.columns[number], float(columns[number]))
            for number in np.flatnonzero(columns >= _LEAST_KEPT)
        ),
    )


def stand_in(tables: Iterable[str], columns: Iterable[tuple[str, str]], tables_p: Shares, columns_p: Shares) -> str:
    """A query that uses the items of probability 0.5 and over; none where no table has that."""
    found = [name for name, p in zip(tables, tables_p.tolist(), strict=True) if p >= 0.5]
    if not found:
        return ""
    shown = [
        f"{quoted(table)}.{quoted(column)}"
        for (table, column), p in zip(columns, columns_p.tolist(), strict=True)
        if p >= 0.5 and table in found
    ]
    return f"SELECT {', '.join(shown) or '1'} FROM {', '.join(map(quoted, found))}"
