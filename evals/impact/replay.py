"""Replaying one past answer on both states, without a model where that settles it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from sqlglot import exp

from ...agent.records import plain_cell
from ...tools.database import Database, Limits, Schema, Table, TableSchema
from ...tools.database.quoting import naming
from ...tools.errors import QueryError, QueryTimeout, ResultTooLarge, SQLParseError
from ...tools.sql import ALL_COLUMNS, used_items
from ...tools.sql.parse import parse
from ...tools.sql.resolve import resolve
from ...tools.stemming import english_stem
from ..metrics.expected import Expected, Unfit, expected
from .history import Held, PastAnswer


@dataclass(frozen=True)
class Renames:
    """What seems to have been renamed: a guess by form, to be confirmed by equal rows.

    Attributes:
        tables: New name by old name, both as declared.
        columns: New name by table and column, as they were called before.
    """

    tables: Mapping[str, str]
    columns: Mapping[tuple[str, str], str]

    @classmethod
    def between(cls, before: Schema, after: Schema) -> Renames:
        """Compares two schemas."""
        tables = dict(_renamed_tables(before, after))
        columns: dict[tuple[str, str], str] = {}
        for table in before.tables:
            now = after.table(tables.get(table.name, table.name))
            if now is not None:
                columns |= {(table.name, old): new for old, new in _renamed_columns(table, now)}
        return cls(tables, columns)

    def carried(self, sql: str, before: Schema) -> str:
        """A query with the new names; empty where nothing that it reads was renamed, or it cannot be read."""
        try:
            tree = parse(sql, before.dialect).tree.copy()
        except SQLParseError:
            return ""
        found = resolve(tree, before)
        changed = False
        for reference in found.references:
            table = reference.source.table if reference.source else None
            new = self.columns.get((table.name, reference.column)) if table else None
            if new is not None and reference.kind == "column":
                changed = True
                reference.node.set("this", _identifier(new, before.dialect))
        for scope in found.scopes:
            for source in scope.sources:
                new = self.tables.get(source.table.name) if source.table else None
                if new is not None and isinstance(source.node, exp.Table):
                    changed = True
                    if not source.node.alias:
                        source.node.set("alias", exp.TableAlias(this=source.node.this.copy()))
                    source.node.set("this", _identifier(new, before.dialect))
        return tree.sql(before.dialect) if changed else ""


def _identifier(name: str, dialect: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=not naming(dialect).is_plain(name))


def _renamed_tables(before: Schema, after: Schema) -> Iterator[tuple[str, str]]:
    """A table that is gone is the only new one with the same columns."""
    new = [table for table in after.tables if before.table(table.name) is None]
    for table in before.tables:
        if after.table(table.name) is None:
            alike = [other for other in new if _columns(other) == _columns(table)]
            if len(alike) == 1:
                yield table.name, alike[0].name


def _renamed_columns(before: TableSchema, after: TableSchema) -> Iterator[tuple[str, str]]:
    """Columns that are gone are, in their order, the new ones of the same type, where there are as many."""
    gone = [column for column in before.columns if after.column(column.name) is None]
    new = [column for column in after.columns if before.column(column.name) is None]
    for kind in dict.fromkeys(column.type.lower() for column in gone):
        old_ones = [column.name for column in gone if column.type.lower() == kind]
        new_ones = [column.name for column in new if column.type.lower() == kind]
        if len(old_ones) == len(new_ones):
            yield from zip(old_ones, new_ones, strict=True)


def _columns(table: TableSchema) -> frozenset[str]:
    return frozenset(column.name.lower() for column in table.columns)


ChangeKind = Literal["same", "error", "rows", "renamed", "broken_before", "unsettled"]
"""What becomes of a past answer.

- `same`: the query gives the same rows. `rows`: it gives others.
- `error`: it no longer runs. `renamed`: nor does that, but the same rows are there under new names.
- `broken_before`: it did not run before either: no change.
- `unsettled`: only a model can tell, such as for a question that was declined and may be answered now.
"""

SHOWN_ROWS = 10

_LIMITS = Limits(seconds=30.0, rows=200_000, result_bytes=200_000_000)
_BY_CLOCK = re.compile(r"\b(now|current_(date|time|timestamp)|random(blob)?|rand|getdate|sysdate)\b", re.IGNORECASE)
_COMMON = frozenset(
    {"the", "a", "an", "of", "in", "on", "for", "to", "and", "or", "is", "are", "was", "were", "with", "by", "from"}
)


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


@dataclass
class Replay:
    """Two states of a database, and of what is known about it.

    Attributes:
        before: None where only what its answers showed is left of it.
        after: The new state.
        knowledge_before: Terms and metrics by name, lower case.
        knowledge_after: Likewise.
    """

    before: Database | None
    after: Database
    knowledge_before: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    knowledge_after: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])

    def settle(self, past: PastAnswer) -> Change:
        """What becomes of an answer."""
        if why := self._knowledge_changed(past):
            return Change(past, "unsettled", why, past.held)
        return self._of_query(past) if past.sql else self._without_query(past)

    def _of_query(self, past: PastAnswer) -> Change:
        if _BY_CLOCK.search(past.sql):
            return self._of_the_moment(past)
        old = self._old(past)
        if isinstance(old, QueryTimeout | ResultTooLarge | Unfit):
            return Change(past, "unsettled", f"the old rows cannot be compared: {old}")
        if isinstance(old, QueryError):
            return Change(past, "broken_before", str(old))
        first = past.held if isinstance(old, Held) else shown(old.table)
        gone = self._gone(past.sql)
        try:
            table = self.after.execute(past.sql, _LIMITS)
        except (QueryTimeout, ResultTooLarge) as error:
            return Change(past, "unsettled", str(error), first)
        except QueryError as error:
            return self._lost(past, old, first, gone or str(error))
        same = _as_held(old, table) if isinstance(old, Held) else old.allows(table)
        if same and not gone:
            return Change(past, "same", "", first, shown(table))
        if gone:
            # SQLite reads a quoted name that is gone as a text: rows that mean nothing.
            return self._lost(past, old, first, gone)
        return Change(past, "rows", _difference(first, table), first, shown(table))

    def _of_the_moment(self, past: PastAnswer) -> Change:
        """A query by the clock or by chance: its rows may be others each time, but what it reads can be gone."""
        try:
            self.after.execute(past.sql, _LIMITS)
        except QueryError as error:
            return Change(past, "error", self._gone(past.sql) or str(error), past.held)
        if self._reads_the_same(past.sql):
            return Change(past, "same", "", past.held)
        return Change(past, "unsettled", "its rows depend on the moment or on chance", past.held)

    def _lost(self, past: PastAnswer, old: Expected | Held, first: Held | None, why: str) -> Change:
        """A query that no longer runs: perhaps only names have changed."""
        carried = self._renames.carried(past.sql, self._schemas[0]) if self._renames and self._schemas else ""
        if carried:
            try:
                table = self.after.execute(carried, _LIMITS)
            except QueryError:
                return Change(past, "error", why, first)
            if _as_held(old, table) if isinstance(old, Held) else old.allows(table):
                return Change(past, "renamed", why, first, shown(table), carried)
        return Change(past, "error", why, first)

    def _without_query(self, past: PastAnswer) -> Change:
        """A question that was declined, asked back or failed: other tables or columns may answer it now."""
        new = sorted(self._new_words & set(_stems(past.question)))
        if new:
            return Change(past, "unsettled", f"it had no query; the new names {', '.join(new)} may answer it now")
        return Change(past, "same")

    def _old(self, past: PastAnswer) -> Expected | Held | QueryError:
        """What the answer was: by its query on the old state, else as it was kept."""
        if self.before is None:
            return past.held or QueryError("its rows were not kept, and the old database is not at hand")
        try:
            return expected(self.before, past.sql, _LIMITS)
        except QueryError as error:
            return error

    def _gone(self, sql: str) -> str:
        """What the query reads that the new state lacks, in words; empty for nothing."""
        if self._schemas is None:
            return ""
        before, after = self._schemas
        try:
            used = used_items(sql, before)
        except SQLParseError:
            return ""
        tables = sorted(name for name in used.tables if after.table(name) is None)
        columns = sorted(
            (table, column)
            for table, column in used.columns
            if column != ALL_COLUMNS and table not in tables and after.column(table, column) is None
        )
        parts = [f"the table {name} is gone{self._now_called(name)}" for name in tables]
        parts += [f"{table}.{column} is gone{self._now_called(table, column)}" for table, column in columns]
        return "; ".join(parts)

    def _now_called(self, table: str, column: str = "") -> str:
        if self._renames is None or self._schemas is None:
            return ""
        new = self._renames.columns.get((table, column)) if column else self._renames.tables.get(table)
        if new:
            return f" (now {new}?)"
        moved = [other.name for other in self._schemas[1].tables if column and other.column(column)]
        return f" (now in {moved[0]}?)" if len(moved) == 1 else ""

    def _reads_the_same(self, sql: str) -> bool:
        """Whether the tables that a query reads are the same in both states, row for row."""
        if self._schemas is None or self.before is None:
            return False
        try:
            tables = used_items(sql, self._schemas[0]).tables
            for name in tables:
                text = f"SELECT * FROM {_quoted(name, self.before)}"
                if not expected(self.before, text, _LIMITS).allows(self.after.execute(text, _LIMITS)):
                    return False
        except (QueryError, SQLParseError):
            return False
        return True

    def _knowledge_changed(self, past: PastAnswer) -> str:
        """Which term or metric of the question means something else now."""
        words = f" {' '.join(_stems(past.question))} "
        for name, phrase in self._changed_terms:
            if phrase and f" {phrase} " in words:
                return f"what {name!r} means has changed"
        return ""

    @cached_property
    def _changed_terms(self) -> list[tuple[str, str]]:
        before, after = self.knowledge_before, self.knowledge_after
        changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        return [
            (name, " ".join(_stems(said)))
            for name in changed
            for said in (name, *_synonyms(before.get(name, {})), *_synonyms(after.get(name, {})))
        ]

    @cached_property
    def _schemas(self) -> tuple[Schema, Schema] | None:
        return None if self.before is None else (self.before.schema(), self.after.schema())

    @cached_property
    def _renames(self) -> Renames | None:
        return Renames.between(*self._schemas) if self._schemas else None

    @cached_property
    def _new_words(self) -> frozenset[str]:
        """Words of names that only the new state has, or whose table is new."""
        if self._schemas is None:
            return frozenset()
        before, after = (set(_names(schema)) for schema in self._schemas)
        known = {stem for name in before for stem in _stems(name)}
        return frozenset(stem for name in after - before for stem in _stems(name)) - known


def _names(schema: Schema) -> Iterator[str]:
    for table in schema.tables:
        yield table.name
        yield from (column.name for column in table.columns)


def _stems(text: str) -> list[str]:
    words = re.findall(r"[^\W\d_]+|\d+", re.sub(r"([a-z])([A-Z])", r"\1 \2", text))
    return [english_stem(word.lower()) for word in words if word.lower() not in _COMMON]


def _synonyms(entry: Mapping[str, Any]) -> list[str]:
    found = [entry.get(name) for name in ("synonyms", "aliases", "also")]
    return [str(name) for names in found if isinstance(names, list) for name in names]


def _quoted(name: str, database: Database) -> str:
    from ...tools.database.quoting import quoted

    return quoted(name, database.dialect)


def shown(table: Table) -> Held:
    """A result as people are shown it."""
    rows = tuple(tuple(plain_cell(cell) for cell in row) for row in table.rows[:SHOWN_ROWS])
    return Held(table.columns, rows, len(table.rows))


def _as_held(held: Held, table: Table) -> bool:
    """Whether a result is what an answer showed, as far as that was kept: its first rows, and how many there were."""
    if held.row_count != len(table.rows) or len(held.columns) != len(table.columns):
        return False
    rows = [tuple(plain_cell(cell) for cell in row) for row in table.rows]
    return not Counter(held.rows) - Counter(rows)


def _difference(first: Held | None, table: Table) -> str:
    count = len(table.rows)
    if first is not None and first.row_count != count:
        return f"{first.row_count} rows before, {count} now"
    if first is not None and len(first.columns) != len(table.columns):
        return f"{len(first.columns)} columns before, {len(table.columns)} now"
    return "other values"
