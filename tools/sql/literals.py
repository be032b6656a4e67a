"""The literals that a query searches for, and whether the database has them: `country = 'USA'` may find no row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Protocol

from sqlglot import exp

from ..database.schema import Schema
from .findings import MOST_LOOKED_UP, ColumnValues
from .query import Query, plain_text
from .untrusted import analysis_or


class Contents(ColumnValues, Protocol):
    """What a database holds, patterns too; `tools.values.ValueIndex` is one."""

    def matches(self, table: str, column: str, pattern: str, *, any_case: bool = False) -> bool:
        """Whether a row of the table has a value in the column that is LIKE the pattern, or ILIKE it."""
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
        written: A text as the query spells it, without wildcards at its ends; empty for a number.
    """

    table: str
    column: str
    text: str
    held: bool
    sought: bool = True
    near: str = ""
    written: str = ""

    @property
    def condition(self) -> str:
        """What no row fulfils, in words: `'Singapore' in country`, and the value that is like it."""
        near = f" (it has '{self.near}')" if self.near else ""
        return f"'{self.written or self.text}' in {self.column}{near}"

    @property
    def missing(self) -> bool:
        """Whether rows with it are wanted, and there are none."""
        return self.sought and not self.held


@analysis_or(())
def searched_literals(sql: str, schema: Schema, contents: Contents) -> tuple[SearchedLiteral, ...]:
    """Return what columns are compared with by =, !=, IN and LIKE, the first `MOST_LOOKED_UP` of them.

    Nothing if the query cannot be parsed.
    """
    query = Query.of(sql, schema.dialect, schema)
    comparisons = (
        node
        for scope in query.scopes
        for node in query.own(scope, exp.EQ, exp.NEQ, exp.In, exp.Like, exp.ILike)
        if not isinstance(node.parent, exp.Escape)  # its pattern is another without the escape
    )
    searched = chain.from_iterable(_searched_by(node, query, contents) for node in comparisons)
    return tuple(dict.fromkeys(islice(searched, MOST_LOOKED_UP)))


def _searched_by(node: exp.Expr, query: Query, contents: Contents) -> Iterator[SearchedLiteral]:
    """Yield what one comparison looks for; of a list with a text that is held, the others are only there in case."""
    found: list[tuple[tuple[str, str], str, str, bool]] = []
    for column, operand in query.operands(node):
        value = query.literal(operand)
        if value is None:
            continue
        text = value if isinstance(value, str) else operand.name
        if isinstance(node, exp.Like | exp.ILike):
            held = contents.matches(*column.item, text, any_case=isinstance(node, exp.ILike))
        else:
            held = contents.holds(*column.item, text)
        is_text = isinstance(value, str)
        found.append((column.item, plain_text(text) if is_text else text, text.strip("%") if is_text else "", held))
    negated = isinstance(node, exp.NEQ) or isinstance(node.find_ancestor(exp.Not, exp.Select), exp.Not)
    excluded = negated or any(held for *_, held in found)
    for item, text, written, held in found:
        sought = bool(text) and (held or not excluded)
        alike = contents.nearest(*item, written, 2) if sought and not held and written else ()
        yield SearchedLiteral(*item, text, held, sought, alike[0] if len(alike) == 1 else "", written)
