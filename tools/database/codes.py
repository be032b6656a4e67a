"""The meanings of codes: rows of small tables, attached to the columns that refer to them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..words import is_word_or_abbreviation, make_singular, make_word_set, split_name
from .schema import CodeMeanings, ColumnSchema, ForeignKey, TableSchema
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

_CODE_NAME = re.compile(r"(?i)(code|cd|type|status|state|kind|category|class|reason|gender|flag)s?(_?id|_?no|_?key)?$")
"""What codes, or a table of them, are called; a table of few things is none."""

_LABELS = ("name", "label", "meaning", "description", "desc", "title", "text", "value")
"""Names of columns that say what a code means, the likeliest first."""


_SURE = 0.75
"""Least share of a list's codes that a column has that is not named like the list."""

_CODE_WORDS = make_word_set("c cd cod code codes dim id k key list lkp lookup lov no ref t tbl")
_ENGLISH = frozenset({"E", "EN", "en", "eng", "ENG"})  # what a column of languages says of rows in English
_KIND_WORDS = frozenset(("class", "flag", "kind", "stat", "state", "status", "typ", "type"))


def make_code_table_rows(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Rows:
    """Return rows as dicts if they are few enough for a code table, else an empty tuple."""
    if len(columns) > _MOST_COLUMNS or len(rows) > _MOST_ROWS:
        return ()
    return [dict(zip(columns, row, strict=True)) for row in rows]


def add_codes(
    tables: Sequence[TableSchema], keys: Iterable[ForeignKey], rows: Mapping[str, Rows], includes: Includes
) -> tuple[list[TableSchema], tuple[ForeignKey, ...]]:
    """Return the tables with code meanings added to columns, and all foreign keys.

    `keys` are declared and likely references, `rows` those of small tables, by the table's name.
    """
    keys = tuple(keys)
    large = sum(len(table.columns) for table in tables) > LARGE
    lists = [code_list for table in tables if large and (code_list := _read_code_list(table, rows.get(table.name, ())))]
    lists += [code_list for table in tables for code_list in _read_combined_code_lists(table, rows.get(table.name, ()))]
    candidates = list(_infer_code_columns(tables, keys, lists, includes))
    codes_by_column = {(table, column): codes for table, column, codes in candidates if codes.part}
    keys += tuple(
        ForeignKey(table, (column,), codes.table, (codes.key,), inferred=True)
        for table, column, codes in candidates
        if not codes.part
    )
    by_name = {table.name: table for table in tables}
    for key in keys:
        target = by_name.get(key.ref_table)
        if target is None or len(key.columns) != 1 or key.ref_table == key.table:
            continue
        if not large and not any(map(_CODE_NAME.search, (key.columns[0], target.name, key.ref_columns[0]))):
            continue
        codes = _read_code_meanings(target, key.ref_columns[0], rows.get(target.name, ()))
        if codes is not None:
            codes_by_column[key.table, key.columns[0]] = codes
    if not codes_by_column:
        return list(tables), keys

    def add_meanings_to_columns(table: TableSchema) -> TableSchema:
        columns = (replace(column, codes=codes_by_column.get((table.name, column.name))) for column in table.columns)
        return replace(table, columns=tuple(columns))

    return list(map(add_meanings_to_columns, tables)), keys


def _read_code_meanings(table: TableSchema, key: str, rows: Rows) -> CodeMeanings | None:
    """Return the meanings of a table's codes; None if the keys are not codes or have no labels."""
    texts = [column.name for column in table.columns if column.kind == "text" and column.name != key]
    labels = [name for word in _LABELS for name in texts if name.lower().endswith(word)]
    # The column of texts that says what the table's rows are: the one that is called so, or the only one.
    label = labels[0] if labels else texts[0] if len(texts) == 1 else None
    if label is None or not rows or not {key, label} <= rows[0].keys():
        return None
    if len(rows) > _LIST_ROWS or len(rows[0]) > _LIST_COLUMNS:
        return None
    return _make_code_meanings(table.name, key, label, rows)


def _make_code_meanings(table: str, key: str, label: str, rows: Rows, part: str = "") -> CodeMeanings | None:
    meanings = [(row[key], text) for row in rows if isinstance(text := row[label], str) and text.strip()]
    short = all(isinstance(code, int) or (isinstance(code, str) and len(code) <= _LONGEST_CODE) for code, _ in meanings)
    if not short or any(is_secret_text(text) for _, text in meanings):
        return None
    # The order of rows may tell of columns that are not shown.
    pairs = tuple(sorted(meanings, key=lambda pair: (isinstance(pair[0], str), pair)))
    unique = len({text for _, text in pairs}) == len({code for code, _ in pairs}) == len(rows)
    return CodeMeanings(table, key, label, pairs, part) if unique else None


@dataclass(frozen=True)
class _CodeList:
    """A list of codes, with the words of the list's name and key."""

    codes: CodeMeanings
    kind: str
    values: frozenset[Cell]
    table_words: frozenset[str]
    words: frozenset[str]


def _infer_code_columns(
    tables: Sequence[TableSchema], keys: Sequence[ForeignKey], lists: Sequence[_CodeList], includes: Includes
) -> Iterator[tuple[str, str, CodeMeanings]]:
    """Yield each likely code column: the table, the column and the list of codes.

    Letters and numbers of codes are the same in many lists: those that differ are told by the values, others by the
    words that the list's name shares with the column's and the table's.
    """
    having: dict[Cell, list[_CodeList]] = defaultdict(list)
    for code_list in lists:
        for value in code_list.values:
            having[value].append(code_list)
    for table, column in list_unlinked_columns(tables, keys) if lists else ():
        # What more lists have in common tells nothing.
        candidates = min(
            (having.get(sample, []) for sample in column.samples if sample not in (None, "")), key=len, default=[]
        )
        fitting = candidates if len(candidates) <= _MOST_LISTS else ()
        codes = _find_codes(table, column, fitting) if table.key != (column.name,) and not column.likely_key else None
        if codes and includes(table.name, column.name, codes.table, codes.key):
            yield table.name, column.name, codes


def list_unlinked_columns(
    tables: Iterable[TableSchema], keys: Iterable[ForeignKey]
) -> Iterator[tuple[TableSchema, ColumnSchema]]:
    """Yield each column that no foreign key uses, with its table; views are left out."""
    key_columns = {(key.table.lower(), column.lower()) for key in keys for column in key.columns}
    for table in tables:
        for column in table.columns if table.kind == "table" else ():
            if (table.name.lower(), column.name.lower()) not in key_columns:
                yield table, column


def _read_code_list(table: TableSchema, rows: Rows) -> _CodeList | None:
    """Return a table's code list; None if the table is not a list of codes."""
    keys = table.key or tuple(column.name for column in table.columns[:1])
    key = table.column(keys[0]) if table.kind == "table" and len(keys) == 1 else None
    codes = _read_code_meanings(table, key.name, rows) if key else None
    if key is None or codes is None or len(rows) < 2:
        return None
    words = frozenset(_split_into_words(table.name))
    return _CodeList(
        codes, key.kind, frozenset(code for code, _ in codes.meanings), words, words | set(_split_into_words(key.name))
    )


def _read_combined_code_lists(table: TableSchema, rows: Rows) -> Iterator[_CodeList]:
    """Yield each code list of a table that combines several lists."""
    columns = [column for column in table.columns if rows and column.name in rows[0]]
    if table.kind != "table" or len(columns) < len(("part", "code", "label")) or columns[0].kind != "text":
        return
    list_column, key, *other_names = (column.name for column in columns)
    values = {name: [row[name] for row in rows] for name in (list_column, key, *other_names)}
    label = max(other_names, key=lambda name: len({*map(str, values[name])}))
    if not 1 < len({*values[list_column]}) <= len(rows) / 2 or not all(isinstance(text, str) for text in values[label]):
        return
    languages = [name for name in other_names if name != label and _ENGLISH & {*values[name]}]
    if languages:
        rows = [row for row in rows if row[languages[0]] in _ENGLISH]
    for name in dict.fromkeys(row[list_column] for row in rows):
        if not isinstance(name, str) or not 0 < len(name.strip()) <= _LONGEST_NAME or is_secret_text(name):
            continue
        group = [row for row in rows if row[list_column] == name]
        codes = _make_code_meanings(table.name, key, label, group, name) if 1 < len(group) <= _LIST_ROWS else None
        if codes is not None:
            words = frozenset(_split_into_words(name))
            yield _CodeList(codes, columns[1].kind, frozenset(code for code, _ in codes.meanings), words, words)


def _find_codes(table: TableSchema, column: ColumnSchema, lists: Iterable[_CodeList]) -> CodeMeanings | None:
    """Return the code list that a column likely refers to; None unless one fits best."""
    values = {sample for sample in column.samples if sample not in (None, "")}
    fitting = [
        entry
        for entry in lists
        if entry.kind == column.kind
        and not is_count_column(column)
        and entry.codes.table != table.name
        and values <= entry.values
        and len(values) > 1
        and (column.distinct or len(values)) <= len(entry.values)
    ]
    words, table_words = _split_into_words(column.name), _split_into_words(table.name)
    telling = [word for word in words if word not in _CODE_WORDS]
    specific = [word for word in telling if word not in _KIND_WORDS]
    candidates: list[tuple[float, CodeMeanings]] = []
    for entry in fitting:
        cover = (column.distinct or len(values)) / len(entry.values)
        share = sum(is_word_or_abbreviation(word, entry.words) for word in telling) / len(telling) if telling else 0.0
        strange = _count_unrelated_words(entry.table_words, words, table_words)
        common = _are_typical_codes(entry.values)
        kin = any(is_word_or_abbreviation(word, entry.words) for word in specific or telling)
        if kin and not (strange and (common or len(fitting) > 1)):
            candidates.append((1 + share + cover - strange, entry.codes))
        else:
            alone = len(fitting) == 1 and len(values) > 2 and column.kind == "text" and cover >= (_SURE if share else 1)
            if (alone and not (strange and common)) or (cover == 1 and len(values) > 3 and not common):
                candidates.append((cover, entry.codes))
    candidates.sort(key=lambda pair: -pair[0])
    return candidates[0][1] if candidates and (len(candidates) == 1 or candidates[0][0] > candidates[1][0]) else None


def has_unrelated_table_name(target: TableSchema, key: ColumnSchema, table: TableSchema, column: ColumnSchema) -> bool:
    """Whether a code table's name has words unrelated to a column and the column's table."""
    # Of `class_cd` alone the words say all: values have to tell.
    if _split_into_words(column.name) == _split_into_words(key.name):
        return False
    words, table_words = _split_into_words(column.name), _split_into_words(table.name)
    return _count_unrelated_words(_split_into_words(target.name.rpartition(".")[2]), words, table_words) > 0


def _count_unrelated_words(terms: Iterable[str], words: Sequence[str], table_words: Sequence[str]) -> int:
    """Return how many words of a list's name are unrelated to a column's and its table's name."""
    context = {*words, *table_words, "".join(word[0] for word in table_words)}
    return sum(word not in _CODE_WORDS | _KIND_WORDS and not is_word_or_abbreviation(word, context) for word in terms)


def _are_typical_codes(codes: Collection[Cell]) -> bool:
    """Whether codes are single characters or consecutive numbers, which many tables use."""
    numbers = [int(code) for code in codes if isinstance(code, int) or (isinstance(code, str) and code.isdecimal())]
    together = len(numbers) == len(codes) and max(numbers) - min(numbers) < len(numbers)
    return together or all(len(str(code)) == 1 for code in codes)


def _split_into_words(name: str) -> list[str]:
    return [word for word in split_name(name) if not word.isdecimal()]


def is_count_column(column: ColumnSchema) -> bool:
    """Whether a column's name means a number of things, such as `planned_beds`."""
    last = _split_into_words(column.name.lower())[-1:]
    return column.kind == "number" and list(map(make_singular, last)) != last
