"""The example benchmarks, on the smallest part that shows they run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from tableturn.evals.datasets import Dataset, load_dataset
from tableturn.evals.lab.bench import retrieval, scale
from tableturn.evals.lab.bench.registry import BenchOptions, run_bench


@pytest.mark.data
def test_skeleton_agreement_of_a_few_questions(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def few(name: str, split: str, data: Path) -> Dataset:
        """Less to import: the training splits' first questions, and all of dev, which the predictions are for."""
        return load_dataset(name, split, data).head(None if split == "dev" else 200)

    monkeypatch.setattr(retrieval, "load_dataset", few)
    figures = run_bench("examples-skeleton", BenchOptions(data=data_dir, limit=3))
    assert figures["questions"] == 3
    assert isinstance(figures["by_draft_hit_at_8"], float)


def test_scale_of_a_small_store(monkeypatch: pytest.MonkeyPatch) -> None:
    def here(function: Callable[..., Any], *arguments: object) -> Any:
        return function(*arguments)

    monkeypatch.setattr(scale, "SIZES", (200,))
    monkeypatch.setattr(scale, "LOOKUPS", 5)
    monkeypatch.setattr(scale, "_run_in_own_process", here)
    (row,) = cast("list[dict[str, float]]", scale.measure_examples_scale(BenchOptions())["rows"])
    assert (row["pairs"], row["recall"]) == (200, 1.0)
    assert min(row.values()) > 0
