"""Rules of egress: the columns whose values, or only statistics, a model may see.

A column of level `none` may be queried like any other. Its cells reach nobody but the person who asks: no prompt,
sample, value hint, feedback, example, tool text, trace or checkpoint holds one. docs/egress.md says what is promised.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal, cast, get_args

from ..errors import SettingsError
from .column_kinds import column_kind
from .schema import ColumnSchema, ForeignKey, Schema, TableSchema
from .secret_columns import names_secret, secret_columns


@lru_cache(maxsize=100_000)
def matches(entry: str, name: str) -> bool:
    """Whether an entry matches a name, both in lower case."""
    return re.fullmatch(re.escape(entry).replace(r"\*", ".*"), name, re.DOTALL) is not None


def any_matches(entries: Iterable[str], names: Collection[str]) -> bool:
    """Whether any entry matches any of the names, all in lower case."""
    return any(matches(entry, name) for entry in entries for name in names)


Level = Literal["values", "statistics", "none"]
"""What of a column may leave: its values; counts and its kind, but no value; or nothing but its name and type."""

MaskKind = Literal["email", "card", "iban", "phone"]
"""What is recognised by its form and replaced in everything that leaves."""

_LEVELS: tuple[Level, ...] = get_args(Level)
_MASKS: tuple[MaskKind, ...] = get_args(MaskKind)
_KEYS = ("default", "columns", "mask")


def strictest_of(levels: Iterable[Level]) -> Level:
    """Return the strictest of several levels."""
    return _LEVELS[max(map(_LEVELS.index, levels), default=0)]


@dataclass(frozen=True)
class Egress:
    """Rules of what may leave, as given; without rules every value may.

    Attributes:
        default: Of columns that no entry names.
        columns: `table` or `table.column` in lower case, `*` standing for any run of characters, with their levels. An
            entry without `*` wins over those with; of several, the strictest.
        mask: Kinds of text that are masked wherever they stand.
    """

    default: Level = "values"
    columns: tuple[tuple[str, Level], ...] = ()
    mask: tuple[MaskKind, ...] = ()

    @classmethod
    def of(cls, given: Egress | Mapping[str, object] | None) -> Egress:
        """Return the rules of a mapping with the keys `default`, `columns` and `mask`."""
        if isinstance(given, Egress):
            return given
        given = given or {}
        if unknown := [key for key in given if key not in _KEYS]:
            raise SettingsError(f"unknown key {unknown[0]!r} in egress; known keys: {', '.join(_KEYS)}")
        columns = given.get("columns", {})
        if not isinstance(columns, Mapping):
            raise SettingsError('egress.columns must be a table: write columns = {"customers.email" = "none"}')
        entries = cast("Mapping[str, object]", columns)
        levels: dict[str, Level] = {
            name.strip().lower(): _check_level(level, f"columns.{name}") for name, level in entries.items()
        }
        default = _check_level(given.get("default", "values"), "default")
        return cls(default, tuple(sorted(levels.items())), _read_masks(given))

    @property
    def restricts(self) -> bool:
        """Whether there are columns whose values may not leave, apart from masks."""
        return self.default != "values" or any(level != "values" for _, level in self.columns)

    def covers(self, other: Egress) -> bool:
        """Whether all that may leave under other rules may certainly leave under these."""
        masks = set(self.mask) <= set(other.mask)
        return masks and (not self.restricts or (self.default, self.columns) == (other.default, other.columns))

    def find_level(self, table: str, column: str) -> Level | None:
        """Return the level that entries give a column; None if none matches it."""
        names = (table.lower(), f"{table}.{column}".lower())
        found = [each for each in self.columns if any_matches(each[:1], names)]
        exact: list[Level] = [level for entry, level in found if "*" not in entry]
        every: list[Level] = [level for _, level in found]
        return strictest_of(exact or every) if found else None

    @property
    def strictest(self) -> Level:
        """The strictest level in the rules."""
        return strictest_of([self.default, *(level for _, level in self.columns)])


@dataclass(frozen=True)
class SchemaEgress:
    """The egress rules applied to a schema.

    What is made from other columns has no lower level than these, unless an entry names it: a view and a virtual table
    (a search index, say) take the strictest level of all rules, since no engine says for certain what they read; a
    generated column takes the strictest of its table, and a column with a declared foreign key that of its target. Of
    a column that holds secrets (see `secret_columns`), no value leaves either, unless an entry names it.
    """

    egress: Egress
    schema: Schema

    @cached_property
    def levels(self) -> Mapping[tuple[str, str], Level]:
        """The columns whose values may not leave, `(table, column)`, with their levels."""
        found: dict[tuple[str, str], Level] = {
            place: "statistics" for place in secret_columns(self.schema) if self.egress.find_level(*place) is None
        }
        if not self.egress.restricts and not found:
            return {}
        for table in self.schema.tables:
            derived: Level = self.egress.default if table.kind == "table" else self.egress.strictest
            named: dict[str, Level | None] = {
                column.name: self.egress.find_level(table.name, column.name) for column in table.columns
            }
            strictest = strictest_of(level or derived for level in named.values())
            for column in table.columns:
                place = table.name, column.name
                known = named[column.name] or (strictest if column.generated else derived)
                found[place] = strictest_of([known, found.get(place, "values")])
        self._follow_keys(found)
        return {place: level for place, level in found.items() if level != "values"}

    def _follow_keys(self, levels: dict[tuple[str, str], Level]) -> None:
        """Give columns with a declared foreign key the level of the column they refer to."""
        pairs = [
            ((key.table, column), (key.ref_table, target))
            for key in self.schema.foreign_keys
            if not key.inferred
            for column, target in zip(key.columns, key.ref_columns, strict=True)
            if self.egress.find_level(key.table, column) is None
        ]
        for _ in pairs:
            for place, target in pairs:
                known: list[Level] = [levels[end] for end in (place, target) if end in levels]
                levels[place] = strictest_of(known)

    @property
    def strictest(self) -> Level:
        """The strictest level of the rules and of the columns."""
        return strictest_of([self.egress.strictest, *self.levels.values()])

    @cached_property
    def cache_key(self) -> str:
        """A cache key for these rules; empty if every value may leave."""
        return hashlib.sha256(repr(sorted(self.levels.items())).encode()).hexdigest()[:16] if self.levels else ""

    def is_unread(self, table: str, column: str) -> bool:
        """Whether nothing of a column may leave."""
        return self.levels.get((table, column)) == "none"

    @cached_property
    def visible_schema(self) -> Schema:
        """The schema without samples, counts and definitions that may not leave."""
        if not self.levels and not any(t.unshown or names_secret(t.definition) for t in self.schema.tables):
            return self.schema
        from .secret_views import views_that_name

        keys = tuple(key for key in self.schema.foreign_keys if not (key.inferred and self._is_revealing(key)))
        # A view's query may name values that were taken from what may not leave.
        restricted = {table for table, _ in self.levels}
        silenced = restricted | views_that_name(self.schema, restricted)
        tables = tuple(self._restrict_table(table, table.name in silenced) for table in self.schema.tables)
        # The version is of its own, so that nothing kept for the other schema is found for it.
        return replace(self.schema, tables=tables, foreign_keys=keys, version=self.schema.version + self.cache_key)

    def _is_revealing(self, key: ForeignKey) -> bool:
        """Whether a key was inferred from values that must not leave at all."""
        own = any(self.is_unread(key.table, column) for column in key.columns)
        return own or any(self.is_unread(key.ref_table, column) for column in key.ref_columns)

    def _restrict_table(self, table: TableSchema, silenced: bool) -> TableSchema:
        columns = tuple(self._restrict_column(table, column) for column in table.columns)
        # How many rows a view has can follow from cells of which nothing may leave.
        silent = table.kind != "table" and any(self.is_unread(table.name, column.name) for column in table.columns)
        definition = "" if silenced or self.egress.restricts or table.unshown else table.definition
        return replace(table, columns=columns, row_count=None if silent else table.row_count, definition=definition)

    def _restrict_column(self, table: TableSchema, column: ColumnSchema) -> ColumnSchema:
        level = self.levels.get((table.name, column.name), "values")
        codes = column.codes
        # Which list of several a code belongs to is told by another column of that table.
        withheld = {name for table_name, name in self.levels if codes and table_name == codes.table}
        if codes and (level != "values" or withheld & {codes.key, codes.label} or (codes.part and withheld)):
            column = replace(column, codes=None)
        if level == "values":
            return column
        if level == "statistics":
            return replace(column, samples=())
        kind = column_kind(column.type, ())
        return replace(column, samples=(), distinct=None, nulls=None, kind=kind, likely_key=False)

    def check(self) -> None:
        """Raise `SettingsError` if an entry names a table or column that does not exist."""
        names = {table.name.lower() for table in self.schema.tables}
        names |= {f"{table.name}.{column.name}".lower() for table in self.schema.tables for column in table.columns}
        for entry, _ in self.egress.columns:
            if not any_matches((entry,), names):
                raise SettingsError(f"egress names {entry!r}, which the database {self.schema.name!r} does not have")


def _check_level(given: object, place: str) -> Level:
    if given not in _LEVELS:
        raise SettingsError(f"egress.{place} must be one of {', '.join(_LEVELS)}, not {given!r}")
    return given


def _read_masks(given: Mapping[str, object]) -> tuple[MaskKind, ...]:
    kinds = given.get("mask", ())
    listed = cast("Iterable[object]", kinds) if isinstance(kinds, list | tuple) else (kinds,)
    wanted = list(listed)
    if unknown := [kind for kind in wanted if kind not in _MASKS]:
        raise SettingsError(f"unknown kind {unknown[0]!r} in egress.mask; known kinds: {', '.join(_MASKS)}")
    return tuple(kind for kind in _MASKS if kind in wanted)
