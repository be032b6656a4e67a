"""Fits the offline translator's confidence on training databases: `tableturn train confidence OUT`.

Questions of Spider train and, as follow-ups of the gold SQL before, of CoSQL train; development questions are never
read. Before it writes, it prints how answers of at least 0.8 fare on databases that were left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import cast

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from ...agent.offline.parser import Engine
from ...tools.database import Database
from ...tools.errors import DatabaseUnavailable, NotUnderstood, QueryFailed
from ...tools.values import ValueIndex
from ..datasets import Dataset, Question, load_dataset
from ..official import OfficialDatabases, execute_both
from ..runner.files import write_whole

_FOLDS = 5
_GATE = 0.8
_INVERSE_PENALTY = 0.5
_NO_ROWS = frozenset({"academic", "geo", "imdb", "music_2", "restaurants", "scholar", "yelp", "wta_1"})
"""Databases whose published copies lack rows."""


@dataclass(frozen=True)
class Tried:
    """A question that was answered: what the confidence weighs, and whether it was right."""

    database: str
    conversation: bool
    signals: dict[str, float]
    right: bool


def tried(dataset: Dataset, every: int) -> Iterator[Tried]:
    """Every so many-th interaction of a dataset, answered with the gold SQL of earlier turns as history."""
    chosen = [turns for turns in dataset.interactions if turns[0].database not in _NO_ROWS][::every]
    judges = OfficialDatabases(dataset.database)
    for name, interactions in groupby(sorted(chosen, key=lambda turns: turns[0].database), lambda t: t[0].database):
        try:
            database = Database.open(dataset.database(name))
        except DatabaseUnavailable:
            continue
        with database:
            engine = Engine(database, ValueIndex.open(database))
            for turns in interactions:
                yield from _turns(engine, turns, judges)
    judges.close()


def _turns(engine: Engine, turns: Sequence[Question], judges: OfficialDatabases) -> Iterator[Tried]:
    before = ""
    for turn in turns:
        gold = turn.golds[0]
        try:
            answer = engine.answer(turn.text.split(" | ")[0], before)
            right = execute_both(answer.sql, gold, turn.database, judges).same
            yield Tried(turn.database, len(turns) > 1, dict(answer.signals), bool(right))
        except (NotUnderstood, QueryFailed):
            pass
        before = gold


def fit(answers: Sequence[Tried]) -> dict[str, float]:
    """The weight of each signal: by single questions, and what edits of an earlier query take off by conversations."""
    model = LogisticRegression(C=_INVERSE_PENALTY, max_iter=2000, fit_intercept=False)
    single = [answer for answer in answers if not answer.conversation]
    names = list(answers[0].signals)
    model.fit(_matrix(single, names), [answer.right for answer in single])
    weights = np.asarray(model.coef_)[0]
    edits = [answer for answer in answers if answer.signals["editing"]]
    if edits:
        scores, right = _matrix(edits, names) @ weights, np.mean([answer.right for answer in edits])
        weights[names.index("editing")] = _shift(scores, float(right))
    return dict(zip(names, (round(float(weight), 2) for weight in weights), strict=True))


def _shift(scores: np.ndarray, right: float) -> float:
    """What to add to the scores for their mean probability to be the share that is right."""

    def off(shift: float) -> float:
        return float(np.mean(expit(scores + shift))) - right

    return float(cast("float", brentq(off, -9.0, 9.0)))


def _matrix(answers: Sequence[Tried], names: Sequence[str]) -> np.ndarray:
    return np.array([[answer.signals[name] for name in names] for answer in answers])


def _gate(answers: Sequence[Tried]) -> tuple[float, float]:
    """On databases left out: the share of answers with confidence of at least 0.8, and how many of these are right."""
    sure = np.zeros(len(answers))
    names = list(answers[0].signals)
    folds = GroupKFold(_FOLDS).split(answers, groups=[answer.database for answer in answers])
    for kept, left_out in folds:
        weights = fit([answers[at] for at in kept])
        scores = _matrix([answers[at] for at in left_out], names) @ np.array([weights[name] for name in names])
        sure[left_out] = expit(scores)
    alone = [at for at, answer in enumerate(answers) if not answer.conversation]
    gated = [at for at in alone if sure[at] >= _GATE]
    return len(gated) / len(alone), float(np.mean([answers[at].right for at in gated]))


def train(out: Path, data: Path | None = None, every: int = 1) -> str:
    """Fits on both benchmarks' training questions and writes the weights.

    Args:
        out: The JSON file to write.
        data: The folder of benchmark data; None for `TABLETURN_DATA`'s.
        every: Take only every so many-th interaction.

    Returns:
        How answers of at least 0.8 fare on databases that were left out, in a sentence.
    """
    answers = [answer for name in ("spider", "cosql") for answer in tried(load_dataset(name, "train", data), every)]
    share, right = _gate(answers)
    write_whole(out, json.dumps(fit(answers), indent=1) + "\n")
    return (
        f"{len(answers)} answers; left out: {share:.3f} of single questions at {_GATE}, of which {right:.3f} are right"
    )
