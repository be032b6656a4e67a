"""The groups that a large schema's tables fall into: by schema, by prefix, or by the keys that join them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from ..database import Schema, TableSchema
from ..values.schema_words import name_words

_SET_ASIDE_WORDS = """
    archive archived backup backups bak bck bkp copy deprecated dump junk legacy obsolete old orig sandbox scratch stage
    staging stg temp tmp trash unused
"""
_SET_ASIDE = frozenset(_SET_ASIDE_WORDS.split())
"""Words of a name, first or last in it, that say that its table is not the one to ask."""

_COPY_WORDS = """
    arch clone dedup export exported extract fix import imported landing load recon raw snap snapshot src
    test v version x z zz
"""
_COPIES = _SET_ASIDE | frozenset(_COPY_WORDS.split())
"""Words that say so anywhere in a name, as numbers do, where another table without them has the same columns."""

_SAME = 0.75
"""Least share of all columns of two tables that both of them have, if one is a copy."""

_SAID_ASIDE = re.compile(
    r"\b(deprecated|obsolete|do not use|don't use|(no longer|not) (used|maintained)|staging (area|table)|stale"
    r"|superseded|(backup|old|stale|one-off) copy|backup of|replaced by|not for reporting|audit only)\b",
    re.IGNORECASE,
)
_DATED = re.compile(r"_?(19|20)\d{2}_?[01]\d(_?[0-3]\d)?$")
_NUMBERS = re.compile(r"\d+")
_LEAST_GROUPS = 3
_LEAST_SHARE = 0.8
"""How many tables names have to put into groups of two or more."""


def group_of(schema: Schema) -> Mapping[str, str]:
    """Each table's group, by the table's name; a table that belongs to none is a group of its own.

    The first of these that parts the tables is taken: what stands before a dot or a double underscore, the first word
    of the names, the keys.
    """
    for part in (_qualifier, _first_word):
        groups = _grouped(schema.tables, part)
        if groups:
            return groups
    return _by_keys(schema)


def set_aside(table: TableSchema, others: Schema) -> bool:
    """Whether a table is empty, or `is_copy`."""
    return table.row_count == 0 or is_copy(table, others)


def is_copy(table: TableSchema, others: Schema) -> bool:
    """Whether a table is by its name, columns or comment a staging table, a backup, a stale copy or deprecated.

    Args:
        table: It.
        others: The schema that it stands in: what a name only hints at is so where the table without it is there.
    """
    words = _own_words(table)
    dated = _DATED.sub("", table.name)
    return (
        bool({words[0], words[-1]} & _SET_ASIDE)
        or bool(_SAID_ASIDE.search(table.comment))
        or (dated != table.name and others.table(dated) is not None)
        or (bool(copy_words(table)) and any(_has_columns_of(table, other) for other in others.tables))
    )


def copy_words(table: TableSchema) -> frozenset[str]:
    """The words of a table's name that tell a copy, numbers where there are no others."""
    words = _own_words(table)
    return frozenset(words) & _COPIES or frozenset(filter(str.isdecimal, words))


def families(schema: Schema) -> Mapping[str, Sequence[str]]:
    """Tables whose names differ in numbers alone and that have the same columns, by each one's name."""
    members: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for table in schema.tables:
        if _NUMBERS.search(table.name):
            members[_NUMBERS.sub("0", table.name), *(column.name for column in table.columns)].append(table.name)
    return {name: names for names in members.values() if len(names) > 1 for name in names}


def _own_words(table: TableSchema) -> tuple[str, ...]:
    return name_words(table.name.rpartition(".")[2])


def _has_columns_of(table: TableSchema, other: TableSchema) -> bool:
    """Whether a table has the columns of one whose own name tells no copy."""
    if table is other or other.kind != "table" or copy_words(other):
        return False
    own, theirs = ({column.name.lower() for column in each.columns} for each in (table, other))
    return len(theirs) > 1 and len(own & theirs) >= _SAME * len(own | theirs)


def _qualifier(name: str) -> str:
    before, dot, _ = name.rpartition(".")
    return before if dot else name.partition("__")[0] if "__" in name.strip("_") else ""


def _first_word(name: str) -> str:
    words = name_words(name)
    return words[0] if len(words) > 1 else ""


def _grouped(tables: Sequence[TableSchema], part: Callable[[str], str]) -> dict[str, str]:
    """The groups that names make; empty where too few tables are in one."""
    members: dict[str, list[str]] = defaultdict(list)
    for table in tables:
        members[part(table.name)].append(table.name)
    shared = {group: names for group, names in members.items() if group and len(names) > 1}
    held = sum(map(len, shared.values()))
    if part is _qualifier:
        shared, held = {group: names for group, names in members.items() if group}, len(tables) - len(members[""])
    if len(shared) < _LEAST_GROUPS or held < _LEAST_SHARE * len(tables):
        return {}
    groups = {name: group for group, names in shared.items() for name in names}
    return {table.name: groups.get(table.name, table.name) for table in tables}


def _by_keys(schema: Schema) -> dict[str, str]:
    """Tables that keys join, however far, are of one group; each is named by its first table."""
    head = {table.name: table.name for table in schema.tables}

    def of(name: str) -> str:
        while head[name] != name:
            head[name] = head[head[name]]
            name = head[name]
        return name

    for key in schema.foreign_keys:
        one, other = schema.table(key.table), schema.table(key.ref_table)
        if one and other:
            head[of(other.name)] = of(one.name)
    return {name: of(name) for name in head}
