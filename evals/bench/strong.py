"""A strong model's stored answers, replayed as drafts, and whether a careful reader finds them right."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..datasets import Dataset, Question
from ..metrics import Verdict
from ..runner import RunSpec, TurnRecord, run_evaluation

Readings = Mapping[tuple[str, str], str]
"""What a careful reader says of an answer: by question and SQL, `right`, `wrong` or `unclear`."""


@dataclass(frozen=True)
class Strong:
    """The stored drafts.

    Attributes:
        asked: The questions, of which each arm has one draft.
        arms: Drafts by question id, by the name of their arm.
        readings: What a careful reader says.
    """

    asked: Dataset
    arms: Mapping[str, Mapping[str, str]]
    readings: Readings

    @classmethod
    def load(cls, data: Path, limit: int | None = None) -> Strong:
        """Reads everything; `limit` keeps the first so many interactions."""
        folder = data / "strong_model"
        records = _lines(folder / "drafts.jsonl")
        readings = {(found["question"], found["sql"]): found["verdict"] for found in _lines(folder / "verdicts.jsonl")}
        databases = (data / "spider" / "database", data / "kaggle-dbqa" / "database")
        arms: dict[str, dict[str, str]] = {}
        questions: dict[str, Question] = {}
        for record in records:
            interaction = f"{record['dataset']}/{record['interaction']}"
            name = f"{interaction}.{record['turn']}"
            arms.setdefault(record["arm"], {})[name] = record["draft"]
            questions[name] = Question(
                name, record["database"], record["question"], (record["gold"],), interaction, turn=record["turn"]
            )
        asked = Dataset("strong", "dev", tuple(questions.values()), databases).first(limit)
        kept = {question.id for question in asked.questions}
        return cls(
            asked, {arm: {i: sql for i, sql in each.items() if i in kept} for arm, each in arms.items()}, readings
        )

    def play(
        self, files: Sequence[Mapping[str, str]], settings: Mapping[str, Any]
    ) -> Iterator[tuple[TurnRecord, Verdict, bool]]:
        """Every question answered with its drafts, and whether that is right: by verdict, else strictly.

        Answers of which neither says anything are left out.
        """
        for record, verdict in answered(self.asked, files, settings):
            reading = self.readings.get((verdict.question.text, record.sql))
            right = verdict.ex if reading is None else {"right": True, "wrong": False}.get(reading)
            if right is not None:
                yield record, verdict, right


def answered(
    asked: Dataset, files: Sequence[Mapping[str, str]], settings: Mapping[str, Any]
) -> Sequence[tuple[TurnRecord, Verdict]]:
    """Every question answered by an agent whose model replies with each file's query in turn."""
    if not asked.questions:
        return []
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.json" for number in range(len(files))]
        for path, drafts in zip(paths, files, strict=True):
            records = [{"id": question.id, "sql": drafts[question.id]} for question in asked.questions]
            path.write_text(json.dumps(records), encoding="utf-8")
        model = "replay:" + ",".join(map(str, paths))
        spec = RunSpec(asked.name, asked.split, model=model, settings=dict(settings))
        return run_evaluation(spec, asked, Path(folder) / "run", jobs=1, listener=_silent)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _silent(record: TurnRecord, verdict: Verdict) -> None:
    """Shows nothing."""
