"""Facts that a schema does not declare: column contents, likely keys, meanings of codes."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from ..words import make_singular, split_name
from .codes import LARGE, Includes, Rows, add_codes, has_unrelated_table_name, is_count_column, list_unlinked_columns
from .column_kinds import choose_sample_values, infer_column_kind
from .schema import ColumnSchema, ForeignKey, Schema, TableSchema
from .table import Cell

# Key names that say nothing about which table they identify.
_GENERIC = frozenset(
    {"id", "key", "code", "name", "no", "nr", "num", "number", "rowid", "uuid", "title", "type", "year"}
)

_KEY_WORDS = frozenset({"id", "key", "code", "no", "nr", "num", "number", "uuid", "guid"})
"""What a table's own name stands before in the name of its key, or what stands alone as its first column."""

_CODE = "code"

_ALONE = frozenset({"id", "uuid", "guid", "rowid"})
"""What is a key's name wherever it stands."""

Tally = Callable[[str, str], "tuple[int, int] | None"]
"""How many rows of (table, column) were looked at, a bounded number, and how many values are in them, NULL aside."""

_SUPERIORS = frozenset({"manager", "mgr", "supervisor", "boss", "superior", "parent", "predecessor", "referrer"})
"""What stands before a key's name in a reference to another row of the same table."""

_MEASURES = frozenset({"count", "total", "sum", "avg", "average", "rank", "ranking", "percent", "pct", "rate"})
"""What a number is that a name ends or begins with, whatever table is called like the other words."""

_SAMPLES = 8
_LEAST_CODE, _LONGEST_CODE = 4, 40  # characters of a code that tells what it refers to
_MOST_HOLDERS, _MOST_LOOKS = 20, 1_000  # keys of one name or form of codes, and look-ups by form


def add_statistics(column: ColumnSchema, values: Sequence[Cell], *, complete: bool, read: bool = True) -> ColumnSchema:
    """Return a column with kind, samples and counts taken from its values."""
    counts = Counter(values)
    nulls = counts.pop(None, 0) > 0
    samples = column.samples or choose_sample_values([value for value, _ in counts.most_common()], _SAMPLES)
    return replace(
        column,
        kind=column.kind if column.kind != "other" else infer_column_kind(column.type, samples),
        samples=samples,
        distinct=len(counts) if complete else None,
        nulls=nulls if read else None,
    )


def add_inferred_keys_and_codes(schema: Schema, rows: Mapping[str, Rows], tally: Tally, includes: Includes) -> Schema:
    """Return a schema with likely keys and the meanings of codes added.

    `rows` are those of tables that have few.
    """
    declared_keys = schema.foreign_keys
    tables = _mark_keys(schema.tables, declared_keys, tally)
    keys = (*declared_keys, *_infer_keys(tables, declared_keys, includes))
    tables, keys = add_codes(tables, keys, rows, includes)
    return replace(schema, tables=tuple(tables), foreign_keys=keys)


class _KeyedTable(NamedTuple):
    """A table with a one-column key."""

    table: TableSchema
    column: ColumnSchema


_TablesByKeyName: TypeAlias = dict[tuple[str, str, int], list[_KeyedTable]]
"""By the name and kind of a column, and how strongly it points to them, most at 3. Thousands may share one name."""


def _mark_keys(tables: Sequence[TableSchema], declared_keys: Iterable[ForeignKey], tally: Tally) -> list[TableSchema]:
    """Mark the likely primary key of each table without a declared key."""
    referring = {(key.table, column) for key in declared_keys for column in key.columns}
    names = {"".join(_split_into_words(table.name)) for table in tables}
    results = [_mark_likely_key(table, _find_key_candidates(table, names), referring, tally) for table in tables]
    # A first column that other tables have too may be the key where names say nothing, as `PNO` of `T0401`.
    keys = {name for table in results for name in table.key} | _GENERIC
    holders = Counter(column.name for table in results if table.kind == "table" for column in table.columns)
    namesakes = {name for name, count in holders.items() if count > 1 and name not in keys}
    return [
        _mark_likely_key(table, [column for column in table.columns[:1] if column.name in namesakes], referring, tally)
        for table in results
    ]


def _mark_likely_key(
    table: TableSchema, columns: Iterable[ColumnSchema], referring: Collection[tuple[str, str]], tally: Tally
) -> TableSchema:
    """Mark the first unique one of some columns as the likely key of a table without a key."""
    if table.kind != "table" or table.key or table.row_count == 0:
        return table
    for column in columns:
        if (table.name, column.name) in referring:
            continue
        is_counted = table.row_count is not None and column.distinct is not None
        counts = (table.row_count, column.distinct) if is_counted else tally(table.name, column.name)
        if counts is None or not counts[0] or counts[0] != counts[1]:
            continue
        distinct = column.distinct if is_counted or counts[0] != table.row_count else counts[1]
        key = replace(column, likely_key=True, distinct=distinct)
        return replace(table, columns=tuple(key if other is column else other for other in table.columns))
    return table


def _find_key_candidates(table: TableSchema, names: Collection[str]) -> list[ColumnSchema]:
    """Return the columns named like a key of the table, the likeliest first."""
    owner = _split_into_words(table.name)
    ends = {"".join(owner[start:]) for start in range(1, len(owner))}
    # `pet_id` of `has_pet` is the key of `pet`.
    owners = {"".join(owner), *(end for end in ends if end not in names)}
    candidates: list[tuple[int, ColumnSchema]] = []
    for column in table.columns:
        words = _split_into_words(column.name)
        name = "".join(words)
        likeness = (
            name in _ALONE,
            bool(words) and words[-1] in _KEY_WORDS and "".join(words[:-1]) in owners,
            any(name == prefix + word for prefix in owners for word in _KEY_WORDS),
            column is table.columns[0] and name in _KEY_WORDS,
        )
        if any(likeness):
            candidates.append((likeness.index(True), column))
    return [column for _, column in sorted(candidates, key=lambda entry: entry[0])]


def _infer_keys(tables: Sequence[TableSchema], keys: Iterable[ForeignKey], includes: Includes) -> list[ForeignKey]:
    """Return likely foreign keys by column names, kinds and inclusion of values."""
    targets = _index_keyed_tables(tables)
    large = sum(len(table.columns) for table in tables) > LARGE
    guesses: list[ForeignKey] = []
    for table, column in list_unlinked_columns(tables, keys):
        best = _find_best_tables(table, column, targets)
        if len(best) > 1:
            # In a large schema the others are copies, as a rule, which have no key, or not all of its values.
            best = [target for target in best if target.column.primary_key] or _find_base_table(best) if large else []
        if len(best) > _MOST_HOLDERS:
            best = _find_base_table(best)
        ends = [(target.table.name, target.column.name) for target in best]
        ends = [end for end in ends if includes(table.name, column.name, *end)]
        if len(ends) == 1:
            guesses.append(ForeignKey(table.name, (column.name,), ends[0][0], (ends[0][1],), inferred=True))
    return [*guesses, *_infer_foreign_keys_by_values(tables, (*keys, *guesses), includes)] if large else guesses


def _infer_foreign_keys_by_values(
    tables: Sequence[TableSchema], keys: Iterable[ForeignKey], includes: Includes
) -> Iterator[ForeignKey]:
    """Yield foreign keys of code columns whose values all occur in one unique column."""
    unique: dict[str, list[_KeyedTable]] = defaultdict(list)
    other: list[tuple[TableSchema, ColumnSchema, str]] = []
    for table, column in list_unlinked_columns(tables, keys):
        if form := _find_code_pattern(column):
            if column.distinct == table.row_count:
                unique[form].append(_KeyedTable(table, column))
            else:
                other.append((table, column, form))
    looks = _MOST_LOOKS
    for table, column, form in other:
        holders = unique[form] if len(unique[form]) <= min(_MOST_HOLDERS, looks) else []
        looks -= len(holders)
        matches = [to for to in holders if includes(table.name, column.name, to.table.name, to.column.name)]
        for target in _find_base_table(matches) if matches else ():
            yield ForeignKey(table.name, (column.name,), target.table.name, (target.column.name,), inferred=True)


def _find_code_pattern(column: ColumnSchema) -> str:
    """Return the pattern that a column's codes share, such as `A9999`; else empty."""
    codes = [str(sample) for sample in column.samples] if column.kind == "text" else []
    if not all(_LEAST_CODE <= len(code) <= _LONGEST_CODE for code in codes):
        return ""
    forms = {re.sub(r"\d", "9", re.sub(r"[A-Za-z]", "A", code)) for code in codes}
    form = forms.pop() if len(forms) == 1 else ""
    return form if set(form) <= set("A9_/.-") and "A" in form and "9" in form[form.index("A") :] else ""


def _find_base_table(targets: Sequence[_KeyedTable]) -> list[_KeyedTable]:
    """Return the table whose name the names of all the others contain, in a list; else []."""
    shortest = min(targets, key=lambda target: len(target.table.name))
    return [shortest] if all(shortest.table.name.lower() in target.table.name.lower() for target in targets) else []


def _index_keyed_tables(tables: Sequence[TableSchema]) -> _TablesByKeyName:
    """Return tables with a one-column key, by the columns that would refer to the key."""
    targets: _TablesByKeyName = defaultdict(list)
    for table in tables:
        column = table.column(table.key[0]) if table.kind == "table" and len(table.key) == 1 else None
        if column is None:
            continue
        key, owner = "".join(_split_into_words(column.name)), "".join(_split_into_words(table.name))
        strengths = {owner + key: 3}
        if key not in _GENERIC:
            # `customer_id` in a table `customers` is that table's own key; elsewhere the name alone speaks for it.
            strengths[key] = 3 if key.startswith(owner) else 2
        if column.kind != "text" or owner.endswith(_CODE):
            strengths.setdefault(owner, 1)
        if key == _CODE:
            # `status_cd` means the codes of `order_status` as well as those of `status`.
            words = _split_into_words(table.name)
            for start in range(1, len(words)):
                strengths.setdefault("".join(words[start:]) + key, 1)
        for name, strength in strengths.items():
            targets[name, column.kind, strength].append(_KeyedTable(table, column))
    return targets


def _find_best_tables(table: TableSchema, column: ColumnSchema, targets: _TablesByKeyName) -> list[_KeyedTable]:
    """Return the tables to whose keys a column's name points most strongly."""
    own_key = table.key == (column.name,)
    words = _split_into_words(column.name)
    # `rate_id` and `tax_rate` may be named after a table as a whole; of `bathroom_count` no part is.
    measures = not _MEASURES.isdisjoint((*words[:1], *words[-1:]))
    counts = is_count_column(column)
    for start in range(1 if measures else len(words)):
        name = "".join(words[start:])
        for strength in (3,) if own_key else (3, 2) if counts else (3, 2, 1):
            fitting = [
                target
                for target in targets.get((name, column.kind, strength), ())
                if (target.table is not table or (start > 0 and target.column is not column))
                and not (name.endswith(_CODE) and has_unrelated_table_name(target.table, target.column, table, column))
            ]
            if fitting:
                return fitting
        if name in _GENERIC:
            break
    table_key = table.column(table.key[0]) if len(table.key) == 1 and not own_key else None
    if table_key is None or table_key.kind != column.kind:
        return []
    # What names another row of the table: `mgr_id`, `parent_category_id`, `reports_to`.
    is_parent_name = words[:1] and words[0] in _SUPERIORS and words[1:] in (["id"], _split_into_words(table_key.name))
    return [_KeyedTable(table, table_key)] if is_parent_name or words == ["report", "to"] else []


def _split_into_words(name: str) -> list[str]:
    return [_CODE if word == "cd" else word for word in map(make_singular, split_name(name))]
