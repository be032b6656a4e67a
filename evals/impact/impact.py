"""All past answers, replayed on two states of a database, and asked again if only a model can tell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import Any, Literal, get_args

from sqlglot import exp

from ...agent import SQLAgent
from ...agent.records import plain_cell
from ...tools.database import Database, Limits, Schema, Table
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
from .history import Held, PastAnswer, Side, answers_about

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
    """What becomes of one past answer."""

    past: PastAnswer  # the answer
    kind: ChangeKind
    why: str = ""  # in one line; empty if nothing changes
    before: Held | None = None  # what it showed, or shows on the old state, first rows; None if that is unknown
    after: Held | None = None  # likewise on the new state; None if it has no rows there
    carried: str = ""  # for `renamed`, the query with the new names; if a model was asked, the query that it wrote
    by_model: bool = False  # whether a model was asked

    @property
    def changes(self) -> bool:
        """Whether somebody who asks again gets something else, or nothing."""
        return self.kind in ("error", "rows", "renamed")

    def as_json(self) -> dict[str, Any]:
        """Return the change as `--json` prints it."""
        found = asdict(self)
        past = {name: value for name, value in found.pop("past").items() if name != "held"}
        del found["by_model"]
        return {**past, **found, "sql_after": found.pop("carried")}


class Replay:
    """Two states of a database, and of what is known about it.

    Args:
        before: None if only what its answers showed is left of it.
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
        both = [key for key in old if key in new and old[key].line == new[key].line]
        self._redefined = [entry for entries in (old, new) for key, entry in entries.items() if key not in both]
        self._schemas = (before.schema(), after.schema()) if before else None
        self._new_words = frozenset[str]()
        if self._schemas:
            was, now = (
                {stem for table in schema.tables for part in (table, *table.columns) for stem in name_stems(part.name)}
                for schema in self._schemas
            )
            self._new_words = frozenset(now - was - _COMMON)

    def settle(self, past: PastAnswer) -> Change:
        """Return what becomes of an answer."""
        asked = tuple(stems(past.question))
        for entry in self._redefined:
            for phrase in map(tuple, entry.phrases):
                if any(asked[start : start + len(phrase)] == phrase for start in range(len(asked))):
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
        first = old if isinstance(old, Held) else _hold(old.table)
        gone, table = self._find_gone(past.sql), None
        try:
            table = self._after.execute(past.sql, _LIMITS)
        except (QueryTimeout, ResultTooLarge) as error:
            return Change(past, "unsettled", str(error), first)
        except QueryError as error:
            gone = gone or str(error)
        if table is None or gone:
            # SQLite reads a quoted name that is gone as a text: rows that mean nothing.
            lost = Change(past, "error", gone, first)
            carried = _rewrite(past.sql, *self._schemas) if self._schemas else ""
            try:
                table = self._after.execute(carried, _LIMITS) if carried else None
            except QueryError:
                return lost
            if table is None or not _gives(old, table):
                return lost
            return replace(lost, kind="renamed", after=_hold(table), carried=carried)
        if _gives(old, table):
            return Change(past, "same", "", first, _hold(table))
        if _BY_CLOCK.search(past.sql):
            return Change(past, "unsettled", "its rows depend on the moment or on chance", first)
        counts = (first.row_count, len(table.rows), "rows"), (len(first.columns), len(table.columns), "columns")
        why = next((f"{old} {what} before, {new} now" for old, new, what in counts if old != new), "other values")
        return Change(past, "rows", why, first, _hold(table))

    def _find_gone(self, sql: str) -> str:
        """Return in words what the query reads that the new state lacks; empty for nothing."""
        try:
            if self._schemas is None:
                return ""
            used = used_items(sql, self._schemas[0])
        except SQLParseError:
            return ""
        after = self._schemas[1]
        tables = sorted(name for name in used.tables if after.table(name) is None)
        columns = sorted(
            f"{table}.{column}"
            for table, column in used.columns
            if column != ALL_COLUMNS and table not in tables and after.column(table, column) is None
        )
        return "; ".join([*(f"the table {name} is gone" for name in tables), *(f"{name} is gone" for name in columns)])


def _rewrite(sql: str, before: Schema, after: Schema) -> str:
    """Return a query with the names that things seem to have now: a guess by form, to be confirmed by equal rows.

    Empty if nothing that it reads was renamed, or it cannot be read.
    """
    tables: dict[str, str] = {}
    columns: dict[tuple[str, str], str] = {}
    for table in before.tables:
        now = after.table(table.name)
        if now is None:
            # A table that is gone is the only new one with the same columns.
            names = {column.name.lower() for column in table.columns}
            new = [other for other in after.tables if before.table(other.name) is None]
            alike = [other.name for other in new if {column.name.lower() for column in other.columns} == names]
            if len(alike) == 1:
                tables[table.name] = alike[0]
            continue
        # Columns that are gone are, in their order, the new ones of the same type, if there are as many.
        gone = [column for column in table.columns if now.column(column.name) is None]
        added = [column for column in now.columns if table.column(column.name) is None]
        for kind in {column.type.lower() for column in gone}:
            old, new = ([column.name for column in side if column.type.lower() == kind] for side in (gone, added))
            if len(old) == len(new):
                columns |= {(table.name, name): other for name, other in zip(old, new, strict=True)}
    try:
        tree = parse(sql, before.dialect).tree.copy()
    except SQLParseError:
        return ""
    found = resolve(tree, before)
    renamed: list[tuple[exp.Expr, str]] = []
    for reference in found.references:
        table = reference.source.table if reference.source else None
        if table and reference.kind == "column" and (table.name, reference.column) in columns:
            renamed.append((reference.node, columns[table.name, reference.column]))
    for source in (source for scope in found.scopes for source in scope.sources):
        if source.table and source.table.name in tables and isinstance(source.node, exp.Table):
            if not source.node.alias:
                source.node.set("alias", exp.TableAlias(this=source.node.this.copy()))
            renamed.append((source.node, tables[source.table.name]))
    for node, name in renamed:
        node.set("this", exp.to_identifier(name, quoted=not naming(before.dialect).is_plain(name)))
    return tree.sql(before.dialect) if renamed else ""


def _hold(table: Table) -> Held:
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


Ask = Callable[[PastAnswer], tuple[str, str]]
"""Asks a model a past answer's question of the new state: its query, empty if there is none, and the status."""


def asking(agent: SQLAgent, history: Sequence[PastAnswer]) -> Ask:
    """Ask an agent of the new state; a turn of a conversation sees the turns of `history` before it, as answered."""
    # A conversation is a thread of a file or folder.
    threads = {id(past): (past.source.rpartition(":")[0], past.thread) for past in history if past.thread}

    def ask(past: PastAnswer) -> tuple[str, str]:
        conversation = agent.conversation()
        turns = [other for other in history if past.thread and threads.get(id(other)) == threads.get(id(past))]
        before = turns[: turns.index(past)] if turns else []
        if earlier := [asdict(PastTurn(turn.question, turn.question, turn.sql)) for turn in before if turn.sql]:
            config: Any = {"configurable": {"thread_id": conversation.thread}}
            agent.graph.update_state(config, {"turns": earlier}, as_node="respond")
        answer = conversation.ask(past.question)
        return answer.sql or "" if answer.answered else "", answer.status

    return ask


@dataclass(frozen=True)
class Impact:
    """What a change does to past answers: one change for each, in their order."""

    changes: Sequence[Change]

    @property
    def changed(self) -> list[Change]:
        """The answers that are others now."""
        return [change for change in self.changes if change.changes]

    @property
    def kept(self) -> float | None:
        """The share of past answers that are certain to stay as they are; None without any."""
        return self._share(lambda change: change.kind in ("same", "broken_before"))

    def _share(self, condition: Callable[[Change], bool]) -> float | None:
        return sum(map(condition, self.changes)) / len(self.changes) if self.changes else None

    def as_json(self) -> dict[str, Any]:
        """Return counts, what changes, and what only a model can settle."""
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
    """Replay past answers.

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
            changes += [replay.settle(past) for past in answers_about(old, history)]
        if ask is not None:
            for place, change in enumerate(changes):
                if change.kind == "unsettled" or (again and change.past.question):
                    changes[place] = _ask_again(change, new, ask)
        return Impact(changes)


def _compare(before: Sequence[PastAnswer], after: Sequence[PastAnswer]) -> list[Change]:
    """Compare the answers of two trials or runs to the same questions, run again if they had the same database.

    Questions are the same by their id and words; of a single database, else by their words and those of the turns
    before them, as numbers move with what is put in between.

    Raises:
        SettingsError: They have no question in common.
    """
    keys: list[Callable[[PastAnswer], Hashable]] = [lambda past: (past.id, past.question)]
    if all(len({past.database for past in answers}) == 1 for answers in (before, after)):
        said: dict[int, tuple[str, ...]] = {}
        for answers in (before, after):
            threads: dict[str, tuple[str, ...]] = {}
            for past in answers:
                said[id(past)] = threads[past.thread] = (*threads.get(past.thread, ()), past.question)
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
        held = _hold(expected(database, sql).table) if sql else None
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
