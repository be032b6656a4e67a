"""How well the confidence of answers tells right ones from wrong ones, of drafts that it was not calibrated on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...agent.attempts.confidence import Weights, logit, share_of
from ...agent.model.record import Recorded, Standing
from ..training.fit_evidence import fit
from .drafted import STRONG, TOGETHER, Drafted, DraftSet, draft_sets
from .registry import BenchOptions

BINS = 10
SMALL = 100
LEAST_WRONG = 15
"""Wrong answers below which an area under a curve would say nothing."""

RESAMPLES = 300

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Scored:
    """An answer, scored by weights that were fitted without its set.

    Attributes:
        sure: Its confidence, with what is known of the model by its other sets.
        recorded: The same with what is known of it by its answers on other databases, this set's among them.
        right: Whether it is right.
    """

    sure: float
    recorded: float
    right: bool


def run(options: BenchOptions) -> dict[str, object]:
    """By set: answers, wrong ones, calibration error, area under the ROC curve, and their 95 % intervals.

    Weights are fitted without the set and all that share its questions. `record` is how many judged answers of the same
    model, of its other sets, the confidence knows; `ece_recorded` is the error where it knows those on all other
    databases. Sets of fewer than 100 are pooled as `small`, all single drafts of the strong model as `strong`. `limit`
    keeps so many interactions of each set.
    """
    return figures(draft_sets(options.folder, options.limit))


def figures(sets: Sequence[DraftSet]) -> dict[str, object]:
    """See `run`."""
    weights = weights_without(sets)
    found: dict[str, object] = {}
    small: list[Scored] = []
    strong: list[Scored] = []
    for each in sets:
        record = _record([other for other in _alone(sets) if other.name != each.name], each)
        scored = _scored(each, record, sets, weights[each.family])
        if each.family == STRONG and each.name != TOGETHER:
            strong += scored
        if len(scored) < SMALL:
            small += scored
        else:
            found[each.name] = {**_figures(scored), "record": record.n}
    pooled = {name: _figures(scored) for name, scored in ((STRONG, strong), ("small", small)) if scored}
    return found | pooled


def weights_without(sets: Sequence[DraftSet]) -> dict[str, Weights]:
    """By family: weights fitted on all others."""
    families = dict.fromkeys(each.family for each in sets)
    return {name: fit([each for each in sets if each.family != name]) for name in families}


def score(answer: Drafted, standing: Standing, weights: Weights) -> float:
    """The confidence of an answer by some weights."""
    value = weights.intercept + logit(share_of(standing, weights.prior))
    value += sum(weights.signals[name] * signal for name, signal in answer.signals.items())
    return 1 / (1 + float(np.exp(-value)))


def _scored(own: DraftSet, record: Recorded, sets: Sequence[DraftSet], weights: Weights) -> list[Scored]:
    known = _alone(sets) if own.name != TOGETHER else [own]
    elsewhere = {name: _record(known, own, name) for name in {answer.database for answer in own.answers}}
    return [
        Scored(
            score(answer, Standing(elsewhere=record), weights),
            score(answer, Standing(elsewhere=elsewhere[answer.database]), weights),
            answer.right,
        )
        for answer in own.answers
    ]


def _alone(sets: Sequence[DraftSet]) -> list[DraftSet]:
    """The sets of single drafts."""
    return [each for each in sets if each.name != TOGETHER]


def _record(sets: Sequence[DraftSet], own: DraftSet, without: str = "") -> Recorded:
    """What is known of a set's model by some sets; of three drafts together by nothing but themselves."""
    if own.name == TOGETHER and not without:
        return Recorded()
    models = {answer.model for answer in own.answers}
    answers = [answer for each in sets for answer in each.answers if answer.model in models]
    kept = [answer.right for answer in answers if answer.database != without]
    return Recorded(sum(kept), len(kept))


def _figures(scored: Sequence[Scored]) -> dict[str, object]:
    sure, recorded, right = (np.array([getattr(one, name) for one in scored], float) for name in _FIELDS)
    wrong = int(len(right) - right.sum())
    told = wrong >= LEAST_WRONG
    return {
        "n": len(scored),
        "wrong": wrong,
        "ece": round(error(sure, right), 4),
        "auc": round(area(sure, right), 4) if told else None,
        "interval": {"ece": _interval(error, sure, right), "auc": _interval(area, sure, right) if told else None},
        "ece_recorded": round(error(recorded, right), 4),
    }


_FIELDS = ("sure", "recorded", "right")


def error(sure: Numbers, right: Numbers) -> float:
    """Mean distance of confidence and share of right answers over ten bins of equal mass."""
    order = np.argsort(sure, kind="stable")
    bins = [chosen for chosen in np.array_split(order, BINS) if len(chosen)]
    return float(sum(abs(sure[chosen].mean() - right[chosen].mean()) * len(chosen) for chosen in bins) / len(sure))


def area(sure: Numbers, right: Numbers) -> float:
    """The share of pairs of a right and a wrong answer in which the right one is surer; ties count half."""
    n, wrong = right.sum(), len(right) - right.sum()
    if not n or not wrong:
        return float("nan")
    _, place, times = np.unique(sure, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(times) - (times - 1) / 2)[place]
    return float((ranks[right == 1].sum() - n * (n + 1) / 2) / (n * wrong))


def _interval(measure: Callable[[Numbers, Numbers], float], sure: Numbers, right: Numbers) -> list[float]:
    """A 95 % interval by resampling answers."""
    random = np.random.default_rng(0)
    drawn = (random.integers(0, len(sure), len(sure)) for _ in range(RESAMPLES))
    low, high = np.nanpercentile([measure(sure[chosen], right[chosen]) for chosen in drawn], [2.5, 97.5])
    return [round(float(low), 4), round(float(high), 4)]
