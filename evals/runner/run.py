"""The run itself: interactions side by side, the turns of each one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Generic, Literal, Protocol, TypeAlias, TypeVar

from ...tools.errors import SettingsError, TableturnError
from ..datasets import Dataset, Question
from ..metrics import StrictJudge, Verdict
from .answering import Answering, not_asked
from .journal import JOURNAL_FILE, Journal
from .local_engine import local_engine, run_settings
from .record import TurnRecord
from .results import RESULTS_FILE, read_results
from .spec import RunSpec, check_folder, write_spec

T = TypeVar("T")
V = TypeVar("V")
V_co = TypeVar("V_co", covariant=True)

Engine = Literal["local", "ray"]
"""Where questions are answered: in this process, or on a Ray cluster."""


GIVE_UP_AFTER = 8
"""Questions in a row that cannot be asked before a run stops: the server is down, or the key is wrong."""


class RunStopped(TableturnError):
    """A run cannot continue now. Its answers are saved; starting it again continues from there.

    What to do: fix the problem that the message names, and run the same command again.
    """


class Judging(Protocol[V_co]):
    """Judges records, one at a time and in one thread."""

    def judge(self, question: Question, record: TurnRecord) -> V_co:
        """What to make of a record, also of one that says that the model could not be asked."""
        ...

    def close(self) -> None:
        """Closes what is open."""
        ...


Hears: TypeAlias = Callable[[TurnRecord, V], None]
"""Told about each question as it is answered and judged in any way."""


class Listener(Protocol):
    """Told about each question as it is answered and judged."""

    def __call__(self, record: TurnRecord, verdict: Verdict) -> None:
        """One more question is done."""
        ...


def run_evaluation(
    spec: RunSpec,
    dataset: Dataset,
    out: Path,
    *,
    jobs: int,
    listener: Listener,
    engine: Engine = "local",
    asked: Dataset | None = None,
) -> list[tuple[TurnRecord, Verdict]]:
    """Answers every question of a dataset, or those that are still to do.

    Args:
        spec: The run; the folder must hold the same one, or none.
        dataset: Its split, whole; `spec` says what part is asked.
        out: The run's folder: specification, journal, cached replies.
        jobs: Interactions at once.
        listener: Told about each question, also those answered before the run was interrupted.
        engine: Where they are answered; no answer depends on it, and an interrupted run may be resumed with the other.
        asked: The part that is asked, where `spec` alone does not say.

    Returns:
        Records with strict verdicts, in the dataset's order. Questions that the model could not be asked (`asked` is
        False) have none, and are asked again when the run is started again.

    Raises:
        RunStopped: The model could not be asked `GIVE_UP_AFTER` questions in a row.
        SettingsError: The folder holds another run or a trial, settings are wrong, or the engine is not installed.
        ModelError: The model cannot be set up.
    """
    run_settings(spec, dataset)
    asked = asked or dataset.without(spec.without).first(spec.limit)
    check_folder(spec, asked, out)
    if (out / RESULTS_FILE).exists() and "trial" in read_results(out):
        raise SettingsError(f"{out} holds a trial: name another folder with --out")
    with Journal(out / JOURNAL_FILE) as journal, _engine(engine, spec, dataset, out, jobs) as answering:
        # Only what can be run at all takes the folder.
        write_spec(spec, asked, out)
        return answer_all(asked, answering, journal, _Strictly(dataset), listener, jobs)


def answer_all(
    asked: Dataset,
    answering: Answering,
    journal: Journal,
    judging: Judging[V],
    listener: Hears[V],
    jobs: int,
) -> list[tuple[TurnRecord, V]]:
    """Has every question answered that the journal lacks, and all of them judged.

    Args:
        asked: The questions.
        answering: Who answers.
        journal: Of this start and those before it.
        judging: Closed at the end.
        listener: Told about each question, also those answered before.
        jobs: Interactions at once.

    Returns:
        Records with what was made of them, in the dataset's order.

    Raises:
        RunStopped: The model could not be asked `GIVE_UP_AFTER` questions in a row.
    """
    done = completed(_Run(asked, answering, journal, judging, listener).all(jobs))
    return [done[question.id] for question in asked.questions]


class _Strictly:
    """Strict judging; no verdict where the model could not be asked."""

    def __init__(self, dataset: Dataset) -> None:
        self._judge = StrictJudge(dataset)
        self.close = self._judge.close

    def judge(self, question: Question, record: TurnRecord) -> Verdict:
        """See `Judging`."""
        verdict = self._judge.judge(question, record.sql)
        return verdict if record.asked else verdict.unasked(record.text)


def completed(work: Coroutine[object, object, T]) -> T:
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


class _Run(Generic[V]):
    def __init__(
        self,
        dataset: Dataset,
        answering: Answering,
        journal: Journal,
        judging: Judging[V],
        listener: Hears[V],
    ) -> None:
        self._dataset = dataset
        self._answering = answering
        self._journal = journal
        self._listener = listener
        self._judge = judging
        # SQLite connections belong to the thread that opened them: one thread judges.
        self._judging = ThreadPoolExecutor(1)
        self._done: dict[str, tuple[TurnRecord, V]] = {}
        self._unasked_in_a_row = 0

    async def all(self, jobs: int) -> dict[str, tuple[TurnRecord, V]]:
        """Answers and judges everything; records and verdicts by question id."""
        # What could not be asked before comes last: a few questions that a server always refuses must not end a run.
        interactions = iter(sorted(self._dataset.interactions, key=self._was_unasked))
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

    def _was_unasked(self, turns: tuple[Question, ...]) -> bool:
        return any(turn.id in self._journal.unasked for turn in turns)

    async def _work(self, interactions: Iterator[tuple[Question, ...]]) -> None:
        """One of the workers, who share the iterator."""
        for turns in interactions:
            recorded = {turn.id: record for turn in turns if (record := self._journal.records.get(turn.id))}
            for turn in turns:
                if turn.id in recorded:
                    await self._judged(turn, recorded[turn.id])
            if len(recorded) < len(turns):
                await self._answered({turn.id: turn for turn in turns}, recorded)

    async def _answered(self, turns: Mapping[str, Question], recorded: Mapping[str, TurnRecord]) -> None:
        """Has the turns that `recorded` lacks answered; after one that the model could not be asked, none is."""
        left = dict.fromkeys(name for name in turns if name not in recorded)
        why = ""
        async for record in self._answering.answers(tuple(turns.values()), recorded):
            self._journal.add(record)
            self._check_asked(record)
            why = why if record.asked else record.text
            del left[record.id]
            await self._judged(turns[record.id], record)
        for name in left:
            await self._judged(turns[name], not_asked(turns[name], why))

    def _check_asked(self, record: TurnRecord) -> None:
        """Stops the run where the model cannot be asked time after time."""
        self._unasked_in_a_row = 0 if record.asked else self._unasked_in_a_row + 1
        if self._unasked_in_a_row == GIVE_UP_AFTER:
            raise RunStopped(
                f"stopped: {GIVE_UP_AFTER} questions in a row could not be asked ({record.text}); "
                f"{len(self._journal.records)} of {len(self._dataset.questions)} are answered, "
                "and the same run with the same folder goes on from there"
            )

    async def _judged(self, turn: Question, record: TurnRecord) -> None:
        loop = asyncio.get_running_loop()
        verdict = await loop.run_in_executor(self._judging, self._judge.judge, turn, record)
        self._done[turn.id] = (record, verdict)
        self._listener(record, verdict)
