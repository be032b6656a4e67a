"""Which words of questions go with which words of names, as learned from training databases: "old" with `age`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from .vocabulary import Shares, Vocabulary


@dataclass(frozen=True)
class Associations:
    """Learned associations between stems.

    Attributes:
        pairs: For a stem of a question, the stems of names that go with it, each with its weight.
        usual: For a stem of a column's name, the share of turns that use such a column among those that use its table.
    """

    pairs: Mapping[str, Mapping[str, float]]
    usual: Mapping[str, float]

    def evidence(self, stems: Sequence[str], names: Vocabulary, count: int) -> tuple[Shares, Shares]:
        """The best weight and the sum of weights of each name, given a question's stems."""
        best, total = np.zeros(count), np.zeros(count)
        for word in dict.fromkeys(stems):
            for part, weight in self.pairs.get(word, {}).items():
                holders = names.holders(part)
                if holders is not None:
                    best[holders] = np.maximum(best[holders], weight)
                    total[holders] += weight
        return best, total


@cache
def shipped() -> Associations:
    """The associations that come with the package."""
    stored = json.loads((files(__package__ or "") / "data" / "associations.json").read_text("utf-8"))
    return Associations(stored["pairs"], stored["usual"])
