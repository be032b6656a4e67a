"""The example benchmarks, on the smallest part that shows they run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from tableturn.evals.bench import examples_scale, examples_skeleton, examples_voting
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


@pytest.mark.data
def test_voting_on_a_few_dialogues(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examples_voting, "RUNS", 2)
    monkeypatch.setattr(examples_voting, "M", 2)
    figures = examples_voting.run(BenchOptions(data=data_dir, limit=20))
    overlaps = [figures[name] for name in ("jaccard_voted", "jaccard_single")]
    assert all(isinstance(overlap, float) and 0 < overlap <= 1 for overlap in overlaps)
    assert cast("int", figures["pairs"]) >= 20


def test_scale_of_a_small_store(monkeypatch: pytest.MonkeyPatch) -> None:
    def here(function: Callable[..., Any], *arguments: object) -> Any:
        return function(*arguments)

    monkeypatch.setattr(examples_scale, "SIZES", (200,))
    monkeypatch.setattr(examples_scale, "LOOKUPS", 5)
    monkeypatch.setattr(examples_scale, "_apart", here)
    (row,) = cast("list[dict[str, float]]", examples_scale.run(BenchOptions())["rows"])
    assert (row["pairs"], row["recall"]) == (200, 1.0)
    assert min(row.values()) > 0
