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
from typing import Literal, get_args

from ..errors import SettingsError
from .column_kinds import infer_column_kind
from .schema import ColumnSchema, Schema, TableSchema
from .secret_columns import find_secret_columns, names_secrets


@lru_cache(maxsize=100_000)
def matches(entry: str, name: str) -> bool:
    """Whether an entry, perhaps with `*` as a wildcard, matches a name, both in lower case."""
    return re.fullmatch(re.escape(entry).replace(r"\*", ".*"), name, re.DOTALL) is not None


def has_match(entries: Iterable[str], names: Collection[str]) -> bool:
    """Whether any entry matches any of the names, all in lower case."""
    return any(matches(entry, name) for entry in entries for name in names)


Level = Literal["values", "statistics", "none"]
"""What of a column may leave: its values; counts and its kind, but no value; or nothing but its name and type."""

MaskKind = Literal["email", "card", "iban", "phone"]
"""What is recognised by its form and replaced in everything that leaves."""

_LEVELS: tuple[Level, ...] = get_args(Level)


def find_strictest_level(levels: Iterable[Level]) -> Level:
    """Return the strictest of several egress levels; `values` for an empty list."""
    return _LEVELS[max(map(_LEVELS.index, levels), default=0)]


@dataclass(frozen=True)
class Egress:
    """The rules for which values may be sent to a model; without rules all may be sent.

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
        """Return the egress rules from a mapping with the keys `default`, `columns` and `mask`."""
        if isinstance(given, Egress):
            return given
        from .permissions_file import parse_egress  # which no worker needs

        return parse_egress(given) if given else cls()

    @property
    def restricts_columns(self) -> bool:
        """Whether the rules keep the values of some columns from a model, masks not counted."""
        return self.default != "values" or any(level != "values" for _, level in self.columns)

    def covers(self, other: Egress) -> bool:
        """Whether these rules surely allow sending everything that the other rules allow."""
        masks = set(self.mask) <= set(other.mask)
        return masks and (not self.restricts_columns or (self.default, self.columns) == (other.default, other.columns))

    def find_level(self, table: str, column: str) -> Level | None:
        """Return the egress level that the entries give a column; None if no entry matches."""
        names = (table.lower(), f"{table}.{column}".lower())
        hits = [rule for rule in self.columns if has_match(rule[:1], names)]
        exact: list[Level] = [level for entry, level in hits if "*" not in entry]
        every: list[Level] = [level for _, level in hits]
        return find_strictest_level(exact or every) if hits else None

    @property
    def strictest_level(self) -> Level:
        """The strictest level in the rules."""
        return find_strictest_level([self.default, *(level for _, level in self.columns)])


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
    def column_levels(self) -> Mapping[tuple[str, str], Level]:
        """The egress levels of the restricted columns, by `(table, column)`."""
        levels: dict[tuple[str, str], Level] = {
            item: "statistics" for item in find_secret_columns(self.schema) if self.egress.find_level(*item) is None
        }
        if not self.egress.restricts_columns and not levels:
            return {}
        for table in self.schema.tables:
            default_level: Level = self.egress.default if table.kind == "table" else self.egress.strictest_level
            entry_levels: dict[str, Level | None] = {
                column.name: self.egress.find_level(table.name, column.name) for column in table.columns
            }
            strictest = find_strictest_level(level or default_level for level in entry_levels.values())
            for column in table.columns:
                place = table.name, column.name
                own_level = entry_levels[column.name] or (strictest if column.generated else default_level)
                levels[place] = find_strictest_level([own_level, levels.get(place, "values")])
        self._tighten_foreign_key_levels(levels)
        return {place: level for place, level in levels.items() if level != "values"}

    def _tighten_foreign_key_levels(self, levels: dict[tuple[str, str], Level]) -> None:
        """Tighten the level of each foreign-key column to that of the column it refers to."""
        key_pairs = (pair for key in self.schema.foreign_keys if not key.inferred for pair in key.pairs)
        pairs = [(item, target) for item, target in key_pairs if self.egress.find_level(*item) is None]
        for _ in pairs:
            for place, target in pairs:
                end_levels: list[Level] = [levels[end] for end in (place, target) if end in levels]
                levels[place] = find_strictest_level(end_levels)

    @property
    def strictest_level(self) -> Level:
        """The strictest level of the rules and of the columns."""
        return find_strictest_level([self.egress.strictest_level, *self.column_levels.values()])

    def is_withheld(self, table: str, column: str) -> bool:
        """Whether neither values nor statistics of a column may be sent to a model."""
        return self.column_levels.get((table, column)) == "none"

    @cached_property
    def visible_schema(self) -> Schema:
        """The schema without samples, counts and definitions that may not be sent to a model."""
        if not self.column_levels and not any(t.unshown or names_secrets(t.definition) for t in self.schema.tables):
            return self.schema
        from .secret_views import find_views_naming_tables

        keys = tuple(
            key
            for key in self.schema.foreign_keys
            if not (key.inferred and any(self.is_withheld(*end) for pair in key.pairs for end in pair))
        )
        # A view's query may name values that were taken from what may not leave.
        restricted_tables = {table for table, _ in self.column_levels}
        silent_tables = restricted_tables | find_views_naming_tables(self.schema, restricted_tables)
        tables = tuple(self._redact_table(table, table.name in silent_tables) for table in self.schema.tables)
        # The version is of its own, so that nothing kept for the other schema is found for it.
        levels = hashlib.sha256(repr(sorted(self.column_levels.items())).encode()).hexdigest()[:16]
        version = self.schema.version + (levels if self.column_levels else "")
        return replace(self.schema, tables=tables, foreign_keys=keys, version=version)

    def _redact_table(self, table: TableSchema, is_silenced: bool) -> TableSchema:
        columns = tuple(self._redact_column(table, column) for column in table.columns)
        # How many rows a view has can follow from cells of which nothing may leave.
        silent = table.kind != "table" and any(self.is_withheld(table.name, column.name) for column in table.columns)
        definition = "" if is_silenced or self.egress.restricts_columns or table.unshown else table.definition
        return replace(table, columns=columns, row_count=None if silent else table.row_count, definition=definition)

    def _redact_column(self, table: TableSchema, column: ColumnSchema) -> ColumnSchema:
        level = self.column_levels.get((table.name, column.name), "values")
        codes = column.codes
        # Which list of several a code belongs to is told by another column of that table.
        private_names = {name for table_name, name in self.column_levels if codes and table_name == codes.table}
        if codes and (level != "values" or private_names & {codes.key, codes.label} or (codes.part and private_names)):
            column = replace(column, codes=None)
        if level == "values":
            return column
        if level == "statistics":
            return replace(column, samples=())
        kind = infer_column_kind(column.type, ())
        return replace(column, samples=(), distinct=None, nulls=None, kind=kind, likely_key=False)

    def check(self) -> None:
        """Raise `SettingsError` if an egress entry names an unknown table or column."""
        names = {table.name.lower() for table in self.schema.tables}
        names |= {f"{table.name}.{column.name}".lower() for table in self.schema.tables for column in table.columns}
        for entry, _ in self.egress.columns:
            if not has_match((entry,), names):
                raise SettingsError(f"egress names {entry!r}, which the database {self.schema.name!r} does not have")
