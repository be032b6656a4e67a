"""Which tables and columns may be seen: the allow and deny lists that a user gives, resolved against the database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...errors import SettingsError
from ..session import Permissions
from .dependents import Declared, computed_from, revealing
from .functions import TABLE_FUNCTIONS

_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Visibility:
    """What of a database may be seen, all names in lower case.

    Attributes:
        tables: Tables, views and virtual tables that may be read, and the shadow tables of the last.
        hidden_tables: All others.
        hidden_columns: Columns of these that may not.
        columns: Every column of whatever is declared, so that one added since is told apart; empty unless restricted.
        restricted: Whether anything is hidden at all.
    """

    tables: frozenset[str]
    hidden_tables: frozenset[str]
    hidden_columns: Mapping[str, frozenset[str]]
    columns: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    restricted: bool = False

    def shows(self, table: str, column: str = "") -> bool:
        """Whether a table, or one of its columns, may be seen."""
        name = table.lower()
        return name in self.tables and column.lower() not in self.hidden_columns.get(name, _NOTHING)

    def shown_comments(self, table: str, comment: str, columns: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
        """A table's comment and its columns', without those that may tell of what is hidden.

        Where a table has hidden columns, its own comment may describe them; every other comment is shown unless it
        names something hidden.
        """
        if not self.restricted:
            return comment, columns
        hidden = self.hidden_columns.get(table.lower(), _NOTHING)
        names = hidden | self.hidden_tables
        shown = {column: text for column, text in columns.items() if column not in hidden and not _tells(text, names)}
        return "" if hidden or _tells(comment, names) else comment, shown


def _tells(text: str, names: frozenset[str]) -> bool:
    lowered = text.lower()
    return any(name in lowered for name in names)


def resolve(rules: Permissions, entries: Sequence[Declared], shadows: Mapping[str, Iterable[str]]) -> Visibility:
    """Hold the rules against what the database has.

    A virtual table with a hidden column is hidden whole, for its shadow tables hold the text of all its columns; what
    tells of hidden columns otherwise is hidden with them (see `dependents`).

    Args:
        rules: Allow and deny lists.
        entries: What the database declares, shadow tables left out.
        shadows: For each virtual table, the shadow tables that its module reads on its behalf, in lower case.

    Raises:
        SettingsError: An entry without `*` names nothing, which would hide less than its author believes; or what is
            to be hidden has the name of a table function.
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
        visible -= revealing(entries, frozenset(visible), hidden, _allowed_by_name(rules))
        visible -= {entry.name for entry in entries if _reads_hidden(entry, frozenset(visible), hidden)}
    shown = frozenset(visible) | {shadow for name in visible for shadow in shadows.get(name, ())}
    everything = {entry.name for entry in entries} | {name for group in shadows.values() for name in group}
    columns = {entry.name: entry.columns for entry in entries} if rules else {}
    for name in sorted(TABLE_FUNCTIONS & everything - shown):
        # It takes the function's place, so that the function's absence would tell of it.
        raise SettingsError(f"the table {name} has the name of a function of SQLite, and cannot be hidden: rename it")
    return Visibility(shown, frozenset(everything - shown), hidden, columns, bool(rules))


def _reads_hidden(entry: Declared, visible: frozenset[str], hidden: Mapping[str, frozenset[str]]) -> bool:
    """Whether a view reads what may not be seen: the tables and columns behind other views are among what it reads."""
    return any(table not in visible or column in hidden.get(table, _NOTHING) for table, column in entry.reads)


def _allowed_by_name(rules: Permissions) -> frozenset[str]:
    """The names that the allow lists give in full: those of the first list, as far as lists over it agree."""
    *over, first = (frozenset(layer.allow) for layer in rules.layers())
    return first.intersection(*filter(None, over))


def _check_entries(rules: Permissions, entries: Sequence[Declared]) -> None:
    names = {name for held in entries for name in (held.name, *(f"{held.name}.{column}" for column in held.columns))}
    for entry in (entry for layer in rules.layers() for entry in (*layer.allow, *layer.deny)):
        if "*" not in entry and entry not in names:
            raise SettingsError(f"the allow or deny list names {entry!r}, but the database has no such table or column")
