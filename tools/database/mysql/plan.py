"""What a plan of MySQL or MariaDB tells of a query's cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..estimate import Estimate

# MySQL tells what a condition leaves of a table's rows of its own accord, and has no word for it.
EXPLAIN = {True: "EXPLAIN EXTENDED", False: "EXPLAIN"}
"""What stands before a statement to have its plan; by whether it is MariaDB."""


def estimate(plan: Iterable[Mapping[str, Any]]) -> Estimate:
    """What a statement will cost.

    The tables of one SELECT are read in the order of the plan, each once for every row that those before it make.

    Args:
        plan: EXPLAIN's rows, by the names of its columns.
    """
    selects: dict[Any, list[Mapping[str, Any]]] = defaultdict(list)
    for line in plan:
        if line["rows"] is not None:
            selects[line["id"]].append(line)
    costs = {number: _nested(lines) for number, lines in selects.items()}
    rows, outermost = 0.0, max((made for _, made in costs.values()), default=0.0)
    for number, (read, _) in costs.items():
        again = "DEPENDENT" in str(selects[number][0]["select_type"])
        rows += read * max(1.0, outermost) if again else read
    return Estimate(round(rows))


def _nested(lines: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """Rows that are read, and rows that come of it."""
    read, made = 0.0, 1.0
    for line in lines:
        made *= float(line["rows"])
        read += made
        made *= float(line.get("filtered") or 100) / 100
    return read, made
