"""Large schemas: families of tables, copies, tables of codes, and the short forms of tables.

Its first tables are shown whole, of the others names and keys, and what codes mean.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ..database import Cell, ColumnSchema, Schema, TableSchema
from ..database.column_kinds import is_numeric_date_column
from ..database.schema import CodeMeanings
from ..derived import cache_in_first_argument
from ..values import ValueMatch, select_likely_values
from ..values.match import WHOLE as WHOLE_VALUE
from ..words import make_word_set, split_name_into_words

WHOLE = 4  # the first tables are shown whole

_REGISTERS = 2  # so many tables that hold the codes of several lists are always shown

_TELLING = re.compile(r"[^\W\d_]{4}")

_SET_ASIDE = make_word_set("""
    archive archived backup backups bak bck bkp copy dep depr deprecated dump junk legacy obsolete old orig sandbox
    scratch stage staging stg temp tmp trash unused
""")
"""Words of a name, first or last in it, that say that its table is not the one to ask."""

_COPIES = _SET_ASIDE | make_word_set("""
    arch clone dedup export exported extract fix import imported landing load recon raw snap snapshot src
    test v version x z zz
""")
"""Words that say so anywhere in a name, as numbers do, where another table without them has the same columns."""

_SAME = 0.75  # least share of all columns of two tables that both of them have, if one is a copy
_LIST_COLUMNS = 3  # most columns of a list of codes
_NAMED = 4  # most tables with a word in their names that names one thing
_COUNTED_SO = 0.05  # by what share the rows of a table and of its partitions may differ, as servers estimate them

_SAID_ASIDE = re.compile(
    r"\b(deprecated|obsolete|do not use|don't use|(no longer|not) (used|maintained)|staging (area|table)|stale"
    r"|superseded|(backup|old|stale|one-off) copy|backup of|replaced by|not for reporting|audit only)\b",
    re.IGNORECASE,
)
_DATED = re.compile(r"_?(19|20)\d{2}_?[01]\d(_?[0-3]\d)?$")
_NUMBERS = re.compile(r"\d+")


class TableShortener:
    """A shortener of a large schema's tables, which keeps the first few tables whole."""

    def __init__(self, schema: Schema) -> None:
        self._schema, self._lists = schema, find_code_tables(schema)
        self._family = find_table_families(schema) | find_union_views(schema)
        self._quota = WHOLE
        self._first: dict[str, str] = {}
        self._columns: dict[str, list[str]] = {}

    def is_table_shown_whole(self, table: TableSchema) -> bool:
        """Whether the table would be returned whole, rather than shortened, if it came next."""
        return self._quota > 0 and table.name not in self._lists and not self._find_similar_earlier_table(table)

    def shorten_next_table(self, table: TableSchema) -> TableSchema:
        """Return the next table in short form, or whole if it is among the first few."""
        if codes := self._lists.get(table.name):
            inline = replace(codes, table="")
            columns = (replace(column, codes=inline if column.name == codes.key else None) for column in table.columns)
            return replace(_reduce_samples(replace(table, columns=tuple(columns))), brief=True)
        if like := self._find_similar_earlier_table(table):
            return replace(table, like=like)
        self._columns[table.name] = [column.name for column in table.columns]
        if table.name in self._family:
            self._first[self._family[table.name][0]] = table.name
        # Where the columns' names say nothing (`f1`, `k`), values have to.
        if table.name in find_shared_codes(self._schema) or not any(map(_TELLING.search, self._columns[table.name])):
            return table
        if not self.is_table_shown_whole(table):
            return replace(_reduce_samples(table, _select_date_samples), brief=True)
        self._quota -= 1
        return table

    def _find_similar_earlier_table(self, table: TableSchema) -> str:
        """Return the name of an earlier, similar table of the same family or view; else ''."""
        columns = [column.name for column in table.columns]
        for name in find_tables_of_views(self._schema).get(table.name, ()):
            if self._columns.get(name) == columns:
                return name
        return self._first.get(self._family.get(table.name, (table.name,))[0], "")


def shorten_schema(part: Schema, schema: Schema) -> Schema:
    """Return a part of a large schema with all but the first few tables shortened."""
    light = TableShortener(schema)
    tables = [light.shorten_next_table(table) for table in part.tables]
    code_tables = {table.name for table in tables} & find_code_tables(schema).keys()

    # Meanings stand beside the codes themselves if these are shown.
    def drop_repeated_codes(column: ColumnSchema) -> ColumnSchema:
        return replace(column, codes=None) if column.codes and column.codes.table in code_tables else column

    return replace(
        part, tables=tuple(replace(table, columns=tuple(map(drop_repeated_codes, table.columns))) for table in tables)
    )


def choose_values(text: str, matches: Sequence[ValueMatch], part: Schema) -> tuple[ValueMatch, ...]:
    """Return those values of the question that are shown with a part of the schema.

    Of values with the same words, only those of its first tables and their codes are returned. In a crowd of values,
    parts, misspelt words and other names in small letters fit too often by chance.
    """
    place = {table.name: number for number, table in enumerate(part.tables)}
    for key in part.foreign_keys:
        if not any(key.ref_table == table.name for table in part.tables[:WHOLE]):
            place[key.ref_table] = min(place[key.ref_table], place[key.table])
    near = sorted((match for match in matches if match.table in place), key=lambda match: place[match.table])
    likely = [
        match
        for match in select_likely_values(text, near, part)
        if match.how in WHOLE_VALUE or (match.how == "abbreviation" and not match.mention.islower())
    ]
    first: dict[tuple[int, int], int] = {}
    for match in likely:
        first.setdefault((match.start, match.end), max(WHOLE, place[match.table]))
    return tuple(match for match in likely if place[match.table] <= first[match.start, match.end])


def _reduce_samples(table: TableSchema, keep: Callable[[ColumnSchema], Sequence[Cell]] = lambda _: ()) -> TableSchema:
    """Return a table with the samples to keep, and without the query that defines a view."""
    columns = tuple(replace(column, samples=tuple(keep(column))) for column in table.columns)
    return replace(table, columns=columns, definition="")


def _select_date_samples(column: ColumnSchema) -> Sequence[Cell]:
    """Return samples that show how a column writes dates."""
    if column.kind == "time":  # its samples tell a date from a date with its time
        return column.samples
    return column.samples[:1] if is_numeric_date_column(column) else ()


@cache_in_first_argument
def find_code_tables(schema: Schema) -> Mapping[str, CodeMeanings]:
    """Return the code tables of a schema by name, each with the meanings of its codes."""
    code_lists = [column.codes for table in schema.tables for column in table.columns if column.codes]
    return {codes.table: codes for codes in code_lists if not codes.part}


@cache_in_first_argument
def find_tables_of_views(schema: Schema) -> Mapping[str, Sequence[str]]:
    """Map each view's name to the tables that the view's query names."""
    return {
        view.name: [
            table.name
            for word in dict.fromkeys(re.findall(r"[\w.]+", view.definition))
            if (table := schema.table(word)) and table is not view
        ]
        for view in schema.tables
        if view.kind == "view"
    }


@cache_in_first_argument
def find_union_views(schema: Schema) -> dict[str, Sequence[str]]:
    """Map each view that unites tables of one family to the names of the family's tables."""
    unions: dict[str, Sequence[str]] = {}
    for name, tables in find_tables_of_views(schema).items():
        members = max((find_table_families(schema).get(table, ()) for table in tables), key=len, default=())
        if len({*members} & {*tables}) > 1 and {*members} >= find_table_families(schema).keys() & {*tables}:
            unions[name] = members
    return unions


@cache_in_first_argument
def find_shared_codes(schema: Schema) -> Sequence[str]:
    """Return the names of tables that each hold the codes of several lists."""
    code_lists = [column.codes for table in schema.tables for column in table.columns if column.codes]
    return list(dict.fromkeys(codes.table for codes in code_lists if codes.part))[:_REGISTERS]


# Copies of others, and parts of one that numbers in their names tell apart.


@cache_in_first_argument
def find_copies(schema: Schema) -> frozenset[str]:
    """Return the names of tables that are likely copies, backups, staging or deprecated."""
    # A hint in a name counts if the table without the hint exists.
    families = find_table_families(schema)
    originals = [
        table
        for table in schema.tables
        if table.kind == "table"
        and not _is_named_or_described_as_copy(table, schema)
        and (table.name in families or not extract_copy_words(table))
    ]
    return frozenset(
        table.name
        for table in schema.tables
        if _is_named_or_described_as_copy(table, schema)
        or (table.kind == "table" and any(_is_copy_of(table, other, schema) for other in originals))
    )


def _is_named_or_described_as_copy(table: TableSchema, schema: Schema) -> bool:
    words = _split_table_name(table)
    name = _DATED.sub("", table.name)
    if {words[0], words[-1]} & _SET_ASIDE or _SAID_ASIDE.search(f"{table.name.replace('_', ' ')}. {table.comment}"):
        return True
    return name != table.name and schema.table(name) is not None and table.name not in find_table_families(schema)


def _is_copy_of(table: TableSchema, other: TableSchema, schema: Schema) -> bool:
    """Whether `table` is likely a copy of `other`: similar columns and a telltale difference."""
    kin = find_table_families(schema).get(table.name, ())
    ours, theirs = _get_column_names(table), _get_column_names(other)
    if table is other or other.name in kin or len(theirs) < 2 or len(ours & theirs) < _SAME * len(ours | theirs):
        return False
    # Tables that hold together about as many rows as the other one are its partitions.
    rows = sum(member.row_count or 0 for member in map(schema.table, kin) if member)
    if rows and abs(rows - (other.row_count or 0)) <= _COUNTED_SO * rows:
        return False
    words, other_words = set(_split_table_name(table)), set(_split_table_name(other))
    if words & _COPIES or (other_words < words and all(map(str.isdecimal, words - other_words))):
        return True
    # Lists of codes have the same few columns without being copies: their names share no more than a prefix of many.
    alike = len(ours & theirs) > _LIST_COLUMNS or any(
        _count_tables_by_word(schema)[word] <= _NAMED for word in words & other_words
    )
    lacks_key = bool(other.primary_key) and not table.primary_key and not kin
    return alike and lacks_key and (table.row_count or 0) <= (other.row_count or 0)


@cache_in_first_argument
def _count_tables_by_word(schema: Schema) -> Counter[str]:
    """Count the tables that have each word in their names."""
    return Counter(word for table in schema.tables for word in set(_split_table_name(table)))


def extract_copy_words(table: TableSchema) -> frozenset[str]:
    """Return the words in a table's name that mark a copy, or its numbers if there are none."""
    words = _split_table_name(table)
    return frozenset(words) & _COPIES or frozenset(filter(str.isdecimal, words))


@cache_in_first_argument
def find_table_families(schema: Schema) -> dict[str, Sequence[str]]:
    """Map each table to its family: tables whose names differ only in sequential numbers."""
    members: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for table in schema.tables:
        if _NUMBERS.search(table.name):
            parts = (part for column in table.columns for part in (column.name, column.comment))
            members[_NUMBERS.sub("0", table.name), *parts].append(table.name)
    return {name: names for names in members.values() if len(names) > 1 and _are_sequential(names) for name in names}


def _are_sequential(names: Sequence[str]) -> bool:
    """Whether the numbers in table names are years or consecutive."""
    numbers = [[int(number) for number in _NUMBERS.findall(name)] for name in names]
    if all(any(1900 <= int(str(number)[:4]) < 2100 for number in group) for group in numbers):
        return True
    varying = [set(column) for column in zip(*numbers, strict=True) if len(set(column)) > 1]
    return all(max(column) - min(column) < len(column) for column in varying)


def _split_table_name(table: TableSchema) -> tuple[str, ...]:
    return split_name_into_words(table.name.rpartition(".")[2])


@cache_in_first_argument
def _get_column_names(table: TableSchema) -> frozenset[str]:
    return frozenset(column.name.lower() for column in table.columns)
