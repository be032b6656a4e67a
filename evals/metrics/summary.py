"""Scores over many verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from statistics import fmean

from .verdict import Verdict


@dataclass(frozen=True)
class Scores:
    """Shares from 0 to 1; None where no question could be judged.

    Attributes:
        n: The number of all questions or interactions.
        ex: Execution accuracy over the `judged` ones.
        em: Exact set match over those that it can judge.
        valid: Share of the `judged` ones whose prediction runs.
        judged: The number with a verdict on EX. An interaction has one if all of its turns have one.
    """

    n: int
    ex: float | None
    em: float | None
    valid: float | None
    judged: int


@dataclass(frozen=True)
class Summary:
    """All scores of a run.

    Attributes:
        all: Over questions (question match).
        interactions: Scores over interactions; all turns of one must be right (interaction match).
        by_hardness: Scores by difficulty, easiest first.
        by_turn: Scores by place in the interaction; `>4` from the fifth turn on, as in the official tool.
        by_database: Scores by database.
        unjudged: Ids of questions without a verdict on EX because their gold fails.
        not_asked: Ids of questions without a verdict because the model could not be asked.
        disputed: Why a gold query is doubtful, by question id. The question still counts.
        measures: Means of the dataset's own measures.
    """

    all: Scores
    interactions: Scores
    by_hardness: dict[str, Scores]
    by_turn: dict[str, Scores]
    by_database: dict[str, Scores]
    unjudged: tuple[str, ...]
    not_asked: tuple[str, ...]
    disputed: dict[str, str]
    measures: dict[str, float]


_LEVELS = ("easy", "simple", "medium", "moderate", "hard", "challenging", "extra")


def summarize(verdicts: Sequence[Verdict]) -> Summary:
    """Scores over verdicts, the turns of each interaction being neighbours."""
    by_level = _grouped(verdicts, lambda verdict: verdict.hardness or "unknown")
    order = [level for level in _LEVELS if level in by_level]
    order += [level for level in by_level if level not in order]
    return Summary(
        all=score(verdicts),
        interactions=_score_interactions(verdicts),
        by_hardness={level: by_level[level] for level in order},
        by_turn=_grouped(verdicts, lambda verdict: _turn(verdict.question.turn)),
        by_database=_grouped(verdicts, lambda verdict: verdict.question.database),
        unjudged=tuple(verdict.question.id for verdict in verdicts if verdict.ex is None and verdict.asked),
        not_asked=tuple(verdict.question.id for verdict in verdicts if not verdict.asked),
        disputed={verdict.question.id: verdict.question.disputed for verdict in verdicts if verdict.question.disputed},
        measures=_means(verdicts),
    )


def score(verdicts: Sequence[Verdict]) -> Scores:
    """Scores over questions."""
    return Scores(
        n=len(verdicts),
        ex=_share(verdict.ex for verdict in verdicts),
        em=_share(verdict.em for verdict in verdicts),
        valid=_share(verdict.valid for verdict in verdicts if verdict.ex is not None),
        judged=sum(verdict.ex is not None for verdict in verdicts),
    )


def as_json(summary: Summary, verdicts: Sequence[Verdict]) -> dict[str, object]:
    """The form that `tableturn score --json` prints."""
    fields = asdict(summary)
    return {
        **fields.pop("all"),
        **fields.pop("measures"),
        **fields,
        "unjudged": list(summary.unjudged),
        "not_asked": list(summary.not_asked),
        "per_question": [
            {
                "id": verdict.question.id,
                "ex": verdict.ex,
                "em": verdict.em,
                "hardness": verdict.hardness,
                "error": verdict.error,
            }
            for verdict in verdicts
        ],
    }


def _score_interactions(verdicts: Sequence[Verdict]) -> Scores:
    turns = [list(group) for _, group in groupby(verdicts, key=lambda verdict: verdict.question.interaction)]
    judged = [group for group in turns if all(verdict.ex is not None for verdict in group)]
    return Scores(
        n=len(turns),
        ex=_share(all(verdict.ex for verdict in group) for group in judged),
        em=_share(
            all(verdict.em for verdict in group) for group in turns if all(verdict.em is not None for verdict in group)
        ),
        valid=_share(all(verdict.valid for verdict in group) for group in judged),
        judged=len(judged),
    )


def _means(verdicts: Sequence[Verdict]) -> dict[str, float]:
    names = dict.fromkeys(name for verdict in verdicts for name in verdict.measures)
    return {name: fmean(verdict.measures[name] for verdict in verdicts if name in verdict.measures) for name in names}


def _turn(turn: int) -> str:
    return str(turn) if turn <= 4 else ">4"


def _grouped(verdicts: Iterable[Verdict], key: Callable[[Verdict], str]) -> dict[str, Scores]:
    ordered = sorted(verdicts, key=key)
    return {name: score(list(group)) for name, group in groupby(ordered, key=key)}


def _share(outcomes: Iterable[bool | None]) -> float | None:
    known = [outcome for outcome in outcomes if outcome is not None]
    return sum(known) / len(known) if known else None
