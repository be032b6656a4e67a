"""Fitting the linker's networks, and the redundancy scores that they are measured by."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tableturn.evals import fit_linker
from tableturn.evals.bench.linking import measure, redundancy
from tableturn.evals.datasets import load_dataset


@pytest.mark.parametrize(
    ("gold", "extracted", "score"),
    [
        ({"a"}, {"a"}, 0.0),
        (set(), set(), 0.0),
        ({"a"}, {"a", "b", "c", "d"}, 0.75),
        ({"a", "b"}, {"a"}, 1.0),
        ({"a"}, set(), 1.0),
        ({"a"}, {"b"}, 1.0),
    ],
)
def test_redundancy(gold: set[str], extracted: set[str], score: float) -> None:
    assert redundancy(gold, extracted) == score


@pytest.mark.data
def test_fits_and_writes_what_the_linker_reads(data_dir: Path, tmp_path: Path) -> None:
    turns = list(fit_linker.linked_turns(load_dataset("cosql", "train", data_dir).first(15), tmp_path / "cache"))
    networks = fit_linker.fit(turns)
    fit_linker.write(networks, tmp_path / "weights.json")
    stored = json.loads((tmp_path / "weights.json").read_text())
    assert list(stored) == ["tables", "columns", "stars"]
    assert [path.name for path in tmp_path.glob("weights*")] == ["weights.json"]
    evidence, shape = turns[0].evidence, turns[0].shape
    features = fit_linker.table_features(evidence, shape)
    assert stored["tables"]["features"] == list(features)
    probabilities = networks["tables"](features)
    assert np.all((probabilities > 0) & (probabilities < 1))
    again = fit_linker.fit(turns)
    assert np.array_equal(again["tables"].hidden, networks["tables"].hidden), "the same data give the same weights"


@pytest.mark.data
def test_the_shipped_weights_know_training_databases(data_dir: Path, tmp_path: Path) -> None:
    turns = list(fit_linker.linked_turns(load_dataset("cosql", "train", data_dir).first(30), tmp_path))
    figures = measure(turns)
    assert figures["table_recall"] > 95
    assert figures["column_recall_at_10"] > 95
