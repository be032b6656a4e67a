"""KaggleDBQA's test questions with none, three and nine of its fewshot pairs a database as verified queries.

    tableturn bench learning --replies FILE --model openai:NAME --base-url URL

asks what FILE does not have yet and stores it as it comes; without `--model` only FILE is read. All questions of all
arms are asked at once, and each reply may take a day; a run that was ended goes on where it was.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatResult
from pydantic import Field

from ...agent import Settings, SQLAgent
from ...tools.database import Database
from ...tools.errors import ModelError
from ...tools.examples import Example, ExampleStore, example_of, open_with_seeds
from ..adjudication.adjudicator import Adjudicator
from ..adjudication.ruling import read_rulings
from ..datasets import Dataset, Question, load_dataset
from ..metrics import StrictJudge
from ..metrics.statistics import Judged, compare
from ..runner.local_engine import run_settings
from ..runner.spec import RunSpec
from .registry import BenchOptions
from .stored import check_all_stored, stored_model

ARMS = (0, 3, 9)
"""Verified queries a database."""

PATIENT: Mapping[str, Any] = {"request_seconds": 86_000, "turn_seconds": 86000, "request_retries": 0, "record": "off"}
"""For servers behind which people answer."""


def run(options: BenchOptions) -> dict[str, object]:
    """By arm `n`, `ex_gold` and `ex_verdict`, and what the most pairs change against none.

    `ex_verdict` goes by careful readers' verdicts, and by gold where there is none; `unjudged` counts answers that gold
    calls wrong and nobody has judged. A pair whose SQL contradicts its question is not kept, as in any import (`kept`).
    `others_changed` are prompts of other databases' questions that the pairs change.
    """
    dataset = load_dataset("kaggle-dbqa", "test", options.folder).first(options.limit)
    pairs = _pairs(options.folder)
    model = stored_model(options.replies, options.model, options.base_url, PATIENT["request_seconds"])
    settings = _settings(dataset)
    answers = asyncio.run(_all_answers(dataset, pairs, model, settings))
    check_all_stored(model)
    rulings = read_rulings(options.folder / "strong_model" / "verdicts.jsonl")
    found: dict[int, dict[str, Judged]] = {}
    figures: dict[str, object] = {"kept": _kept(dataset, pairs)}
    with StrictJudge(dataset) as judge, Adjudicator(dataset, rulings) as adjudicator:
        for arm in ARMS:
            right, accepted, unjudged = {}, 0, 0
            for question in dataset.questions:
                sql = answers[arm, question.id]
                verdict = judge.judge(question, sql)
                outcome = adjudicator.outcome(question, sql, verdict.ex, verdict.valid)
                right[question.id] = Judged(question.database, verdict.ex is True, question.id)
                accepted += outcome.verdict == "right" if outcome.verdict else verdict.ex is True
                unjudged += outcome.verdict is None
            found[arm] = right
            n = len(right)
            ex = sum(one.right for one in right.values()) / n
            figures[str(arm)] = {
                "n": n,
                "ex_gold": round(ex, 4),
                "ex_verdict": round(accepted / n, 4),
                "unjudged": unjudged,
            }
    alone = {
        arm: {name: Judged(name, one.right, name) for name, one in found[arm].items()} for arm in (ARMS[0], ARMS[-1])
    }
    change = compare(alone[ARMS[0]], alone[ARMS[-1]])
    between = [round(change.interval.low, 4), round(change.interval.high, 4)] if change.interval else None
    figures |= {"difference": round(change.difference, 4), "interval": between, "p": round(change.mcnemar_p, 4)}
    return figures | {"others_changed": asyncio.run(_others_changed(dataset, pairs, settings))}


def _settings(dataset: Dataset) -> Settings:
    return run_settings(RunSpec(dataset.name, dataset.split, settings=dict(PATIENT)), dataset)


def _pairs(data: Path) -> Mapping[str, list[tuple[str, str]]]:
    """The fewshot pairs by database, in the file's order."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    text = (data / "kaggle-dbqa" / "fewshot.json").read_text(encoding="utf-8")
    for record in cast("list[dict[str, str]]", json.loads(text)):
        found[record["db_id"]].append((record["question"], record["query"]))
    return found


async def _all_answers(
    dataset: Dataset, pairs: Mapping[str, Sequence[tuple[str, str]]], model: BaseChatModel, settings: Settings
) -> dict[tuple[int, str], str]:
    """The SQL of every question in every arm."""
    with ExitStack() as stack:
        agents = {
            (arm, name): _agent(dataset, name, [name], pairs, arm, model, settings, stack)
            for arm in ARMS
            for name in dict.fromkeys(question.database for question in dataset.questions)
        }

        async def one(arm: int, question: Question) -> tuple[tuple[int, str], str]:
            answer = await agents[arm, question.database].aask(question.text)
            return (arm, question.id), answer.sql or ""

        jobs = (one(arm, question) for arm in ARMS for question in dataset.questions)
        return dict(await asyncio.gather(*jobs))


def _agent(
    dataset: Dataset,
    name: str,
    owners: Sequence[str],
    pairs: Mapping[str, Sequence[tuple[str, str]]],
    count: int,
    model: BaseChatModel,
    settings: Settings,
    stack: ExitStack,
) -> SQLAgent:
    """An agent on one database, with so many pairs of each of some databases in its store."""
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    with ExampleStore.open(folder) as store:
        for owner in owners if count else ():
            with Database.open(dataset.database(owner)) as database:
                store.add(_verified(database, pairs[owner][:count]), strict=False)
    held = stack.enter_context(open_with_seeds(folder))
    return stack.enter_context(SQLAgent(dataset.database(name), model=model, settings=settings, examples=held))


def _kept(dataset: Dataset, pairs: Mapping[str, Sequence[tuple[str, str]]]) -> dict[str, int]:
    """How many pairs of each database there are at most."""
    found: dict[str, int] = {}
    for name in dict.fromkeys(question.database for question in dataset.questions):
        with ExampleStore.open() as store, Database.open(dataset.database(name)) as database:
            found[name] = store.add(_verified(database, pairs[name][: ARMS[-1]]), strict=False).added
    return found


def _verified(database: Database, pairs: Sequence[tuple[str, str]]) -> list[Example]:
    return [example_of(database, question, sql, source="verified") for question, sql in pairs]


class _Listening(BaseChatModel):
    """Keeps what it is asked and answers nothing."""

    asked: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "listening"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self.asked.append("\n".join(message.text for message in messages))
        raise ModelError("this one only listens")


async def _others_changed(
    dataset: Dataset, pairs: Mapping[str, Sequence[tuple[str, str]]], settings: Settings
) -> dict[str, int]:
    """Prompts of each database's questions that verified queries of the other databases change."""
    compared = changed = 0
    with ExitStack() as stack:
        for name in dict.fromkeys(question.database for question in dataset.questions):
            others = [other for other in pairs if other != name]
            said: list[list[str]] = []
            for count in (0, ARMS[-1]):
                model = _Listening()
                agent = _agent(dataset, name, others, pairs, count, model, settings, stack)
                for question in dataset.questions:
                    if question.database == name:
                        await agent.aask(question.text)
                said.append(model.asked)
            compared += len(said[0])
            changed += sum(a != b for a, b in zip(*said, strict=True))
    return {"prompts": compared, "changed": changed}
