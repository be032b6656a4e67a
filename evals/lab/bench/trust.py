"""Calibration of confidence, and error rates of answers that a bound marks as trusted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.metrics import roc_auc_score

from ....agent.evidence.confidence import ConfidenceWeights, confidence
from ....agent.model.track_record import ModelScore, ModelTrackRecord
from ...metrics.statistics import find_confidence_level
from ..training.fit_evidence import fit
from .registry import Figures, Measure, divide, share, wrap_row
from .replays import SIX, STRONG, TOGETHER, play_draft_sets

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


def _compute_confidence_figures(answers: pd.DataFrame) -> Figures:
    """Return the calibration error and ROC area of confidence, by set of answers.

    Weights are fitted without the set and all that share its questions. `record` is how many judged answers of the same
    model, of its other sets, the confidence knows; `ece_recorded` is the error if it knows those on all other
    databases. Small sets are pooled as `small`, all single drafts of the strong model as `strong`.
    """
    weights = {family: fit(answers[answers["family"] != family]) for family in answers["family"].unique()}
    figures: Figures = {}
    pooled: dict[str, list[Scored]] = {STRONG: [], "small": []}
    for name, own in answers.groupby("set", sort=False):
        is_alone = name != TOGETHER
        # Nothing but themselves is known of three drafts together.
        known = answers[answers["set"] != TOGETHER] if is_alone else own
        known = known[known["model"].isin(own["model"])]
        record = _score_answers(known[known["set"] != name])
        others = {each: _score_answers(known[known["database"] != each]) for each in own["database"].unique()}
        scored = [
            (
                confidence(answer.signals, ModelTrackRecord(others=record), weights[answer.family]),
                confidence(answer.signals, ModelTrackRecord(others=others[answer.database]), weights[answer.family]),
                answer.right,
            )
            for answer in _iterate_rows(own)
        ]
        if is_alone and own["family"].iloc[0] == STRONG:
            pooled[STRONG] += scored
        if len(scored) < SMALL:
            pooled["small"] += scored
        else:
            figures[str(name)] = {**_compute_calibration_figures(scored), "record": record.n}
    return figures | {name: _compute_calibration_figures(scored) for name, scored in pooled.items() if scored}


measure_confidence = Measure(play_draft_sets, wrap_row, _compute_confidence_figures)


def _iterate_rows(answers: pd.DataFrame) -> Iterable[Any]:
    return answers.itertuples(index=False)


def _score_answers(answers: pd.DataFrame) -> ModelScore:
    return ModelScore(int(answers["right"].sum()), len(answers))


def _compute_calibration_figures(scored: Sequence[Scored]) -> Figures:
    sure, recorded, right = np.array(scored, float).T
    wrong = int(len(right) - right.sum())
    is_enough = wrong >= LEAST_WRONG

    def bootstrap(measure: Callable[[Numbers, Numbers], float]) -> list[float]:
        """Return the 95 % confidence interval of a measure, by resampling answers."""
        random = np.random.default_rng(0)
        drawn = (random.integers(0, len(sure), len(sure)) for _ in range(DRAWS))
        bounds = np.nanpercentile([measure(sure[chosen], right[chosen]) for chosen in drawn], [2.5, 97.5])
        return [round(float(bound), 4) for bound in bounds]

    return {
        "n": len(scored),
        "wrong": wrong,
        "ece": round(compute_ece(sure, right), 4),
        "auc": round(compute_auc(sure, right), 4) if is_enough else None,
        "interval": {"ece": bootstrap(compute_ece), "auc": bootstrap(compute_auc) if is_enough else None},
        "ece_recorded": round(compute_ece(recorded, right), 4),
    }


def compute_ece(sure: Numbers, right: Numbers) -> float:
    """Return the expected calibration error over ten bins of equal mass."""
    order = np.argsort(sure, kind="stable")
    bins = [chosen for chosen in np.array_split(order, BINS) if len(chosen)]
    return float(sum(abs(sure[chosen].mean() - right[chosen].mean()) * len(chosen) for chosen in bins) / len(sure))


def compute_auc(sure: Numbers, right: Numbers) -> float:
    """Return the area under the ROC curve, or NaN if all answers are right or all wrong."""
    return float(roc_auc_score(right, sure)) if 0 < right.sum() < len(right) else float("nan")


def _compute_trust_figures(answers: pd.DataFrame) -> Figures:
    """Return how often answers that a bound marks as trusted are wrong, over resamples.

    `realised_error_over` is the share of resamples in which more than `alpha` of the marked answers are wrong: on each
    database of 120 questions or more, with the drafts of all systems mixed and weights fitted without that database.
    `coverage_at_5` is the share of a strong model's answers that is marked, weights fitted without them, labels that
    show nothing counted as none; `strong_drafts` has it for single drafts and for three side by side, by labels. No
    system that is wrong on a fifth of its answers is marked at 5 %: `loose` has both at a bound that lets it be.
    """
    asked = answers.drop_duplicates(["family", "id"])["database"].value_counts()
    large: dict[str, Answers] = {}
    for name in sorted(asked[asked >= LEAST_QUESTIONS].index):
        here = answers["database"] == name
        large[name] = _compute_confidence(answers[here & ~answers["set"].isin([SIX, TOGETHER])], fit(answers[~here]))
    by_database = {name: _evaluate_bound_by_resampling(scored) for name, scored in large.items()}
    loose = [_evaluate_bound_by_resampling(scored, LOOSE) for scored in large.values()]
    is_strong, is_together = answers["family"] == STRONG, answers["set"] == TOGETHER
    weights = fit(answers[~is_strong])
    strong = {
        name: {str(labels): _evaluate_bound_by_resampling(scored, labels=labels) for labels in (LABELS, 2 * LABELS)}
        for name, some in ((SINGLE, is_strong & ~is_together), (TOGETHER, is_together))
        if (scored := _compute_confidence(answers[some], weights))
    }

    def compute_mean_figure(found: Sequence[Mapping[str, float]], name: str) -> float | None:
        return round(fmean(each[name] for each in found), 4) if found else None

    return {
        "alpha": ALPHA,
        "databases": len(by_database),
        "realised_error_over": compute_mean_figure(list(by_database.values()), "over"),
        "coverage_at_5": strong[SINGLE][str(LABELS)]["coverage"] if SINGLE in strong else None,
        "labels": LABELS,
        "strong_drafts": strong,
        "loose": {
            "alpha": LOOSE,
            "realised_error_over": compute_mean_figure(loose, "over"),
            "coverage": compute_mean_figure(loose, "coverage"),
        },
        "by_database": by_database,
    }


measure_trust = Measure(play_draft_sets, wrap_row, _compute_trust_figures)


def _compute_confidence(answers: pd.DataFrame, weights: ConfidenceWeights) -> Answers:
    found: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for answer in _iterate_rows(answers):
        found[f"{answer.family} {answer.id}"].append((confidence(answer.signals, None, weights), answer.right))
    return found


def _evaluate_bound_by_resampling(answers: Answers, alpha: float = ALPHA, labels: int = LABELS) -> dict[str, float]:
    """Return how often too many trusted answers are wrong, and the share trusted, by resampling."""
    random = np.random.default_rng(0)
    over: list[bool] = []
    marked: list[float] = []
    questions = list(answers)
    labels = min(labels, 2 * len(questions) // 3)
    for _ in range(RESAMPLES if questions else 0):
        order = [questions[at] for at in random.permutation(len(questions))]
        drawn = [answers[name][int(random.integers(len(answers[name])))] for name in order]
        level = find_confidence_level(drawn[:labels], alpha, CERTAINTY).level
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
