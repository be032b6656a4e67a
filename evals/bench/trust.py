"""How often answers marked trusted are wrong, and how many are marked, over resampled labels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ...agent.model.record import Standing
from ..metrics.bounding import bounded
from ..training.fit_evidence import fit
from .confidence import score
from .drafted import STRONG, TOGETHER, DraftSet, draft_sets
from .registry import BenchOptions

ALPHA, LOOSE = 0.05, 0.2
CERTAINTY = 0.95
LABELS = 100
RESAMPLES = 500

LEAST_QUESTIONS = 120
"""Questions on a database below which half of them are too few labels to show anything."""

SINGLE = "strong, single drafts"
_SIDE_BY_SIDE = ("spider, six drafts", TOGETHER)

Answers = Mapping[str, Sequence[tuple[float, bool]]]
"""Confidence and rightness of the answers to each question."""


def run(options: BenchOptions) -> dict[str, object]:
    """Labels and the answers that are then marked are of different questions; one answer to each is drawn.

    `realised_error_over` is the share of resamples in which more than `alpha` of the marked answers are wrong: on each
    database of 120 questions or more, with the drafts of all systems mixed and weights fitted without that database.
    `coverage_at_5` is the share of a strong model's answers that is marked, weights fitted without them, labels that
    show nothing counted as none; `strong_drafts` has it for single drafts and for three side by side, by labels. No
    system that is wrong on a fifth of its answers is marked at 5 %: `loose` has both at a bound that lets it be.
    """
    return figures(draft_sets(options.folder, options.limit))


def figures(sets: Sequence[DraftSet]) -> dict[str, object]:
    """See `run`."""
    by_database = {name: _resampled(_without(name, sets)) for name in _databases(sets)}
    strong = {
        name: {str(labels): _resampled(answers, most=labels) for labels in (LABELS, 2 * LABELS)}
        for name in (SINGLE, TOGETHER)
        if (answers := _by_question(_strong(sets, name == TOGETHER)))
    }
    loose = [_resampled(_without(name, sets), LOOSE) for name in by_database]
    return {
        "alpha": ALPHA,
        "databases": len(by_database),
        "realised_error_over": _mean(list(by_database.values()), "over"),
        "coverage_at_5": strong[SINGLE][str(LABELS)]["coverage"] if SINGLE in strong else None,
        "labels": LABELS,
        "strong_drafts": strong,
        "loose": {"alpha": LOOSE, "realised_error_over": _mean(loose, "over"), "coverage": _mean(loose, "coverage")},
        "by_database": by_database,
    }


def _strong(sets: Sequence[DraftSet], together: bool) -> Iterable[tuple[str, str, tuple[float, bool]]]:
    """A strong model's answers, with weights fitted without them."""
    weights = fit([each for each in sets if each.family != STRONG])
    for each in sets:
        if each.family == STRONG and (each.name == TOGETHER) == together:
            yield from (
                (STRONG, answer.id, (score(answer, Standing(), weights), answer.right)) for answer in each.answers
            )


def _mean(found: Sequence[Mapping[str, float]], name: str) -> float | None:
    return round(float(np.mean([each[name] for each in found])), 4) if found else None


def _databases(sets: Sequence[DraftSet]) -> list[str]:
    questions: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for each in sets:
        for answer in each.answers:
            questions[answer.database].add((each.family, answer.id))
    return sorted(name for name, found in questions.items() if len(found) >= LEAST_QUESTIONS)


def _without(name: str, sets: Sequence[DraftSet]) -> Answers:
    """The answers on a database, with weights fitted on the others."""
    others = [replace(each, answers=[answer for answer in each.answers if answer.database != name]) for each in sets]
    weights = fit(others)
    return _by_question(
        (each.family, answer.id, (score(answer, Standing(), weights), answer.right))
        for each in sets
        if each.name not in _SIDE_BY_SIDE
        for answer in each.answers
        if answer.database == name
    )


def _by_question(found: Iterable[tuple[str, str, tuple[float, bool]]]) -> Answers:
    answers: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for family, question, answer in found:
        answers[f"{family} {question}"].append(answer)
    return answers


def _resampled(answers: Answers, alpha: float = ALPHA, most: int = LABELS) -> dict[str, float]:
    """Over resamples: how often more than `alpha` of the marked are wrong, and the mean share that is marked."""
    random = np.random.default_rng(0)
    over: list[bool] = []
    marked: list[float] = []
    questions = list(answers)
    labels = min(most, 2 * len(questions) // 3)
    for _ in range(RESAMPLES if questions else 0):
        order = [questions[at] for at in random.permutation(len(questions))]
        drawn = [answers[name][int(random.integers(len(answers[name])))] for name in order]
        level = bounded(drawn[:labels], alpha, CERTAINTY).confidence
        trusted = [right for sure, right in drawn[labels:] if level is not None and sure >= level]
        wrong = sum(not right for right in trusted)
        over.append(wrong > alpha * len(trusted))
        marked.append(len(trusted) / (len(drawn) - labels))
    told = [share for share in marked if share]
    return {
        "questions": len(questions),
        "labels": labels,
        "over": round(float(np.mean(over)), 4) if over else 0.0,
        "coverage": round(float(np.mean(marked)), 4) if marked else 0.0,
        "resamples_with_any": round(len(told) / len(marked), 4) if marked else 0.0,
        "coverage_where_any": round(float(np.mean(told)), 4) if told else 0.0,
    }
