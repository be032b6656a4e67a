"""How well the confidence of answers predicts how often they are right, on drafts of published systems."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sklearn.isotonic import IsotonicRegression

from ...tools.errors import SettingsError
from .registry import BenchOptions
from .replayed import Replayed

DRAFTED_BY = ("dail_sql_gpt4", "c3_chatgpt", "gpt4_zero_shot")
"""A strong, a middling and a weak system."""

BINS = 10
FOLDS = 5

Numbers = npt.NDArray[np.float64]


def run(options: BenchOptions) -> dict[str, object]:
    """`ece`: expected calibration error, ten bins, on databases that the calibration has not seen (five folds).

    `ece_shipped` is that of the confidence as answers give it; its table was counted on all of these databases.
    """
    replayed = Replayed.load(options.folder, options.limit)
    database = {question.id: question.database for question in replayed.asked.questions}
    judged = [one for name in DRAFTED_BY for one in replayed.play([replayed.predictions[name]], {"max_attempts": 1})]
    answered = [one for one in judged if one.record.confidence > 0]
    sure = np.array([one.record.confidence for one in answered])
    right = np.array([float(one.right) for one in answered])
    names = sorted(set(database.values()))
    if len(names) < FOLDS:
        raise SettingsError(f"calibration needs questions on {FOLDS} databases or more: raise --limit, or leave it out")
    fold = np.array([names.index(database[one.record.id]) % FOLDS for one in answered])
    unseen = np.zeros_like(sure)
    for number in range(FOLDS):
        inside = fold == number
        model = IsotonicRegression(out_of_bounds="clip").fit(sure[~inside], right[~inside])
        unseen[inside] = model.predict(sure[inside])
    return {"n": len(answered), "ece": _error(unseen, right), "ece_shipped": _error(sure, right)}


def _error(sure: Numbers, right: Numbers) -> float:
    """Mean distance of confidence and share of right answers over bins of equal width, weighed by their sizes."""
    bins = np.minimum((sure * BINS).astype(int), BINS - 1)
    distances = [abs(sure[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean() for b in set(bins.tolist())]
    return round(float(sum(distances)), 4)
