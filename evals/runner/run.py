"""The run itself: interactions side by side, the turns of each one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from ...tools.errors import TableturnError
from ..datasets import Dataset, Question
from ..metrics import StrictJudge, Verdict
from .answering import Answering, not_asked
from .journal import JOURNAL_FILE, Journal
from .local_engine import local_engine, run_settings
from .record import TurnRecord
from .spec import RunSpec, begin, check_folder

T = TypeVar("T")

Engine = Literal["local", "ray"]
"""Where questions are answered: in this process, or on a Ray cluster."""


GIVE_UP_AFTER = 8
"""Questions in a row that cannot be asked before a run stops: the server is down, or the key is wrong."""


class RunStopped(TableturnError):
    """A run cannot go on now; what it has is kept, and it goes on from there when it is started again."""


class Listener(Protocol):
    """Told about each question as it is answered and judged."""

    def __call__(self, record: TurnRecord, verdict: Verdict) -> None:
        """One more question is done."""
        ...


def run_evaluation(
    spec: RunSpec, dataset: Dataset, out: Path, *, jobs: int, listener: Listener, engine: Engine = "local"
) -> list[tuple[TurnRecord, Verdict]]:
    """Answers every question of a dataset, or those that are still to do.

    Args:
        spec: The run; the folder must hold the same one, or none.
        dataset: Its split, whole; `spec` says what part is asked.
        out: The run's folder: specification, journal, cached replies.
        jobs: Interactions at once.
        listener: Told about each question, also those that an earlier, ended run answered.
        engine: Where they are answered; no answer depends on it, and an ended run may go on on the other.

    Returns:
        Records with strict verdicts, in the dataset's order. Questions that the model could not be asked (`asked` is
        False) have none, and are asked again when the run is started again.

    Raises:
        RunStopped: The model could not be asked `GIVE_UP_AFTER` questions in a row.
        SettingsError: The folder holds another run, settings are wrong, or the engine is not installed.
        ModelError: The model cannot be set up.
    """
    run_settings(spec)
    asked = dataset.without(spec.without).first(spec.limit)
    check_folder(spec, asked, out)
    with Journal(out / JOURNAL_FILE) as journal, _engine(engine, spec, dataset, out, jobs) as answering:
        # Only what can be run at all takes the folder.
        begin(spec, asked, out)
        run = _Run(asked, answering, journal, listener)
        done = _completed(run.all(jobs))
        return [done[question.id] for question in asked.questions]


def _completed(work: Coroutine[object, object, T]) -> T:
    """What the work comes to; in a thread of its own where this one has an event loop at work, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def _engine(engine: Engine, spec: RunSpec, dataset: Dataset, out: Path, jobs: int) -> AbstractContextManager[Answering]:
    if engine == "local":
        return local_engine(spec, dataset, out)
    from .ray_engine import ray_engine

    return ray_engine(spec, dataset, out, jobs)


class _Run:
    def __init__(self, dataset: Dataset, answering: Answering, journal: Journal, listener: Listener) -> None:
        self._dataset = dataset
        self._answering = answering
        self._journal = journal
        self._listener = listener
        self._judge = StrictJudge(dataset)
        # SQLite connections belong to the thread that opened them: one thread judges.
        self._judging = ThreadPoolExecutor(1)
        self._done: dict[str, tuple[TurnRecord, Verdict]] = {}
        self._in_vain = 0

    async def all(self, jobs: int) -> dict[str, tuple[TurnRecord, Verdict]]:
        """Answers and judges everything; records and verdicts by question id."""
        # What was asked in vain before comes last: eight questions that a server always refuses must not end every run.
        interactions = iter(sorted(self._dataset.interactions, key=self._was_in_vain))
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(jobs):
                    group.create_task(self._work(interactions))
        except ExceptionGroup as group:
            raise group.exceptions[0] from None
        finally:
            self._judging.submit(self._judge.close).result()
            self._judging.shutdown()
        return self._done

    def _was_in_vain(self, turns: tuple[Question, ...]) -> bool:
        return any(turn.id in self._journal.in_vain for turn in turns)

    async def _work(self, interactions: Iterator[tuple[Question, ...]]) -> None:
        """One of the workers, who share the iterator."""
        for turns in interactions:
            kept = {turn.id: record for turn in turns if (record := self._journal.records.get(turn.id))}
            for turn in turns:
                if turn.id in kept:
                    await self._judged(turn, kept[turn.id])
            if len(kept) < len(turns):
                await self._answered({turn.id: turn for turn in turns}, kept)

    async def _answered(self, turns: Mapping[str, Question], kept: Mapping[str, TurnRecord]) -> None:
        """Has the turns that `kept` lacks answered; those left over build on one that the model could not be asked."""
        left = dict.fromkeys(name for name in turns if name not in kept)
        why = ""
        async for record in self._answering.answers(tuple(turns.values()), kept):
            self._journal.add(record)
            self._check_asked(record)
            why = why if record.asked else record.text
            del left[record.id]
            await self._judged(turns[record.id], record)
        for name in left:
            await self._judged(turns[name], not_asked(turns[name], why))

    def _check_asked(self, record: TurnRecord) -> None:
        """Stops the run where the model cannot be asked time after time."""
        self._in_vain = 0 if record.asked else self._in_vain + 1
        if self._in_vain == GIVE_UP_AFTER:
            raise RunStopped(
                f"stopped: {GIVE_UP_AFTER} questions in a row could not be asked ({record.text}); "
                f"{len(self._journal.records)} of {len(self._dataset.questions)} are answered, "
                "and the same run with the same folder goes on from there"
            )

    async def _judged(self, turn: Question, record: TurnRecord) -> None:
        loop = asyncio.get_running_loop()
        verdict = await loop.run_in_executor(self._judging, self._judge.judge, turn, record.sql)
        if not record.asked:
            verdict = verdict.unasked(record.text)
        self._done[turn.id] = (record, verdict)
        self._listener(record, verdict)
