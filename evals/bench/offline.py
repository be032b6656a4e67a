"""The offline translator alone, on the published dev sets: what a reader gets with no model at all.

EX as the published evaluators judge it. wta_1 is left out: its rows are incomplete in the published copy. Interactions
are answered with the translator's own earlier queries as history; an utterance that holds a question asked back and
its answer (CoSQL, ` | `) is put to it as such.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

from ...agent.offline import OfflineTranslator
from ...prompts.generate import GenerateTask
from ...prompts.rephrase import RephraseTask
from ...tools.database import Database
from ...tools.errors import NotUnderstood
from ...tools.linking import PastTurn
from ..datasets import Dataset, Question, load_dataset
from ..metrics import OfficialJudge, Summary, Verdict, summarize
from .gold import Databases
from .registry import BenchOptions

_GATE = 0.8
"""Confidence from which a draft is taken without another look."""

_PARTIAL = "wta_1"
_OTHERS = ("sparc", "cosql", "spider-syn", "spider-dk")


@dataclass(frozen=True)
class _Answered:
    question: Question
    sql: str
    confidence: float
    seconds: float
    offered: bool


def run(options: BenchOptions) -> dict[str, object]:
    """EX by dataset, the gate's share of answers and their EX, and milliseconds a question."""
    data = options.folder
    spider, drafts = _judged(_dataset("spider", data, options.limit))
    kept = {draft.question.id for draft in drafts if draft.confidence >= _GATE}
    gated = [verdict.ex for verdict in spider if verdict.question.id in kept and verdict.ex is not None]
    offered = {draft.question.id for draft in drafts if draft.offered}
    taken = [verdict.ex for verdict in spider if verdict.question.id in offered and verdict.ex is not None]
    summary = summarize(spider)
    others = {name: summarize(_judged(_dataset(name, data, options.limit))[0]) for name in _OTHERS}
    return {
        "spider_dev": {
            "ex": summary.all.ex,
            "by_hardness": {level: scores.ex for level, scores in summary.by_hardness.items()},
            "declined": sum(not draft.sql for draft in drafts) / len(drafts),
            "by_default": {
                "declined": 1 - len(offered) / len(drafts),
                "ex_of_answered": sum(taken) / len(taken) if taken else None,
            },
        },
        "sparc_dev": _match(others["sparc"]),
        "cosql_dev": _match(others["cosql"]),
        "spider_syn": others["spider-syn"].all.ex,
        "spider_dk": others["spider-dk"].all.ex,
        "gate": {"share": len(kept) / len(drafts), "ex": sum(gated) / len(gated) if gated else None},
        "ms": round(1000 * median(draft.seconds for draft in drafts), 2),
    }


def _dataset(name: str, data: Path, limit: int | None) -> Dataset:
    dataset = load_dataset(name, "dev", data)
    if any(question.database == _PARTIAL for question in dataset.questions):
        dataset = dataset.without({_PARTIAL})
    return dataset.first(limit)


def _match(summary: Summary) -> dict[str, float | None]:
    return {"qm": summary.all.ex, "im": summary.interactions.ex}


def _judged(dataset: Dataset) -> tuple[list[Verdict], list[_Answered]]:
    drafts = list(_drafts(dataset))
    with OfficialJudge(dataset) as judge:
        return [judge.judge(draft.question, draft.sql) for draft in drafts], drafts


def _drafts(dataset: Dataset) -> Iterator[_Answered]:
    translators: dict[str, OfflineTranslator] = {}
    with Databases(dataset) as databases:
        for turns in dataset.interactions:
            name = turns[0].database
            database = databases.open(name)
            if name not in translators:
                translators[name] = OfflineTranslator(database)
                answer(translators[name], database, "How many are there?", ())
            yield from _interaction(translators[name], database, turns)


def _interaction(offline: OfflineTranslator, database: Database, turns: Sequence[Question]) -> Iterator[_Answered]:
    history: tuple[PastTurn, ...] = ()
    for question in turns:
        start = perf_counter()
        sql, confidence, offered = answer(offline, database, question.text, history)
        yield _Answered(question, sql, confidence, perf_counter() - start, offered)
        history = (*history, PastTurn(question.text, sql=sql))


def answer(
    offline: OfflineTranslator, database: Database, text: str, history: tuple[PastTurn, ...]
) -> tuple[str, float, bool]:
    """The SQL, its confidence, and whether a person is given it by default; no SQL where the translator declines."""
    question, *more = (part.strip() for part in text.split(" | "))
    clarification = (more[0], more[1]) if len(more) == 2 else None
    schema = database.schema()
    try:
        rephrasing = offline.do(RephraseTask(question, history, schema, clarification)).reply
        draft = offline.do(GenerateTask(question, rephrasing, schema, history)).reply
    except NotUnderstood:
        return "", 0.0, False
    return draft.sql, draft.confidence or 0.0, rephrasing.intent == "answerable"
