"""The visibility of tables and columns: allow and deny lists applied to a database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ...errors import SettingsError
from ..quoting import unquote
from ..session import Permissions
from .functions import TABLE_FUNCTIONS
from .tokens import find_using_columns, words

FULL_TEXT = frozenset({"fts3", "fts4", "fts5"})
"""The modules whose tables are searched for words."""

_OWN_CONTENT = FULL_TEXT | {"rtree", "rtree_i32", "geopoly"}
# Tables of the terms in a full-text table: which of their arguments names it, counted from the end.
_OVER_ANOTHER = {"fts5vocab": -2, "fts4aux": -1}
_CONTENT = "content"


@dataclass(frozen=True)
class DeclaredTable:
    """A table, view or virtual table as the file declares it.

    Attributes:
        sql: The statement that made it.
        columns: In lower case, those that its module hides included; read only where something is hidden.
        generated: Columns that are computed from others.
        reads: Every (table, column) that a view reads.
    """

    name: str
    kind: Literal["table", "view", "virtual"]
    sql: str
    columns: frozenset[str] = frozenset("*")
    generated: frozenset[str] = frozenset()
    reads: frozenset[tuple[str, str]] = frozenset()

    @property
    def key(self) -> str:
        """The name of the table in lower case."""
        return self.name.lower()


def _add_computed_columns(entry: DeclaredTable, hidden: frozenset[str]) -> frozenset[str]:
    """Return the hidden columns, with those that are or may be computed from them."""
    definitions = _read_column_definitions(words(entry.sql)) if hidden and entry.generated else {}
    while more := {name for name in entry.generated - hidden if not hidden.isdisjoint(definitions.get(name, hidden))}:
        hidden |= more
    return hidden


def _find_revealing_tables(
    entries: Sequence[DeclaredTable], visible: set[str], hidden: Mapping[str, frozenset[str]], allowed: frozenset[str]
) -> set[str]:
    """Return the allowed virtual tables and views that reveal hidden names.

    SQLite asks the authorizer about none of it: an index over another table is searched, and a NATURAL or USING join
    inside a view compared, without a question whether the columns behind may be read. So they are found in the
    statements that declared them, and what is not understood there counts as revealing.

    If nothing speaks against a virtual table that the allow list names in full but that its declaration isn't
    understood, or that a column of it is named like a hidden one, it is no revealing one.
    """
    columns = frozenset(name for names in hidden.values() for name in names)
    views = ((entry.key, words(entry.sql)) for entry in entries if entry.kind == "view" and columns)
    gone = {name for name, read in views if "natural" in read or not columns.isdisjoint(find_using_columns(read))}
    virtual = [entry for entry in entries if entry.kind == "virtual"]
    plain = visible.intersection(entry.key for entry in entries if entry.kind != "view")

    def reveals_hidden(entry: DeclaredTable) -> bool:
        module, arguments = parse_virtual_table(entry.sql)
        read = _find_source_table(module, arguments)
        if read is None:
            return entry.key not in allowed
        if read:
            return read not in plain or read in hidden or read in gone
        return module in FULL_TEXT and entry.key not in allowed and not columns.isdisjoint(entry.columns)

    while more := {entry.key for entry in virtual if entry.key not in gone and reveals_hidden(entry)}:
        gone |= more
    return gone


def _find_source_table(module: str, arguments: list[list[str]]) -> str | None:
    """Return the table that a virtual table reads; empty if there is none, None if unclear."""
    if module in _OVER_ANOTHER:
        place = _OVER_ANOTHER[module]
        named = arguments[place] if len(arguments) >= -place else []
        return unquote(named[0]) if len(named) == 1 else None
    if module not in _OWN_CONTENT:
        return None
    for argument in arguments:
        # FTS5 takes the first letters of an option for the option; an empty content= keeps no text at all.
        if len(argument) > 1 and argument[1] == "=" and _CONTENT.startswith(argument[0]) and len(argument) != 2:
            return unquote(argument[2]) if len(argument) == 3 else None
    return ""


def parse_virtual_table(sql: str) -> tuple[str, list[list[str]]]:
    """Return the module of a virtual table, and the module's arguments."""
    read = words(sql)
    start = read.index("using") + 1 if "using" in read[:-1] else len(read)
    arguments: list[list[str]] = [[]]
    for word in read[start + 2 : -1]:
        if word == ",":
            arguments.append([])
        else:
            arguments[-1].append(word)
    return (unquote(read[start]) if start < len(read) else ""), arguments


def _read_column_definitions(read: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return the names used in each column's definition in a CREATE TABLE statement."""
    definitions: dict[str, frozenset[str]] = {}
    current: list[str] = []
    depth = 0
    for word in read:
        depth += (word == "(") - (word == ")")
        if depth == 0 or (depth == 1 and word == ","):
            if current:
                definitions.setdefault(current[0], frozenset(current[1:]))
            current = []
        elif not (word == "(" and depth == 1):
            current.append(unquote(word))
    return definitions


_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Visibility:
    """The visible and hidden names of tables and columns, in lower case."""

    tables: frozenset[str]  # tables, views and virtual tables that may be read, and the shadow tables of the last
    hidden_tables: frozenset[str]  # all others
    hidden_columns: Mapping[str, frozenset[str]]  # of the tables that may be read
    # Every column of whatever is declared, so that one added since is told apart; empty unless restricted.
    columns: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    restricted: bool = False

    def shows(self, table: str, column: str = "") -> bool:
        """Whether a table or one of its columns is visible."""
        name = table.lower()
        return name in self.tables and column.lower() not in self.hidden_columns.get(name, _NOTHING)

    def select_comments(self, table: str, comment: str, columns: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
        """Return the comments of a table and its columns that cannot reveal hidden names."""
        if not self.restricted:
            return comment, columns
        hidden = self.hidden_columns.get(table.lower(), _NOTHING)

        def reveals_hidden(text: str) -> bool:
            lowered = text.lower()
            return any(name in lowered for name in hidden | self.hidden_tables)

        shown = {column: text for column, text in columns.items() if column not in hidden and not reveals_hidden(text)}
        # A table's own comment may describe its hidden columns by other words.
        return "" if hidden or reveals_hidden(comment) else comment, shown


def resolve(rules: Permissions, entries: Sequence[DeclaredTable], shadows: Mapping[str, Iterable[str]]) -> Visibility:
    """Return the visibility that allow and deny lists give the declared tables.

    Args:
        rules: Allow and deny lists.
        entries: What the database declares, shadow tables left out.
        shadows: For each virtual table, the shadow tables that its module reads on its behalf, in lower case.

    Raises:
        SettingsError: An entry without `*` names nothing, which would hide less than its author believes; or what is
            to be hidden has the name of a table function.
    """
    rules.check({name for held in entries for name in (held.key, *(f"{held.key}.{each}" for each in held.columns))})
    visible: set[str] = set()
    hidden: dict[str, frozenset[str]] = {}
    for entry in entries:
        denied = frozenset(column for column in entry.columns if not rules.shows(entry.key, column))
        gone = _add_computed_columns(entry, denied)
        # The shadow tables of a virtual one hold the text of all its columns.
        if entry.columns == gone or (gone and entry.kind == "virtual"):
            continue
        visible.add(entry.key)
        if gone:
            hidden[entry.key] = gone
    if rules:
        # The names that the allow lists give in full: those of the first list, as far as lists over it agree.
        *over, first = (frozenset(layer.allow) for layer in rules.list_permission_layers())
        visible -= _find_revealing_tables(entries, visible, hidden, first.intersection(*filter(None, over)))
        visible -= {
            entry.key
            for entry in entries
            if any(table not in visible or column in hidden.get(table, _NOTHING) for table, column in entry.reads)
        }
    shown = frozenset(visible) | {shadow for name in visible for shadow in shadows.get(name, ())}
    everything = {entry.key for entry in entries} | {name for group in shadows.values() for name in group}
    columns = {entry.key: entry.columns for entry in entries} if rules else {}
    for name in sorted(TABLE_FUNCTIONS & everything - shown):
        # It takes the function's place, so that the function's absence would tell of it.
        raise SettingsError(f"the table {name} has the name of a function of SQLite, and cannot be hidden: rename it")
    return Visibility(shown, frozenset(everything - shown), hidden, columns, bool(rules))
