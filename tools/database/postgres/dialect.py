"""PostgreSQL's SQL, plans and errors, whatever driver reaches it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sqlglot import exp
from sqlglot.dialects import Postgres

from ...errors import QueryFailed, ResultTooLarge, TableturnError
from ..estimate import MOST_ROWS, Estimate
from ..profile import ConnectionLost, read_engine_profile
from ..quoting import literal
from ..server.address import redact_message
from ..server.statement_check import StatementGrammar
from ..table import Cell

PROFILE = read_engine_profile(__package__ or "")

GRAMMAR = StatementGrammar(
    Postgres(),
    PROFILE,
    fold=str.lower,
    # As functions that are looked up, and by the name that PostgreSQL has for it.
    writes=(
        (exp.CurrentVersion, lambda writer, _: writer.func("VERSION")),
        (exp.Hex, lambda writer, node: writer.func("TO_HEX", node.this)),
    ),
    groups_by_key=True,
)

# A scan that several processes share is told as the part of one.
ALONE = "SET LOCAL max_parallel_workers_per_gather = 0"

_HASHED = "hashed SubPlan"
_CACHE_STEPS = frozenset({"Materialize", "Memoize"})
Plan = Mapping[str, Any]


def estimate(sql: str, rows: Callable[[str], list[tuple[Cell, ...]]]) -> Estimate | None:
    """Estimate the cost of a statement from the server's EXPLAIN plan."""
    ((plan_json,),) = rows(f"EXPLAIN (FORMAT JSON, VERBOSE) {sql}")
    steps = list(_walk_plan_steps(json.loads(str(plan_json))[0]["Plan"], 1.0))
    scans = [
        (plan, times, (plan.get("Schema", ""), name)) for plan, times in steps if (name := plan.get("Relation Name"))
    ]
    table_names = sorted({table for *_, table in scans})
    names = ", ".join(f"({literal(schema)}, {literal(name)})" for schema, name in table_names)
    tables = rows(PROFILE.statements["sizes"].format(names=names)) if names else []
    sizes = {(schema, name): int(size or 0) for schema, name, size, _ in tables}
    cost = sum(
        float(plan.get("Plan Rows", 0)) * times
        for plan, times in steps
        if "Join" in plan["Node Type"] or plan["Node Type"] == "Nested Loop"
    )
    total = 0.0
    for plan, times, table in scans:
        # All of the table's rows, where it is no index that finds them.
        table_rows = sizes.get(table, 0) if plan["Node Type"] == "Seq Scan" else 0
        rows_read = max(float(plan.get("Plan Rows", 0)), float(table_rows)) * times
        cost += rows_read
        total += rows_read * int(plan.get("Plan Width", 0))
    return Estimate(min(round(cost), MOST_ROWS), round(total), any(private for *_, private in tables))


def _walk_plan_steps(plan: Plan, times: float) -> Iterator[tuple[Plan, float]]:
    """Yield each step of a query plan with the number of times that the step runs."""
    yield plan, times
    children: list[Plan] = plan.get("Plans", [])
    is_loop = plan["Node Type"] == "Nested Loop" and len(children) > 1
    for child in children:
        relationship = child.get("Parent Relationship")
        runs = times
        if is_loop and relationship == "Inner":
            runs = times * float(children[0].get("Plan Rows", 1))
        elif relationship == "SubPlan" and _HASHED not in repr(plan.get("Filter", "")) + repr(plan.get("Output", "")):
            runs = times * max(1.0, float(plan.get("Plan Rows", 1)))
        elif relationship == "InitPlan":
            runs = 1.0
        # What is kept is read once, however often it is gone through.
        yield from _walk_plan_steps(child, 1.0 if plan["Node Type"] in _CACHE_STEPS else runs)


TOO_LARGE = "tableturn: a value or row is too large"
"""What a statement makes the server say of a row that may not be sent."""

_UNDEFINED_FUNCTION = "42883"
_FUNCTION_NAME = re.compile(r"function (?:\w+\.)?\"?(\w+)")
_LOST_CODES = ("08", "57P")


def make_error(error: Any, longest: int) -> TableturnError | ConnectionLost:
    """Return the typed error for an error of a PostgreSQL driver."""
    code = getattr(error, "sqlstate", None) or getattr(error, "pgcode", None) or ""
    primary = getattr(getattr(error, "diag", None), "message_primary", None)
    message = redact_message(primary or error)
    if TOO_LARGE in message:
        return ResultTooLarge(f"a value has more than {longest:,} bytes, or a row too many: select less of it")
    if not code or code.startswith(_LOST_CODES):
        is_gone = any(kind.__name__ == "OperationalError" for kind in type(error).__mro__)
        return ConnectionLost(message) if is_gone else QueryFailed(message)
    if code == _UNDEFINED_FUNCTION:
        # One code stands for functions that are not there and for operators and functions of other types.
        match = _FUNCTION_NAME.match(message)
        is_unknown = match is not None and match[1].lower() not in PROFILE.functions
        return QueryFailed(message, "unknown_function" if is_unknown else "type_mismatch")
    if code == "42P01" and "FROM-clause" in message:
        # A column's table that the statement doesn't read has the same code as a table that is not there.
        return QueryFailed(message, "unknown_column")
    return PROFILE.make_error(code, message)
