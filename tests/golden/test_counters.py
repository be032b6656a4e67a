"""What one warm turn does inside only falls: `counters.json` holds the most of each figure of `bench way`."""

from __future__ import annotations

import json
from pathlib import Path

from tableturn.evals.lab.bench.registry import BenchOptions
from tableturn.evals.lab.bench.way import run

_COUNTERS = Path(__file__).with_name("counters.json")

_SLACK = 0.98
"""A figure below this share of what is written is to be written down."""


def test_a_warm_turn_does_no_more_than_before() -> None:
    written: dict[str, int] = json.loads(_COUNTERS.read_text())
    figures = run(BenchOptions())
    assert figures.keys() == written.keys()
    counted = {name: int(str(figure)) for name, figure in figures.items()}
    higher = {name: f"{count}, at most {written[name]}" for name, count in counted.items() if count > written[name]}
    assert not higher, f"one turn does more than before (`evals.lab bench way`): {higher}"
    lower = {name: count for name, count in counted.items() if count < _SLACK * written[name]}
    assert not lower, f"well done: write these lower numbers to {_COUNTERS.name}: {json.dumps(lower)}"
