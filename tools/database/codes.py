"""The meanings of codes: rows of small tables, attached to the columns that refer to them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..words import listed_words, singular
from .schema import Codes, ColumnSchema, ForeignKey, TableSchema
from .secret_columns import is_secret_text
from .table import Cell

Rows: TypeAlias = Sequence[Mapping[str, Cell]]
"""All rows of a table, by the names of its columns; none of a table that has many, or many columns."""

Includes = Callable[[str, str, str, str], bool]
"""Whether the values of (table, column) all stand in (ref_table, ref_column)."""

LARGE = 400
"""Columns of a schema that is shown in part."""

_MOST_ROWS, _MOST_COLUMNS = 500, 8
_LIST_ROWS, _LIST_COLUMNS = 20, 6  # of one list of codes
_MOST_LISTS, _LONGEST_NAME = 200, 60  # lists that a column is compared with, characters of a list's name
_LONGEST_CODE = 6
"""Characters of a text that stands for something else; longer ones speak for themselves."""

_NAMED = re.compile(r"(?i)(code|cd|type|status|state|kind|category|class|reason|gender|flag)s?(_?id|_?no|_?key)?$")
"""What codes, or a table of them, are called; a table of few things is none."""

_LABELS = ("name", "label", "meaning", "description", "desc", "title", "text", "value")
"""Names of columns that say what a code means, the likeliest first."""


_SURE = 0.75
"""Least share of a list's codes that a column has that is not named like the list."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+")
_CODE_WORDS = listed_words("c cd cod code codes dim id k key list lkp lookup lov no ref t tbl")
_ENGLISH = frozenset({"E", "EN", "en", "eng", "ENG"})  # what a column of languages says of rows in English
_KIND_WORDS = frozenset(("class", "flag", "kind", "stat", "state", "status", "typ", "type"))


def code_rows(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Rows:
    """Return the rows as dicts if they are few enough for a table of codes, else none."""
    if len(columns) > _MOST_COLUMNS or len(rows) > _MOST_ROWS:
        return ()
    return [dict(zip(columns, row, strict=True)) for row in rows]


def add_codes(
    tables: Sequence[TableSchema], keys: Iterable[ForeignKey], rows: Mapping[str, Rows], includes: Includes
) -> tuple[list[TableSchema], tuple[ForeignKey, ...]]:
    """Return the tables with the meanings of codes in their columns, and all keys.

    `keys` are declared and likely references, `rows` those of small tables, by the table's name.
    """
    keys = tuple(keys)
    large = sum(len(table.columns) for table in tables) > LARGE
    lists = [made for table in tables if large and (made := _read_list(table, rows.get(table.name, ())))]
    lists += [made for table in tables for made in _read_register(table, rows.get(table.name, ()))]
    inferred = list(_infer_codes(tables, keys, lists, includes))
    found = {(table, column): codes for table, column, codes in inferred if codes.part}
    keys += tuple(
        ForeignKey(table, (column,), codes.table, (codes.key,), inferred=True)
        for table, column, codes in inferred
        if not codes.part
    )
    by_name = {table.name: table for table in tables}
    for key in keys:
        target = by_name.get(key.ref_table)
        if target is None or len(key.columns) != 1 or key.ref_table == key.table:
            continue
        if not large and not any(map(_NAMED.search, (key.columns[0], target.name, key.ref_columns[0]))):
            continue
        codes = _read_codes(target, key.ref_columns[0], rows.get(target.name, ()))
        if codes is not None:
            found[key.table, key.columns[0]] = codes
    if not found:
        return list(tables), keys

    def add_to_columns(table: TableSchema) -> TableSchema:
        columns = (replace(column, codes=found.get((table.name, column.name))) for column in table.columns)
        return replace(table, columns=tuple(columns))

    return list(map(add_to_columns, tables)), keys


def _read_codes(table: TableSchema, key: str, rows: Rows) -> Codes | None:
    """Return the meanings of a table's codes; None if its keys are not codes or lack labels."""
    texts = [column.name for column in table.columns if column.kind == "text" and column.name != key]
    named = [name for word in _LABELS for name in texts if name.lower().endswith(word)]
    # The column of texts that says what the table's rows are: the one that is called so, or the only one.
    label = named[0] if named else texts[0] if len(texts) == 1 else None
    if label is None or not rows or not {key, label} <= rows[0].keys():
        return None
    if len(rows) > _LIST_ROWS or len(rows[0]) > _LIST_COLUMNS:
        return None
    return _make_codes(table.name, key, label, rows)


def _make_codes(table: str, key: str, label: str, rows: Rows, part: str = "") -> Codes | None:
    told = [(row[key], text) for row in rows if isinstance(text := row[label], str) and text.strip()]
    short = all(isinstance(code, int) or (isinstance(code, str) and len(code) <= _LONGEST_CODE) for code, _ in told)
    if not short or any(is_secret_text(text) for _, text in told):
        return None
    # The order of rows may tell of columns that are not shown.
    pairs = tuple(sorted(told, key=lambda pair: (isinstance(pair[0], str), pair)))
    unique = len({text for _, text in pairs}) == len({code for code, _ in pairs}) == len(rows)
    return Codes(table, key, label, pairs, part) if unique else None


@dataclass(frozen=True)
class _List:
    """A table of codes with the words of its name and its key."""

    codes: Codes
    kind: str
    values: frozenset[Cell]
    table_words: frozenset[str]
    words: frozenset[str]


def _infer_codes(
    tables: Sequence[TableSchema], keys: Sequence[ForeignKey], lists: Sequence[_List], includes: Includes
) -> Iterator[tuple[str, str, Codes]]:
    """Yield a table, a column and its likely list of codes, by values and names.

    Letters and numbers of codes are the same in many lists: those that differ are told by the values, others by the
    words that the list's name shares with the column's and the table's.
    """
    having: dict[Cell, list[_List]] = defaultdict(list)
    for each in lists:
        for value in each.values:
            having[value].append(each)
    for table, column in undeclared_columns(tables, keys) if lists else ():
        # What more lists have in common tells nothing.
        seen = min(
            (having.get(sample, []) for sample in column.samples if sample not in (None, "")), key=len, default=[]
        )
        fitting = seen if len(seen) <= _MOST_LISTS else ()
        named = _choose_list(table, column, fitting) if table.key != (column.name,) and not column.likely_key else None
        if named and includes(table.name, column.name, named.table, named.key):
            yield table.name, column.name, named


def undeclared_columns(
    tables: Iterable[TableSchema], keys: Iterable[ForeignKey]
) -> Iterator[tuple[TableSchema, ColumnSchema]]:
    """Yield the columns of tables, not views, that are in none of the keys."""
    taken = {(key.table.lower(), column.lower()) for key in keys for column in key.columns}
    for table in tables:
        for column in table.columns if table.kind == "table" else ():
            if (table.name.lower(), column.name.lower()) not in taken:
                yield table, column


def _read_list(table: TableSchema, rows: Rows) -> _List | None:
    """Return the list of codes that a table is; None if it is not one."""
    keys = table.key or tuple(column.name for column in table.columns[:1])
    key = table.column(keys[0]) if table.kind == "table" and len(keys) == 1 else None
    codes = _read_codes(table, key.name, rows) if key else None
    if key is None or codes is None or len(rows) < 2:
        return None
    own = frozenset(_split_words(table.name))
    return _List(codes, key.kind, frozenset(code for code, _ in codes.meanings), own, own | set(_split_words(key.name)))


def _read_register(table: TableSchema, rows: Rows) -> Iterator[_List]:
    """Yield the lists in a table of several lists, each with its name and its codes."""
    columns = [column for column in table.columns if rows and column.name in rows[0]]
    if table.kind != "table" or len(columns) < len(("part", "code", "label")) or columns[0].kind != "text":
        return
    part, key, *others = (column.name for column in columns)
    values = {name: [row[name] for row in rows] for name in (part, key, *others)}
    label = max(others, key=lambda name: len({*map(str, values[name])}))
    if not 1 < len({*values[part]}) <= len(rows) / 2 or not all(isinstance(text, str) for text in values[label]):
        return
    languages = [name for name in others if name != label and _ENGLISH & {*values[name]}]
    if languages:
        rows = [row for row in rows if row[languages[0]] in _ENGLISH]
    for name in dict.fromkeys(row[part] for row in rows):
        if not isinstance(name, str) or not 0 < len(name.strip()) <= _LONGEST_NAME or is_secret_text(name):
            continue
        own = [row for row in rows if row[part] == name]
        codes = _make_codes(table.name, key, label, own, name) if 1 < len(own) <= _LIST_ROWS else None
        if codes is not None:
            words = frozenset(_split_words(name))
            yield _List(codes, columns[1].kind, frozenset(code for code, _ in codes.meanings), words, words)


def _choose_list(table: TableSchema, column: ColumnSchema, lists: Iterable[_List]) -> Codes | None:
    """Return the table of codes that a column likely refers to; None unless exactly one fits."""
    seen = {sample for sample in column.samples if sample not in (None, "")}
    fitting = [
        each
        for each in lists
        if each.kind == column.kind
        and not is_count(column)
        and each.codes.table != table.name
        and seen <= each.values
        and len(seen) > 1
        and (column.distinct or len(seen)) <= len(each.values)
    ]
    words, around = _split_words(column.name), _split_words(table.name)
    telling = [word for word in words if word not in _CODE_WORDS]
    own = [word for word in telling if word not in _KIND_WORDS]
    ranked: list[tuple[float, Codes]] = []
    for each in fitting:
        cover = (column.distinct or len(seen)) / len(each.values)
        named = sum(_is_kin(word, each.words) for word in telling) / len(telling) if telling else 0.0
        strange = _count_strange(each.table_words, words, around)
        common = _are_common(each.values)
        kin = any(_is_kin(word, each.words) for word in own or telling)
        if kin and not (strange and (common or len(fitting) > 1)):
            ranked.append((1 + named + cover - strange, each.codes))
        else:
            alone = len(fitting) == 1 and len(seen) > 2 and column.kind == "text" and cover >= (_SURE if named else 1)
            if (alone and not (strange and common)) or (cover == 1 and len(seen) > 3 and not common):
                ranked.append((cover, each.codes))
    ranked.sort(key=lambda pair: -pair[0])
    return ranked[0][1] if ranked and (len(ranked) == 1 or ranked[0][0] > ranked[1][0]) else None


def is_strange(target: TableSchema, key: ColumnSchema, table: TableSchema, column: ColumnSchema) -> bool:
    """Whether a table of codes has another name than a column and its table: `cd_vehicle_class`."""
    # Of `class_cd` alone the words say all: values have to tell.
    if _split_words(column.name) == _split_words(key.name):
        return False
    words, around = _split_words(column.name), _split_words(table.name)
    return _count_strange(_split_words(target.name.rpartition(".")[2]), words, around) > 0


def _count_strange(listed: Iterable[str], words: Sequence[str], around: Sequence[str]) -> int:
    """Return how many words of a list's name are unlike a column's name and its table's."""
    context = {*words, *around, "".join(word[0] for word in around)}
    return sum(word not in _CODE_WORDS | _KIND_WORDS and not _is_kin(word, context) for word in listed)


def _are_common(codes: Collection[Cell]) -> bool:
    """Whether codes are single characters, or numbers without gaps, as in many lists."""
    numbers = [int(code) for code in codes if isinstance(code, int) or (isinstance(code, str) and code.isdecimal())]
    together = len(numbers) == len(codes) and max(numbers) - min(numbers) < len(numbers)
    return together or all(len(str(code)) == 1 for code in codes)


def _split_words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


def _is_kin(word: str, others: Iterable[str]) -> bool:
    """Whether a word is one of others, or an abbreviation in either direction: `inv`, `invoice`."""
    for other in others:
        short, long = sorted((word, other), key=len)
        letters = iter(long)
        if word == other or (len(short) > 2 and long.startswith(short)):
            return True
        if 2 < len(short) >= len(long) / 2 and short[0] == long[0] and all(each in letters for each in short):
            return True
    return False


def is_count(column: ColumnSchema) -> bool:
    """Whether a column's name means a number of things, such as `planned_beds`."""
    last = _WORD.findall(column.name.lower())[-1:]
    return column.kind == "number" and list(map(singular, last)) != last
