"""How well the confidence of answers tells right ones from wrong ones, of drafts that it was not calibrated on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from ...agent.attempts.confidence import Weights, logit, share_of
from ...agent.model.record import Recorded, Standing
from ..training.fit_evidence import fit
from .drafted import TOGETHER, Drafted, DraftSet, draft_sets
from .registry import BenchOptions

BINS = 10
SMALL = 100
LEAST_WRONG = 15
"""Wrong answers below which an area under a curve would say nothing."""

RESAMPLES = 1000

Numbers = npt.NDArray[np.float64]


def run(options: BenchOptions) -> dict[str, object]:
    """By set: answers, wrong ones, calibration error, area under the ROC curve, and their 95 % intervals.

    Weights are fitted without the set's whole family. `record` is how many judged answers of the same model, of its
    other sets, the confidence knew. Sets of fewer than 100 are pooled as `small`. `limit` keeps so many interactions of
    each set.
    """
    return figures(draft_sets(options.folder, options.limit))


def figures(sets: Sequence[DraftSet]) -> dict[str, object]:
    """See `run`."""
    found: dict[str, object] = {}
    small: list[tuple[float, bool]] = []
    for each in sets:
        record = _record(each, sets)
        scored = left_out(each, sets, Standing(elsewhere=record))
        if len(scored) < SMALL:
            small += scored
        else:
            found[each.name] = {**_figures(scored), "record": record.n}
    return found | ({"small": {**_figures(small), "record": None}} if small else {})


def left_out(one: DraftSet, sets: Sequence[DraftSet], standing: Standing) -> list[tuple[float, bool]]:
    """Confidence and rightness of a set's answers, with weights fitted without its family."""
    weights = fit([each for each in sets if each.family != one.family])
    return [(score(answer, standing, weights), answer.right) for answer in one.answers]


def score(answer: Drafted, standing: Standing, weights: Weights) -> float:
    """The confidence of an answer by some weights."""
    value = weights.intercept + logit(share_of(standing, weights.prior))
    value += sum(weights.signals[name] * signal for name, signal in answer.signals.items())
    return 1 / (1 + float(np.exp(-value)))


def _record(one: DraftSet, sets: Sequence[DraftSet]) -> Recorded:
    """What is known of the set's model by its answers to other questions."""
    if one.name == TOGETHER:
        return Recorded()
    model = {answer.model for answer in one.answers}
    others = [
        each for each in sets if each.name not in (one.name, TOGETHER) and {a.model for a in each.answers} == model
    ]
    answers = [answer.right for each in others for answer in each.answers]
    return Recorded(sum(answers), len(answers))


def _figures(scored: Sequence[tuple[float, bool]]) -> dict[str, object]:
    sure, right = np.array([value for value, _ in scored]), np.array([float(is_right) for _, is_right in scored])
    wrong = int(len(right) - right.sum())
    told = wrong >= LEAST_WRONG
    return {
        "n": len(scored),
        "wrong": wrong,
        "ece": round(error(sure, right), 4),
        "auc": round(area(sure, right), 4) if told else None,
        "interval": {
            "ece": _interval(error, sure, right),
            "auc": _interval(area, sure, right) if told else None,
        },
    }


def error(sure: Numbers, right: Numbers) -> float:
    """Mean distance of confidence and share of right answers over ten bins of equal mass."""
    order = np.argsort(sure, kind="stable")
    bins = [chosen for chosen in np.array_split(order, BINS) if len(chosen)]
    return float(sum(abs(sure[chosen].mean() - right[chosen].mean()) * len(chosen) for chosen in bins) / len(sure))


def area(sure: Numbers, right: Numbers) -> float:
    """The share of pairs of a right and a wrong answer in which the right one is surer; ties count half."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(right, sure)) if 0 < right.sum() < len(right) else float("nan")


def _interval(measure: Callable[[Numbers, Numbers], float], sure: Numbers, right: Numbers) -> list[float]:
    """A 95 % interval by resampling answers."""
    random = np.random.default_rng(0)
    drawn = (random.integers(0, len(sure), len(sure)) for _ in range(RESAMPLES))
    low, high = np.nanpercentile([measure(sure[chosen], right[chosen]) for chosen in drawn], [2.5, 97.5])
    return [round(float(low), 4), round(float(high), 4)]
