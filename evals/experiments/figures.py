"""The figures of a run by the names that experiments use, in percent, or in seconds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import numpy as np

from ..datasets import Dataset
from ..metrics import Summary, Verdict, official_judge, summarize
from ..metrics.judging import ClauseJudge
from ..metrics.redundancy import classified
from ..official import OfficialDatabases
from ..runner import TurnRecord
from ..runner.results import Answered, with_schemas

PARTS = 10
"""The number of equal parts into which SQL-CRAFT A.2 divides its predictions."""

_COLUMNS = (13, 21, 30, 47, 57, 67, 83)
"""How many columns the databases of Track-SQL's table 15 have."""


@dataclass(frozen=True)
class RowRun:
    """One run of an experiment's row, or the vote of several.

    Attributes:
        asked: Its questions.
        answered: Records with strict verdicts, in their order.
        linking: The linker's redundancy scores; empty for a vote.
    """

    asked: Dataset
    answered: list[Answered]
    linking: Mapping[str, float]

    def figures(self, suites: Path | None, shown: Sequence[str]) -> dict[str, float]:
        """Return EX, EM and, with test suites, TS, officially judged, and what else is to be shown.

        Args:
            suites: A folder of test suites.
            shown: Names of figures; those that take work of their own are made only if they are among these.
        """
        verdicts = _judge(self.asked, self.answered)
        official = summarize(verdicts)
        ours = _by_group(official, "ex") | _by_group(official, "em")
        ours |= {name: 100 * value for name, value in official.measures.items()}
        if suites is not None:
            suite = _by_group(summarize(_judge(self.asked.on(suites), self.answered)), "ex")
            ours |= {re.sub(r"ex$", "ts", name): value for name, value in suite.items()}
        if any(name.startswith("attempt") for name in shown):
            ours |= _by_attempt(self)
        if "em_ex" in shown:
            ours |= _clause_errors(self, verdicts)
        ours |= {name: 100 * self.linking[name] for name in ("trs", "crs", "crs_all") if name in self.linking}
        if any(name.endswith("_f1") for name in shown):
            # Track-SQL, tables 10 and 11.
            linked = with_schemas(self.asked, self.answered)
            found = classified(
                [(verdict.question.golds[0], schema, record.linked) for record, verdict, schema in linked]
            )
            ours |= {name: 100 * value for name, value in found.items()}
        if any(name.endswith("_seconds") for name in shown):
            ours |= _seconds(self)
        return ours

    def parts(self) -> tuple[float, ...]:
        """Return the official EX of ten equal parts, in order; nothing for fewer than ten questions."""
        right = [verdict.ex is True for verdict in _judge(self.asked, self.answered)]
        return tuple(100 * float(part.mean()) for part in np.array_split(right, PARTS)) if len(right) >= PARTS else ()


def voted_by_em(runs: Sequence[RowRun]) -> RowRun:
    """Return for each question the prediction that most runs agree on by EM, the first of equals (CREDIT-SQL 5.2)."""
    first = runs[0]
    chosen: list[Answered] = []
    with OfficialDatabases(first.asked.database) as databases:
        judge = ClauseJudge(first.asked, databases)
        for turns in zip(*(run.answered for run in runs), strict=True):
            groups: list[list[Answered]] = []
            for record, verdict in turns:
                for group in groups:
                    leader = group[0][0].sql
                    if record.sql == leader or judge.exact_match(
                        replace(verdict.question, golds=(leader,)), record.sql
                    ):
                        group.append((record, verdict))
                        break
                else:
                    groups.append([(record, verdict)])
            record, verdict = max(groups, key=len)[0]
            # Neither linked items nor times are part of a vote.
            chosen.append((replace(record, linked=(), usage_by_node=None), verdict))
    return RowRun(first.asked, chosen, {})


def _judge(dataset: Dataset, answered: Sequence[Answered]) -> list[Verdict]:
    with official_judge(dataset, timings=1 if dataset.name == "bird" else 0) as judge:
        return [judge.judge(verdict.question, record.sql) for record, verdict in answered]


def _by_group(summary: Summary, measure: str) -> dict[str, float]:
    """Return one measure over everything, interactions, levels and turns, by the names that experiments use."""
    groups = {"": summary.all, "im_": summary.interactions}
    groups |= {f"{level}_": scores for level, scores in summary.by_hardness.items()}
    groups |= {f"turn{5 if turn == '>4' else turn}_": scores for turn, scores in summary.by_turn.items()}
    shares = {f"{prefix}{measure}": getattr(scores, measure) for prefix, scores in groups.items()}
    return {name: 100 * share for name, share in shares.items() if share is not None}


def _by_attempt(run: RowRun) -> dict[str, float]:
    """Return EX had the loop ended after so many attempts, or at its last (revision chain, figure 3)."""
    found: dict[str, float] = {}
    for number in range(1, max(1, *(len(record.attempts) for record, _ in run.answered)) + 1):
        cut = [
            (replace(record, sql=record.attempts[:number][-1]["sql"]) if record.attempts else record, verdict)
            for record, verdict in run.answered
        ]
        if (ex := summarize(_judge(run.asked, cut)).all.ex) is not None:
            found[f"attempt{number}_ex"] = 100 * ex
    return found


def _seconds(run: RowRun) -> dict[str, float]:
    """Return what linking and generating took per question and altogether; linking also by the database's columns.

    A database belongs to the nearest of the numbers of columns that Track-SQL's table 15 has.
    """
    found: dict[str, float] = {}
    for step in ("link", "generate"):
        if took := [one for record, _ in run.answered if (one := _step_seconds(record, step)) is not None]:
            found |= {f"{step}_seconds": fmean(took), f"{step}_total_seconds": sum(took)}
    by_columns: dict[int, list[float]] = {}
    for record, _, schema in with_schemas(run.asked, run.answered):
        if (one := _step_seconds(record, "link")) is not None:
            nearest = min(_COLUMNS, key=lambda number: abs(number - schema.total_columns))
            by_columns.setdefault(nearest, []).append(one)
    return found | {f"link_{number}_columns_seconds": fmean(took) for number, took in by_columns.items()}


def _step_seconds(record: TurnRecord, step: str) -> float | None:
    return (record.usage_by_node or {}).get(step, {}).get("seconds")


def _clause_errors(run: RowRun, verdicts: Sequence[Verdict]) -> dict[str, float]:
    """Return the shares of EM against EX, and the shares of EM's errors by clause (CREDIT-SQL figure 7)."""
    known = [(verdict.em is True, verdict.ex is True) for verdict in verdicts if verdict.em is not None]
    names = {"em_ex": (True, True), "em_only": (True, False), "ex_only": (False, True), "neither": (False, False)}
    found = {name: 100 * fmean(pair == kind for pair in known) for name, kind in names.items()} if known else {}
    with OfficialDatabases(run.asked.database) as databases:
        judge = ClauseJudge(run.asked, databases)
        pairs = [(verdict.question, record.sql) for record, verdict in run.answered]
        differing = [judge.differing(*pair) for pair in pairs if judge.exact_match(*pair) is False]
    for clause in ("select", "where", "group", "order", "and/or", "IUEN", "keywords", "from") if differing else ():
        share = fmean(clause in clauses for clauses in differing)
        found[f"miss_{clause.replace('/', '_').lower()}"] = 100 * share
    return found
