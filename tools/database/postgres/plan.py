"""What a plan of PostgreSQL tells of a query's cost."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..estimate import Estimate
from ..table import Cell

# A scan that several processes share is told as the part of one.
ALONE = "SET LOCAL max_parallel_workers_per_gather = 0"

_HASHED = "hashed SubPlan"
_KEPT = frozenset({"Materialize", "Memoize"})
# Of a table that nobody has analysed yet, the planner takes a filter to leave next to nothing: its size tells more.
_HELD = """
    SELECT n.nspname, c.relname,
           CASE WHEN c.reltuples < 0 THEN pg_catalog.pg_relation_size(c.oid) / 64 ELSE c.reltuples::bigint END,
           pg_catalog.row_security_active(c.oid) OR NOT pg_catalog.has_any_column_privilege(c.oid, 'SELECT')
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE (n.nspname, c.relname) IN ({names})
"""

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
    """What a statement will cost.

    Args:
        sql: As it would be sent.
        rows: Runs a statement of our own in the transaction of the session.
    """
    ((told,),) = rows(f"EXPLAIN (FORMAT JSON, VERBOSE) {sql}")
    steps = list(_steps(json.loads(str(told))[0]["Plan"], 1.0))
    tables = {step.table for step in steps if step.table is not None}
    held = {
        (str(schema), str(name)): (int(size or 0), bool(private)) for schema, name, size, private in _held(tables, rows)
    }
    read = sum(_read(step, held) * step.times for step in steps if step.table is not None)
    size = sum(_read(step, held) * step.times * int(step.plan.get("Plan Width", 0)) for step in steps if step.table)
    joined = sum(step.rows * step.times for step in steps if _is_join(step.plan))
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


def _is_join(plan: Plan) -> bool:
    return "Join" in plan["Node Type"] or plan["Node Type"] == "Nested Loop"


def _held(tables: set[tuple[str, str]], rows: Callable[[str], list[tuple[Cell, ...]]]) -> list[tuple[Cell, ...]]:
    if not tables:
        return []
    names = ", ".join(f"({_text(schema)}, {_text(name)})" for schema, name in sorted(tables))
    return rows(_HELD.format(names=names))


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
