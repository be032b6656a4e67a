"""Weights are fitted with the signs that signals must have, and measured on sets that they were not fitted on."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tableturn.agent.evidence.confidence import AnswerEvidence
from tableturn.evals.lab.bench import trust
from tableturn.evals.lab.training.fit_evidence import LEAST, fit


def made(name: str, family: str, share: float, n: int = 150) -> list[dict[str, object]]:
    """Answers that are wrong more often where they are nested, and not where the result is empty."""
    random = np.random.default_rng(abs(hash(name)) % 1000)
    answers: list[dict[str, object]] = []
    for number in range(n):
        nested, empty = float(random.integers(0, 3)), float(random.integers(0, 2))
        right = bool(random.random() < share - 0.25 * nested)
        signals = {**AnswerEvidence().compute_signals(), "nested": nested, "empty": empty}
        about = {"set": name, "family": family, "model": name, "id": f"{name} {number}", "database": f"db{number % 3}"}
        answers.append({**about, "signals": signals, "right": right})
    return answers


SETS = pd.DataFrame(
    [
        *made("one", "a", 0.98),
        *made("two", "b", 0.9),
        *made("strong x", "strong", 0.99),
        *made("strong y", "strong", 0.97, 40),
    ]
)


def test_signals_weigh_as_they_tell_and_never_the_wrong_way() -> None:
    weights = fit(SETS)
    assert weights.signals["nested"] < -0.5
    assert weights.signals["empty"] <= LEAST["empty"]
    assert weights.signals["drafts agree"] == 0
    assert 0.5 < weights.prior < 0.9


@pytest.mark.whole
def test_a_set_is_measured_by_weights_of_others() -> None:
    found = trust.measure_confidence.figures(SETS)
    assert set(found) == {"one", "two", "strong x", "strong", "small"}
    one = found["one"]
    assert isinstance(one, dict)
    assert one["auc"] > 0.6
    assert one["ece"] < 0.2


def test_the_area_and_the_error_are_what_they_are_called() -> None:
    sure, right = np.array([0.9, 0.8, 0.3, 0.2]), np.array([1.0, 0.0, 1.0, 0.0])
    assert trust.compute_auc(sure, right) == pytest.approx(0.75)
    assert trust.compute_ece(np.full(100, 0.75), np.array([1.0, 1.0, 1.0, 0.0] * 25)) < 0.2
    assert trust.compute_ece(np.ones(20), np.zeros(20)) == 1.0


def test_what_is_marked_is_within_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust, "RESAMPLES", 20)
    found = trust.measure_trust.figures(SETS)
    assert (found["alpha"], found["labels"], found["databases"]) == (0.05, 100, 3)
    over = found["realised_error_over"]
    assert isinstance(over, float)
    assert over <= 0.05
