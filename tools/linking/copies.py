"""Tables that stand for one thing: copies of others, and parts of one that numbers in their names tell apart."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from ..database import Schema, TableSchema
from ..derived import derived
from ..words import name_words

_SET_ASIDE_WORDS = """
    archive archived backup backups bak bck bkp copy dep depr deprecated dump junk legacy obsolete old orig sandbox
    scratch stage staging stg temp tmp trash unused
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

_COUNTED_SO = 0.05
"""By what share the rows of a table and of its partitions may differ, as servers estimate them."""

_SAID_ASIDE = re.compile(
    r"\b(deprecated|obsolete|do not use|don't use|(no longer|not) (used|maintained)|staging (area|table)|stale"
    r"|superseded|(backup|old|stale|one-off) copy|backup of|replaced by|not for reporting|audit only)\b",
    re.IGNORECASE,
)
_DATED = re.compile(r"_?(19|20)\d{2}_?[01]\d(_?[0-3]\d)?$")
_NUMBERS = re.compile(r"\d+")


def set_aside(table: TableSchema, others: Schema) -> bool:
    """Whether a table of a schema is empty, or one of its `copies`."""
    return table.row_count == 0 or table.name in copies(others)


@derived
def copies(schema: Schema) -> frozenset[str]:
    """Return tables that by name, columns or comment are staging tables, backups, stale copies or deprecated.

    What a name only hints at is so if the table without it is there.
    """
    numbered = families(schema)
    originals = [
        table
        for table in schema.tables
        if table.kind == "table"
        and not _is_named_aside(table, schema)
        and (table.name in numbered or not copy_words(table))
    ]
    return frozenset(
        table.name
        for table in schema.tables
        if _is_named_aside(table, schema)
        or (table.kind == "table" and any(_is_copy_of(table, other, schema) for other in originals))
    )


def _is_named_aside(table: TableSchema, schema: Schema) -> bool:
    words = _own_words(table)
    dated = _DATED.sub("", table.name)
    if {words[0], words[-1]} & _SET_ASIDE or _SAID_ASIDE.search(f"{table.name.replace('_', ' ')}. {table.comment}"):
        return True
    return dated != table.name and schema.table(dated) is not None and table.name not in families(schema)


def _is_copy_of(table: TableSchema, other: TableSchema, schema: Schema) -> bool:
    """Whether a table has the columns of another one, and what tells it from that is a word, a number, or no key."""
    kin, own, theirs = families(schema).get(table.name, ()), _column_names(table), _column_names(other)
    if table is other or other.name in kin or len(theirs) < 2 or len(own & theirs) < _SAME * len(own | theirs):
        return False
    # Tables that hold together about as many rows as the other one are its partitions.
    rows = sum(each.row_count or 0 for each in map(schema.table, kin) if each)
    if rows and abs(rows - (other.row_count or 0)) <= _COUNTED_SO * rows:
        return False
    words, theirs = set(_own_words(table)), set(_own_words(other))
    if words & _COPIES or (theirs < words and all(map(str.isdecimal, words - theirs))):
        return True
    unkeyed = bool(other.primary_key) and not table.primary_key and not kin
    return unkeyed and (table.row_count or 0) <= (other.row_count or 0)


def copy_words(table: TableSchema) -> frozenset[str]:
    """Return words of a table's name that tell a copy, numbers if there are no others."""
    words = _own_words(table)
    return frozenset(words) & _COPIES or frozenset(filter(str.isdecimal, words))


@derived
def families(schema: Schema) -> Mapping[str, Sequence[str]]:
    """Return by name tables of the same columns whose names differ in numbers alone that go on or are dates."""
    members: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for table in schema.tables:
        if _NUMBERS.search(table.name):
            members[_NUMBERS.sub("0", table.name), *(column.name for column in table.columns)].append(table.name)
    return {name: names for names in members.values() if len(names) > 1 and _go_on(names) for name in names}


def _go_on(names: Sequence[str]) -> bool:
    """Whether the numbers of names are years, with or without more, or follow one another."""
    numbers = [[int(number) for number in _NUMBERS.findall(name)] for name in names]
    if all(any(1900 <= int(str(number)[:4]) < 2100 for number in each) for each in numbers):
        return True
    varying = [set(column) for column in zip(*numbers, strict=True) if len(set(column)) > 1]
    return all(max(column) - min(column) < len(column) for column in varying)


def _own_words(table: TableSchema) -> tuple[str, ...]:
    return name_words(table.name.rpartition(".")[2])


@derived
def _column_names(table: TableSchema) -> frozenset[str]:
    return frozenset(column.name.lower() for column in table.columns)
