"""Makes the papers' example repositories of a store of training pairs: rephrased turn by turn, or simplified."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeVar

from ...prompts.rephrase import RephraseTask, SimplifyTask
from ...prompts.task import Task
from ...tools.database import Schema
from ...tools.errors import ReplyError
from ...tools.examples import Example, ExampleStore, seed_dialogues
from ...tools.linking import PastTurn
from ..effects import Tally, Translator, ask, run
from ..model.budget import left_of
from ..settings import Settings

R = TypeVar("R")

Dialogue = tuple[Example, ...]  # pairs that were asked one after the other; a pair of its own otherwise


@dataclass(frozen=True)
class Progress:
    """How far it went."""

    done: int  # pairs that have their form, those of earlier starts included
    pairs: int  # all
    failed: int = 0  # pairs for which the model gave none in this start; they are asked for again by the next
    calls: int = 0  # requests, repeated ones included


class Calls:
    """How many requests may still be made; shared by threads."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._lock = threading.Lock()

    def take(self, requests: int = 1) -> bool:
        """Whether there are so many more, which are then taken."""
        with self._lock:
            self._left -= requests
            return self._left >= 0


Forms = Callable[[Dialogue, Translator, Calls], tuple[Dialogue, int, int]]
"""Gives a dialogue's pairs that got a form, how many got none, and how many requests were made."""


def rephrase_all(dialogue: Dialogue, translator: Translator, calls: Calls) -> tuple[Dialogue, int, int]:
    """CREDIT-SQL 3.1: each turn after the fixed dialogues, and after the rephrasings of the turns before it.

    A turn that is not in the store, as it was refused or is another dialogue's too, is rephrased for those after it.
    """
    history: list[PastTurn] = []
    made: list[Example] = []
    failed = asked = 0
    pairs = {example.turn: example for example in dialogue}
    questions = dict(enumerate(dialogue[-1].earlier, 1)) | {turn: pair.question for turn, pair in pairs.items()}
    for turn, question in sorted(questions.items()):
        example = pairs.get(turn)
        sentence = example.rephrased if example else ""
        if not sentence:
            if not calls.take():
                break
            schema = Schema(dialogue[0].database, ())
            task = RephraseTask(
                question,
                tuple(history),
                schema,
                simplify=False,
                style="credit",
                dialogues=seed_dialogues(),
                asks_back=False,
            )
            reply, requests = _asked(task, translator, calls)
            asked += requests
            sentence = reply.rephrased if reply is not None else ""
            failed += bool(example) and reply is None
            if example and sentence:
                made.append(replace(example, rephrased=sentence))
        history.append(PastTurn(question, sentence or question))
    return tuple(made), failed, asked


def simplify_all(dialogue: Dialogue, translator: Translator, calls: Calls) -> tuple[Dialogue, int, int]:
    """Revision chain 3.1.1: each question once more in plain words, so that the repository R has twice the keys."""
    made: list[Example] = []
    failed = asked = 0
    for example in dialogue:
        if example.simplified:
            continue
        if not calls.take():
            break
        sentence, requests = _asked(SimplifyTask(example.question), translator, calls)
        asked += requests
        failed += sentence is None
        if sentence:
            made.append(replace(example, simplified=sentence))
    return tuple(made), failed, asked


def _asked(task: Task[R], translator: Translator, calls: Calls) -> tuple[R | None, int]:
    """The reply, None for one that cannot be used, and how many requests it took; the first is taken already."""
    tally = Tally(left_of(Settings(), {}))
    try:
        reply = run(ask(task), translator, tally).reply
    except ReplyError:
        reply = None
    requests = max(tally.usage.llm_calls, 1)
    calls.take(requests - 1)  # those for replies that could not be used
    return reply, requests


def dialogues(store: ExampleStore) -> list[Dialogue]:
    """A store's shared pairs, but for the built-in ones: dialogues in the order of their turns, then single pairs."""
    pairs = [hit.example for hit in store.list() if hit.example.shared and hit.example.source != "seed"]
    spoken = sorted((one for one in pairs if one.turn), key=lambda one: (one.source, one.turn))
    grouped = [tuple(turns) for _, turns in groupby(spoken, key=lambda one: one.source)]
    return grouped + [(one,) for one in pairs if not one.turn]


def complete(
    store: ExampleStore,
    forms: Forms,
    has: Callable[[Example], str],
    translator: Translator,
    *,
    calls: int,
    jobs: int = 4,
    tell: Callable[[Progress], object] = lambda _: None,
) -> Progress:
    """Asks for what pairs lack and keeps it, dialogue by dialogue: an interrupted call goes on at the next."""
    everything = dialogues(store)
    pairs = sum(map(len, everything))
    progress = Progress(sum(bool(has(pair)) for one in everything for pair in one), pairs)
    left = Calls(calls)
    open_ones = (one for one in everything if not all(map(has, one)))
    with ThreadPoolExecutor(jobs) as threads:
        waiting = [threads.submit(forms, one, translator, left) for one in open_ones]
        try:
            for future in as_completed(waiting):
                made, failed, asked = future.result()
                if made:
                    store.add(made, strict=False)
                done = progress.done + len(made)
                progress = Progress(done, pairs, progress.failed + failed, progress.calls + asked)
                tell(progress)
                if progress.calls >= calls:
                    break
        finally:
            for future in waiting:
                future.cancel()
    return progress
