"""All past answers, replayed on two states of a database, and asked again where only a model can tell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any, Literal, get_args

from sqlglot import exp

from ...agent import SQLAgent
from ...agent.records import plain_cell
from ...tools.database import Database, Limits, Schema, Table, TableSchema
from ...tools.database.quoting import naming
from ...tools.errors import QueryError, QueryTimeout, ResultTooLarge, SettingsError, SQLParseError
from ...tools.knowledge import Entry
from ...tools.linking import PastTurn
from ...tools.results import same_result
from ...tools.sql import ALL_COLUMNS, used_items
from ...tools.sql.parse import parse
from ...tools.sql.resolve import resolve
from ...tools.values.schema_words import name_stems
from ...tools.values.text_words import stems
from ..metrics.expected import Expected, Unfit, expected
from ..runner.record import SHOWN_ROWS
from ..trial.run import paired
from .history import Held, PastAnswer, Side, concerning

ChangeKind = Literal["same", "error", "rows", "renamed", "broken_before", "unsettled"]
"""What becomes of a past answer.

- `same`: the query gives the same rows. `rows`: it gives others.
- `error`: it no longer runs. `renamed`: nor does that, but the same rows are there under new names.
- `broken_before`: it did not run before either: no change.
- `unsettled`: only a model can tell, such as for a question that was declined and may be answered now.
"""

_LIMITS = Limits(seconds=30.0, rows=200_000, result_bytes=200_000_000)
_BY_CLOCK = re.compile(r"\b(now|current_(date|time|timestamp)|random(blob)?|rand|getdate|sysdate)\b", re.IGNORECASE)

_COMMON = frozenset(stems("the a an of in on for to and or is are was were with by from"))


@dataclass(frozen=True)
class Change:
    """What becomes of one past answer.

    Attributes:
        past: The answer.
        kind: See `ChangeKind`.
        why: In one line; empty where nothing changes.
        before: What it showed, or shows on the old state, first rows; None where that is unknown.
        after: Likewise on the new state; None where it has no rows there.
        carried: For `renamed`, the query with the new names; where a model was asked, the query that it wrote.
        by_model: Whether a model was asked.
    """

    past: PastAnswer
    kind: ChangeKind
    why: str = ""
    before: Held | None = None
    after: Held | None = None
    carried: str = ""
    by_model: bool = False

    @property
    def changes(self) -> bool:
        """Whether somebody who asks again gets something else, or nothing."""
        return self.kind in ("error", "rows", "renamed")

    def as_json(self) -> dict[str, Any]:
        """The change as `--json` prints it."""
        found = asdict(self)
        past = {name: value for name, value in found.pop("past").items() if name != "held"}
        del found["by_model"]
        return {**past, **found, "sql_after": found.pop("carried")}


class Replay:
    """Two states of a database, and of what is known about it.

    Args:
        before: None where only what its answers showed is left of it.
        after: The new state.
        knowledge_before: The entries of its knowledge file.
        knowledge_after: Likewise.
    """

    def __init__(
        self,
        before: Database | None,
        after: Database,
        knowledge_before: Sequence[Entry] = (),
        knowledge_after: Sequence[Entry] = (),
    ) -> None:
        self._before = before
        self._after = after
        old, new = ({entry.key: entry for entry in entries} for entries in (knowledge_before, knowledge_after))
        self._redefined = [
            entry
            for entries, others in ((old, new), (new, old))
            for key, entry in entries.items()
            if key not in others or entry.line != others[key].line
        ]

    def settle(self, past: PastAnswer) -> Change:
        """Return what becomes of an answer."""
        asked = stems(past.question)
        for entry in self._redefined:
            if any(_holds(asked, phrase) for phrase in entry.phrases):
                return Change(past, "unsettled", f"what {entry.name!r} means has changed", past.held)
        if past.sql:
            return self._settle_query(past)
        # A question that was declined, asked back or failed: other tables or columns may answer it now.
        if new := sorted(self._new_words.intersection(asked)):
            return Change(past, "unsettled", f"it had no query; the new names {', '.join(new)} may answer it now")
        return Change(past, "same")

    def _settle_query(self, past: PastAnswer) -> Change:
        try:
            old = past.held if self._before is None else expected(self._before, past.sql, _LIMITS)
        except (QueryTimeout, ResultTooLarge, Unfit) as error:
            return Change(past, "unsettled", f"the old rows cannot be compared: {error}")
        except QueryError as error:
            return Change(past, "broken_before", str(error))
        if old is None:
            return Change(past, "broken_before", "its rows were not kept, and the old database is not at hand")
        first = old if isinstance(old, Held) else shown(old.table)
        gone, table = self._name_gone(past.sql), None
        try:
            table = self._after.execute(past.sql, _LIMITS)
        except (QueryTimeout, ResultTooLarge) as error:
            return Change(past, "unsettled", str(error), first)
        except QueryError as error:
            gone = gone or str(error)
        if table is None or gone:
            # SQLite reads a quoted name that is gone as a text: rows that mean nothing.
            return self._carry_over(past, old, Change(past, "error", gone, first))
        if _gives(old, table):
            return Change(past, "same", "", first, shown(table))
        if _BY_CLOCK.search(past.sql):
            return Change(past, "unsettled", "its rows depend on the moment or on chance", first)
        return Change(past, "rows", _tell_difference(first, table), first, shown(table))

    def _carry_over(self, past: PastAnswer, old: Expected | Held, lost: Change) -> Change:
        """Return `renamed` if the query gives the same rows under new names, else that it is lost."""
        carried = self._renames.rewrite(past.sql) if self._renames else ""
        try:
            table = self._after.execute(carried, _LIMITS) if carried else None
        except QueryError:
            return lost
        if table is None or not _gives(old, table):
            return lost
        return replace(lost, kind="renamed", after=shown(table), carried=carried)

    def _name_gone(self, sql: str) -> str:
        """Name what the query reads that the new state lacks; empty for nothing."""
        renames = self._renames
        if renames is None:
            return ""
        try:
            used = used_items(sql, renames.before)
        except SQLParseError:
            return ""
        after = renames.after
        tables = sorted(name for name in used.tables if after.table(name) is None)
        parts = [f"the table {name} is gone{_maybe('now', renames.tables.get(name))}" for name in tables]
        for table, column in sorted(used.columns):
            if column == ALL_COLUMNS or table in tables or after.column(table, column) is not None:
                continue
            moved = [other.name for other in after.tables if other.column(column)]
            now = _maybe("now", renames.columns.get((table, column)))
            now = now or _maybe("now in", moved[0] if len(moved) == 1 else None)
            parts.append(f"{table}.{column} is gone{now}")
        return "; ".join(parts)

    @cached_property
    def _renames(self) -> _Renames | None:
        return _Renames(self._before.schema(), self._after.schema()) if self._before else None

    @cached_property
    def _new_words(self) -> frozenset[str]:
        """Stems of names that only the new state has."""
        if self._renames is None:
            return frozenset()
        before, after = (frozenset(_name_stems(schema)) for schema in (self._renames.before, self._renames.after))
        return after - before - _COMMON


def _holds(words: Sequence[str], phrase: Sequence[str]) -> bool:
    """Whether a phrase's words follow one another among some words."""
    return any(tuple(words[start : start + len(phrase)]) == tuple(phrase) for start in range(len(words)))


def _name_stems(schema: Schema) -> Iterator[str]:
    for table in schema.tables:
        for name in (table.name, *(column.name for column in table.columns)):
            yield from name_stems(name)


def _maybe(word: str, name: str | None) -> str:
    return f" ({word} {name}?)" if name else ""


class _Renames:
    """What seems to have been renamed between two schemas: a guess by form, to be confirmed by equal rows.

    Attributes:
        tables: New name by old name, both as declared.
        columns: New name by table and column, as they were called before.
    """

    def __init__(self, before: Schema, after: Schema) -> None:
        self.before = before
        self.after = after
        self.tables: dict[str, str] = {}
        self.columns: dict[tuple[str, str], str] = {}
        new = [table for table in after.tables if before.table(table.name) is None]
        for table in before.tables:
            now = after.table(table.name)
            if now is None:
                # A table that is gone is the only new one with the same columns.
                alike = [other for other in new if _column_names(other) == _column_names(table)]
                if len(alike) == 1:
                    self.tables[table.name] = alike[0].name
            else:
                self.columns |= {(table.name, old): name for old, name in _renamed_columns(table, now)}

    def rewrite(self, sql: str) -> str:
        """Return a query with the new names; empty if nothing that it reads was renamed, or it cannot be read."""
        try:
            tree = parse(sql, self.before.dialect).tree.copy()
        except SQLParseError:
            return ""
        found = resolve(tree, self.before)
        renamed: list[tuple[exp.Expr, str]] = []
        for reference in found.references:
            table = reference.source.table if reference.source else None
            if table and reference.kind == "column" and (table.name, reference.column) in self.columns:
                renamed.append((reference.node, self.columns[table.name, reference.column]))
        for source in (source for scope in found.scopes for source in scope.sources):
            if source.table and source.table.name in self.tables and isinstance(source.node, exp.Table):
                if not source.node.alias:
                    source.node.set("alias", exp.TableAlias(this=source.node.this.copy()))
                renamed.append((source.node, self.tables[source.table.name]))
        for node, name in renamed:
            node.set("this", exp.to_identifier(name, quoted=not naming(self.before.dialect).is_plain(name)))
        return tree.sql(self.before.dialect) if renamed else ""


def _renamed_columns(before: TableSchema, after: TableSchema) -> Iterator[tuple[str, str]]:
    """Pair columns that are gone, in their order, with the new ones of the same type, if there are as many."""
    gone = [column for column in before.columns if after.column(column.name) is None]
    new = [column for column in after.columns if before.column(column.name) is None]
    for kind in dict.fromkeys(column.type.lower() for column in gone):
        pair = [[column.name for column in side if column.type.lower() == kind] for side in (gone, new)]
        if len(pair[0]) == len(pair[1]):
            yield from zip(*pair, strict=True)


def _column_names(table: TableSchema) -> frozenset[str]:
    return frozenset(column.name.lower() for column in table.columns)


def shown(table: Table) -> Held:
    """Return a result as people are shown it."""
    rows = tuple(tuple(plain_cell(cell) for cell in row) for row in table.rows[:SHOWN_ROWS])
    return Held(table.columns, rows, len(table.rows))


def _gives(old: Expected | Held, table: Table) -> bool:
    """Whether a result is the old one; of what an answer showed, as far as it was kept: number and first rows."""
    if not isinstance(old, Held):
        return old.allows(table)
    if old.row_count != len(table.rows) or len(old.columns) != len(table.columns):
        return False
    return not Counter(old.rows) - Counter(tuple(plain_cell(cell) for cell in row) for row in table.rows)


def _tell_difference(first: Held, table: Table) -> str:
    counts = (first.row_count, len(table.rows), "rows"), (len(first.columns), len(table.columns), "columns")
    return next((f"{old} {what} before, {new} now" for old, new, what in counts if old != new), "other values")


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
    """Return the file or folder, and the thread in it."""
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

    @property
    def kept(self) -> float | None:
        """The share of past answers that are certain to stay as they are; None without any."""
        return self._share(lambda change: change.kind in ("same", "broken_before"))

    def _share(self, condition: Callable[[Change], bool]) -> float | None:
        return sum(map(condition, self.changes)) / len(self.changes) if self.changes else None

    def as_json(self) -> dict[str, Any]:
        """Counts, what changes, and what only a model can settle."""
        counts = Counter(change.kind for change in self.changes)
        return {
            "answers": len(self.changes),
            "counts": {kind: counts[kind] for kind in get_args(ChangeKind)},
            "kept": self.kept,
            "without_model_share": self._share(lambda change: change.kind != "unsettled" and not change.by_model),
            "changed": [change.as_json() for change in self.changed],
            "unsettled": [change.as_json() for change in self.changes if change.kind == "unsettled"],
        }


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
            changes += _compare(before.answers, after.answers)
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
            for place, change in enumerate(changes):
                if change.kind == "unsettled" or (again and change.past.question):
                    changes[place] = _ask_again(change, new, ask)
        return Impact(changes)


def _compare(before: Sequence[PastAnswer], after: Sequence[PastAnswer]) -> list[Change]:
    """Compare the answers of two trials or runs to the same questions, run again where they had the same database.

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
            changes += [_compare_pair(*pair, database) for pair in group]
    return changes


def _said_so_far(answers: Sequence[PastAnswer]) -> Iterator[tuple[PastAnswer, tuple[str, ...]]]:
    """Yield each answer with the questions of its conversation up to its own."""
    said: dict[str, tuple[str, ...]] = {}
    for past in answers:
        said[past.thread] = (*said.get(past.thread, ()), past.question)
        yield past, said[past.thread]


def _compare_pair(past: PastAnswer, now: PastAnswer, database: Database | None) -> Change:
    if past.held is None or now.held is None:
        if past.held is now.held and past.status == now.status:
            return Change(past, "same")
        if past.held is now.held and past.status == "failed":
            return Change(past, "broken_before", f"it failed before, now it is {now.status or 'unknown'}")
        why = f"it was {past.status or 'unknown'}, now it is {now.status or 'unknown'}"
        return Change(past, "rows" if now.held else "error", why, past.held, now.held, now.sql)
    whole = max(past.held.row_count, now.held.row_count) <= len(past.held.rows)
    same = _same_held(past.held, now.held)
    if database is not None and not (same and whole):
        same = _same_here(past.sql, now.sql, database)
    found = Change(past, "same", "", past.held, now.held, now.sql)
    return found if same else replace(found, kind="rows", why="another answer")


def _same_held(before: Held, after: Held) -> bool:
    return before.row_count == after.row_count and same_result(before.rows, after.rows)


def _same_here(before: str, after: str, database: Database) -> bool:
    """Whether two queries give the same answer on a database: columns and rows may be in another order."""
    try:
        return expected(database, before).allows(database.execute(after))
    except QueryError:
        return False


def _ask_again(change: Change, database: Database, ask: Ask) -> Change:
    """Return what a model makes of a question that nothing else settles, or that is asked again."""
    sql, status = ask(change.past)
    found = replace(change, carried=sql or change.carried, by_model=True)
    if not sql and not change.past.sql:
        return replace(found, kind="same", why="")
    why = f"asked again it is {status}"
    try:
        held = shown(expected(database, sql).table) if sql else None
    except QueryError as error:
        held, why = None, str(error)
    if held is None:
        return replace(found, kind="error", why=f"{change.why}; {why}" if change.why else why)
    if change.kind == "same" and change.past.sql:
        same = _same_here(change.past.sql, sql, database)
    else:
        same = change.before is not None and _same_held(change.before, held)
    if same:
        return replace(found, kind="same", why="", after=held)
    return replace(found, kind="rows", why=change.why or "asked again, another answer", after=held)
