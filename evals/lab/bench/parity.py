"""Official mode against the official tool's own outcomes: EX, EM and difficulty, question by question."""

from __future__ import annotations

import json
from typing import TypedDict, cast

from ...datasets import load_dataset
from ...metrics import OfficialJudge, Verdict, read_predictions
from .registry import BenchOptions


class Outcome(TypedDict):
    """The official tool's outcome for one question."""

    exec: int
    exact: int
    hardness: str


def run(options: BenchOptions) -> dict[str, object]:
    """Differences by system; the first few questions that differ are named."""
    data = options.folder
    whole = load_dataset("spider", "dev", data)
    dataset = whole.first(options.limit)
    figures: dict[str, object] = {}
    for path in sorted((data / "predictions" / "spider_dev").glob("*.sql")):
        outcomes = data / "official_scores" / f"spider_dev.{path.stem}.json"
        expected = cast("list[Outcome]", json.loads(outcomes.read_text(encoding="utf-8")))
        predictions = read_predictions(path, whole)
        with OfficialJudge(dataset) as judge:
            verdicts = [judge.judge(question, predictions[question.id]) for question in dataset.questions]
        figures[path.stem] = compare(verdicts, expected)
    return figures


def compare(verdicts: list[Verdict], expected: list[Outcome]) -> dict[str, object]:
    """Counts differences between our verdicts and the official outcomes of the same questions."""
    pairs = list(zip(verdicts, expected, strict=False))
    differing = {
        "ex": [verdict.question.id for verdict, outcome in pairs if verdict.ex != bool(outcome["exec"])],
        "em": [verdict.question.id for verdict, outcome in pairs if verdict.em != bool(outcome["exact"])],
        "hardness": [verdict.question.id for verdict, outcome in pairs if verdict.hardness != outcome["hardness"]],
    }
    counts: dict[str, object] = {f"{name}_differences": len(ids) for name, ids in differing.items()}
    return {**counts, "n": len(pairs), "differing": differing}
