"""Which tables and columns may be seen: the allow and deny lists that a user gives, resolved against the database."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..errors import SettingsError

_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Rules:
    """Allow and deny lists as given, in lower case.

    Attributes:
        allow: `table` or `table.column` entries, `*` standing for any run of characters; empty allows all.
        deny: The same; it wins over `allow`.
    """

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    @classmethod
    def of(cls, allow: Iterable[str], deny: Iterable[str]) -> Rules:
        """The rules that these lists mean."""
        return cls(*(tuple(sorted({entry.strip().lower() for entry in entries})) for entries in (allow, deny)))

    def __bool__(self) -> bool:
        return bool(self.allow or self.deny)

    def shows(self, table: str, column: str) -> bool:
        """Whether a column may be seen."""
        names = (table.lower(), f"{table}.{column}".lower())
        denied = any(_matches(entry, name) for entry in self.deny for name in names)
        allowed = not self.allow or any(_matches(entry, name) for entry in self.allow for name in names)
        return allowed and not denied


def _matches(entry: str, name: str) -> bool:
    return re.fullmatch(re.escape(entry).replace(r"\*", ".*"), name, re.DOTALL) is not None


@dataclass(frozen=True)
class Visibility:
    """What of a database may be seen, all names in lower case.

    Attributes:
        tables: Tables, views and virtual tables that may be read, and the shadow tables of the last.
        hidden_tables: All others.
        hidden_columns: Columns of these that may not.
        restricted: Whether anything is hidden at all.
    """

    tables: frozenset[str]
    hidden_tables: frozenset[str]
    hidden_columns: Mapping[str, frozenset[str]]
    restricted: bool = False

    def shows(self, table: str, column: str = "") -> bool:
        """Whether a table, or one of its columns, may be seen."""
        name = table.lower()
        return name in self.tables and column.lower() not in self.hidden_columns.get(name, _NOTHING)


def resolve(rules: Rules, columns: Mapping[str, Iterable[str]], shadows: Mapping[str, Iterable[str]]) -> Visibility:
    """Hold the rules against what the database has.

    A virtual table with a hidden column is hidden whole, for its shadow tables hold the text of all its columns.

    Args:
        rules: Allow and deny lists.
        columns: Every table's columns, shadow tables left out.
        shadows: For each virtual table, the shadow tables that its module reads on its behalf.

    Raises:
        SettingsError: An entry without `*` names nothing, which would hide less than its author believes.
    """
    names = {entry.lower() for table, held in columns.items() for entry in (table, *(f"{table}.{c}" for c in held))}
    for entry in (*rules.allow, *rules.deny):
        if "*" not in entry and entry not in names:
            raise SettingsError(f"the allow or deny list names {entry!r}, but the database has no such table or column")
    visible: set[str] = set()
    hidden: dict[str, frozenset[str]] = {}
    for table, held in columns.items():
        kept = frozenset(column.lower() for column in held if rules.shows(table, column))
        gone = frozenset(column.lower() for column in held) - kept
        if not kept or (gone and table in shadows):
            continue
        visible.update((table.lower(), *(shadow.lower() for shadow in shadows.get(table, ()))))
        if gone:
            hidden[table.lower()] = gone
    everything = {name.lower() for name in columns} | {name.lower() for group in shadows.values() for name in group}
    return Visibility(frozenset(visible), frozenset(everything - visible), hidden, bool(rules))
