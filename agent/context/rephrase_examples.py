"""The papers' example stores: training pairs with rephrased or simplified questions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeVar

from ...prompts.rephrase import RephraseTask, SimplifyTask
from ...prompts.task import Task
from ...tools.database import Schema
from ...tools.errors import ReplyError
from ...tools.examples import Example, ExampleStore, load_dialogues
from ...tools.linking import PastTurn
from ..effects import BudgetTracker, Translator, ask, run
from ..model.turn_budget import compute_node_budget
from ..settings import Settings

R = TypeVar("R")

Dialogue = tuple[Example, ...]  # pairs that were asked one after the other; a pair of its own otherwise


@dataclass(frozen=True)
class PairProgress:
    """The progress of adding rephrased or simplified questions to stored examples."""

    done: int  # pairs that have their form, those of earlier starts included
    pairs: int  # all
    failed: int = 0  # pairs for which the model gave none in this start; they are asked for again by the next
    calls: int = 0  # requests, repeated ones included


class _RequestLimitReached(Exception):
    """An error: no further request may be made."""


class RequestLimitedTranslator:
    """A translator that stops after a maximum number of requests; threads may share one."""

    def __init__(self, translator: Translator, most: int) -> None:
        self._translator = translator
        self._most = most
        self._lock = threading.Lock()
        self.calls = 0

    def ask(self, task: Task[R]) -> R | None:
        """Return the reply to a task, or None if the reply is unusable; retries count as requests."""
        with self._lock:
            if self.calls >= self._most:
                raise _RequestLimitReached
            self.calls += 1
        tally = BudgetTracker(compute_node_budget(Settings(), {}))
        try:
            return run(ask(task), self._translator, tally).reply
        except ReplyError:
            return None
        finally:
            with self._lock:
                self.calls += max(tally.usage.llm_calls - 1, 0)


Forms = Callable[[Dialogue, RequestLimitedTranslator], Iterator[Example]]
"""Yields those of a dialogue's pairs that lacked a form, with it if the model gave one."""


def rephrase_dialogue(dialogue: Dialogue, translator: RequestLimitedTranslator) -> Iterator[Example]:
    """Rephrase the dialogue's questions that are not rephrased yet (CREDIT-SQL 3.1).

    A turn that is not in the store, as it was refused or is another dialogue's too, is rephrased for those after it.
    """
    history: list[PastTurn] = []
    pairs = {example.turn: example for example in dialogue}
    questions = dict(enumerate(dialogue[-1].earlier, 1)) | {turn: pair.question for turn, pair in pairs.items()}
    for turn, question in sorted(questions.items()):
        example = pairs.get(turn)
        sentence = example.rephrased if example else ""
        if not sentence:
            schema = Schema(dialogue[0].database, ())
            task = RephraseTask(
                question,
                tuple(history),
                schema,
                simplify=False,
                style="credit",
                dialogues=load_dialogues(),
                asks_back=False,
            )
            reply = translator.ask(task)
            sentence = reply.rephrased if reply is not None else ""
            if example:
                yield replace(example, rephrased=sentence)
        history.append(PastTurn(question, sentence or question))


def simplify_dialogue(dialogue: Dialogue, translator: RequestLimitedTranslator) -> Iterator[Example]:
    """Simplify the dialogue's questions that are not simplified yet (revision chain 3.1.1)."""
    for example in dialogue:
        if not example.simplified:
            yield replace(example, simplified=translator.ask(SimplifyTask(example.question)) or "")


def group_pairs_into_dialogues(store: ExampleStore) -> list[Dialogue]:
    """Return a store's imported examples grouped into dialogues, then the single examples."""
    pairs = [hit.example for hit in store.list() if hit.example.shared and hit.example.source != "seed"]
    dialogue_pairs = sorted((pair for pair in pairs if pair.turn), key=lambda pair: (pair.source, pair.turn))
    dialogues = [tuple(turns) for _, turns in groupby(dialogue_pairs, key=lambda pair: pair.source)]
    return dialogues + [(pair,) for pair in pairs if not pair.turn]


def complete_example_pairs(
    store: ExampleStore,
    forms: Forms,
    has: Callable[[Example], str],
    translator: Translator,
    *,
    calls: int,
    jobs: int = 4,
    report: Callable[[PairProgress], object] = lambda _: None,
) -> PairProgress:
    """Add missing rephrased or simplified questions to stored examples, dialogue by dialogue."""
    everything, asker = group_pairs_into_dialogues(store), RequestLimitedTranslator(translator, calls)
    progress = PairProgress(sum(bool(has(pair)) for turns in everything for pair in turns), sum(map(len, everything)))

    def complete_dialogue(dialogue: Dialogue) -> list[Example]:
        attempts: list[Example] = []
        with suppress(_RequestLimitReached):
            attempts.extend(forms(dialogue, asker))
        return attempts

    with ThreadPoolExecutor(jobs) as threads:
        waiting = [threads.submit(complete_dialogue, turns) for turns in everything if not all(map(has, turns))]
        try:
            for future in as_completed(waiting):
                attempts = future.result()
                if pairs := [example for example in attempts if has(example)]:
                    store.add(pairs, strict=False)
                done_count, failures = progress.done + len(pairs), progress.failed + len(attempts) - len(pairs)
                progress = PairProgress(done_count, progress.pairs, failures, asker.calls)
                report(progress)
        finally:
            threads.shutdown(cancel_futures=True)
    return progress
