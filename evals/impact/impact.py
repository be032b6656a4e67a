"""All past answers, replayed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from typing import Any, get_args

from ...tools.database import Database
from ...tools.errors import QueryError
from ...tools.results import same_result
from ..metrics.expected import expected
from .history import Held, PastAnswer
from .replay import Change, ChangeKind, Replay, shown
from .side import Side

Ask = Callable[[str], tuple[str, str]]
"""Asks a model a question of the new state: its query, empty where there is none, and the answer's status."""


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
            "without_model_share": settled / len(self.changes) if self.changes else None,
            "changed": [_as_json(change) for change in self.changed],
            "unsettled": [_as_json(change) for change in self.changes if change.kind == "unsettled"],
        }


def impact(before: Side, after: Side, history: Sequence[PastAnswer], ask: Ask | None = None) -> Impact:
    """Replays past answers.

    Args:
        before: The old state. A trial's folder brings its own answers, and what they showed counts, as its database may
            be another by now.
        after: The new state. Where both are trials, the two answers to each question are compared.
        history: Further past answers.
        ask: Asked about what cannot be settled without a model.

    Raises:
        DatabaseUnavailable: One of the databases cannot be used.
    """
    with ExitStack() as stack:
        new = stack.enter_context(Database.open(after.database))
        changes: list[Change] = []
        if before.answers is not None:
            replay = Replay(None, new, before.knowledge, after.knowledge)
            if after.answers is None:
                changes += [replay.settle(past) for past in before.answers if past.held or not past.sql]
            else:
                here = new if before.database == after.database else None
                changes += _paired(before.answers, after.answers, here)
        if history:
            old = stack.enter_context(Database.open(before.database))
            replay = Replay(old, new, before.knowledge, after.knowledge)
            changes += [replay.settle(past) for past in history]
        if ask is not None:
            changes = [_asked(change, new, ask) if change.kind == "unsettled" else change for change in changes]
        return Impact(changes)


def _paired(before: Sequence[PastAnswer], after: Sequence[PastAnswer], database: Database | None) -> list[Change]:
    """The answers of two trials to the same questions; the database, where both were held on the same one."""
    found = {(past.thread, past.question): past for past in after}
    pairs = [(past, found[past.thread, past.question]) for past in before if (past.thread, past.question) in found]
    return [_pair(past, now, database) for past, now in pairs]


def _pair(past: PastAnswer, now: PastAnswer, database: Database | None) -> Change:
    if past.held is None or now.held is None:
        if (past.held is None) == (now.held is None) and past.status == now.status:
            return Change(past, "same")
        gives_none = now.held is None
        why = f"it was {past.status or 'unknown'}, now it is {now.status or 'unknown'}"
        return Change(past, "error" if gives_none else "rows", why, past.held, now.held, now.sql)
    if _same_held(past.held, now.held) or (database is not None and _same_here(past, now, database)):
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
    """What a model makes of a question that nothing else settles."""
    sql, status = ask(change.past.question)
    if not sql:
        kind: ChangeKind = "error" if change.past.sql else "same"
        why = f"{change.why}; asked again it is {status}" if change.past.sql else ""
        return replace(change, kind=kind, why=why, by_model=True)
    try:
        result = expected(database, sql)
    except QueryError as error:
        return replace(change, kind="error", why=f"{change.why}; {error}", carried=sql, by_model=True)
    held = shown(result.table)
    same = change.before is not None and _same_held(change.before, held)
    kind = "same" if same else "rows"
    return replace(change, kind=kind, why="" if same else change.why, after=held, carried=sql, by_model=True)


def _as_json(change: Change) -> dict[str, Any]:
    about = {name: value for name, value in asdict(change.past).items() if name != "held"}
    results = {
        name: asdict(held) if held else None for name, held in (("before", change.before), ("after", change.after))
    }
    return {**about, "kind": change.kind, "why": change.why, **results, "sql_after": change.carried}
