"""Fits the schema linker's model on training databases: `tableturn train linker FOLDER`.

Turns of CoSQL train and questions of Spider train; development databases are never read. Each interaction is learned
from twice: with the gold SQL of earlier turns, and with what a first linker, which does not know the database, found in
them, as histories are partly wrong in use, too; and from questions of Spider asked after its first turns, which change
the subject. What is printed is measured on all turns of interactions, and on those changes of subject, each by a model
fitted on other databases. The same data gives the same model.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...tools.errors import SettingsError
from ...tools.linking.associations import Associations
from ...tools.linking.scoring import Model
from ...tools.linking.vocabulary import Shares
from ..datasets import load_dataset
from ..metrics.redundancy import COUNTED
from ..runner.files import write_whole, written_whole
from .fit_linker_changes import changed_subjects
from .fit_linker_forests import Size
from .fit_linker_net import torch_library
from .fit_linker_scores import column_redundancy, measure, table_redundancy
from .fit_linker_stages import Fitted, fit_models
from .fit_linker_turns import (
    FOLDS,
    Dialogue,
    LinkedTurn,
    linked_turn,
    linked_turns,
    own_answers,
    read_dialogues,
    with_found,
)
from .fit_linker_words import WordCounts, count_words

_FIRST_SIZE = Size(trees=40, column_trees=20, rate=0.2, epochs=3)
_SIZE = Size(trees=70, column_trees=60, rate=0.12, epochs=5)

_OWN_WEIGHT = 0.4
"""What a turn counts for whose history a linker found, against one with gold SQL before it."""

_CHANGED_WEIGHT = 0.3
"""What a change of subject counts for."""

_SHIFTS = np.arange(0.0, 1.6, 0.1)
"""Log-odds to add, of which the best are taken: what is missing costs more than what is too much."""

Figures = dict[str, dict[str, float]]
Gathered = Callable[[Sequence[Dialogue]], list[LinkedTurn]]


def fit(dialogues: Sequence[Dialogue]) -> tuple[Model, Associations, Figures]:
    """Fits the model and the associations.

    Returns:
        Both, and the figures with gold history, with the first linker's own and where the subject changes, on databases
        that the model that is measured was not fitted on; the same by the trees alone.
    """
    counts = [count_words([d for d in dialogues if d.database.fold == fold]) for fold in range(FOLDS)]
    apart = [_sum(counts[:fold] + counts[fold + 1 :]).associations() for fold in range(FOLDS)]

    def gathered(some: Sequence[Dialogue]) -> list[LinkedTurn]:
        return [turn for dialogue in some for turn in linked_turns(dialogue, apart[dialogue.database.fold])]

    gold, own, alone, changed = _with_histories(dialogues, gathered, apart)
    begun = [turn for turn in gold if not turn.number]
    # First turns have no history: once is enough.
    gold, own = ([turn for turn in some if turn.number] for some in (gold, own))
    parts = ((begun, 1.0), (gold, 1.0), (own, _OWN_WEIGHT), (alone, 1.0), (changed, _CHANGED_WEIGHT))
    turns = [turn for part, _ in parts for turn in part]
    weights = [weight for part, weight in parts for _ in part]
    known = len(begun) + len(gold)
    judged = {
        "gold": range(known),
        "own": [*range(len(begun)), *range(known, known + len(own))],
        "changed": range(len(turns) - len(changed), len(turns)),
    }
    fitted = _raised(fit_models(turns, _SIZE, weights=weights), turns[:known])
    by_trees = _at_best(*fitted.by_trees, turns[:known])
    figures = {
        history + suffix: measure(
            [turns[number] for number in some],
            [tables[number] for number in some],
            [columns[number] for number in some],
        )
        for suffix, tables, columns in (("", fitted.tables, fitted.columns), ("_by_trees", *by_trees[:2]))
        for history, some in judged.items()
        if some
    }
    return fitted.models[-1], _sum(counts).associations(), figures


def _with_histories(
    dialogues: Sequence[Dialogue], gathered: Gathered, apart: Sequence[Associations]
) -> tuple[list[LinkedTurn], list[LinkedTurn], list[LinkedTurn], list[LinkedTurn]]:
    """Turns of interactions with gold SQL before them, with what a first linker found, single questions and changes.

    The first linker's probabilities stand beside both kinds of history. Changes of subject come after gold SQL, every
    third after what the first linker found.
    """
    known = [gathered([dialogue]) for dialogue in dialogues]
    every = [turn for theirs in known for turn in theirs]
    first = _raised(fit_models(every, _FIRST_SIZE, whole=False), every)
    found = zip(first.tables, first.columns, strict=True)
    seen = [
        with_found(d, {turn.number: next(found) for turn in theirs}) for d, theirs in zip(dialogues, known, strict=True)
    ]

    def scored(turn: LinkedTurn) -> tuple[Shares, Shares]:
        return first.models[turn.database.fold].score(turn.evidence, turn.database.shape)[:2]

    several, single = ([d for d in seen if (len(d.questions) > 1) == many] for many in (True, False))
    own = [own_answers(d, scored, apart[d.database.fold]) for d in dialogues if len(d.questions) > 1]
    both = zip(changed_subjects(several, single), changed_subjects(own, single), strict=True)
    changes = [after_own if number % 3 == 2 else after_gold for number, (after_gold, after_own) in enumerate(both)]
    last = [linked_turn(d, len(d.questions) - 1, apart[d.database.fold]) for d in changes]
    return gathered(several), gathered(own), gathered(single), [turn for turn in last if turn.tables.any()]


def _sum(counts: Sequence[WordCounts]) -> WordCounts:
    total = WordCounts()
    for count in counts:
        total += count
    return total


def _raised(fitted: Fitted, known: Sequence[LinkedTurn]) -> Fitted:
    """The nets with what makes redundancy least added to their log-odds, judged by the first turns; and what they give.

    Models without a net stay as they are.
    """
    tables, columns, shifts = _at_best(fitted.tables, fitted.columns, known)
    nets = [model.net and model.net.raised(*shifts) for model in fitted.models]
    if not all(nets):
        return fitted
    models = [replace(model, net=net) for model, net in zip(fitted.models, nets, strict=True)]
    return replace(fitted, models=models, tables=tables, columns=columns)


def _at_best(
    tables: Sequence[Shares], columns: Sequence[Shares], known: Sequence[LinkedTurn]
) -> tuple[Sequence[Shares], Sequence[Shares], tuple[float, float]]:
    """Probabilities with what makes redundancy least added to their log-odds, judged by the first turns; and that."""
    count = len(known)
    shifts = (
        _shift(lambda counted: table_redundancy(known, tables[:count], counted)),
        _shift(lambda counted: column_redundancy(known, columns[:count], counted)),
    )
    return [_shifted(p, shifts[0]) for p in tables], [_shifted(p, shifts[1]) for p in columns], shifts


def _shift(redundancy: Callable[[float], float]) -> float:
    """The log-odds to add that make a redundancy score least."""
    return float(min(_SHIFTS, key=lambda shift: redundancy(float(_shifted(np.array(COUNTED), -shift)))))


def _shifted(p: Shares, shift: float) -> Shares:
    return p / (p + (1 - p) * np.exp(-shift))


def write(model: Model, associations: Associations, folder: Path) -> None:
    """Writes what the linker reads: `forests.npz` and `associations.json`."""
    with written_whole(folder / "forests.npz") as file:
        np.savez_compressed(file, allow_pickle=False, **model.pack())
    stored = {"pairs": associations.pairs, "usual": associations.usual}
    write_whole(folder / "associations.json", json.dumps(stored, sort_keys=True) + "\n")


def train(out: Path, data: Path | None = None, limit: int | None = None) -> Figures:
    """Fits on both benchmarks' training questions and writes what the linker reads.

    Args:
        out: The folder to write to.
        data: The folder of benchmark data; None for `TABLETURN_DATA`'s.
        limit: Interactions of each dataset, for a quick look; None for all.

    Returns:
        Figures measured on databases that were left out.

    Raises:
        SettingsError: torch is not installed, the data is not there, or the folder cannot be written to.
    """
    torch_library()
    datasets = [load_dataset(name, "train", data).first(limit) for name in ("cosql", "spider")]
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"cannot write the linker's model to {out}: {error}") from None
    with tempfile.TemporaryDirectory() as cache:
        cosql, spider = (read_dialogues(dataset, Path(cache)) for dataset in datasets)
    model, associations, figures = fit([*cosql, *spider])
    write(model, associations, out)
    return figures
