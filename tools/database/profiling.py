"""What a schema says beyond what is declared: what values show, keys that are likely, and what codes mean."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..stemming import singular
from .column_kinds import column_kind, telling
from .schema import Codes, ColumnSchema, ForeignKey, Schema, TableSchema
from .table import Cell

Rows: TypeAlias = Sequence[Mapping[str, Cell]]
"""All rows of a table, by the names of its columns; none of a table that has many."""

_MOST_ROWS = 20
_MOST_COLUMNS = 6
_LONGEST_CODE = 6
"""Characters of a text that stands for something else; longer ones speak for themselves."""

_NAMED = re.compile(r"(?i)(code|cd|type|status|state|kind|category|class|reason|gender|flag)s?(_?id|_?no|_?key)?$")
"""What codes, or a table of them, are called; a table of few things is none."""

_LABELS = ("name", "label", "meaning", "description", "desc", "title", "text", "value")
"""Names of columns that say what a code means, the likeliest first."""


def few_rows(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Rows:
    """The rows by the names of their columns, if they are few enough to be a table of codes."""
    if len(columns) > _MOST_COLUMNS or len(rows) > _MOST_ROWS:
        return ()
    return [dict(zip(columns, row, strict=True)) for row in rows]


def with_codes(
    tables: Sequence[TableSchema], keys: Iterable[ForeignKey], rows: Mapping[str, Rows]
) -> list[TableSchema]:
    """The tables with the meaning of codes beside the columns that hold them."""
    by_name = {table.name: table for table in tables}
    found: dict[tuple[str, str], Codes] = {}
    for key in keys:
        target = by_name.get(key.ref_table)
        if target is None or len(key.columns) != 1 or key.ref_table == key.table:
            continue
        if not any(map(_NAMED.search, (key.columns[0], target.name, key.ref_columns[0]))):
            continue
        codes = _codes(target, key.ref_columns[0], rows.get(target.name, ()))
        if codes is not None:
            found[key.table, key.columns[0]] = codes
    if not found:
        return list(tables)
    return [
        replace(
            table,
            columns=tuple(
                replace(column, codes=codes) if (codes := found.get((table.name, column.name))) else column
                for column in table.columns
            ),
        )
        for table in tables
    ]


def _codes(table: TableSchema, key: str, rows: Rows) -> Codes | None:
    """What a table says of its codes; None where it says nothing, or where its keys are no codes."""
    label = _label(table, key)
    if label is None or not rows or not {key, label} <= rows[0].keys():
        return None
    told = [(row[key], text) for row in rows if isinstance(text := row[label], str) and text.strip()]
    # The order of rows may tell of columns that are not shown.
    pairs = tuple(sorted(told, key=lambda pair: (isinstance(pair[0], str), pair)))
    short = all(isinstance(code, int) or (isinstance(code, str) and len(code) <= _LONGEST_CODE) for code, _ in told)
    unique = len({text for _, text in pairs}) == len({code for code, _ in pairs}) == len(rows)
    return Codes(table.name, key, label, pairs) if short and unique else None


def _label(table: TableSchema, key: str) -> str | None:
    """The column of texts that says what the table's rows are: the only one, or the one that is called so."""
    texts = [column.name for column in table.columns if column.kind == "text" and column.name != key]
    named = [name for word in _LABELS for name in texts if name.lower().endswith(word)]
    return named[0] if named else texts[0] if len(texts) == 1 else None


# Key names that say nothing about which table they identify.
_GENERIC = frozenset(
    {"id", "key", "code", "name", "no", "nr", "num", "number", "rowid", "uuid", "title", "type", "year"}
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")

_KEY_WORDS = frozenset({"id", "key", "code", "no", "nr", "num", "number", "uuid", "guid"})
"""What a table's own name stands before in the name of its key, or what stands alone as its first column."""

_CODE = "code"

_ALONE = frozenset({"id", "uuid", "guid", "rowid"})
"""What is a key's name wherever it stands."""

Unique = Callable[[str, str], "tuple[int, int] | None"]
"""How many rows of (table, column) were looked at, a bounded number, and how many values are in them, NULL aside."""

Includes = Callable[[str, str, str, str], bool]
"""Whether the values of (table, column) all stand in (ref_table, ref_column)."""


_SAMPLES = 8


def observed(column: ColumnSchema, values: Sequence[Cell], *, complete: bool, seen: bool = True) -> ColumnSchema:
    """Return a column with what its values show, which are all there are in a `complete` table."""
    counts = Counter(values)
    nulls = counts.pop(None, 0) > 0
    samples = column.samples or telling([value for value, _ in counts.most_common()], _SAMPLES)
    return replace(
        column,
        kind=column.kind if column.kind != "other" else column_kind(column.type, samples),
        samples=samples,
        distinct=len(counts) if complete else None,
        nulls=nulls if seen else None,
    )


def completed(schema: Schema, rows: Mapping[str, Rows], unique: Unique, includes: Includes) -> Schema:
    """Return a schema of declared keys with those that are likely, and with the meaning of codes.

    `rows` are those of tables that have few.
    """
    declared = schema.foreign_keys
    tables = with_likely_keys(schema.tables, declared, unique)
    keys = (*declared, *infer_keys(tables, declared, includes))
    return replace(schema, tables=tuple(with_codes(tables, keys, rows)), foreign_keys=keys)


@dataclass(frozen=True)
class _Target:
    """A table with a key of one column, declared or likely."""

    table: TableSchema
    column: ColumnSchema


def with_likely_keys(
    tables: Sequence[TableSchema], declared: Iterable[ForeignKey], unique: Unique
) -> list[TableSchema]:
    """The tables with a column marked that is likely the key, where none is declared: named like one, and unique."""
    referring = {(key.table, column) for key in declared for column in key.columns}
    names = {_joined(_words(table.name)) for table in tables}
    return [_with_likely_key(table, names, referring, unique) for table in tables]


def _with_likely_key(
    table: TableSchema, names: Collection[str], referring: Collection[tuple[str, str]], unique: Unique
) -> TableSchema:
    if table.kind != "table" or table.primary_key or table.row_count == 0:
        return table
    for column in _named_like_keys(table, names):
        if (table.name, column.name) in referring:
            continue
        counted = table.row_count is not None and column.distinct is not None
        seen = (table.row_count, column.distinct) if counted else unique(table.name, column.name)
        if seen is None or not seen[0] or seen[0] != seen[1]:
            continue
        distinct = column.distinct if counted or seen[0] != table.row_count else seen[1]
        key = replace(column, likely_key=True, distinct=distinct)
        return replace(table, columns=tuple(key if other is column else other for other in table.columns))
    return table


def _named_like_keys(table: TableSchema, names: Collection[str]) -> list[ColumnSchema]:
    """Columns that are called like a key of the table, the likeliest first: by its name, or the end of its name."""
    owner = _words(table.name)
    ends = {_joined(owner[start:]) for start in range(1, len(owner))}
    # `pet_id` of `has_pet` is the key of `pet`.
    owners = {_joined(owner), *(end for end in ends if end not in names)}
    ranked: list[tuple[int, int, ColumnSchema]] = []
    for place, column in enumerate(table.columns):
        words = _words(column.name)
        name = _joined(words)
        if name in _ALONE:
            ranked.append((0, place, column))
        elif words and words[-1] in _KEY_WORDS and _joined(words[:-1]) in owners:
            ranked.append((1, place, column))
        elif any(name == own + word for own in owners for word in _KEY_WORDS):
            ranked.append((2, place, column))
        elif place == 0 and name in _KEY_WORDS:
            ranked.append((3, place, column))
    return [column for *_, column in sorted(ranked, key=lambda entry: entry[:2])]


def infer_keys(tables: Sequence[TableSchema], declared: Iterable[ForeignKey], includes: Includes) -> list[ForeignKey]:
    """References that are likely: the column is named after a table's key, has its kind, and holds only its values."""
    taken = {(key.table.lower(), column.lower()) for key in declared for column in key.columns}
    targets = _targets(tables)
    found: list[ForeignKey] = []
    for table in tables:
        if table.kind != "table":
            continue
        for column in table.columns:
            if (table.name.lower(), column.name.lower()) in taken:
                continue
            target = _best(table, column, targets)
            if target and includes(table.name, column.name, target.table.name, target.column.name):
                found.append(
                    ForeignKey(table.name, (column.name,), target.table.name, (target.column.name,), inferred=True)
                )
    return found


def _targets(tables: Sequence[TableSchema]) -> dict[str, list[tuple[int, _Target]]]:
    """By what a referring column would be called: targets with how strongly that name speaks for them."""
    targets: dict[str, dict[str, tuple[int, _Target]]] = defaultdict(dict)
    for table in tables:
        if table.kind != "table" or len(table.key) != 1:
            continue
        column = table.column(table.key[0])
        if column is None:
            continue
        target = _Target(table, column)
        key, owner = _joined(_words(column.name)), _joined(_words(table.name))
        strengths = {owner + key: 3}
        if key not in _GENERIC:
            # `customer_id` in a table `customers` is that table's own key; elsewhere the name alone speaks for it.
            strengths[key] = 3 if key.startswith(owner) else 2
        if column.kind != "text" or owner.endswith(_CODE):
            strengths.setdefault(owner, 1)
        if key == _CODE:
            # `status_cd` means the codes of `order_status` as well as those of `status`.
            words = _words(table.name)
            for start in range(1, len(words)):
                strengths.setdefault(_joined(words[start:]) + key, 1)
        for name, strength in strengths.items():
            targets[name][table.name] = (strength, target)
    return {name: list(held.values()) for name, held in targets.items()}


def _best(table: TableSchema, column: ColumnSchema, targets: dict[str, list[tuple[int, _Target]]]) -> _Target | None:
    """The target that the column's name speaks for most; None if none, or if two do alike."""
    own_key = table.key == (column.name,)
    words = _words(column.name)
    for start in range(len(words)):
        name = _joined(words[start:])
        fitting = [
            (strength, target)
            for strength, target in targets.get(name, ())
            if target.column.kind == column.kind
            and (target.table is not table or (start > 0 and target.column is not column))
            and not (own_key and strength < 3)
        ]
        if fitting:
            best = max(strength for strength, _ in fitting)
            leading = [target for strength, target in fitting if strength == best]
            return leading[0] if len(leading) == 1 else None
        if name in _GENERIC:
            break
    return None


def _words(name: str) -> list[str]:
    return [_CODE if word == "cd" else word for word in (singular(found.lower()) for found in _WORD.findall(name))]


def _joined(words: Sequence[str]) -> str:
    return "".join(words)
