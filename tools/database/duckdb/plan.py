"""What a plan of DuckDB tells of a query's cost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import prod
from typing import Any

from ..estimate import Estimate
from ..server.catalogue import Catalogue

_CARDINALITY = "Estimated Cardinality"


def estimate(told: str, catalogue: Catalogue) -> Estimate | None:
    """What a statement will cost; None where the plan does not say how many rows a step gives.

    Args:
        told: EXPLAIN's answer, as JSON.
        catalogue: Knows how many rows a table has, where a filter at its scan hides that from the plan.
    """
    sizes = {f"{each.schema}.{each.name}".lower(): each.estimate or 0 for each in catalogue.relations}
    try:
        return Estimate(round(sum(_cost(step, sizes)[0] for step in json.loads(told))))
    except LookupError:
        return None


def _cost(step: Mapping[str, Any], sizes: Mapping[str, int]) -> tuple[float, float]:
    """Rows that a step and those below it read and join, and rows that it gives.

    Raises:
        LookupError: It does not say.
    """
    below = [_cost(child, sizes) for child in step["children"]]
    read, told = sum(cost for cost, _ in below), step["extra_info"]
    if not below:
        if "Table" not in told and "Function" not in told:
            return 0.0, float(told.get(_CARDINALITY, 1))
        given = float(told[_CARDINALITY])
        whole = sizes.get(".".join(str(told.get("Table", "")).lower().split(".")[-2:]), 0)
        return max(given, float(whole)), given
    joins = len(below) > 1 and "UNION" not in step["name"]
    # A cross product says nothing of its own.
    pairs = prod(rows for _, rows in below)
    given = float(told.get(_CARDINALITY, pairs if joins else max(rows for _, rows in below)))
    compared = pairs if "NESTED_LOOP" in step["name"] or "NL_JOIN" in step["name"] else given
    return read + (compared if joins else 0.0), given
