"""Answers made of published and of a strong model's drafts: what their confidence weighs, and whether they are right.

Published drafts are judged by the official rules, a strong model's by a careful reader's verdict, else strictly. All of
them are of development and test questions: none were published of training questions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..datasets import Dataset, load_dataset
from ..disputes.published import read_dialogues
from ..runner import TurnRecord
from .replayed import WITHOUT, Judged, Replayed, play
from .strong import Strong

SYSTEMS = ("dail_sql_gpt4", "c3_chatgpt", "gpt4_zero_shot")
"""A strong, a middling and a weak system on Spider dev."""

DIALOGUES = (("sparc", "gpt-5.2_zero_shot"), ("sparc", "gemini-3-pro_zero_shot"), ("cosql", "gemini-3-pro_zero_shot"))
EVERY, EVERY_SIX = 2, 3
"""Of Spider dev so many-th questions are played, for single drafts and for six side by side: minutes, not an hour."""

STRONG = "strong"
TOGETHER = "strong, three drafts"

_ONE: Mapping[str, object] = {"max_attempts": 1}
_SIDE_BY_SIDE: Mapping[str, object] = {"max_attempts": 1, "merge": False}


@dataclass(frozen=True)
class Drafted:
    """An answer.

    Attributes:
        id: The question's.
        database: Its database.
        model: Whose draft it is.
        signals: What the confidence weighs.
        right: Whether it is right.
    """

    id: str
    database: str
    model: str
    signals: Mapping[str, float]
    right: bool


@dataclass(frozen=True)
class DraftSet:
    """Answers that are looked at together.

    Attributes:
        name: For people.
        family: Sets of one family share questions: none of them is calibrated on another.
        answers: The answers that there were; where no query ran there is none.
    """

    name: str
    family: str
    answers: Sequence[Drafted]


def draft_sets(data: Path, limit: int | None = None) -> list[DraftSet]:
    """All sets; `limit` keeps the first so many interactions of each."""
    return [*_published(data, limit), *_dialogues(data, limit), *_strong(data, limit)]


def _published(data: Path, limit: int | None) -> Iterable[DraftSet]:
    replayed = Replayed.load(data, limit)
    asked, fewer = (replace(replayed.asked, questions=replayed.asked.questions[::step]) for step in (EVERY, EVERY_SIX))
    for name in SYSTEMS:
        judged = play(asked, asked, _of(asked, [replayed.predictions[name]]), _ONE)
        yield DraftSet(f"spider {name}", "spider", _answers(asked, judged, name))
    files = _of(fewer, list(replayed.predictions.values()))
    judged = play(fewer, fewer, files, {**_SIDE_BY_SIDE, "candidates": len(files)})
    yield DraftSet("spider, six drafts", "spider", _answers(fewer, judged, "six"))


def _of(asked: Dataset, files: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    return [{question.id: file[question.id] for question in asked.questions} for file in files]


def _dialogues(data: Path, limit: int | None) -> Iterable[DraftSet]:
    for dataset, name in DIALOGUES:
        whole = load_dataset(dataset, "dev", data)
        found = read_dialogues(data / "predictions" / "multi_turn" / f"{dataset}_dev.{name}.json", whole)
        kept = [turns for turns in whole.interactions if all(turn.id in found for turn in turns)]
        kept = [turns for turns in kept if turns[0].database not in WITHOUT][:limit]
        asked = replace(whole, questions=tuple(turn for turns in kept for turn in turns))
        judged = play(asked, asked, _of(asked, [found]), _ONE)
        yield DraftSet(f"{dataset} {name}", dataset, _answers(asked, judged, name))


def _strong(data: Path, limit: int | None) -> Iterable[DraftSet]:
    strong = Strong.load(data, limit)
    alone = [found for drafts in strong.arms.values() for found in _judged(strong, [drafts], _ONE)]
    for dataset in dict.fromkeys(found.id.partition("/")[0] for found in alone):
        some = [found for found in alone if found.id.startswith(f"{dataset}/")]
        yield DraftSet(f"{STRONG} {dataset}", STRONG, some)
    files = list(strong.arms.values())
    together = _judged(strong, files, {**_SIDE_BY_SIDE, "candidates": len(files)})
    yield DraftSet(TOGETHER, STRONG, together)


def _judged(strong: Strong, files: Sequence[Mapping[str, str]], settings: Mapping[str, object]) -> list[Drafted]:
    played = strong.play(files, settings)
    return [
        Drafted(record.id, verdict.question.database, STRONG, record.evidence, right)
        for record, verdict, right in played
        if record.evidence
    ]


def _answers(asked: Dataset, judged: Sequence[Judged], model: str) -> list[Drafted]:
    database = {question.id: question.database for question in asked.questions}

    def drafted(record: TurnRecord, signals: Mapping[str, float], right: bool) -> Drafted:
        return Drafted(record.id, database[record.id], model, signals, right)

    return [drafted(one.record, one.record.evidence, one.right) for one in judged if one.record.evidence]
