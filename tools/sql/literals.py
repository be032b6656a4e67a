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

    def matches(self, table: str, column: str, pattern: str, *, any_case: bool = False) -> bool:
        """Whether a row of the table has a value in the column that is LIKE the pattern, or ILIKE it."""
        ...

    def nearest(self, table: str, column: str, text: str, limit: int = 3) -> tuple[str, ...]:
        """The column's values most like the text, best first."""
        ...


@dataclass(frozen=True)
class SearchedLiteral:
    """One text or number that a column is compared with.

    Attributes:
        table: As the schema spells it.
        column: Likewise.
        text: Casefolded and without wildcards at its ends, as in `Constants`; a number as it is written.
        held: Whether a row has it.
        sought: Whether rows with it are wanted: not by `!=`, nor beside another of a list that a row has, nor if empty.
        near: The only value of the column that is like a text which no row has; empty if there is none, or several.
    """

    table: str
    column: str
    text: str
    held: bool
    sought: bool = True
    near: str = ""

    @property
    def missing(self) -> bool:
        """Whether rows with it are wanted, and there are none."""
        return self.sought and not self.held


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
            escaped = isinstance(node.parent, exp.Escape)  # its pattern is another without the escape
            if not escaped and node.find_ancestor(exp.Select) is scope.select:
                yield from _searched_by(node, resolution, contents)


def _searched_by(node: exp.Expr, resolution: Resolution, contents: Contents) -> Iterator[SearchedLiteral]:
    """Yield what one comparison looks for; of a list with a text that is held, the others are only there in case."""
    found: list[tuple[str, str, str, bool]] = []
    written: dict[str, str] = {}
    for (reference, column), operand in operands(node, resolution):
        value = literal(operand, resolution)
        if value is None or reference.source is None or reference.source.table is None:
            continue
        table, text = reference.source.table.name, value if isinstance(value, str) else operand.name
        shown = plain_text(text) if isinstance(value, str) else text
        if isinstance(node, exp.Like | exp.ILike):
            held = contents.matches(table, column.name, text, any_case=isinstance(node, exp.ILike))
        else:
            held = contents.holds(table, column.name, text)
        found.append((table, column.name, shown, held))
        written[shown] = text.strip("%") if isinstance(value, str) else ""
    negated = isinstance(node, exp.NEQ) or isinstance(node.find_ancestor(exp.Not, exp.Select), exp.Not)
    excluded = negated or any(held for *_, held in found)
    for table, column, shown, held in found:
        sought = bool(shown) and (held or not excluded)
        alike = contents.nearest(table, column, written[shown], 2) if sought and not held and written[shown] else ()
        yield SearchedLiteral(table, column, shown, held, sought, alike[0] if len(alike) == 1 else "")
