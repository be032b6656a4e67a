"""Training of the weights of evidence: `evals.lab train evidence OUT`.

A logistic regression with an intercept for each set of drafts, so that weights tell right answers of one model from its
wrong ones and not models from each other; every weight has the sign that its signal must have. There are no published
drafts of training questions: the drafts are of development questions, and figures are of sets that were left out
(`evals.lab bench confidence`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit, logit

from ....agent.evidence.confidence import BY_HAND, STRENGTH, AnswerEvidence, ConfidenceWeights
from ....tools.whole_files import write_text_atomically
from ..bench.registry import BenchOptions
from ..bench.replays import play_draft_sets

PENALTY = 2.0
"""Of squared weights."""

LEAST: Mapping[str, float] = {"empty": -0.4}
"""What this weighs at least: gold queries share empty results, and hide what they are worth."""

_FOR = ("drafts agree",)
SIGNALS = tuple(name for name in AnswerEvidence().compute_signals() if name not in {*BY_HAND, "unsure", "said"})
"""No draft of these says how sure it is: what it says is taken as it is."""

Numbers = npt.NDArray[np.float64]


def fit(answers: pd.DataFrame) -> ConfidenceWeights:
    """Fit the weights of evidence, and the share of right answers for an unknown model.

    That is the mean over models, each counted once.
    """
    signals = pd.DataFrame(list(answers["signals"]))[list(SIGNALS)].to_numpy(float)
    right = answers["right"].to_numpy(float)
    group = pd.factorize(answers["set"])[0]
    sets = int(group.max()) + 1

    def compute_loss(values: Numbers) -> tuple[float, Numbers]:
        weights, intercepts = values[: len(SIGNALS)], values[len(SIGNALS) :]
        scores = signals @ weights + intercepts[group]
        off = expit(scores) - right
        slope = np.concatenate([signals.T @ off + 2 * PENALTY * weights, np.bincount(group, off, sets)], dtype=float)
        return float(np.sum(np.logaddexp(0, scores) - right * scores) + PENALTY * np.sum(weights**2)), slope

    bounds = [(0.0, None) if name in _FOR else (None, LEAST.get(name, 0.0)) for name in SIGNALS]
    start = np.array([LEAST.get(name, 0.0) for name in SIGNALS] + [0.0] * sets)
    found = minimize(compute_loss, start, jac=True, method="L-BFGS-B", bounds=[*bounds, *[(None, None)] * sets]).x
    prior = float(answers.groupby("model")["right"].mean().mean())
    shares = (np.bincount(group, right) + STRENGTH * prior) / (np.bincount(group) + STRENGTH)
    intercept = float(np.mean(found[len(SIGNALS) :] - logit(shares)))
    weights = {name: round(float(value), 3) for name, value in zip(SIGNALS, found, strict=False)}
    return ConfidenceWeights(round(prior, 3), round(intercept, 3), {**BY_HAND, **weights})


def train_evidence_weights(out: Path, data: Path, limit: int | None = None) -> str:
    """Fit the evidence weights on all sets of answers, write them, and report the counts."""
    answers = pd.DataFrame([dict(row) for row in play_draft_sets(BenchOptions(data, limit))])
    weights = fit(answers)
    kept = {name: weights.signals[name] for name in SIGNALS}
    write_text_atomically(
        out, json.dumps({"prior": weights.prior, "intercept": weights.intercept, "signals": kept}, indent=1) + "\n"
    )
    return f"{len(answers)} answers of {answers['set'].nunique()} sets"
