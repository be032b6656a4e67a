"""Gold queries whose rows SQL determines, with the rows, and how far their order is determined."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from sqlglot import exp

from ....tools.database import Schema
from ....tools.errors import SQLParseError
from ....tools.sql import parse_select
from ....tools.sql.checks.groups import bare_references
from ....tools.sql.dialects import rules_of
from ....tools.sql.resolve import resolve
from ...official.execution import lenient_text, open_read_only

Row = tuple[int | float | str | bytes | None, ...]

# Of seventeen digits, the last ones depend on the order in which an engine adds up.
_DIGITS = 9


@dataclass(frozen=True)
class Expected:
    """The rows of a query in SQLite.

    Attributes:
        sql: The query.
        runs: Groups of rows whose order among themselves is open, in order; one group where no order is asked for.
    """

    sql: str
    runs: tuple[tuple[Row, ...], ...]

    def matches(self, rows: Sequence[Row]) -> bool:
        """Whether these are the rows, in the order that is determined."""
        if len(rows) != sum(map(len, self.runs)):
            return False
        start = 0
        for run in self.runs:
            if _counted(rows[start : start + len(run)]) != _counted(run):
                return False
            start += len(run)
        return True


def determined(path: Path, schema: Schema, queries: Sequence[str]) -> list[Expected]:
    """Those of the queries that run in SQLite and whose rows SQL determines.

    Left out are queries with a column beside an aggregate that is neither grouped by nor of a table that is grouped by
    its key, and queries whose LIMIT cuts through rows that ORDER BY does not tell apart.
    """
    with closing(open_read_only(path)) as connection:
        connection.text_factory = lenient_text
        found = (_expected(connection, schema, sql) for sql in queries)
        return [each for each in found if each is not None]


def _expected(connection: sqlite3.Connection, schema: Schema, sql: str) -> Expected | None:
    try:
        tree = parse_select(sql, "sqlite")
        rows = connection.execute(sql).fetchall()
        resolution = resolve(tree.copy(), schema)
        strict = rules_of("postgres")
        if any(bare_references(scope, resolution, strict) for scope in resolution.scopes):
            return None
        if any(_cuts_tie(connection, query) for query in tree.find_all(exp.Query) if query.args.get("limit")):
            return None
        return Expected(sql, tuple(_runs(connection, tree, rows))) if isinstance(tree, exp.Query) else None
    except (SQLParseError, sqlite3.Error):
        return None


def _cuts_tie(connection: sqlite3.Connection, query: exp.Query) -> bool:
    """Whether other rows than those above the limit could as well stand there."""
    limit, offset = (_number(query.args.get(key)) for key in ("limit", "offset"))
    keyed = _keyed(connection, query)
    end = offset + limit
    for place in (offset, end):
        if 0 < place < len(keyed):
            before, after = keyed[place - 1], keyed[place]
            tied = [row for row, key in keyed if key == after[1]]
            if before[1] == after[1] and len(set(map(repr, tied))) > 1:
                return True
    return False


def _number(node: exp.Expr | None) -> int:
    return int(node.expression.name) if node is not None and node.expression is not None else 0


def _runs(connection: sqlite3.Connection, tree: exp.Query, rows: Sequence[Row]) -> list[tuple[Row, ...]]:
    if tree.args.get("order") is None:
        return [tuple(rows)]
    offset = _number(tree.args.get("offset"))
    keyed = _keyed(connection, tree)[offset : offset + len(rows)]
    return [tuple(row for row, _ in run) for _, run in groupby(keyed, key=lambda each: each[1])]


def _keyed(connection: sqlite3.Connection, query: exp.Query) -> list[tuple[Row, Row]]:
    """All rows without the limit, each with what it is ordered by."""
    whole = query.copy()
    whole.set("limit", None)
    whole.set("offset", None)
    order = whole.args.get("order")
    terms = [ordered.this for ordered in order.expressions] if order is not None else []
    width = len(connection.execute(f"{whole.sql(dialect='sqlite')} LIMIT 0").description)
    if isinstance(whole, exp.Select) and not whole.args.get("distinct"):
        named = {item.alias.lower(): item.unalias() for item in whole.expressions if item.alias}
        for number, term in enumerate(terms):
            if term.is_int:
                term = whole.expressions[int(term.name) - 1].unalias()
            meant = named.get(term.name.lower(), term) if isinstance(term, exp.Column) and not term.table else term
            whole.append("expressions", exp.alias_(meant.copy(), f"key_{number}"))
        rows = connection.execute(whole.sql(dialect="sqlite")).fetchall()
        return [(row[:width], row[width:]) for row in rows]
    # Rows that are told apart, or of several queries, are ordered by columns of the result.
    names = [item.alias_or_name.lower() for item in whole.selects]
    places = [names.index(term.name.lower()) for term in terms if term.name.lower() in names]
    rows = connection.execute(whole.sql(dialect="sqlite")).fetchall()
    if len(places) < len(terms):
        return [(row, (number,)) for number, row in enumerate(rows)]
    return [(row, tuple(row[place] for place in places)) for row in rows]


def _counted(rows: Sequence[Row]) -> Counter[tuple[object, ...]]:
    return Counter(tuple(map(_plain, row)) for row in rows)


def _plain(value: object) -> object:
    if isinstance(value, bool):
        return int(value)
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, int | float) else value
