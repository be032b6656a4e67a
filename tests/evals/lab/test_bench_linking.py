"""The linking ablations, on a few dialogues."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from tableturn.evals.lab.bench.registry import BenchOptions, run_bench


@pytest.mark.data
def test_every_part_is_measured(data_dir: Path) -> None:
    figures = run_bench("linking-ablations", BenchOptions(data=data_dir, limit=3))
    for name in ("sparc", "cosql"):
        found = cast("dict[str, Any]", figures[name])
        ablations = {key for key in found if key.startswith("without")}
        assert len(ablations) == 5
        assert all({"trs", "crs", "column_recall"} <= set(found[key]) for key in ("whole", *ablations))
