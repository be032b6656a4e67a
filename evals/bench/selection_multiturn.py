"""Choosing between two systems' predictions turn by turn on SParC dev, each turn in the light of those before it."""

from __future__ import annotations

from dataclasses import replace

from ..datasets import load_dataset
from ..disputes.published import read_dialogues
from ..metrics import OfficialJudge
from .registry import BenchOptions
from .replayed import WITHOUT, play, share

SYSTEMS = ("gpt-5.2_zero_shot", "gemini-3-pro_zero_shot")
SETTINGS = {"candidates": len(SYSTEMS), "merge": False, "max_attempts": 1}


def run(options: BenchOptions) -> dict[str, object]:
    """`zero_shot` (GPT-5.2 alone), `other` (Gemini-3-pro alone), `ours`, `oracle`: EX by question, official rules."""
    data = options.folder
    dataset = load_dataset("sparc", "dev", data)
    files = [
        read_dialogues(data / "predictions" / "multi_turn" / f"sparc_dev.{name}.json", dataset) for name in SYSTEMS
    ]
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
    }
