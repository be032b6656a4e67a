"""The visibility of tables and columns: allow and deny lists applied to a database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ...errors import SettingsError
from ..quoting import unquote
from ..session import Permissions
from .functions import TABLE_FUNCTIONS
from .tokens import find_using_columns, split_words

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
        generated_columns: Columns that are computed from others.
        reads: Every (table, column) that a view reads.
    """

    name: str
    kind: Literal["table", "view", "virtual"]
    sql: str
    columns: frozenset[str] = frozenset("*")
    generated_columns: frozenset[str] = frozenset()
    reads: frozenset[tuple[str, str]] = frozenset()

    @property
    def key(self) -> str:
        """The name of the table in lower case."""
        return self.name.lower()


def _add_computed_columns(entry: DeclaredTable, names: frozenset[str]) -> frozenset[str]:
    """Return the hidden columns, with those that are or may be computed from them."""
    sources = _read_column_definitions(split_words(entry.sql)) if names and entry.generated_columns else {}
    while more := {name for name in entry.generated_columns - names if not names.isdisjoint(sources.get(name, names))}:
        names |= more
    return names


def _find_revealing_tables(
    entries: Sequence[DeclaredTable], visible: set[str], exclusions: Mapping[str, frozenset[str]], allow: frozenset[str]
) -> set[str]:
    """Return the allowed virtual tables and views that reveal hidden names.

    SQLite asks the authorizer about none of it: an index over another table is searched, and a NATURAL or USING join
    inside a view compared, without a question whether the columns behind may be read. So they are found in the
    statements that declared them, and what is not understood there counts as revealing.

    If nothing speaks against a virtual table that the allow list names in full but that its declaration isn't
    understood, or that a column of it is named like a hidden one, it is no revealing one.
    """
    columns = frozenset(name for names in exclusions.values() for name in names)
    views = ((entry.key, split_words(entry.sql)) for entry in entries if entry.kind == "view" and columns)
    leaks = {name for name, parts in views if "natural" in parts or not columns.isdisjoint(find_using_columns(parts))}
    virtual = [entry for entry in entries if entry.kind == "virtual"]
    real_tables = visible.intersection(entry.key for entry in entries if entry.kind != "view")

    def reveals_hidden(entry: DeclaredTable) -> bool:
        module, arguments = parse_virtual_table(entry.sql)
        source = _find_source_table(module, arguments)
        if source is None:
            return entry.key not in allow
        if source:
            return source not in real_tables or source in exclusions or source in leaks
        return module in FULL_TEXT and entry.key not in allow and not columns.isdisjoint(entry.columns)

    while revealing := {entry.key for entry in virtual if entry.key not in leaks and reveals_hidden(entry)}:
        leaks |= revealing
    return leaks


def _find_source_table(module: str, arguments: list[list[str]]) -> str | None:
    """Return the table that a virtual table reads; empty if there is none, None if unclear."""
    if module in _OVER_ANOTHER:
        position = _OVER_ANOTHER[module]
        tokens = arguments[position] if len(arguments) >= -position else []
        return unquote(tokens[0]) if len(tokens) == 1 else None
    if module not in _OWN_CONTENT:
        return None
    for argument in arguments:
        # FTS5 takes the first letters of an option for the option; an empty content= keeps no text at all.
        if len(argument) > 1 and argument[1] == "=" and _CONTENT.startswith(argument[0]) and len(argument) != 2:
            return unquote(argument[2]) if len(argument) == 3 else None
    return ""


def parse_virtual_table(sql: str) -> tuple[str, list[list[str]]]:
    """Return the module of a virtual table, and the module's arguments."""
    tokens = split_words(sql)
    start = tokens.index("using") + 1 if "using" in tokens[:-1] else len(tokens)
    arguments: list[list[str]] = [[]]
    for word in tokens[start + 2 : -1]:
        if word == ",":
            arguments.append([])
        else:
            arguments[-1].append(word)
    return (unquote(tokens[start]) if start < len(tokens) else ""), arguments


def _read_column_definitions(tokens: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return the names used in each column's definition in a CREATE TABLE statement."""
    definitions: dict[str, frozenset[str]] = {}
    current: list[str] = []
    depth = 0
    for word in tokens:
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
        names = self.hidden_columns.get(table.lower(), _NOTHING)

        def reveals_hidden(text: str) -> bool:
            lower_text = text.lower()
            return any(name in lower_text for name in names | self.hidden_tables)

        texts = {column: text for column, text in columns.items() if column not in names and not reveals_hidden(text)}
        # A table's own comment may describe its hidden columns by other words.
        return "" if names or reveals_hidden(comment) else comment, texts


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
    rules.check({name for item in entries for name in (item.key, *(f"{item.key}.{part}" for part in item.columns))})
    visible: set[str] = set()
    exclusions: dict[str, frozenset[str]] = {}
    for entry in entries:
        denied_columns = frozenset(column for column in entry.columns if not rules.shows(entry.key, column))
        hidden_names = _add_computed_columns(entry, denied_columns)
        # The shadow tables of a virtual one hold the text of all its columns.
        if entry.columns == hidden_names or (hidden_names and entry.kind == "virtual"):
            continue
        visible.add(entry.key)
        if hidden_names:
            exclusions[entry.key] = hidden_names
    if rules:
        # The names that the allow lists give in full: those of the first list, as far as lists over it agree.
        *upper_layers, first = (frozenset(layer.allow) for layer in rules.list_permission_layers())
        visible -= _find_revealing_tables(entries, visible, exclusions, first.intersection(*filter(None, upper_layers)))
        visible -= {
            entry.key
            for entry in entries
            if any(table not in visible or column in exclusions.get(table, _NOTHING) for table, column in entry.reads)
        }
    tables = frozenset(visible) | {shadow for name in visible for shadow in shadows.get(name, ())}
    everything = {entry.key for entry in entries} | {name for group in shadows.values() for name in group}
    columns = {entry.key: entry.columns for entry in entries} if rules else {}
    for name in sorted(TABLE_FUNCTIONS & everything - tables):
        # It takes the function's place, so that the function's absence would tell of it.
        raise SettingsError(f"the table {name} has the name of a function of SQLite, and cannot be hidden: rename it")
    return Visibility(tables, frozenset(everything - tables), exclusions, columns, bool(rules))
