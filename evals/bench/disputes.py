"""Disputed golds of the published dev sets, and how a reader found a sample of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from ..adjudication.ruling import read_rulings
from ..datasets import load_dataset
from ..disputes.find import find_disputes
from ..disputes.published import published_predictions
from .registry import BenchOptions

SPLITS = (("spider", "dev"), ("sparc", "dev"), ("cosql", "dev"), ("kaggle-dbqa", "test"))


def run(options: BenchOptions) -> dict[str, object]:
    """By dataset `golds`, `disputed`, `kinds` (golds by what speaks against them), and the reviewed sample.

    Of 50 golds that were drawn from all that were listed, `sample` counts those still listed, and `sound_in_sample`
    those of them that a reader of question, query and data finds nothing wrong with. Readers' verdicts count where the
    data folder has them.
    """
    verdicts = options.folder / "strong_model" / "verdicts.jsonl"
    rulings = read_rulings(verdicts) if verdicts.exists() else []
    figures: dict[str, object] = {}
    for name, split in SPLITS:
        whole = load_dataset(name, split, options.folder)
        asked = whole.first(options.limit)
        found = find_disputes(asked, rulings, published_predictions(options.folder, whole))
        disputed = {dispute.question.id for dispute in found}
        kinds = Counter(kind for _, kind in {(dispute.question.id, dispute.kind) for dispute in found})
        sample = [sound for question, sound in reviewed(name, split).items() if question in disputed]
        figures[name] = {
            "golds": len(asked.questions),
            "disputed": len(disputed),
            "kinds": dict(sorted(kinds.items())),
            "sample": len(sample),
            "sound_in_sample": sum(sample),
        }
    return figures


def reviewed(dataset: str, split: str) -> Mapping[str, bool]:
    """Whether a reader found a listed gold sound, by question id: a sample drawn with a fixed seed."""
    text = (files("tableturn.evals.disputes") / "data" / "reviewed.jsonl").read_text(encoding="utf-8")
    records: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines()]
    return {
        record["id"]: record["sound"] for record in records if (record["dataset"], record["split"]) == (dataset, split)
    }
