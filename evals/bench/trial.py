"""A trial of thirty questions on the sample database, answered without a model."""

from __future__ import annotations

import tempfile
from importlib.resources import as_file, files
from pathlib import Path

from ...tools.sample import build_sample
from ..trial import TrialOptions, run_trial
from .registry import BenchOptions


def run(options: BenchOptions) -> dict[str, object]:
    """Questions, seconds and calls of a trial that is held for the first time."""
    packed = files("tableturn.evals.trial") / "data" / "kestrel.yaml"
    with tempfile.TemporaryDirectory() as temporary, as_file(packed) as questions:
        database = build_sample(Path(temporary) / "kestrel.sqlite")
        trial = TrialOptions(str(database), questions, model="offline", jobs=1)
        found = run_trial(trial, Path(temporary) / "trial", lambda record, verdict: None)
    return {
        "questions": found["questions"],
        "passed": sum(question["share"] == 1 for question in found["by_question"]),
        "pass_rate": round(found["pass_rate"], 4),
        "seconds": found["seconds"],
        "calls": found["cost"]["calls"],
        "failed": {failure["id"]: failure["why"] for failure in found["failed"]},
    }
