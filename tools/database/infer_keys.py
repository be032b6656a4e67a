"""Foreign keys that nobody declared, but that names, types and values make likely."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ..stemming import singular
from .schema import ColumnSchema, ForeignKey, TableSchema

# Key names that say nothing about which table they identify.
_GENERIC = frozenset(
    {"id", "key", "code", "name", "no", "nr", "num", "number", "rowid", "uuid", "title", "type", "year"}
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")

Includes = Callable[[str, str, str, str], bool]
"""Whether the values of (table, column) all stand in (ref_table, ref_column)."""


@dataclass(frozen=True)
class _Target:
    """A table with a primary key of one column."""

    table: TableSchema
    column: ColumnSchema


def infer_keys(tables: Sequence[TableSchema], declared: Iterable[ForeignKey], includes: Includes) -> list[ForeignKey]:
    """References that are likely: the column is named after a table's key, has its kind, and holds only its values.

    Args:
        tables: Every table, with kinds set.
        declared: The declared references; their columns are not looked at again.
        includes: Asked only where names and kinds fit.
    """
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
        if table.kind != "table" or len(table.primary_key) != 1:
            continue
        column = table.column(table.primary_key[0])
        if column is None:
            continue
        target = _Target(table, column)
        key, owner = _joined(_words(column.name)), _joined(_words(table.name))
        strengths = {owner + key: 3}
        if key not in _GENERIC:
            # `customer_id` in a table `customers` is that table's own key; elsewhere the name alone speaks for it.
            strengths[key] = 3 if key.startswith(owner) else 2
        if column.kind != "text":
            strengths.setdefault(owner, 1)
        for name, strength in strengths.items():
            targets[name][table.name] = (strength, target)
    return {name: list(held.values()) for name, held in targets.items()}


def _best(table: TableSchema, column: ColumnSchema, targets: dict[str, list[tuple[int, _Target]]]) -> _Target | None:
    """The target that the column's name speaks for most; None if none, or if two do alike."""
    own_key = table.primary_key == (column.name,)
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
    return [singular(word.lower()) for word in _WORD.findall(name)]


def _joined(words: Sequence[str]) -> str:
    return "".join(words)
