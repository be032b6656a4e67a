"""Questions drawn so that each level of difficulty has the share that a paper gives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random

from ..datasets import Dataset, Question


def drawn_by_level(
    dataset: Dataset, level_of: Callable[[Question], str], levels: Mapping[str, int], limit: int | None = None
) -> Dataset:
    """Questions drawn at random, the same ones each time, in their published order.

    Args:
        dataset: Of single questions.
        level_of: A question's level.
        levels: How many of each level; fewer where there are fewer.
        limit: Draws so many instead, as near to the shares of `levels` as whole questions allow.
    """
    pools: dict[str, list[Question]] = {level: [] for level in levels}
    for question in dataset.questions:
        pools.get(level_of(question), []).append(question)
    counts = levels if limit is None else _scaled(levels, limit)
    chance = Random(0)  # noqa: S311 - a sample, not a secret
    drawn = {
        question.id for level, pool in pools.items() for question in chance.sample(pool, min(counts[level], len(pool)))
    }
    return replace(dataset, questions=tuple(question for question in dataset.questions if question.id in drawn))


def _scaled(levels: Mapping[str, int], total: int) -> dict[str, int]:
    """The same shares of another total; what is left after rounding down goes to the largest remainders."""
    whole = sum(levels.values())
    counts = {level: total * count // whole for level, count in levels.items()}
    by_remainder = sorted(levels, key=lambda level: -(total * levels[level] % whole))
    return counts | {level: counts[level] + 1 for level in by_remainder[: total - sum(counts.values())]}
