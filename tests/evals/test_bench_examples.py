"""The example benchmarks, on the smallest part that shows they run."""

from __future__ import annotations

from pathlib import Path

import pytest
from tableturn.evals.bench import examples_skeleton
from tableturn.evals.bench.registry import BenchOptions
from tableturn.evals.datasets import Dataset, load_dataset


@pytest.mark.data
def test_skeleton_agreement_of_a_few_questions(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def few(name: str, split: str, data: Path) -> Dataset:
        """Less to import: the training splits' first questions, and all of dev, which the predictions are for."""
        return load_dataset(name, split, data).first(None if split == "dev" else 200)

    monkeypatch.setattr(examples_skeleton, "load_dataset", few)
    figures = examples_skeleton.run(BenchOptions(data=data_dir, limit=3))
    assert figures["questions"] == 3
    assert isinstance(figures["by_draft_hit_at_8"], float)
