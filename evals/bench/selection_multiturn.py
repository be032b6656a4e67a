"""Choosing between two systems' predictions turn by turn on SParC dev, each turn in the light of those before it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from ..datasets import Dataset, load_dataset
from ..metrics import OfficialJudge
from .gold import Databases
from .output_columns import Turn, recovered
from .registry import BenchOptions
from .replayed import WITHOUT, play, share

SYSTEMS = ("gpt-5.2_zero_shot", "gemini-3-pro_zero_shot")
SETTINGS = {"candidates": len(SYSTEMS), "merge": False, "max_attempts": 1}


def run(options: BenchOptions) -> dict[str, object]:
    """`zero_shot` (GPT-5.2 alone), `other` (Gemini-3-pro alone), `ours`, `oracle`: EX by question, official rules.

    Also what the findings on output columns and the expected number of them recover of GPT-5.2's queries, alone: how
    many are doubted, how many of those are wrong, and EX where Gemini's stand in their place.
    """
    data = cast("Path", options.data)
    dataset = load_dataset("sparc", "dev", data)
    files = [_predictions(data / "predictions" / "multi_turn" / f"sparc_dev.{name}.json", dataset) for name in SYSTEMS]
    kept = [turns for turns in dataset.interactions if all(turn.id in file for file in files for turn in turns)]
    kept = [turns for turns in kept if turns[0].database not in WITHOUT][: options.limit]
    asked = replace(dataset, questions=tuple(turn for turns in kept for turn in turns))
    files = [{turn.id: file[turn.id] for turn in asked.questions} for file in files]
    with OfficialJudge(asked) as judge:
        right = [[judge.judge(turn, file[turn.id]).ex is True for turn in asked.questions] for file in files]
    ours = [judged.right for judged in play(asked, asked, files, SETTINGS)]
    return {
        "n": len(ours),
        "zero_shot": share(right[0]),
        "other": share(right[1]),
        "ours": share(ours),
        "oracle": share([one or other for one, other in zip(*right, strict=True)]),
        **_output_columns(asked, files[0], right),
    }


def _output_columns(asked: Dataset, queries: Mapping[str, str], right: Sequence[Sequence[bool]]) -> dict[str, object]:
    rights = dict(zip((turn.id for turn in asked.questions), zip(*right, strict=True), strict=True))
    turns = [
        Turn(turn, queries[dialogue[place - 1].id] if place else None, queries[turn.id], rights[turn.id])
        for dialogue in asked.interactions
        for place, turn in enumerate(dialogue)
    ]
    with Databases(asked) as databases:
        return recovered(turns, databases)


def _predictions(path: Path, dataset: Dataset) -> dict[str, str]:
    """SQL by question id of the dialogues that the file has."""
    dialogues = json.loads(path.read_text(encoding="utf-8"))
    known = {
        (dialogue["db_id"], *(turn["question"].strip() for turn in dialogue["turns"])): dialogue["turns"]
        for dialogue in dialogues
    }
    return {
        question.id: str(turn["prediction"])
        for turns in dataset.interactions
        for question, turn in zip(
            turns, known.get((turns[0].database, *(turn.text.strip() for turn in turns)), ()), strict=False
        )
    }
