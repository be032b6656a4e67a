"""All past answers, replayed, and asked again where only a model can tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import Any, get_args

from ...agent import SQLAgent
from ...tools.database import Database
from ...tools.errors import QueryError, SettingsError
from ...tools.linking import PastTurn
from ...tools.results import same_result
from ..metrics.expected import expected
from ..trial.run import paired
from .history import Held, PastAnswer, Side, concerning
from .replay import Change, ChangeKind, Replay, shown

Ask = Callable[[PastAnswer], tuple[str, str]]
"""Asks a model a past answer's question of the new state: its query, empty where there is none, and the status."""


def asking(agent: SQLAgent, history: Sequence[PastAnswer]) -> Ask:
    """Ask an agent of the new state; a turn of a conversation sees the turns before it as they were answered.

    Args:
        agent: Whom to ask.
        history: All past answers, those of a conversation in their order.
    """

    def ask(past: PastAnswer) -> tuple[str, str]:
        conversation = agent.conversation()
        turns = [other for other in history if past.thread and _conversation(other) == _conversation(past)]
        before = turns[: turns.index(past)] if turns else []
        if earlier := [asdict(PastTurn(turn.question, turn.question, turn.sql)) for turn in before if turn.sql]:
            config: Any = {"configurable": {"thread_id": conversation.thread}}
            agent.graph.update_state(config, {"turns": earlier}, as_node="respond")
        answer = conversation.ask(past.question)
        return answer.sql or "" if answer.answered else "", answer.status

    return ask


def _conversation(past: PastAnswer) -> tuple[str, str]:
    """The file or folder, and the thread in it."""
    return past.source.rpartition(":")[0], past.thread


@dataclass(frozen=True)
class Impact:
    """What a change does to past answers.

    Attributes:
        changes: One for each past answer, in their order.
    """

    changes: Sequence[Change]

    @property
    def changed(self) -> list[Change]:
        """Those that are others now."""
        return [change for change in self.changes if change.changes]

    def as_json(self) -> dict[str, Any]:
        """Counts, what changes, and what only a model can settle."""
        counts = Counter(change.kind for change in self.changes)
        settled = sum(change.kind != "unsettled" and not change.by_model for change in self.changes)
        return {
            "answers": len(self.changes),
            "counts": {kind: counts[kind] for kind in get_args(ChangeKind)},
            "kept": self.kept,
            "without_model_share": settled / len(self.changes) if self.changes else None,
            "changed": [_as_json(change) for change in self.changed],
            "unsettled": [_as_json(change) for change in self.changes if change.kind == "unsettled"],
        }

    @property
    def kept(self) -> float | None:
        """The share of past answers that are certain to stay as they are; None without any."""
        staying = sum(change.kind in ("same", "broken_before") for change in self.changes)
        return staying / len(self.changes) if self.changes else None


def impact(
    before: Side, after: Side, history: Sequence[PastAnswer], ask: Ask | None = None, *, again: bool = False
) -> Impact:
    """Replays past answers.

    Args:
        before: The old state. A trial or run brings its own answers, and what they showed counts, as its database may
            be another by now.
        after: The new state. Where both are trials or runs, the two answers to each question are compared.
        history: Further past answers.
        ask: Asked about what cannot be settled without a model.
        again: Whether `ask` is put every question, as for another model: nothing is settled without it.

    Raises:
        DatabaseUnavailable: One of the databases cannot be used.
        SettingsError: A run over several databases is compared with something else than a run, or a history with it.
    """
    changes: list[Change] = []
    with ExitStack() as stack:
        if before.answers is not None and after.answers is not None:
            changes += _paired(before.answers, after.answers)
        if not history and (before.answers is None or after.answers is not None):
            return Impact(changes)
        old_place, new_place = before.only, after.only
        new = stack.enter_context(Database.open(new_place))
        if before.answers is not None and after.answers is None:
            replay = Replay(None, new, before.knowledge, after.knowledge)
            changes += [replay.settle(past) for past in before.answers if past.held or not past.sql]
        if history:
            old = stack.enter_context(Database.open(old_place))
            replay = Replay(old, new, before.knowledge, after.knowledge)
            changes += [replay.settle(past) for past in concerning(history, old)]
        if ask is not None:
            changes = [
                _asked(change, new, ask) if change.kind == "unsettled" or (again and change.past.question) else change
                for change in changes
            ]
        return Impact(changes)


def _paired(before: Sequence[PastAnswer], after: Sequence[PastAnswer]) -> list[Change]:
    """The answers of two trials or runs to the same questions, run again where they had the same database.

    Questions are the same by their id and words; of a single database, else by their words and those of the turns
    before them, as numbers move with what is put in between.

    Raises:
        SettingsError: They have no question in common.
    """
    keys: list[Callable[[PastAnswer], Hashable]] = [lambda past: (past.id, past.question)]
    if all(len({past.database for past in answers}) == 1 for answers in (before, after)):
        said = {id(past): words for answers in (before, after) for past, words in _said_so_far(answers)}
        keys.append(lambda past: said[id(past)])
    pairs = paired(before, after, *keys)
    if before and after and not pairs:
        raise SettingsError("the two have no question in common: nothing can be compared")
    changes: list[Change] = []
    for (place, other), group in groupby(pairs, key=lambda pair: (pair[0].database, pair[1].database)):
        with ExitStack() as stack:
            database = stack.enter_context(Database.open(place)) if place and place == other else None
            changes += [_pair(*pair, database) for pair in group]
    return changes


def _said_so_far(answers: Sequence[PastAnswer]) -> Iterator[tuple[PastAnswer, tuple[str, ...]]]:
    """Each answer with the questions of its conversation up to its own."""
    said: dict[str, tuple[str, ...]] = {}
    for past in answers:
        said[past.thread] = (*said.get(past.thread, ()), past.question)
        yield past, said[past.thread]


def _pair(past: PastAnswer, now: PastAnswer, database: Database | None) -> Change:
    if past.held is None or now.held is None:
        if (past.held is None) == (now.held is None) and past.status == now.status:
            return Change(past, "same")
        if past.held is None and now.held is None and past.status == "failed":
            return Change(past, "broken_before", f"it failed before, now it is {now.status or 'unknown'}")
        gives_none = now.held is None
        why = f"it was {past.status or 'unknown'}, now it is {now.status or 'unknown'}"
        return Change(past, "error" if gives_none else "rows", why, past.held, now.held, now.sql)
    whole = max(past.held.row_count, now.held.row_count) <= len(past.held.rows)
    same = _same_held(past.held, now.held)
    if database is not None and not (same and whole):
        same = _same_here(past, now, database)
    if same:
        return Change(past, "same", "", past.held, now.held, now.sql)
    return Change(past, "rows", "another answer", past.held, now.held, now.sql)


def _same_held(before: Held, after: Held) -> bool:
    return before.row_count == after.row_count and same_result(before.rows, after.rows)


def _same_here(past: PastAnswer, now: PastAnswer, database: Database) -> bool:
    """Whether both queries give the same answer on the new state: columns and rows may be in another order."""
    try:
        return expected(database, past.sql).allows(database.execute(now.sql))
    except QueryError:
        return False


def _asked(change: Change, database: Database, ask: Ask) -> Change:
    """What a model makes of a question that nothing else settles, or that is asked again."""
    sql, status = ask(change.past)
    if not sql:
        kind: ChangeKind = "error" if change.past.sql else "same"
        why = _also(change.why, f"asked again it is {status}") if change.past.sql else ""
        return replace(change, kind=kind, why=why, by_model=True)
    try:
        result = expected(database, sql)
    except QueryError as error:
        return replace(change, kind="error", why=_also(change.why, str(error)), carried=sql, by_model=True)
    held = shown(result.table)
    if change.kind == "same" and change.past.sql:
        same = _same_here(change.past, replace(change.past, sql=sql), database)
    else:
        same = change.before is not None and _same_held(change.before, held)
    kind = "same" if same else "rows"
    why = "" if same else change.why or "asked again, another answer"
    return replace(change, kind=kind, why=why, after=held, carried=sql, by_model=True)


def _also(why: str, more: str) -> str:
    return f"{why}; {more}" if why else more


def _as_json(change: Change) -> dict[str, Any]:
    about = {name: value for name, value in asdict(change.past).items() if name != "held"}
    results = {
        name: asdict(held) if held else None for name, held in (("before", change.before), ("after", change.after))
    }
    return {**about, "kind": change.kind, "why": change.why, **results, "sql_after": change.carried}
