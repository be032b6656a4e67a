"""Gradient-boosted trees, evaluated for many rows at once with numpy alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from .vocabulary import Shares

Matrix = npt.NDArray[np.float32]

Part = TypeVar("Part")


@dataclass(frozen=True)
class Forest:
    """A sum of trees, and a logistic output.

    All trees lie in one list of nodes. A leaf leads to itself, so that every row may take the same number of steps.

    Attributes:
        features: Names of the inputs, in order.
        roots: The number of each tree's first node.
        feature: Of each node, which input it looks at.
        threshold: Up to which value it goes left; infinity in a leaf.
        left: The node to the left; the right one comes right after it. A leaf's is itself.
        value: What a leaf adds to the log-odds; 0 for others.
        base: Log-odds to start from.
        depth: The most steps from a root to a leaf.
    """

    features: tuple[str, ...]
    roots: npt.NDArray[np.int32]
    feature: npt.NDArray[np.int32]
    threshold: npt.NDArray[np.float32]
    left: npt.NDArray[np.int32]
    value: npt.NDArray[np.float32]
    base: float
    depth: int

    def __call__(self, features: Mapping[str, Shares], rows: npt.NDArray[np.intp] | None = None) -> Shares:
        """Probabilities of the rows, by default all."""
        chosen = slice(None) if rows is None else rows
        return self.of(np.stack([features[name][chosen] for name in self.features], axis=1).astype(np.float32))

    def of(self, inputs: Matrix) -> Shares:
        """Probabilities, one a row of inputs."""
        rows, width = inputs.shape
        flat = inputs.ravel()
        start = (np.arange(rows, dtype=np.int32) * width)[:, None]
        node = np.broadcast_to(self.roots, (rows, len(self.roots)))
        for _ in range(self.depth):
            right = flat[start + self.feature[node]] > self.threshold[node]
            node = self.left[node] + right
        odds = self.base + self.value[node].sum(axis=1, dtype=np.float64)
        return 1 / (1 + np.exp(-odds))


def pack(name: str, part: Any) -> dict[str, npt.NDArray[Any]]:
    """A part of the model as arrays of plain numbers and text under its name, matrices in half precision."""
    arrays = {f"{name}.{field.name}": np.asarray(getattr(part, field.name)) for field in fields(part)}
    return {name: array.astype(np.float16) if array.ndim > 1 else array for name, array in arrays.items()}


def unpack(kind: type[Part], name: str, stored: Mapping[str, npt.NDArray[Any]]) -> Part:
    """The part that `pack` gave."""
    return kind(*(_plain(stored[f"{name}.{field.name}"]) for field in fields(cast("Any", kind))))


def _plain(array: npt.NDArray[Any]) -> Any:
    if not array.ndim:
        return array.item()
    if array.dtype == np.float16:
        return array.astype(np.float32)
    return tuple(array.tolist()) if array.dtype.kind == "U" else array
