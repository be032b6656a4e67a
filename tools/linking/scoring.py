"""From evidence to probabilities: small networks, first for tables, then for columns in the light of their tables.

The second stage sees the tables' probabilities, so that keys that join two probable tables become probable, and
columns of improbable tables don't. The weights are fitted by `evals/fit_linker.py`, on training databases only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from .evidence import Evidence
from .features import Features, column_features, star_features, table_features
from .shape import Shape
from .vocabulary import Shares

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Network:
    """One hidden layer of rectified units, and a logistic output.

    Attributes:
        features: Names of the inputs, in order.
        hidden: Weights of shape (inputs, units).
        hidden_bias: Of shape (units,).
        output: Of shape (units,).
        output_bias: One number.
    """

    features: tuple[str, ...]
    hidden: Matrix
    hidden_bias: Matrix
    output: Matrix
    output_bias: float

    def __call__(self, features: Features) -> Shares:
        """Probabilities, one an item."""
        inputs = np.stack([features[name] for name in self.features], axis=1)
        units = np.maximum(inputs @ self.hidden + self.hidden_bias, 0.0)
        return 1 / (1 + np.exp(-(units @ self.output + self.output_bias)))


def score(evidence: Evidence, shape: Shape) -> tuple[Shares, Shares, Shares]:
    """Probabilities of tables, columns and `table.*`. A table is at least as probable as its columns."""
    networks = _networks()
    tables = networks["tables"](table_features(evidence, shape))
    columns = networks["columns"](column_features(evidence, shape, tables))
    stars = networks["stars"](star_features(evidence, shape, tables))
    return np.maximum(tables, shape.best_column(columns)), columns, stars


@cache
def _networks() -> Mapping[str, Network]:
    stored = json.loads((files(__package__ or "") / "data" / "weights.json").read_text("utf-8"))
    return {
        stage: Network(
            tuple(network["features"]),
            np.array(network["hidden"]),
            np.array(network["hidden_bias"]),
            np.array(network["output"]),
            network["output_bias"],
        )
        for stage, network in stored.items()
    }
