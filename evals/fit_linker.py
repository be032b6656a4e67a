"""Fits the schema linker's weights on training databases: `python -m tableturn.evals.fit_linker weights.json`.

Turns of CoSQL train (with the gold SQL of earlier turns as history) and questions of Spider train. Development
databases are never read. The same data gives the same weights; a run takes some minutes on one core.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..tools.database import Database
from ..tools.errors import DatabaseUnavailable, SettingsError, SQLParseError
from ..tools.linking import PastTurn
from ..tools.linking.evidence import Evidence, Names, gather
from ..tools.linking.features import Features, column_features, star_features, table_features
from ..tools.linking.scoring import Matrix, Network
from ..tools.linking.shape import Shape
from ..tools.sql import UsedItems, used_items
from ..tools.values import ValueIndex
from .datasets import Dataset, load_dataset

_WINDOW = 5
_UNITS = 24
_EPOCHS = 12
_BATCH = 1024
_RATE = 3e-3
_DECAY = 1e-4


@dataclass(frozen=True)
class LinkedTurn:
    """One turn to learn from: its evidence, and what its gold SQL uses."""

    names: Names
    shape: Shape
    evidence: Evidence
    used: UsedItems


def linked_turns(dataset: Dataset, cache: Path) -> Iterator[LinkedTurn]:
    """The turns of a dataset whose database is there and whose gold SQL can be parsed."""
    linkers: dict[str, tuple[Names, Shape, ValueIndex]] = {}
    for turns in dataset.interactions:
        name = turns[0].database
        try:
            names, shape, index = linkers.get(name) or _linker(dataset.database(name), cache)
        except DatabaseUnavailable:
            continue
        linkers[name] = names, shape, index
        history: list[PastTurn] = []
        for turn in turns:
            evidence = gather(turn.text, history[-_WINDOW:], index.find(turn.text), names)
            history.append(PastTurn(turn.text, sql=turn.golds[0]))
            try:
                yield LinkedTurn(names, shape, evidence, used_items(turn.golds[0], names.schema))
            except SQLParseError:
                continue


def _linker(path: Path, cache: Path) -> tuple[Names, Shape, ValueIndex]:
    database = Database.open(path)
    names = Names(database.schema())
    return names, Shape.of(names.schema, names), ValueIndex.open(database, cache=cache)


def fit(turns: Sequence[LinkedTurn]) -> Mapping[str, Network]:
    """Fits the three networks, the later ones on the probabilities that the first gives."""
    used_tables = [[float(name in turn.used.tables) for name in turn.names.table_number] for turn in turns]
    used_columns = [[float(place in turn.used.columns) for place in turn.names.columns] for turn in turns]
    used_stars = [[float((name, "*") in turn.used.columns) for name in turn.names.table_number] for turn in turns]
    tables = _fit([table_features(turn.evidence, turn.shape) for turn in turns], used_tables)
    probable = [tables(table_features(turn.evidence, turn.shape)) for turn in turns]

    def second(features: Callable[..., Features]) -> list[Features]:
        return [features(turn.evidence, turn.shape, p) for turn, p in zip(turns, probable, strict=True)]

    columns = _fit(second(column_features), used_columns)
    return {"tables": tables, "columns": columns, "stars": _fit(second(star_features), used_stars)}


def _fit(features: Sequence[Features], used: Sequence[Sequence[float]]) -> Network:
    """Fits one network by Adam on the logistic loss; inputs are scaled, and the scales folded into the weights."""
    names = tuple(features[0])
    inputs = np.concatenate([np.stack([item[name] for name in names], axis=1) for item in features])
    targets = np.concatenate([np.asarray(flags) for flags in used])
    mean, scale = inputs.mean(axis=0), inputs.std(axis=0) + 1e-6
    hidden, bias, output, output_bias = _descend((inputs - mean) / scale, targets)
    hidden = hidden / scale[:, None]
    return Network(names, hidden, bias - mean @ hidden, output, float(output_bias[0]))


def _descend(inputs: Matrix, targets: Matrix) -> list[Matrix]:
    dice = np.random.default_rng(11)
    count, width = inputs.shape
    weights: list[Matrix] = [
        dice.normal(0, np.sqrt(2 / width), (width, _UNITS)),
        np.zeros(_UNITS),
        dice.normal(0, np.sqrt(1 / _UNITS), _UNITS),
        np.full(1, np.log(targets.mean() / (1 - targets.mean()))),
    ]
    momentum, velocity = ([np.zeros_like(weight) for weight in weights] for _ in range(2))
    steps = _EPOCHS * -(-count // _BATCH)
    for step in range(1, steps + 1):
        chosen = dice.integers(0, count, _BATCH)
        rate = _RATE * (1 - step / (steps + 1))
        for i, slope in enumerate(_slopes(weights, inputs[chosen], targets[chosen])):
            momentum[i] = 0.9 * momentum[i] + 0.1 * slope
            velocity[i] = 0.999 * velocity[i] + 0.001 * slope**2
            move = momentum[i] / (1 - 0.9**step) / (np.sqrt(velocity[i] / (1 - 0.999**step)) + 1e-8)
            weights[i] = weights[i] - rate * (move + _DECAY * weights[i])
    return weights


def _slopes(weights: Sequence[Matrix], inputs: Matrix, targets: Matrix) -> list[Matrix]:
    """Gradients of the mean logistic loss."""
    hidden, bias, output, output_bias = weights
    units = np.maximum(inputs @ hidden + bias, 0.0)
    error = (1 / (1 + np.exp(-(units @ output + output_bias))) - targets) / len(targets)
    back = np.outer(error, output) * (units > 0)
    return [inputs.T @ back, back.sum(axis=0), units.T @ error, np.array([error.sum()])]


def write(networks: Mapping[str, Network], path: Path) -> None:
    """Writes the weights as the linker reads them."""
    stored = {
        stage: {
            "features": network.features,
            "hidden": network.hidden.round(4).tolist(),
            "hidden_bias": network.hidden_bias.round(4).tolist(),
            "output": network.output.round(4).tolist(),
            "output_bias": round(network.output_bias, 4),
        }
        for stage, network in networks.items()
    }
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_text(json.dumps(stored) + "\n", encoding="utf-8")
    os.replace(unfinished, path)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path, help="the file to write (in the repository: tools/linking/data/weights.json)")
    parser.add_argument("--data", type=Path, default=os.environ.get("TABLETURN_DATA"), help="benchmark data")
    parser.add_argument("--limit", type=int, help="interactions of each dataset, for a quick look")
    options = parser.parse_args()
    try:
        datasets = [load_dataset(name, "train", options.data).first(options.limit) for name in ("cosql", "spider")]
    except SettingsError as error:
        parser.error(str(error))
    with tempfile.TemporaryDirectory() as cache:
        turns = [turn for dataset in datasets for turn in linked_turns(dataset, Path(cache))]
    write(fit(turns), options.out)
    print(f"{options.out}: fitted on {len(turns)} turns")


if __name__ == "__main__":
    main()
