"""Published predictions, played through the agent as drafts and revisions, and judged officially."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..datasets import Dataset, Question, load_dataset
from ..metrics import OfficialJudge, Verdict, read_predictions
from ..runner import RunSpec, TurnRecord, run_evaluation

SYSTEMS = ("dail_sql_gpt4", "din_sql_gpt4", "c3_chatgpt", "gpt4_few_shot", "din_sql_codex", "gpt4_zero_shot")
"""The published systems on Spider dev."""

WITHOUT = ("wta_1",)
"""Its rows are incomplete, so that results on it mean nothing."""


@dataclass(frozen=True)
class Judged:
    """A question's record and whether its query is right by the official rules."""

    record: TurnRecord
    right: bool


@dataclass(frozen=True)
class Replayed:
    """Spider dev with the published predictions.

    Attributes:
        whole: The split, whole; prediction files fit it.
        asked: What is measured.
        predictions: SQL by question id, of each system.
    """

    whole: Dataset
    asked: Dataset
    predictions: Mapping[str, Mapping[str, str]]

    @classmethod
    def load(cls, data: Path, limit: int | None) -> Replayed:
        """Reads everything; `limit` keeps the first so many questions."""
        whole = load_dataset("spider", "dev", data)
        folder = data / "predictions" / "spider_dev"
        found = {name: read_predictions(folder / f"{name}.sql", whole) for name in SYSTEMS}
        return cls(whole, whole.without(WITHOUT).first(limit), found)

    def play(self, files: Sequence[Mapping[str, str]], settings: Mapping[str, Any]) -> list[Judged]:
        """Runs the agent with a model that replies with each file's query in turn."""
        return play(self.whole, self.asked, files, settings)

    def right(self, predictions: Mapping[str, str]) -> dict[str, bool]:
        """Whether each prediction is right, by question id."""
        with OfficialJudge(self.asked) as judge:
            return {q.id: judge.judge(q, predictions.get(q.id, "")).ex is True for q in self.asked.questions}


def play(
    whole: Dataset, asked: Dataset, files: Sequence[Mapping[str, str]], settings: Mapping[str, Any]
) -> list[Judged]:
    """Runs the agent over questions with predictions as its model's replies, and judges the answers."""
    kept = {question.database for question in asked.questions}
    without = tuple(sorted({question.database for question in whole.questions} - kept))
    with TemporaryDirectory() as folder:
        out = Path(folder)
        paths = [_write(predictions, out / f"{number}.json") for number, predictions in enumerate(files)]
        spec = RunSpec(
            asked.name,
            asked.split,
            model="replay:" + ",".join(map(str, paths)),
            settings=dict(settings),
            without=without,
            limit=len(asked.interactions),
        )
        answered = run_evaluation(spec, whole, out / "run", jobs=1, listener=_silent)
    with OfficialJudge(asked) as judge:
        return [Judged(record, judge.judge(verdict.question, record.sql).ex is True) for record, verdict in answered]


def revised(
    asked: Dataset,
    questions: Sequence[Question],
    drafts: Mapping[str, str],
    revisions: Mapping[str, str],
    settings: Mapping[str, Any],
) -> dict[str, bool]:
    """Whether each question's answer is right where its draft is followed by its revision."""
    some = replace(asked, questions=tuple(questions))
    files = [{found.id: file[found.id] for found in questions} for file in (drafts, revisions)]
    return {judged.record.id: judged.right for judged in play(some, some, files, settings)} if questions else {}


def share(right: Sequence[bool]) -> float:
    """The rate of what is right, from 0 to 1."""
    return round(sum(right) / len(right), 4) if right else 0.0


def _write(predictions: Mapping[str, str], path: Path) -> Path:
    records = [{"id": question, "sql": sql} for question, sql in predictions.items()]
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def _silent(record: TurnRecord, verdict: Verdict) -> None:
    """Shows nothing."""
