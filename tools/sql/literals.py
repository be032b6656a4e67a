"""The literals that a query searches for, and whether the database has them: `country = 'USA'` may find no row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from sqlglot import exp

from ..database.schema import Schema
from .conditions import literal, operands
from .constants import plain_text
from .findings import MOST_LOOKED_UP
from .parse import parse
from .resolve import resolve
from .scope import Resolution
from .untrusted import analysis_or


class Contents(Protocol):
    """What a database holds; `tools.values.ValueIndex` is one."""

    def holds(self, table: str, column: str, text: str) -> bool:
        """Whether a row of the table has exactly this text in the column."""
        ...

    def matches(self, table: str, column: str, pattern: str) -> bool:
        """Whether a row of the table has a value in the column that is LIKE the pattern."""
        ...


@dataclass(frozen=True)
class SearchedLiteral:
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


@analysis_or(())
def searched_literals(sql: str, schema: Schema, contents: Contents) -> tuple[SearchedLiteral, ...]:
    """What columns are compared with by =, !=, IN and LIKE, the first `MOST_LOOKED_UP` of them.

    Nothing where the query cannot be parsed.
    """
    tree = parse(sql, schema.dialect).tree
    return tuple(dict.fromkeys(islice(_searched(resolve(tree, schema), contents), MOST_LOOKED_UP)))


def _searched(resolution: Resolution, contents: Contents) -> Iterator[SearchedLiteral]:
    for scope in resolution.scopes:
        for node in scope.select.find_all(exp.EQ, exp.NEQ, exp.In, exp.Like, exp.ILike):
            if node.find_ancestor(exp.Select) is not scope.select:
                continue
            for (reference, column), operand in operands(node, resolution):
                value = literal(operand, resolution)
                if value is None or reference.source is None or reference.source.table is None:
                    continue
                table = reference.source.table.name
                text = value if isinstance(value, str) else operand.name
                held = contents.matches if isinstance(node, exp.Like | exp.ILike) else contents.holds
                shown = plain_text(text) if isinstance(value, str) else text
                yield SearchedLiteral(table, column.name, shown, held(table, column.name, text))
