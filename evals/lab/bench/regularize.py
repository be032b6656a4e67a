"""Whether regularising a query keeps its result, by running every gold query of Spider, SParC and CoSQL both ways."""

from __future__ import annotations

import time
from collections import Counter
from itertools import islice
from statistics import median

from ....tools.errors import QueryError, SQLParseError
from ....tools.sql import regularize
from ...datasets import load_dataset
from .gold import ALL_SPLITS, Databases, golds
from .registry import BenchOptions


def run(options: BenchOptions) -> dict[str, object]:
    """Distinct gold queries that run, how many keep their rows (in order), how many are stable, and the time of one.

    `changed` lists what did not: at most ten queries.
    """
    data = options.folder
    counts: Counter[str] = Counter()
    seconds: list[float] = []
    changed: list[str] = []
    with Databases(load_dataset("spider", "dev", data)) as databases:
        for gold in islice(golds(data, ALL_SPLITS), options.limit):
            schema = databases.schema(gold.database)
            if schema is None:
                counts["without_database"] += 1
                continue
            expected = databases.run(gold.database, gold.sql)
            if isinstance(expected, QueryError):
                counts["not_running"] += 1
                continue
            counts["queries"] += 1
            started = time.perf_counter()
            try:
                regular = regularize(gold.sql, schema)
            except SQLParseError:
                changed.append(gold.sql)
                continue
            seconds.append(time.perf_counter() - started)
            counts["idempotent"] += regularize(regular, schema) == regular
            if databases.run(gold.database, regular) == expected:
                counts["same_result"] += 1
            else:
                changed.append(gold.sql)
    figures: dict[str, object] = {key: counts[key] for key in ("queries", "same_result", "idempotent", "not_running")}
    return figures | {
        "ms": round(median(seconds) * 1000, 3),
        "ms_p99": round(sorted(seconds)[int(len(seconds) * 0.99)] * 1000, 3),
        "without_database": counts["without_database"],
        "changed": changed[:10],
    }
