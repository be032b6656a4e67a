"""Fits the schema linker's model on training databases: `python -m tableturn.evals.fit_linker FOLDER`.

Turns of CoSQL train and questions of Spider train; development databases are never read. Some interactions show later
turns not the gold SQL of earlier ones but what a first linker found in them, its database left out: histories are
partly wrong in use, too. What is printed is measured on a third of the databases, by
a model fitted on the others. The same data gives the same
model; a run takes some minutes on one core.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..tools.errors import SettingsError
from ..tools.linking.associations import Associations
from ..tools.linking.scoring import STAGES, Model
from ..tools.linking.vocabulary import Shares
from .datasets import load_dataset
from .fit_linker_scores import column_redundancy, measure, table_redundancy
from .fit_linker_stages import MEASURED, first_findings, fit_model
from .fit_linker_turns import FOLDS, Dialogue, LinkedTurn, linked_turns, read_dialogues, stand_in
from .fit_linker_words import WordCounts, count_words
from .metrics.redundancy import COUNTED

_TREES = 60
_FIRST_TREES = 25
_OWN_EVERY = 4
"""One in so many interactions has a history that a first linker found."""

_SHIFTS = np.arange(0.0, 1.3, 0.1)
"""Log-odds to add, of which the best is taken: what is missing costs more than what is too much (equation 11)."""


def fit(dialogues: Sequence[Dialogue]) -> tuple[Model, Associations, dict[str, float]]:
    """Fits the model and the associations.

    Returns:
        Both, and the figures of a third of the databases, by a model fitted on the others.
    """
    counts = [count_words([d for d in dialogues if d.place.fold == fold]) for fold in range(FOLDS)]
    apart = [_sum(counts[:fold] + counts[fold + 1 :]).associations() for fold in range(FOLDS)]

    def gathered(some: Sequence[Dialogue]) -> list[LinkedTurn]:
        return [turn for dialogue in some for turn in linked_turns(dialogue, apart[dialogue.place.fold])]

    chosen = [number for number, dialogue in enumerate(dialogues) if len(dialogue.questions) > 1][::_OWN_EVERY]
    mixed = list(dialogues)
    for number, own in zip(chosen, _with_own([dialogues[number] for number in chosen], gathered), strict=True):
        mixed[number] = own
    turns = gathered(mixed)
    model, tables, columns = fit_model(turns, _TREES)
    judged = [number for number, turn in enumerate(turns) if turn.place.fold == MEASURED]
    turns = [turns[number] for number in judged]
    tables, columns = ([found[number] for number in judged] for found in (tables, columns))
    table_shift = _shift(lambda counted: table_redundancy(turns, tables, counted))
    column_shift = _shift(lambda counted: column_redundancy(turns, columns, counted))
    model = replace(
        model,
        tables_again=replace(model.tables_again, base=model.tables_again.base + table_shift),
        columns_again=replace(model.columns_again, base=model.columns_again.base + column_shift),
    )
    figures = measure(turns, [_shifted(p, table_shift) for p in tables], [_shifted(q, column_shift) for q in columns])
    return model, _sum(counts).associations(), figures


def _sum(counts: Sequence[WordCounts]) -> WordCounts:
    total = WordCounts()
    for count in counts:
        total += count
    return total


def _with_own(
    dialogues: Sequence[Dialogue], gathered: Callable[[Sequence[Dialogue]], list[LinkedTurn]]
) -> Iterator[Dialogue]:
    """The dialogues with what a first linker found in their turns in the place of gold SQL."""
    turns = [gathered([dialogue]) for dialogue in dialogues]
    scores = zip(*first_findings([turn for theirs in turns for turn in theirs], _FIRST_TREES), strict=True)
    for dialogue, theirs in zip(dialogues, turns, strict=True):
        answers = list(dialogue.answers)
        for turn in theirs:
            answers[turn.number] = stand_in(turn.place.names.table_number, turn.place.names.columns, *next(scores))
        yield replace(dialogue, answers=tuple(answers))


def _shift(redundancy: Callable[[float], float]) -> float:
    """The log-odds to add that make a redundancy score least."""
    return float(min(_SHIFTS, key=lambda shift: redundancy(float(_shifted(np.array(COUNTED), -shift)))))


def _shifted(p: Shares, shift: float) -> Shares:
    return p / (p + (1 - p) * np.exp(-shift))


def write(model: Model, associations: Associations, folder: Path) -> None:
    """Writes what the linker reads: `forests.npz` and `associations.json`."""
    unfinished = folder / "forests.npz.part"
    with unfinished.open("wb") as file:
        np.savez_compressed(file, **{k: v for stage in STAGES for k, v in getattr(model, stage).pack(stage).items()})
    os.replace(unfinished, folder / "forests.npz")
    unfinished = folder / "associations.json.part"
    stored = {"pairs": associations.pairs, "usual": associations.usual}
    unfinished.write_text(json.dumps(stored, sort_keys=True) + "\n", encoding="utf-8")
    os.replace(unfinished, folder / "associations.json")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path, help="the folder to write to (in the repository: tools/linking/data)")
    parser.add_argument("--data", type=Path, default=os.environ.get("TABLETURN_DATA"), help="benchmark data")
    parser.add_argument("--limit", type=int, help="interactions of each dataset, for a quick look")
    options = parser.parse_args()
    try:
        datasets = [load_dataset(name, "train", options.data).first(options.limit) for name in ("cosql", "spider")]
    except SettingsError as error:
        parser.error(str(error))
    with tempfile.TemporaryDirectory() as cache:
        cosql, spider = (read_dialogues(dataset, Path(cache)) for dataset in datasets)
    # Questions without a history teach less: one in four keeps the dialogues in the majority.
    model, associations, figures = fit([*cosql, *spider[::4]])
    write(model, associations, options.out)
    print(f"{options.out}: {json.dumps(figures)}")


if __name__ == "__main__":
    main()
