"""PostgreSQL's SQL, plans and errors, whatever driver reaches it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp
from sqlglot.dialects import Postgres

from ...errors import QueryFailed, ResultTooLarge, TableturnError
from ..estimate import Estimate
from ..profile import ConnectionLost, read_profile
from ..quoting import literal
from ..server.reading import Grammar, version_call
from ..table import Cell

PROFILE = read_profile(__package__ or "")
GRAMMAR = Grammar(
    Postgres(),
    PROFILE.functions,
    str.lower,
    writes=((exp.CurrentVersion, version_call),),
    reserved=PROFILE.reserved,
    groups_by_key=True,
)

# A scan that several processes share is told as the part of one.
ALONE = "SET LOCAL max_parallel_workers_per_gather = 0"

_HASHED = "hashed SubPlan"
_KEPT = frozenset({"Materialize", "Memoize"})
Plan = Mapping[str, Any]


@dataclass(frozen=True)
class _Step:
    """A step of a plan: it gives so many rows, so many times, and reads a table where one is named."""

    plan: Plan
    times: float

    @property
    def table(self) -> tuple[str, str] | None:
        name = self.plan.get("Relation Name")
        return (str(self.plan.get("Schema", "")), str(name)) if name else None

    @property
    def rows(self) -> float:
        return float(self.plan.get("Plan Rows", 0))


def estimate(sql: str, rows: Callable[[str], list[tuple[Cell, ...]]]) -> Estimate | None:
    """What a statement will cost."""
    ((told,),) = rows(f"EXPLAIN (FORMAT JSON, VERBOSE) {sql}")
    steps = list(_steps(json.loads(str(told))[0]["Plan"], 1.0))
    tables = {step.table for step in steps if step.table is not None}
    held = {
        (str(schema), str(name)): (int(size or 0), bool(private)) for schema, name, size, private in _held(tables, rows)
    }
    read = sum(_read(step, held) * step.times for step in steps if step.table is not None)
    size = sum(_read(step, held) * step.times * int(step.plan.get("Plan Width", 0)) for step in steps if step.table)
    joined = sum(
        step.rows * step.times
        for step in steps
        if ("Join" in step.plan["Node Type"] or step.plan["Node Type"] == "Nested Loop")
    )
    return Estimate(round(read + joined), round(size), any(private for _, private in held.values()))


def _steps(plan: Plan, times: float) -> Iterator[_Step]:
    yield _Step(plan, times)
    below: list[Plan] = plan.get("Plans", [])
    looped = plan["Node Type"] == "Nested Loop" and len(below) > 1
    for child in below:
        how = child.get("Parent Relationship")
        again = times
        if looped and how == "Inner":
            again = times * float(below[0].get("Plan Rows", 1))
        elif how == "SubPlan" and _HASHED not in repr(plan.get("Filter", "")) + repr(plan.get("Output", "")):
            again = times * max(1.0, float(plan.get("Plan Rows", 1)))
        elif how == "InitPlan":
            again = 1.0
        # What is kept is read once, however often it is gone through.
        yield from _steps(child, 1.0 if plan["Node Type"] in _KEPT else again)


def _read(step: _Step, held: Mapping[tuple[str, str], tuple[int, bool]]) -> float:
    """Rows that a scan reads: all of the table's, where it is no index that finds them."""
    assert step.table is not None
    whole = held.get(step.table, (0, False))[0] if step.plan["Node Type"] == "Seq Scan" else 0
    return max(step.rows, float(whole))


def _held(tables: set[tuple[str, str]], rows: Callable[[str], list[tuple[Cell, ...]]]) -> list[tuple[Cell, ...]]:
    if not tables:
        return []
    names = ", ".join(f"({literal(schema)}, {literal(name)})" for schema, name in sorted(tables))
    return rows(PROFILE.statements["sizes"].format(names=names))


TOO_LARGE = "tableturn: a value or row is too large"
"""What a statement makes the server say of a row that may not be sent."""

_UNDEFINED_FUNCTION = "42883"
_NAMED = re.compile(r"function (?:\w+\.)?\"?(\w+)")
_GONE = ("08", "57P")


def failure(error: Any, longest: int) -> TableturnError | ConnectionLost:
    """Return the typed error for what a driver raised."""
    code = getattr(error, "sqlstate", None) or getattr(error, "pgcode", None) or ""
    told = getattr(getattr(error, "diag", None), "message_primary", None)
    message = " ".join(str(told or error).split())[:300]
    if TOO_LARGE in message:
        return ResultTooLarge(f"a value has more than {longest:,} bytes, or a row too many: select less of it")
    if not code or code.startswith(_GONE):
        is_gone = any(kind.__name__ == "OperationalError" for kind in type(error).__mro__)
        return ConnectionLost(message) if is_gone else QueryFailed(message)
    if code == _UNDEFINED_FUNCTION:
        # One code stands for functions that are not there and for operators and functions of other types.
        named = _NAMED.match(message)
        unknown = named is not None and named[1].lower() not in PROFILE.functions
        return QueryFailed(message, "unknown_function" if unknown else "type_mismatch")
    if code == "42P01" and "FROM-clause" in message:
        # A column's table that the statement doesn't read has the same code as a table that is not there.
        return QueryFailed(message, "unknown_column")
    return PROFILE.failure(code, message)
