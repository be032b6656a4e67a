"""How probable each form of query is, given a question's wording.

One logistic regression a trait, over the words and word pairs of the question and, in a conversation, the traits of the
query before it: "and their ages?" asks for one more column of whatever came before. The weights are fitted by
`evals.lab train expectation` on training questions only.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..database import Schema
from ..sql.query import Query
from ..sql.untrusted import analysis_or
from .traits import followed, traits

SCALE = 20
"""Weights are stored as whole numbers, this many to one."""

FLOOR = 1e-3
"""Least probability of a trait's value: a form that training never met is improbable, not impossible."""

LinkedItem = tuple[str, str | None, float]
"""Table, column (`*` for all, None for the table itself), and the probability that the question's query uses it."""

_QUOTED = re.compile(r"\"[^\"]+\"|(?<!\w)'[^']+'(?!\w)|“[^”]+”|‘[^’]+’")
_WORD = re.compile(r"[a-z]+|\d+|[<>=]+")

VALUE, NUMBER, START, END = "_", "#", "<", ">"


@dataclass(frozen=True)
class Model:
    """The regression of one trait.

    Attributes:
        values: The values that training met.
        weights: Of shape (values, words).
        bias: Of shape (values,).
    """

    values: tuple[str, ...]
    weights: npt.NDArray[np.float64]
    bias: npt.NDArray[np.float64]

    def __call__(self, words: npt.NDArray[np.intp]) -> dict[str, float]:
        """The probability of each value."""
        scores = self.weights[:, words].sum(axis=1) + self.bias
        shares = np.exp(scores - scores.max())
        return dict(zip(self.values, (shares / shares.sum()).tolist(), strict=True))


@dataclass(frozen=True)
class Expectation:
    """What a question's wording makes of each trait: value to probability."""

    probabilities: Mapping[str, Mapping[str, float]]

    def fit(self, sql: str, dialect: str = "sqlite") -> float | None:
        """The log-probability of the query's form, in nats, traits taken as independent; None if it does not parse."""
        found = traits(sql, dialect)
        if found is None:
            return None
        shares = (values.get(found[trait], 0.0) for trait, values in self.probabilities.items())
        return sum(math.log(max(share, FLOOR)) for share in shares)


@lru_cache(maxsize=256)
def expect(question: str, before: str | None = None, dialect: str = "sqlite") -> Expectation:
    """What forms of query a question leads to expect.

    Args:
        question: Self-contained, or as asked after `before`.
        before: The query of the turn before; None at a conversation's start.
        dialect: That query's, by sqlglot's name.
    """
    vocabulary, models = _models()
    known = grams(question) | followed(before, dialect)
    words = np.array(sorted(vocabulary[gram] for gram in known if gram in vocabulary), dtype=np.intp)
    return Expectation({trait: model(words) for trait, model in models.items()})


@cache
def _models() -> tuple[Mapping[str, int], Mapping[str, Model]]:
    stored = json.loads((files(__package__ or "") / "data" / "expectation.json").read_text("utf-8"))
    vocabulary = {gram: index for index, gram in enumerate(stored["grams"])}
    models = {
        trait: Model(
            tuple(model["values"]),
            np.array(model["weights"], dtype=np.float64).reshape(len(model["values"]), len(vocabulary)) / SCALE,
            np.array(model["bias"], dtype=np.float64) / SCALE,
        )
        for trait, model in stored["traits"].items()
    }
    return vocabulary, models


@analysis_or(None)
def items_fit(sql: str, schema: Schema, items: Iterable[LinkedItem]) -> float | None:
    """The log-probability of using just the items that the query uses, in nats; None where it cannot be told.

    Args:
        sql: The query.
        schema: The database's schema.
        items: The linker's probabilities; what is not among them is taken as improbable.
    """
    expected = {(table, column): p for table, column, p in items}
    if not expected:
        return None
    items_used = Query.of(sql, schema.dialect, schema).used
    used: set[tuple[str, str | None]] = {*((table, None) for table in items_used.tables), *items_used.columns}
    shares = [p if item in used else 1 - p for item, p in expected.items()]
    return sum(math.log(max(share, FLOOR)) for share in shares) + len(used - set(expected)) * math.log(FLOOR)


def grams(question: str) -> frozenset[str]:
    """The question's words and pairs of neighbouring words, its beginning and end marked."""
    masked = " \n ".join(_QUOTED.split(question.lower()))
    words = [START]
    for part in masked.split("\n"):
        words += [NUMBER if word.isdigit() else word for word in _WORD.findall(part)]
        words.append(VALUE)
    words[-1] = END
    return frozenset(words) | {f"{one} {next_one}" for one, next_one in pairwise(words)}
