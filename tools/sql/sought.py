"""What a query looks for, and whether the database has it: `country = 'USA'` finds no row where none has that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from ..database.schema import Schema
from ..errors import SQLParseError
from .conditions import literal, operands
from .constants import plain_text
from .parse import parse
from .resolve import resolve
from .scope import Resolution


class Contents(Protocol):
    """What a database holds; `tools.values.ValueIndex` is one."""

    def holds(self, table: str, column: str, text: str) -> bool:
        """Whether a row of the table has exactly this text in the column."""
        ...

    def matches(self, table: str, column: str, pattern: str) -> bool:
        """Whether a row of the table has a value in the column that is LIKE the pattern."""
        ...


@dataclass(frozen=True)
class Sought:
    """One text or number that a column is compared with.

    Attributes:
        table: As the schema spells it.
        column: Likewise.
        text: Casefolded and without wildcards at its ends, as in `Constants`; a number as it is written.
        held: Whether a row has it.
    """

    table: str
    column: str
    text: str
    held: bool


def sought(sql: str, schema: Schema, contents: Contents) -> tuple[Sought, ...]:
    """What columns are compared with by =, !=, IN and LIKE; nothing where the query cannot be parsed."""
    try:
        tree = parse(sql).tree
    except SQLParseError:
        return ()
    return tuple(dict.fromkeys(_sought(resolve(tree, schema), contents)))


def _sought(resolution: Resolution, contents: Contents) -> Iterator[Sought]:
    for scope in resolution.scopes:
        for node in scope.select.find_all(exp.EQ, exp.NEQ, exp.In, exp.Like):
            if node.find_ancestor(exp.Select) is not scope.select:
                continue
            for (reference, column), operand in operands(node, resolution):
                value = literal(operand, resolution)
                if value is None or reference.source is None or reference.source.table is None:
                    continue
                table = reference.source.table.name
                text = value if isinstance(value, str) else operand.name
                held = contents.matches if isinstance(node, exp.Like) else contents.holds
                shown = plain_text(text) if isinstance(value, str) else text
                yield Sought(table, column.name, shown, held(table, column.name, text))
