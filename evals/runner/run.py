"""The run itself: interactions side by side, the turns of each one after the other."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

from ...agent import Conversation, Settings, TableturnError, make_settings
from ..datasets import Dataset, Question
from ..metrics import StrictJudge, Verdict
from .agents import Agents
from .journal import JOURNAL_FILE, Journal
from .model import run_model
from .record import TurnRecord, record_answer
from .replay import REPLAY, REPLAY_SETTINGS, asked_about
from .spec import RunSpec, begin


class Listener(Protocol):
    """Told about each question as it is answered and judged."""

    def __call__(self, record: TurnRecord, verdict: Verdict) -> None:
        """One more question is done."""
        ...


def run_evaluation(
    spec: RunSpec, dataset: Dataset, out: Path, *, jobs: int, listener: Listener
) -> list[tuple[TurnRecord, Verdict]]:
    """Answers every question of a dataset, or those that are still to do.

    Args:
        spec: The run; the folder must hold the same one, or none.
        dataset: Its split, whole; `spec` says what part is asked.
        out: The run's folder: specification, journal, cached replies.
        jobs: Interactions at once.
        listener: Told about each question, also those that an earlier, ended run answered.

    Returns:
        Records with strict verdicts, in the dataset's order.

    Raises:
        SettingsError: The folder holds another run, or settings are wrong.
        ModelError: The model cannot be set up.
    """
    settings = _settings(spec)
    asked = dataset.without(spec.without).first(spec.limit)
    begin(spec, out)
    with run_model(spec, dataset, out) as model, Journal(out / JOURNAL_FILE) as journal:
        run = _Run(spec, asked, Agents(asked, model, settings, spec.examples), journal, listener)
        verdicts = asyncio.run(run.all(jobs))
        return [(journal.records[question.id], verdicts[question.id]) for question in asked.questions]


def _settings(spec: RunSpec) -> Settings:
    """The preset with the run's own fields; every question is to be answered, none asked back."""
    replayed = spec.model is not None and spec.model.startswith(REPLAY)
    fields: dict[str, Any] = {"clarify": False, **spec.settings, **(REPLAY_SETTINGS if replayed else {})}
    return make_settings(fields, preset=spec.preset)


class _Run:
    def __init__(self, spec: RunSpec, dataset: Dataset, agents: Agents, journal: Journal, listener: Listener) -> None:
        self._spec = spec
        self._dataset = dataset
        self._agents = agents
        self._journal = journal
        self._listener = listener
        self._judge = StrictJudge(dataset)
        # SQLite connections belong to the thread that opened them: one thread judges.
        self._judging = ThreadPoolExecutor(1)
        self._verdicts: dict[str, Verdict] = {}

    async def all(self, jobs: int) -> dict[str, Verdict]:
        """Answers and judges everything; verdicts by question id."""
        interactions = iter(self._dataset.interactions)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(jobs):
                    group.create_task(self._work(interactions))
        finally:
            self._agents.close()
            self._judging.submit(self._judge.close).result()
            self._judging.shutdown()
        return self._verdicts

    async def _work(self, interactions: Iterator[tuple[Question, ...]]) -> None:
        """One of the workers, who share the iterator."""
        for turns in interactions:
            if self._spec.history == "gold":
                await self._after_gold(turns)
            else:
                await self._after_own(turns)
            for turn in turns:
                await self._judged(turn)
            self._agents.done(turns[0].database)

    async def _after_gold(self, turns: tuple[Question, ...]) -> None:
        """Each turn in a conversation of its own, begun with the gold SQL of the turns before it."""
        for place, turn in enumerate(turns):
            if turn.id in self._journal.records:
                continue
            try:
                with self._agents.conversation(turn.database) as conversation:
                    await self._agents.remember(turn.database, conversation, turns[:place])
                    self._journal.add(await _take(turn, conversation))
            except TableturnError as error:
                self._journal.add(_failed(turn, error))

    async def _after_own(self, turns: tuple[Question, ...]) -> None:
        """All turns in one conversation.

        Turns that an ended run answered are taken again where a later one builds on them; their replies are cached.
        """
        to_do = [place for place, turn in enumerate(turns) if turn.id not in self._journal.records]
        if not to_do:
            return
        try:
            with self._agents.conversation(turns[0].database) as conversation:
                for turn in turns[: to_do[-1] + 1]:
                    record = await _take(turn, conversation)
                    if turn.id not in self._journal.records:
                        self._journal.add(record)
        except TableturnError as error:
            for turn in turns:
                if turn.id not in self._journal.records:
                    self._journal.add(_failed(turn, error))

    async def _judged(self, turn: Question) -> None:
        record = self._journal.records[turn.id]
        loop = asyncio.get_running_loop()
        verdict = await loop.run_in_executor(self._judging, self._judge.judge, turn, record.sql)
        self._verdicts[turn.id] = verdict
        self._listener(record, verdict)


async def _take(turn: Question, conversation: Conversation) -> TurnRecord:
    asked_about.set(turn.id)
    question = f"{turn.text}\n({turn.evidence})" if turn.evidence else turn.text
    start = time.perf_counter()
    try:
        answer = await conversation.aask(question)
    except Exception as error:  # noqa: BLE001 - a crash is a wrong answer, and the other questions still count
        return _failed(turn, error)
    return record_answer(turn.id, answer, time.perf_counter() - start)


def _failed(turn: Question, error: Exception) -> TurnRecord:
    said = str(error) if isinstance(error, TableturnError) else f"crashed: {error!r}"
    return TurnRecord(id=turn.id, sql="", status="failed", text=said)
