"""What a plan of SQLite tells of a query's cost.

The plan names the tables and how each is gone through, but no numbers. Those are the schema's counts of rows, and, for
what an index finds, what SQLite itself reckons with where nobody has run ANALYZE: one row by a table's own key, ten by
another one, a quarter of the table between two bounds.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp
from sqlglot.errors import SqlglotError

from ..dialects import parse_statement
from ..estimate import Estimate
from ..schema import Schema

_STEP = re.compile(
    r"(?P<how>SCAN|SEARCH) (?P<table>.+?)(?: USING (?P<index>.+?))?(?: \((?P<terms>.*)\))?(?: LEFT-JOIN)?$"
)
_MADE = re.compile(r"(?:CO-ROUTINE|MATERIALIZE) (?P<name>.+)$")
_FOUND = 10.0
_BETWEEN = 0.25

Line = tuple[int, int, str]
"""A step's number, that of the step it belongs to, and what it does."""


def estimate(sql: str, lines: Sequence[Line], schema: Schema) -> Estimate | None:
    """Return what a statement will cost; None if the schema has no count of a table's rows."""
    sizes = {table.name.lower(): table.row_count for table in schema.tables if table.kind == "table"}
    known = [size for size in sizes.values() if size is not None]
    if not known:
        return None
    names = _named(sql, sizes, max(known))
    if names is None:
        return None
    largest = float(max(known))
    below: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for number, parent, what in lines:
        below[parent].append((number, what))

    def cost(parent: int) -> tuple[float, float]:
        """Return how many rows the steps below one read, and how many they make."""
        read, made, again = 0.0, 1.0, 0.0
        for number, what in below[parent]:
            inner, given = cost(number)
            if named := _MADE.match(what):
                names[named["name"].lower()] = given
            if what.startswith("CORRELATED"):
                again += inner
                continue
            read += inner
            if step := _STEP.match(what):
                size = names.get(step["table"].lower(), 1.0 if step["table"] == "CONSTANT ROW" else largest)
                if "AUTOMATIC" in (step["index"] or ""):
                    read += size  # such an index is made for the statement alone
                made *= min(size, _found(step, size)) or 1.0
                read += made
            elif given > 1.0:
                made = max(made, given)
        return read + again * made, made

    return Estimate(round(cost(0)[0]))


def _found(step: re.Match[str], size: float) -> float:
    if step["how"] == "SCAN":
        return size
    terms = step["terms"] or ""
    if "=?" not in terms.replace("<=?", "").replace(">=?", ""):
        return size * _BETWEEN
    return 1.0 if "INTEGER PRIMARY KEY" in (step["index"] or "") else _FOUND


def _named(sql: str, sizes: Mapping[str, int | None], largest: int) -> dict[str, float] | None:
    """Return the sizes of tables by all their names in a statement; the largest if a name is used twice."""
    found: dict[str, float] = {name: float(largest if size is None else size) for name, size in sizes.items()}
    try:
        tables: Iterable[exp.Table] = parse_statement(sql, "sqlite").find_all(exp.Table)
    except (SqlglotError, RecursionError):
        return None
    for table in tables:
        name = table.name.lower()
        if name in sizes and sizes[name] is None:
            return None
        if table.alias and name in found:
            alias = table.alias.lower()
            found[alias] = max(found.get(alias, 0.0), found[name])
    return found
