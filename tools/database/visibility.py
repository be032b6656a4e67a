"""Which tables and columns may be seen: the allow and deny lists that a user gives, resolved against the database."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..errors import SettingsError
from .dependents import Declared, computed_from, telling

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
        columns: Every column of whatever is declared, so that one added since is told apart; empty unless restricted.
        hidden_views: Which of the hidden tables are views.
        restricted: Whether anything is hidden at all.
    """

    tables: frozenset[str]
    hidden_tables: frozenset[str]
    hidden_columns: Mapping[str, frozenset[str]]
    columns: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    hidden_views: frozenset[str] = _NOTHING
    restricted: bool = False

    def shows(self, table: str, column: str = "") -> bool:
        """Whether a table, or one of its columns, may be seen."""
        name = table.lower()
        return name in self.tables and column.lower() not in self.hidden_columns.get(name, _NOTHING)


def resolve(rules: Rules, entries: Sequence[Declared], shadows: Mapping[str, Iterable[str]]) -> Visibility:
    """Hold the rules against what the database has.

    A virtual table with a hidden column is hidden whole, for its shadow tables hold the text of all its columns; what
    tells of hidden columns otherwise is hidden with them (see `dependents`).

    Args:
        rules: Allow and deny lists.
        entries: What the database declares, shadow tables left out.
        shadows: For each virtual table, the shadow tables that its module reads on its behalf, in lower case.

    Raises:
        SettingsError: An entry without `*` names nothing, which would hide less than its author believes.
    """
    _check_entries(rules, entries)
    visible: set[str] = set()
    hidden: dict[str, frozenset[str]] = {}
    for entry in entries:
        gone = frozenset(column for column in entry.columns if not rules.shows(entry.name, column))
        gone |= computed_from(entry, gone)
        if entry.columns == gone or (gone and entry.kind == "virtual"):
            continue
        visible.add(entry.name)
        if gone:
            hidden[entry.name] = gone
    if rules:
        visible -= telling(entries, frozenset(visible), hidden, frozenset(rules.allow))
    shown = frozenset(visible) | {shadow for name in visible for shadow in shadows.get(name, ())}
    everything = {entry.name for entry in entries} | {name for group in shadows.values() for name in group}
    columns = {entry.name: entry.columns for entry in entries} if rules else {}
    views = frozenset(entry.name for entry in entries if entry.kind == "view")
    return Visibility(shown, frozenset(everything - shown), hidden, columns, views - shown, bool(rules))


def _check_entries(rules: Rules, entries: Sequence[Declared]) -> None:
    names = {name for held in entries for name in (held.name, *(f"{held.name}.{column}" for column in held.columns))}
    for entry in (*rules.allow, *rules.deny):
        if "*" not in entry and entry not in names:
            raise SettingsError(f"the allow or deny list names {entry!r}, but the database has no such table or column")
