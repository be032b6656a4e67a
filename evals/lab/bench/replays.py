"""Stored drafts, played through the agent as model replies, and judged."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ....tools.record_files import read_records
from ...datasets import Dataset, GoldTurn, load_dataset, read_predictions
from ...metrics.judging import OfficialJudge, Verdict
from ...runner.record import RunSpec, TurnRecord
from ...runner.run import run_evaluation
from ..disputes import read_dialogues
from .gold import PARTIAL
from .registry import BenchOptions, Row

SYSTEMS = ("dail_sql_gpt4", "din_sql_gpt4", "c3_chatgpt", "gpt4_few_shot", "din_sql_codex", "gpt4_zero_shot")
"""The published systems on Spider dev."""

STRONG = "strong"
TOGETHER = "strong, three drafts"
SIX = "spider, six drafts"

_SINGLE = ("dail_sql_gpt4", "c3_chatgpt", "gpt4_zero_shot")
"""A strong, a middling and a weak system on Spider dev."""

_DIALOGUES = (("sparc", "gpt-5.2_zero_shot"), ("sparc", "gemini-3-pro_zero_shot"), ("cosql", "gemini-3-pro_zero_shot"))
_EVERY, _EVERY_SIX = 2, 3
"""Of Spider dev so many-th questions are played, for single drafts and for six side by side: minutes, not an hour."""

Drafts = Mapping[str, str]
"""SQL by question id."""


@dataclass(frozen=True)
class StoredDrafts:
    """Questions with the stored SQL drafts of several systems.

    Attributes:
        asked: The questions.
        drafts: The drafts of each system, or of each arm of a strong model.
        readings: What a careful reader says of answers, by question and SQL: `right`, `wrong` or `unclear`.
    """

    asked: Dataset
    drafts: Mapping[str, Drafts]
    readings: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def select_every_nth(self, step: int) -> StoredDrafts:
        """Return the drafts of every `step`-th question."""
        return replace(self, asked=replace(self.asked, questions=self.asked.questions[::step]))

    def is_right(self, verdict: Verdict, sql: str) -> bool | None:
        """Whether the reader, or else a strict verdict, calls the query right; None if unknown."""
        reading = self.readings.get((verdict.question.text, sql))
        return verdict.ex if reading is None else {"right": True, "wrong": False}.get(reading)


def read_published_drafts(data: Path, limit: int | None) -> StoredDrafts:
    """Read the predictions of six published systems for Spider dev."""
    whole = load_dataset("spider", "dev", data)
    folder = data / "predictions" / "spider_dev"
    drafts = {name: read_predictions(folder / f"{name}.sql", whole) for name in SYSTEMS}
    return StoredDrafts(whole.without(PARTIAL).head(limit), drafts)


def read_dialogue_drafts(data: Path, dataset: str, systems: Sequence[str], limit: int | None) -> StoredDrafts:
    """Read the systems' predictions for the interactions that all of them answer."""
    whole = load_dataset(dataset, "dev", data)
    folder = data / "predictions" / "multi_turn"
    drafts = {name: read_dialogues(folder / f"{dataset}_dev.{name}.json", whole) for name in systems}
    kept = [turns for turns in whole.interactions if all(turn.id in file for file in drafts.values() for turn in turns)]
    kept = [turns for turns in kept if turns[0].database not in PARTIAL][:limit]
    return StoredDrafts(replace(whole, questions=tuple(turn for turns in kept for turn in turns)), drafts)


def read_strong_model_drafts(data: Path, limit: int | None) -> StoredDrafts:
    """Read a strong model's drafts by experiment arm, with a reader's verdicts."""
    folder = data / "strong_model"
    records: list[Any] = read_records(folder / "drafts.jsonl")
    verdicts: list[Any] = read_records(folder / "verdicts.jsonl")
    drafts: dict[str, dict[str, str]] = {}
    questions: dict[str, GoldTurn] = {}
    for record in records:
        interaction = f"{record['dataset']}/{record['interaction']}"
        key = f"{interaction}.{record['turn']}"
        drafts.setdefault(record["arm"], {})[key] = record["draft"]
        questions[key] = GoldTurn(
            key, record["database"], record["question"], (record["gold"],), interaction, turn=record["turn"]
        )
    databases = (data / "spider" / "database", data / "kaggle-dbqa" / "database")
    asked = Dataset(STRONG, "dev", tuple(questions.values()), databases).head(limit)
    return StoredDrafts(asked, drafts, {(found["question"], found["sql"]): found["verdict"] for found in verdicts})


def play(asked: Dataset, files: Sequence[Drafts], settings: Mapping[str, Any]) -> Sequence[tuple[TurnRecord, Verdict]]:
    """Run the agent on questions with stored drafts as model replies; judge strictly."""
    if not asked.questions:
        return []
    with TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.json" for number in range(len(files))]
        for path, drafts in zip(paths, files, strict=True):
            records = [{"id": question.id, "sql": drafts[question.id]} for question in asked.questions]
            path.write_text(json.dumps(records), encoding="utf-8")
        spec = RunSpec(asked.name, asked.split, model="replay:" + ",".join(map(str, paths)), settings=dict(settings))
        return run_evaluation(spec, asked, Path(folder) / "run", jobs=1, listener=lambda record, verdict: None)


def play_and_judge_officially(
    dataset: Dataset, files: Sequence[Drafts], settings: Mapping[str, Any]
) -> list[tuple[TurnRecord, bool]]:
    """Answer questions as `play` does, and judge the answers by the official rules."""
    played = play(dataset, files, settings)
    with OfficialJudge(dataset) as judge:
        return [(record, judge.judge(verdict.question, record.sql).ex is True) for record, verdict in played]


def judge_drafts_officially(dataset: Dataset, drafts: Drafts) -> dict[str, bool]:
    """Return by question id whether each draft is right by the official rules."""
    with OfficialJudge(dataset) as judge:
        return {turn.id: judge.judge(turn, drafts.get(turn.id, "")).ex is True for turn in dataset.questions}


def play_draft_sets(options: BenchOptions) -> Iterator[Row]:
    """Play stored drafts, set by set; yield the answers with a query that ran.

    A `set` is looked at together; the sets of a `family` share its questions, and none of them is calibrated on
    another. `model` is whose drafts they are, `signals` what confidence weighs.

    Published drafts are judged by the official rules, the strong model's by a reader's verdict, else strictly. All are
    of development and test questions: none were published of training questions.
    """
    data, limit = options.folder, options.limit
    published, strong = read_published_drafts(data, limit), read_strong_model_drafts(data, limit)
    some, fewer = published.select_every_nth(_EVERY), published.select_every_nth(_EVERY_SIX)
    played = [(f"spider {name}", "spider", name, some, [name]) for name in _SINGLE]
    played.append((SIX, "spider", "six", fewer, list(fewer.drafts)))
    for dataset, name in _DIALOGUES:
        played.append((f"{dataset} {name}", dataset, name, read_dialogue_drafts(data, dataset, [name], limit), [name]))
    for dataset in dict.fromkeys(question.id.partition("/")[0] for question in strong.asked.questions):
        own = tuple(one for one in strong.asked.questions if one.id.startswith(f"{dataset}/"))
        part = replace(strong, asked=replace(strong.asked, questions=own))
        played += [(f"{STRONG} {dataset}", STRONG, STRONG, part, [arm]) for arm in strong.drafts]
    played.append((TOGETHER, STRONG, STRONG, strong, list(strong.drafts)))
    for name, family, model, replay, systems in played:
        about = {"set": name, "family": family, "model": model}
        yield from ({**about, **answer} for answer in _play_and_judge_drafts(replay, systems))


def _play_and_judge_drafts(replay: StoredDrafts, systems: Sequence[str]) -> Iterator[Row]:
    settings: dict[str, Any] = {"max_attempts": 1}
    if len(systems) > 1:
        settings |= {"merge": False, "candidates": len(systems)}
    with OfficialJudge(replay.asked) as judge:
        for record, verdict in play(replay.asked, [replay.drafts[name] for name in systems], settings):
            if replay.readings:
                right = replay.is_right(verdict, record.sql)
            else:
                right = judge.judge(verdict.question, record.sql).ex is True
            if right is not None and record.evidence:
                about = {"id": record.id, "database": verdict.question.database}
                yield {**about, "signals": record.evidence, "right": right}
