"""What tells of a hidden column without being that column: generated columns, search indexes and joins inside views.

SQLite asks the authorizer about none of these. A generated column is computed, a full-text index over another table
searched, and a NATURAL or USING join inside a view compared, without a question whether the columns behind may be read.
So they are found in the statements that declared them, and what is not understood there counts as revealing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .tokens import names_after_using, unquoted, words

FULL_TEXT = frozenset({"fts3", "fts4", "fts5"})
"""The modules whose tables are searched for words."""

_OWN_CONTENT = FULL_TEXT | {"rtree", "rtree_i32", "geopoly"}
# Tables of the terms in a full-text table: which of their arguments names it, counted from the end.
_OVER_ANOTHER = {"fts5vocab": -2, "fts4aux": -1}
_CONTENT = "content"


@dataclass(frozen=True)
class Declared:
    """A table, view or virtual table as the file declares it.

    Attributes:
        name: In lower case.
        kind: `table`, `view` or `virtual`.
        sql: The statement that made it.
        columns: Every column's name in lower case, those that its module hides included.
        generated: Those that are computed from others.
        reads: For a view, every (table, column) that it reads, in lower case.
    """

    name: str
    kind: str
    sql: str
    columns: frozenset[str]
    generated: frozenset[str] = frozenset()
    reads: frozenset[tuple[str, str]] = frozenset()


def computed_from(entry: Declared, hidden: frozenset[str]) -> frozenset[str]:
    """The generated columns of a table that are computed from its hidden ones, or whose declaration isn't found."""
    if not hidden or not entry.generated:
        return frozenset()
    definitions = _definitions(words(entry.sql))
    revealing = frozenset[str]()
    while True:
        gone = hidden | revealing
        more = {name for name in entry.generated - gone if not gone.isdisjoint(definitions.get(name, gone))}
        if not more:
            return revealing
        revealing |= more


def revealing(
    entries: Sequence[Declared],
    visible: frozenset[str],
    hidden: Mapping[str, frozenset[str]],
    allowed: frozenset[str],
) -> frozenset[str]:
    """The virtual tables and views that tell of what is hidden.

    Args:
        entries: Everything declared.
        visible: The names that the rules alone would show.
        hidden: The hidden columns of what is visible.
        allowed: Names that the allow list gives in full: where nothing speaks against such a virtual table but that
            its declaration isn't understood, or that a column of it is named like a hidden one, it is no revealing one.
    """
    columns = frozenset(name for names in hidden.values() for name in names)
    gone = {entry.name for entry in entries if entry.kind == "view" and _compares(entry.sql, columns)}
    virtual = [entry for entry in entries if entry.kind == "virtual"]
    plain = {entry.name for entry in entries if entry.kind != "view"}
    while True:
        whole = frozenset(name for name in plain & visible if name not in hidden and name not in gone)
        more = {entry.name for entry in virtual if entry.name not in gone and _tells(entry, whole, columns, allowed)}
        if not more:
            return frozenset(gone)
        gone |= more


def _tells(entry: Declared, whole: frozenset[str], columns: frozenset[str], allowed: frozenset[str]) -> bool:
    module, arguments = module_of(entry.sql)
    read = _reads(module, arguments)
    if read is None:
        return entry.name not in allowed
    if read:
        return read not in whole
    return module in FULL_TEXT and entry.name not in allowed and not columns.isdisjoint(entry.columns)


def _reads(module: str, arguments: list[list[str]]) -> str | None:
    """The other table that a virtual table reads; empty if none, None if that is not clear."""
    if module in _OVER_ANOTHER:
        place = _OVER_ANOTHER[module]
        named = arguments[place] if len(arguments) >= -place else []
        return unquoted(named[0]) if len(named) == 1 else None
    if module not in _OWN_CONTENT:
        return None
    for argument in arguments:
        # FTS5 takes the first letters of an option for the option; an empty content= keeps no text at all.
        if len(argument) > 1 and argument[1] == "=" and _CONTENT.startswith(argument[0]) and len(argument) != 2:
            return unquoted(argument[2]) if len(argument) == 3 else None
    return ""


def module_of(sql: str) -> tuple[str, list[list[str]]]:
    """A virtual table's module and its arguments."""
    read = words(sql)
    start = read.index("using") + 1 if "using" in read[:-1] else len(read)
    arguments: list[list[str]] = [[]]
    for word in read[start + 2 : -1]:
        if word == ",":
            arguments.append([])
        else:
            arguments[-1].append(word)
    return (unquoted(read[start]) if start < len(read) else ""), arguments


def _compares(sql: str, columns: frozenset[str]) -> bool:
    read = words(sql)
    return bool(columns) and ("natural" in read or not columns.isdisjoint(names_after_using(read)))


def _definitions(read: Iterable[str]) -> dict[str, frozenset[str]]:
    """For each column that a CREATE TABLE declares, the names in its definition."""
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
            current.append(unquoted(word))
    return definitions
