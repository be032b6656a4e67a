"""What the schema linker is fitted on and measured on: turns with their evidence and what their gold SQL uses."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..tools.database import Database
from ..tools.errors import DatabaseUnavailable
from ..tools.linking import STAR, PastTurn
from ..tools.linking.associations import Associations
from ..tools.linking.evidence import Evidence, Names, gather
from ..tools.linking.shape import Shape
from ..tools.linking.vocabulary import Shares
from ..tools.values import ValueIndex, ValueMatch
from .datasets import Dataset

WINDOW = 5
FOLDS = 3


@dataclass(frozen=True, eq=False)
class Place:
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
    """The questions of an interaction, and the SQL that later turns see of each."""

    place: Place
    questions: tuple[Asked, ...]
    answers: tuple[str, ...]

    def past(self, number: int) -> list[PastTurn]:
        """The turns before the one of that number, as far as the window reaches."""
        said = zip(self.questions[:number], self.answers[:number], strict=True)
        return [PastTurn(asked.text, sql=answer) for asked, answer in said][-WINDOW:]


@dataclass(frozen=True)
class LinkedTurn:
    """One turn: its number in the dialogue, its evidence, and 1 for what its gold SQL uses."""

    place: Place
    number: int
    evidence: Evidence
    tables: Shares
    columns: Shares
    stars: Shares


def read_dialogues(dataset: Dataset, cache: Path) -> list[Dialogue]:
    """The interactions of a dataset whose database is there, with gold SQL as their answers."""
    places: dict[str, tuple[Place, ValueIndex] | None] = {}
    dialogues: list[Dialogue] = []
    for turns in dataset.interactions:
        name = turns[0].database
        if name not in places:
            places[name] = _place(dataset, name, cache)
        found = places[name]
        if found is not None:
            place, index = found
            questions = tuple(Asked(turn.text, turn.golds[0], index.find(turn.text)) for turn in turns)
            dialogues.append(Dialogue(place, questions, tuple(asked.gold for asked in questions)))
    return dialogues


def _place(dataset: Dataset, name: str, cache: Path) -> tuple[Place, ValueIndex] | None:
    try:
        database = Database.open(dataset.database(name))
    except DatabaseUnavailable:
        return None
    names = Names(database.schema())
    return Place(names, Shape.of(names.schema, names)), ValueIndex.open(database, cache=cache)


def linked_turns(dialogue: Dialogue, associations: Associations) -> list[LinkedTurn]:
    """The turns of a dialogue whose gold SQL can be read."""
    turns = [linked_turn(dialogue, number, associations) for number in range(len(dialogue.questions))]
    return [turn for turn in turns if turn.tables.any()]


def linked_turn(dialogue: Dialogue, number: int, associations: Associations) -> LinkedTurn:
    """One turn of a dialogue."""
    asked, names = dialogue.questions[number], dialogue.place.names
    evidence = gather(asked.text, dialogue.past(number), asked.values, names, associations)
    used = names.past_use(asked.gold)
    return LinkedTurn(
        dialogue.place,
        number,
        evidence,
        np.array([float(name in used.tables) for name in names.table_number]),
        np.array([float(column in used.columns) for column in names.columns]),
        np.array([float((name, STAR) in used.columns) for name in names.table_number]),
    )


def own_answers(
    dialogue: Dialogue, score: Callable[[LinkedTurn], tuple[Shares, Shares]], associations: Associations
) -> Dialogue:
    """The dialogue with what a linker itself found in its turns, one after another, in the place of gold SQL."""
    names = dialogue.place.names
    answers = [""] * len(dialogue.questions)
    for number in range(len(answers)):
        turn = linked_turn(replace(dialogue, answers=tuple(answers)), number, associations)
        answers[number] = stand_in(names.table_number, names.columns, *score(turn))
    return replace(dialogue, answers=tuple(answers))


def stand_in(tables: Iterable[str], columns: Iterable[tuple[str, str]], tables_p: Shares, columns_p: Shares) -> str:
    """A query that uses the items of probability 0.5 and over; none where no table has that."""
    found = [name for name, p in zip(tables, tables_p.tolist(), strict=True) if p >= 0.5]
    if not found:
        return ""
    shown = [
        f"{_quoted(table)}.{_quoted(column)}"
        for (table, column), p in zip(columns, columns_p.tolist(), strict=True)
        if p >= 0.5 and table in found
    ]
    return f"SELECT {', '.join(shown) or '1'} FROM {', '.join(map(_quoted, found))}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
