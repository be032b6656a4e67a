"""How well the confidence of answers tells right from wrong, and what a bound on it marks as trusted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np
import numpy.typing as npt
from sklearn.metrics import roc_auc_score

from ....agent.evidence.confidence import Weights, confidence
from ....agent.model.record import Recorded, Standing
from ...metrics.statistics import bounded
from ..training.fit_evidence import fit
from .registry import BenchOptions, Figures, divide, share
from .replays import SIX, STRONG, TOGETHER, DraftSet, play_draft_sets

BINS = 10
SMALL = 100
LEAST_WRONG = 15
"""Wrong answers below which an area under a curve would say nothing."""

DRAWS = 300

ALPHA, LOOSE = 0.05, 0.2
CERTAINTY = 0.95
LABELS = 100
RESAMPLES = 500

LEAST_QUESTIONS = 120
"""Questions on a database below which half of them are too few labels to show anything."""

SINGLE = "strong, single drafts"

Numbers = npt.NDArray[np.float64]

Scored = tuple[float, float, bool]
"""Confidence by the record of the model's other sets, by its record on other databases, and whether it is right."""

Answers = Mapping[str, Sequence[tuple[float, bool]]]
"""Confidence and rightness of the answers to each question."""


def measure_confidence(options: BenchOptions) -> Figures:
    """Return by set its answers, wrong ones, calibration error, area under the ROC curve, and 95 % intervals.

    Weights are fitted without the set and all that share its questions. `record` is how many judged answers of the same
    model, of its other sets, the confidence knows; `ece_recorded` is the error if it knows those on all other
    databases. Small sets are pooled as `small`, all single drafts of the strong model as `strong`.
    """
    sets = list(play_draft_sets(options.folder, options.limit))
    alone = [each for each in sets if each.name != TOGETHER]
    weights = {family: fit([each for each in sets if each.family != family]) for family in {s.family for s in sets}}
    figures: Figures = {}
    pooled: dict[str, list[Scored]] = {STRONG: [], "small": []}
    for each in sets:
        is_alone = each.name != TOGETHER
        # Nothing but themselves is known of three drafts together.
        record = _record(each, [other for other in alone if other.name != each.name]) if is_alone else Recorded()
        known = alone if is_alone else [each]
        elsewhere = {name: _record(each, known, name) for name in {answer.database for answer in each.answers}}
        scored = [
            (
                confidence(answer.signals, Standing(elsewhere=record), weights[each.family]),
                confidence(answer.signals, Standing(elsewhere=elsewhere[answer.database]), weights[each.family]),
                answer.right,
            )
            for answer in each.answers
        ]
        if each.family == STRONG and is_alone:
            pooled[STRONG] += scored
        if len(scored) < SMALL:
            pooled["small"] += scored
        else:
            figures[each.name] = {**_describe(scored), "record": record.n}
    return figures | {name: _describe(scored) for name, scored in pooled.items() if scored}


def _record(own: DraftSet, sets: Sequence[DraftSet], without: str = "") -> Recorded:
    """Return what sets tell of a set's models, without their answers on one database."""
    models = {answer.model for answer in own.answers}
    answers = [answer for each in sets for answer in each.answers if answer.model in models]
    kept = [answer.right for answer in answers if answer.database != without]
    return Recorded(sum(kept), len(kept))


def _describe(scored: Sequence[Scored]) -> Figures:
    sure, recorded, right = np.array(scored, float).T
    wrong = int(len(right) - right.sum())
    is_enough = wrong >= LEAST_WRONG

    def interval(measure: Callable[[Numbers, Numbers], float]) -> list[float]:
        """Return a 95 % interval by resampling answers."""
        random = np.random.default_rng(0)
        drawn = (random.integers(0, len(sure), len(sure)) for _ in range(DRAWS))
        bounds = np.nanpercentile([measure(sure[chosen], right[chosen]) for chosen in drawn], [2.5, 97.5])
        return [round(float(bound), 4) for bound in bounds]

    return {
        "n": len(scored),
        "wrong": wrong,
        "ece": round(error(sure, right), 4),
        "auc": round(area(sure, right), 4) if is_enough else None,
        "interval": {"ece": interval(error), "auc": interval(area) if is_enough else None},
        "ece_recorded": round(error(recorded, right), 4),
    }


def error(sure: Numbers, right: Numbers) -> float:
    """Return the mean distance of confidence and share of right answers over ten bins of equal mass."""
    order = np.argsort(sure, kind="stable")
    bins = [chosen for chosen in np.array_split(order, BINS) if len(chosen)]
    return float(sum(abs(sure[chosen].mean() - right[chosen].mean()) * len(chosen) for chosen in bins) / len(sure))


def area(sure: Numbers, right: Numbers) -> float:
    """Return the share of pairs of a right and a wrong answer in which the right one is surer; ties count half."""
    return float(roc_auc_score(right, sure)) if 0 < right.sum() < len(right) else float("nan")


def measure_trust(options: BenchOptions) -> Figures:
    """Return how often answers marked trusted are wrong, over resamples; labels and marked answers are apart.

    `realised_error_over` is the share of resamples in which more than `alpha` of the marked answers are wrong: on each
    database of 120 questions or more, with the drafts of all systems mixed and weights fitted without that database.
    `coverage_at_5` is the share of a strong model's answers that is marked, weights fitted without them, labels that
    show nothing counted as none; `strong_drafts` has it for single drafts and for three side by side, by labels. No
    system that is wrong on a fifth of its answers is marked at 5 %: `loose` has both at a bound that lets it be.
    """
    sets = list(play_draft_sets(options.folder, options.limit))
    questions: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for each in sets:
        for answer in each.answers:
            questions[answer.database].add((each.family, answer.id))
    large: dict[str, Answers] = {}
    for name in sorted(name for name, asked in questions.items() if len(asked) >= LEAST_QUESTIONS):
        apart = [replace(each, answers=[answer for answer in each.answers if answer.database != name]) for each in sets]
        here = [replace(each, answers=[answer for answer in each.answers if answer.database == name]) for each in sets]
        large[name] = _score_questions([each for each in here if each.name not in (SIX, TOGETHER)], fit(apart))
    by_database = {name: _resample(answers) for name, answers in large.items()}
    loose = [_resample(answers, LOOSE) for answers in large.values()]
    weights = fit([each for each in sets if each.family != STRONG])
    single = [each for each in sets if each.family == STRONG and each.name != TOGETHER]
    together = [each for each in sets if each.name == TOGETHER]
    strong = {
        name: {str(labels): _resample(answers, most=labels) for labels in (LABELS, 2 * LABELS)}
        for name, some in ((SINGLE, single), (TOGETHER, together))
        if (answers := _score_questions(some, weights))
    }

    def average(found: Sequence[Mapping[str, float]], name: str) -> float | None:
        return round(fmean(each[name] for each in found), 4) if found else None

    return {
        "alpha": ALPHA,
        "databases": len(by_database),
        "realised_error_over": average(list(by_database.values()), "over"),
        "coverage_at_5": strong[SINGLE][str(LABELS)]["coverage"] if SINGLE in strong else None,
        "labels": LABELS,
        "strong_drafts": strong,
        "loose": {
            "alpha": LOOSE,
            "realised_error_over": average(loose, "over"),
            "coverage": average(loose, "coverage"),
        },
        "by_database": by_database,
    }


def _score_questions(sets: Sequence[DraftSet], weights: Weights) -> Answers:
    answers: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for each in sets:
        for answer in each.answers:
            answers[f"{each.family} {answer.id}"].append((confidence(answer.signals, None, weights), answer.right))
    return answers


def _resample(answers: Answers, alpha: float = ALPHA, most: int = LABELS) -> dict[str, float]:
    """Return over resamples how often more than `alpha` of the marked are wrong, and the mean share that is marked."""
    random = np.random.default_rng(0)
    over: list[bool] = []
    marked: list[float] = []
    questions = list(answers)
    labels = min(most, 2 * len(questions) // 3)
    for _ in range(RESAMPLES if questions else 0):
        order = [questions[at] for at in random.permutation(len(questions))]
        drawn = [answers[name][int(random.integers(len(answers[name])))] for name in order]
        level = bounded(drawn[:labels], alpha, CERTAINTY).level
        trusted = [right for sure, right in drawn[labels:] if level is not None and sure >= level]
        over.append(sum(not right for right in trusted) > alpha * len(trusted))
        marked.append(len(trusted) / (len(drawn) - labels))
    some = [each for each in marked if each]
    return {
        "questions": len(questions),
        "labels": labels,
        "over": share(over),
        "coverage": divide(sum(marked), len(marked)),
        "resamples_with_any": divide(len(some), len(marked)),
        "coverage_where_any": divide(sum(some), len(some)),
    }
