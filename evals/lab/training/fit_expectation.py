"""Training of a query's expected shape: `evals.lab train expectation OUT`.

Questions and gold SQL of Spider train, and those of CoSQL train in the light of the gold SQL of the turn before;
development questions are never read. The same data gives the same weights.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from ....tools.database import Schema
from ....tools.expectation import SCALE, Traits, encode_query_traits, extract_query_traits, extract_words_and_pairs
from ....tools.sql import Query, read_query
from ....tools.whole_files import write_text_atomically
from ...datasets import load_dataset

_LEAST = 25
"""Questions that a word must be in."""

_INVERSE_PENALTY = 0.3


def fit(pairs: Sequence[tuple[frozenset[str], Traits]]) -> dict[str, object]:
    """Fit a logistic regression for each trait of queries; return the models as JSON data.

    Args:
        pairs: The question's grams with what came before it, and the traits of its query.
    """
    counts = Counter(gram for words, _ in pairs for gram in words)
    vocabulary = sorted(gram for gram, count in counts.items() if count >= _LEAST)
    number = {gram: index for index, gram in enumerate(vocabulary)}
    cells = [(row, number[gram]) for row, (words, _) in enumerate(pairs) for gram in words if gram in number]
    rows, columns = zip(*cells, strict=True)
    matrix = csr_matrix((np.ones(len(cells)), (rows, columns)), shape=(len(pairs), len(vocabulary)))
    models: dict[str, object] = {}
    for trait in pairs[0][1]:
        values = [found[trait] for _, found in pairs]
        known = sorted(set(values))
        if len(known) == 1:
            weights, bias = np.zeros((1, len(vocabulary))), np.array([math.log(len(values))])
        else:
            model = LogisticRegression(C=_INVERSE_PENALTY, max_iter=200).fit(matrix, values)
            weights, bias = np.asarray(model.coef_), np.asarray(model.intercept_)
        if len(known) == 2:
            weights, bias = np.vstack([np.zeros_like(weights), weights]), np.concatenate([[0.0], bias])
        models[trait] = {
            "values": known,
            "weights": np.rint(SCALE * weights).astype(int).tolist(),
            "bias": np.rint(SCALE * bias).astype(int).tolist(),
        }
    return {"grams": vocabulary, "traits": models}


def train_trait_models(out: Path, data: Path | None = None) -> int:
    """Fit the trait models on Spider and CoSQL training questions, and write the weights.

    Args:
        out: The JSON file to write.
        data: The folder of benchmark data; None for `TABLETURN_DATA`'s.

    Returns:
        How many questions were learned from.
    """
    pairs: list[tuple[frozenset[str], Traits]] = []
    for name in ("spider", "cosql"):
        for turns in load_dataset(name, "train", data).interactions:
            before: Query | None = None
            for turn in turns:
                query = read_query(turn.golds[0], Schema("", ()))
                if query is not None and (found := extract_query_traits(query)) is not None:
                    pairs.append((extract_words_and_pairs(turn.text) | encode_query_traits(before), found))
                before = query
    write_text_atomically(out, json.dumps(fit(pairs), separators=(",", ":"), ensure_ascii=False) + "\n")
    return len(pairs)
