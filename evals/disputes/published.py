"""Published predictions, as a folder of benchmark data keeps them."""

from __future__ import annotations

import json
from pathlib import Path

from ...tools.errors import SettingsError
from ..datasets import Dataset
from ..metrics import read_predictions
from .dispute import Predictions


def published_predictions(data: Path | None, dataset: Dataset) -> Predictions:
    """Predictions for a split by the system's name: `predictions/spider_dev/*.sql` and `predictions/multi_turn`.

    Raises:
        SettingsError: A file there does not fit the split.
    """
    if data is None:
        return {}
    place = f"{dataset.name}_{dataset.split}"
    single = sorted((data / "predictions" / place).glob("*.sql"))
    dialogues = sorted((data / "predictions" / "multi_turn").glob(f"{place}.*.json"))
    found = {path.stem: read_predictions(path, dataset) for path in single}
    return found | {path.stem.partition(".")[2]: read_dialogues(path, dataset) for path in dialogues}


def read_dialogues(path: Path, dataset: Dataset) -> dict[str, str]:
    """SQL by question id of the dialogues that a file has; those that it lacks are missing.

    Raises:
        SettingsError: The file cannot be read.
    """
    try:
        dialogues = json.loads(path.read_text(encoding="utf-8"))
        known = {
            (dialogue["db_id"], *(turn["question"].strip() for turn in dialogue["turns"])): dialogue["turns"]
            for dialogue in dialogues
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingsError(f"predictions: {path} cannot be read: {error!r}") from error
    return {
        question.id: str(turn["prediction"])
        for turns in dataset.interactions
        for question, turn in zip(
            turns, known.get((turns[0].database, *(turn.text.strip() for turn in turns)), ()), strict=False
        )
    }
