"""Fitting the offline confidence: signs of wrong answers weigh against, edits by what conversations show."""

from __future__ import annotations

import pytest
from tableturn.evals.training.fit_confidence import Tried, fit


def _tried(right: bool, doubt: float, editing: float = 0.0) -> Tried:
    return Tried("db", bool(editing), {"one": 1.0, "doubt": doubt, "editing": editing}, right)


def test_doubt_weighs_against_and_edits_are_fitted_apart() -> None:
    single = [_tried(True, 0.0)] * 90 + [_tried(False, 0.0)] * 10 + [_tried(True, 1.0)] * 20 + [_tried(False, 1.0)] * 80
    edits = [_tried(True, 0.0, 1.0)] * 50 + [_tried(False, 0.0, 1.0)] * 50

    weights = fit([*single, *edits])

    assert weights["doubt"] < -2
    assert weights["one"] == pytest.approx(fit(single)["one"])
    assert weights["one"] + weights["editing"] == pytest.approx(0.0, abs=0.02)
