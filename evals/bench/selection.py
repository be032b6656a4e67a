"""Choosing among the six published systems' predictions on Spider dev, without looking at gold."""

from __future__ import annotations

from collections.abc import Mapping

from ...agent.attempts.compare import same_answer
from ...agent.records import Attempt, plain_result
from ...tools.errors import QueryError
from .gold import Databases
from .registry import BenchOptions
from .replayed import Replayed, share

SETTINGS = {"candidates": 6, "merge": False, "max_attempts": 1}
"""Every system's query is a draft; their results vote, and nothing is revised."""


def run(options: BenchOptions) -> dict[str, object]:
    """`best_single`, `majority` (of results, the first system breaks ties), `ours`, `oracle`: EX by the official rules.

    Also `lost`: of the questions that some system has right and ours has not, how many systems have it right.
    """
    replayed = Replayed.load(options.folder, options.limit)
    right = {name: replayed.right(found) for name, found in replayed.predictions.items()}
    ids = [question.id for question in replayed.asked.questions]
    ours = replayed.play(list(replayed.predictions.values()), SETTINGS)
    support = [sum(found[judged.record.id] for found in right.values()) for judged in ours]
    lost = [count for judged, count in zip(ours, support, strict=True) if count and not judged.right]
    return {
        "n": len(ids),
        "best_single": max(share(list(found.values())) for found in right.values()),
        "majority": share([right[name][question] for question, name in _majority(replayed).items()]),
        "ours": share([judged.right for judged in ours]),
        "oracle": share([count > 0 for count in support]),
        "lost": {str(count): lost.count(count) for count in sorted(set(lost))},
    }


def _majority(replayed: Replayed) -> Mapping[str, str]:
    """By question, a system whose result is the most frequent."""
    chosen: dict[str, str] = {}
    with Databases(replayed.asked) as databases:
        for question in replayed.asked.questions:
            groups: list[list[tuple[str, Attempt]]] = []
            for name, found in replayed.predictions.items():
                attempt = _ran(databases, question.database, found.get(question.id, ""))
                known = next((group for group in groups if same_answer(group[0][1], attempt)), None)
                if known is not None:
                    known.append((name, attempt))
                elif attempt.result is not None:
                    groups.append([(name, attempt)])
            chosen[question.id] = max(groups, key=len)[0][0] if groups else next(iter(replayed.predictions))
    return chosen


def _ran(databases: Databases, database: str, sql: str) -> Attempt:
    try:
        return Attempt(sql, result=plain_result(databases.open(database).execute(sql)))
    except QueryError as error:
        return Attempt(sql, error=str(error), error_kind=error.kind)
