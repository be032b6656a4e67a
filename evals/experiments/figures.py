"""The figures of a run by the names that experiments use, in percent, or in seconds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from ..datasets import Dataset
from ..metrics import Summary, Verdict, official_judge, summarize
from ..metrics.judging import ClauseJudge
from ..metrics.redundancy import classified
from ..official import OfficialDatabases
from ..runner import TurnRecord
from ..runner.results import with_schemas

PARTS = 10
"""Into so many equal parts SQL-CRAFT A.2 divides its predictions."""

_LINKING = ("trs", "crs", "crs_all")
_STEPS = ("link", "generate")
"""Nodes whose time is told: Track-SQL's schema extractor and its generator."""

_COLUMNS = (13, 21, 30, 47, 57, 67, 83)
"""How many columns the databases of Track-SQL's table 15 have."""

_CLAUSES = {"and/or": "and_or", "IUEN": "iuen"}


@dataclass(frozen=True)
class Answered:
    """A run that has come to its end.

    Attributes:
        asked: Its questions.
        answered: Records with strict verdicts, in their order.
        linking: The linker's redundancy scores; empty where other answers than one run's are put together.
    """

    asked: Dataset
    answered: list[tuple[TurnRecord, Verdict]]
    linking: Mapping[str, float]

    def figures(self, suites: Path | None, shown: Sequence[str]) -> dict[str, float]:
        """EX, EM and, with test suites, TS, officially judged, and what else is to be shown.

        Args:
            suites: A folder of test suites.
            shown: Names of figures; those that take work of their own are made only where they are among these.
        """
        verdicts = _judge(self.asked, self.answered)
        official = summarize(verdicts)
        ours = _named(official, "ex") | _named(official, "em") | _named(official, "valid")
        ours |= {name: 100 * value for name, value in official.measures.items()}
        if suites is not None:
            suite = _named(summarize(_judge(self.asked.on(suites), self.answered)), "ex")
            ours |= {re.sub(r"ex$", "ts", name): value for name, value in suite.items()}
        if any(name.startswith("attempt") for name in shown):
            ours |= _by_attempt(self)
        if "em_ex" in shown:
            ours |= _both(verdicts) | _clauses(self)
        ours |= {name: 100 * self.linking[name] for name in _LINKING if name in self.linking}
        if any(name.endswith("_f1") for name in shown):
            ours |= _precision_and_recall(self)
        if any(name.endswith("_seconds") for name in shown):
            ours |= _seconds(self)
        return ours

    def parts(self) -> tuple[float, ...]:
        """Official EX of ten equal parts, in order; nothing of fewer than ten questions."""
        verdicts = _judge(self.asked, self.answered)
        if len(verdicts) < PARTS:
            return ()
        bounds = [len(verdicts) * part // PARTS for part in range(PARTS + 1)]
        slices = (verdicts[start:end] for start, end in pairwise(bounds))
        return tuple(100 * fmean(verdict.ex is True for verdict in part) for part in slices)


def voted_by_em(runs: Sequence[Answered]) -> Answered:
    """For each question the prediction that most runs agree on by EM, the first of equals (CREDIT-SQL 5.2)."""
    first = runs[0]
    with OfficialDatabases(first.asked.database) as databases:
        judge = ClauseJudge(first.asked, databases)
        chosen = [_vote(judge, turns) for turns in zip(*(run.answered for run in runs), strict=True)]
    # Neither linked items nor times are part of a vote.
    chosen = [(replace(record, linked=(), usage_by_node=None), verdict) for record, verdict in chosen]
    return Answered(first.asked, chosen, {})


def _vote(judge: ClauseJudge, turns: Sequence[tuple[TurnRecord, Verdict]]) -> tuple[TurnRecord, Verdict]:
    groups: list[list[tuple[TurnRecord, Verdict]]] = []
    for record, verdict in turns:
        for group in groups:
            kept = replace(verdict.question, golds=(group[0][0].sql,))
            if record.sql == group[0][0].sql or judge.exact_match(kept, record.sql):
                group.append((record, verdict))
                break
        else:
            groups.append([(record, verdict)])
    return max(groups, key=len)[0]


def _judge(dataset: Dataset, answered: Sequence[tuple[TurnRecord, Verdict]]) -> list[Verdict]:
    with official_judge(dataset, timings=1 if dataset.name == "bird" else 0) as judge:
        return [judge.judge(verdict.question, record.sql) for record, verdict in answered]


def _named(summary: Summary, measure: str) -> dict[str, float]:
    """One measure over everything, interactions, levels and turns, by the names that experiments use."""
    groups = {"": summary.all, "im_": summary.interactions}
    groups |= {f"{level}_": scores for level, scores in summary.by_hardness.items()}
    groups |= {f"turn{5 if turn == '>4' else turn}_": scores for turn, scores in summary.by_turn.items()}
    shares = {f"{prefix}{measure}": getattr(scores, measure) for prefix, scores in groups.items()}
    return {name: 100 * share for name, share in shares.items() if share is not None}


def _by_attempt(run: Answered) -> dict[str, float]:
    """EX had the loop ended after so many attempts: where it ended before, its last (revision chain, figure 3)."""
    most = max((len(record.attempts) for record, _ in run.answered), default=0)
    found: dict[str, float] = {}
    for number in range(1, max(most, 1) + 1):
        cut = [(replace(record, sql=_at(record, number)), verdict) for record, verdict in run.answered]
        if (ex := summarize(_judge(run.asked, cut)).all.ex) is not None:
            found[f"attempt{number}_ex"] = 100 * ex
    return found


def _at(record: TurnRecord, number: int) -> str:
    return str(record.attempts[min(number, len(record.attempts)) - 1]["sql"]) if record.attempts else record.sql


def _precision_and_recall(run: Answered) -> dict[str, float]:
    """Of the linker's tables and columns (Track-SQL, tables 10 and 11)."""
    linked = with_schemas(run.asked, run.answered)
    found = classified([(verdict.question.golds[0], schema, record.linked) for record, verdict, schema in linked])
    return {name: 100 * value for name, value in found.items()}


def _seconds(run: Answered) -> dict[str, float]:
    """What linking and generating took a question, and altogether; linking also by the database's columns.

    A database belongs to the nearest of the numbers of columns that Track-SQL's table 15 has.
    """
    found: dict[str, float] = {}
    for step in _STEPS:
        if took := [one for record, _ in run.answered if (one := _took(record, step)) is not None]:
            found |= {f"{step}_seconds": fmean(took), f"{step}_total_seconds": sum(took)}
    by_columns: dict[int, list[float]] = {}
    for record, _, schema in with_schemas(run.asked, run.answered):
        if (one := _took(record, "link")) is not None:
            nearest = min(_COLUMNS, key=lambda number: abs(number - schema.total_columns))
            by_columns.setdefault(nearest, []).append(one)
    return found | {f"link_{number}_columns_seconds": fmean(took) for number, took in by_columns.items()}


def _took(record: TurnRecord, step: str) -> float | None:
    return (record.usage_by_node or {}).get(step, {}).get("seconds")


def _both(verdicts: Sequence[Verdict]) -> dict[str, float]:
    """The shares of questions by EM and EX (CREDIT-SQL figure 7, right)."""
    known = [(verdict.em is True, verdict.ex is True) for verdict in verdicts if verdict.em is not None]
    names = {"em_ex": (True, True), "em_only": (True, False), "ex_only": (False, True), "neither": (False, False)}
    return {name: 100 * fmean(pair == kind for pair in known) for name, kind in names.items()} if known else {}


def _clauses(run: Answered) -> dict[str, float]:
    """Of the predictions that are wrong by EM, the shares that differ in a clause (CREDIT-SQL figure 7, left)."""
    with OfficialDatabases(run.asked.database) as databases:
        judge = ClauseJudge(run.asked, databases)
        pairs = [(verdict.question, record.sql) for record, verdict in run.answered]
        wrong = [pair for pair in pairs if judge.exact_match(*pair) is False]
        differing = [judge.differing(*pair) for pair in wrong]
    names = ("select", "where", "group", "order", "and/or", "IUEN", "keywords", "from")
    shares = {_CLAUSES.get(name, name): fmean(name in found for found in differing) for name in names if differing}
    return {f"miss_{name}": 100 * share for name, share in shares.items()}
