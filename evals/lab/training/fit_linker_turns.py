"""Turns to fit and measure the schema linker: evidence, and items used by gold SQL.

Also Track-SQL's redundancy scores (equations 10 to 13), and recall, of a linker's probabilities for them.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import numpy as np
import numpy.typing as npt

from ....tools.database import Database
from ....tools.database.quoting import quote
from ....tools.errors import DatabaseUnavailable
from ....tools.linking import STAR, PastTurn
from ....tools.linking.evidence import LinkingEvidence, NameIndex
from ....tools.linking.vocabulary import Shares, WordAssociations
from ....tools.values import ValueIndex, ValueMatch
from ...datasets import Dataset
from ...metrics.summary import CUTOFF, compute_redundancy

WINDOW = 5
FOLDS = 3

SHOWN = 0.1
"""The threshold that recall is measured at (Track-SQL's s)."""

_MOST_BEFORE = 4
"""Turns before a change of subject, at most."""

_LEAST_KEPT = 0.02
"""Least probability of items that later turns know of."""

Found = tuple[tuple[str, str | None, float], ...]
"""Items, each with its probability, as `PastTurn` holds them."""


@dataclass(frozen=True, eq=False)
class LinkedDatabase:
    """A database's index of table and column names, for training the linker."""

    names: NameIndex

    @property
    def fold(self) -> int:
        """The cross-validation fold of the database, from a hash of the schema's name."""
        return zlib.crc32(self.names.schema.name.encode()) % FOLDS


@dataclass(frozen=True)
class TrainingQuestion:
    """One question: its text, the gold SQL, and the database values that it mentions."""

    text: str
    gold: str
    values: tuple[ValueMatch, ...]


@dataclass(frozen=True)
class TrainingDialogue:
    """The questions of an interaction, with the SQL and schema items that later turns see."""

    database: LinkedDatabase
    questions: tuple[TrainingQuestion, ...]
    answers: tuple[str, ...]
    found: tuple[Found, ...] = ()

    def get_past_turns(self, number: int) -> list[PastTurn]:
        """Return the turns before turn `number`, up to the size of the window."""
        found = self.found or [()] * len(self.questions)
        seen = list(zip(self.questions, self.answers, found, strict=True))[max(0, number - WINDOW) : number]
        return [PastTurn(asked.text, sql=answer, items=items) for asked, answer, items in seen]


@dataclass(frozen=True, eq=False)
class LinkedTurn:
    """A turn of a dialogue with linking evidence, and flags for the items of the gold SQL."""

    database: LinkedDatabase
    number: int
    evidence: LinkingEvidence
    tables: Shares
    columns: Shares
    stars: Shares


Score = Callable[[LinkedTurn], tuple[Shares, Shares]]
"""Probabilities of a turn's tables and columns."""

Given = Callable[[TrainingQuestion, list[PastTurn]], tuple[TrainingQuestion, list[PastTurn]]]
"""Takes something away from what is known of a turn: the question, and the turns before it."""


def read_dialogues(dataset: Dataset, cache: Path) -> list[TrainingDialogue]:
    """Return a dataset's interactions on existing databases, with gold SQL as answers."""
    databases: dict[str, tuple[LinkedDatabase, ValueIndex] | None] = {}
    dialogues: list[TrainingDialogue] = []
    for turns in dataset.interactions:
        name = turns[0].database
        if name not in databases:
            try:
                database = Database.open(dataset.find_file(name))
                linked = LinkedDatabase(NameIndex(database.schema()))
                databases[name] = linked, ValueIndex.open(database, cache=cache)
            except DatabaseUnavailable:
                databases[name] = None
        if (found := databases[name]) is not None:
            questions = tuple(TrainingQuestion(turn.text, turn.golds[0], found[1].find(turn.text)) for turn in turns)
            dialogues.append(TrainingDialogue(found[0], questions, tuple(asked.gold for asked in questions)))
    return dialogues


def keep_evidence(asked: TrainingQuestion, past: list[PastTurn]) -> tuple[TrainingQuestion, list[PastTurn]]:
    """Return the question and the past turns unchanged."""
    return asked, past


def build_linked_turns(
    dialogue: TrainingDialogue, associations: WordAssociations, given: Given = keep_evidence
) -> list[LinkedTurn]:
    """Build the turns of a dialogue, without turns whose gold SQL cannot be read."""
    turns = [build_linked_turn(dialogue, number, associations, given) for number in range(len(dialogue.questions))]
    return [turn for turn in turns if turn.tables.any()]


def build_linked_turn(
    dialogue: TrainingDialogue, number: int, associations: WordAssociations, given: Given = keep_evidence
) -> LinkedTurn:
    """Build one turn of a dialogue: the evidence, and flags for the items of the gold SQL."""
    names = dialogue.database.names
    asked, past = given(dialogue.questions[number], dialogue.get_past_turns(number))
    evidence = LinkingEvidence(asked.text, past, asked.values, names, associations)
    used = names.find_past_use(asked.gold)
    return LinkedTurn(
        dialogue.database,
        number,
        evidence,
        np.array([float(name in used.tables) for name in names.table_number]),
        np.array([float(column in used.columns) for column in names.columns]),
        np.array([float((name, STAR) in used.columns) for name in names.table_number]),
    )


def add_links(
    dialogue: TrainingDialogue, score: Score, associations: WordAssociations, *, own: bool, given: Given = keep_evidence
) -> TrainingDialogue:
    """Return the dialogue with the items that a linker found in its turns, one after another.

    They stand in the place of gold SQL too if the history is the linker's own.
    """
    names, count = dialogue.database.names, len(dialogue.questions)
    answers, found = [""] * count, [Found()] * count
    for number, asked in enumerate(dialogue.questions):
        seen = replace(dialogue, answers=tuple(answers), found=tuple(found))
        tables, columns = score(build_linked_turn(seen, number, associations, given))
        answers[number] = write_sql(names.table_number, names.columns, tables, columns) if own else asked.gold
        found[number] = select_probable_items(names, tables, columns)
    return replace(dialogue, answers=tuple(answers), found=tuple(found))


def select_probable_items(names: NameIndex, tables: Shares, columns: Shares) -> Found:
    """Return the tables and columns that are probable enough to be shown to later turns."""
    probable = zip(names.table_number, tables.tolist(), strict=True)
    return (
        *((name, None, p) for name, p in probable if p >= _LEAST_KEPT),
        *((*column, p) for column, p in zip(names.columns, columns.tolist(), strict=True) if p >= _LEAST_KEPT),
    )


def write_sql(tables: Iterable[str], columns: Iterable[tuple[str, str]], tables_p: Shares, columns_p: Shares) -> str:
    """Return a SELECT of the tables and columns with a probability of at least 0.5, or ''."""
    found = [name for name, p in zip(tables, tables_p.tolist(), strict=True) if p >= 0.5]
    if not found:
        return ""
    shown = [
        f"{quote(table)}.{quote(column)}"
        for (table, column), p in zip(columns, columns_p.tolist(), strict=True)
        if p >= 0.5 and table in found
    ]
    return f"SELECT {', '.join(shown) or '1'} FROM {', '.join(map(quote, found))}"


def make_subject_changes(
    interactions: Sequence[TrainingDialogue], single: Sequence[TrainingDialogue]
) -> list[TrainingDialogue]:
    """Return first turns of interactions, each followed by an unrelated question.

    Interactions of CoSQL seldom change the subject, people do: without such turns the linker learns that what was asked
    of is asked of again, whatever the question names. Every interaction is taken once, the questions of its database in
    even steps; one whose database has no single questions is left out.
    """
    theirs: dict[str, list[TrainingDialogue]] = defaultdict(list)
    for dialogue in interactions:
        theirs[dialogue.database.names.schema.name].append(dialogue)
    asked: dict[str, list[TrainingQuestion]] = defaultdict(list)
    for dialogue in single:
        asked[dialogue.database.names.schema.name] += dialogue.questions
    changed: list[TrainingDialogue] = []
    for name, some in theirs.items():
        for number, dialogue in enumerate(some if asked[name] else ()):
            question = asked[name][number * len(asked[name]) // len(some)]
            turns = 1 + number % _MOST_BEFORE
            changed.append(
                replace(
                    dialogue,
                    questions=(*dialogue.questions[:turns], question),
                    answers=(*dialogue.answers[:turns], question.gold),
                    found=(*dialogue.found[:turns], ()) if dialogue.found else (),
                )
            )
    return changed


def score_links(turns: Sequence[LinkedTurn], tables: Sequence[Shares], columns: Sequence[Shares]) -> dict[str, float]:
    """Return the linker's redundancy and recall on some turns, from 0 to 1.

    CRS is read over the gold query's tables, `*` left out, which is the reading that fits the paper's figures.
    """
    gold_tables = gold_columns = shown_tables = shown_columns = first_ten = 0
    for turn, p, q in zip(turns, tables, columns, strict=True):
        used, used_columns = _get_indices(turn.tables > 0), _get_indices(turn.columns > 0)
        gold_tables += len(used)
        gold_columns += len(used_columns)
        shown_tables += len(used & _get_indices(p >= SHOWN))
        shown_columns += len(used_columns & _get_indices(q >= SHOWN))
        first_ten += len(used_columns & set(np.argsort(-q, kind="stable")[:10].tolist()))
    return {
        "trs": round(score_table_redundancy(turns, tables), 4),
        "crs": round(score_column_redundancy(turns, columns), 4),
        "table_recall": round(shown_tables / gold_tables, 4),
        "column_recall": round(shown_columns / gold_columns, 4),
        "column_recall_at_10": round(first_ten / gold_columns, 4),
        "turns": len(turns),
    }


def score_table_redundancy(turns: Sequence[LinkedTurn], tables: Sequence[Shares], cutoff: float = CUTOFF) -> float:
    """Return the table redundancy score (TRS, equation 10), from 0 to 1."""
    return fmean(
        compute_redundancy(_get_indices(turn.tables > 0), _get_indices(p >= cutoff))
        for turn, p in zip(turns, tables, strict=True)
    )


def score_column_redundancy(turns: Sequence[LinkedTurn], columns: Sequence[Shares], cutoff: float = CUTOFF) -> float:
    """Return the column redundancy score (CRS, equation 12), from 0 to 1."""
    scores: list[float] = []
    for turn, q in zip(turns, columns, strict=True):
        for table in np.flatnonzero(turn.tables):
            here = turn.evidence.shape.table_of == table
            used, found = _get_indices((turn.columns > 0) & here), _get_indices((q >= cutoff) & here)
            scores.append(compute_redundancy(used, found))
    return fmean(scores)


def _get_indices(flags: npt.NDArray[np.bool_]) -> set[int]:
    return set(np.flatnonzero(flags).tolist())
