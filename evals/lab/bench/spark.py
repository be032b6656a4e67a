"""A first question asked of ten million rows on a private Spark cluster, and the attacks that are held off there."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.progress import track

from tests.support.spark_cluster import WORKERS, SparkCluster, missing
from tests.tools.database.conformance.candidates.spark import Spark

from ....agent import SQLAgent
from ....tools.errors import DatabaseUnavailable
from .engines import attacked
from .harness import own_cache
from .registry import BenchOptions

_ROWS = 10_000_000
_PARTS = 10
# The limit of five seconds is for databases that are warm, and a first query on Spark is compiled on every worker.
_QUERY_SECONDS = 60.0
_QUESTION = "How many sales are there for each city?"
_TABLE = (
    "CREATE TABLE sales (id BIGINT, sold_on DATE, city STRING, customer STRING, quantity INT, price DECIMAL(8, 2))"
    " USING parquet COMMENT 'One row a sale'"
)
_CITIES = "array('Oslo', 'Bergen', 'Lyon', 'Porto', 'Ghent', 'Turin', 'Malmo', 'Cork')"
_SALES = (
    "INSERT INTO sales SELECT id, date_add(DATE'2024-01-01', CAST(pmod(hash(id, 1), 366) AS INT)),"
    f" element_at({_CITIES}, CAST(pmod(hash(id, 2), 8) + 1 AS INT)),"
    " concat('customer ', pmod(hash(id, 3), 5000) + 1), CAST(pmod(hash(id, 4), 20) + 1 AS INT),"
    " CAST(pmod(hash(id, 5), 90000) / 100 + 1 AS DECIMAL(8, 2)) FROM range({start}, {end})"
)


def run(options: BenchOptions) -> dict[str, object]:
    """Figures: `rows`, `workers`, `first_answer_s` from opening to the answer, `attacks_tried` and `attacks_held`.

    The rows are made before the clock starts, as Parquet files. `--limit` is their number.
    """
    wanted = missing()
    if wanted:
        return {"not run": f"install {wanted}"}
    rows = options.limit or _ROWS
    with tempfile.TemporaryDirectory(prefix="tableturn-spark-") as folder:
        console = Console(stderr=True)
        try:
            with console.status(f"Starting Spark with {WORKERS} workers"):
                cluster = SparkCluster(Path(folder))
        except DatabaseUnavailable as error:
            return {"not run": str(error)}
        with cluster:
            cluster.run(_TABLE)
            step = -(-rows // _PARTS)
            for start in track(range(0, rows, step), f"Making {rows:,} rows", console=console):
                cluster.run(_SALES.format(start=start, end=min(start + step, rows)))
            seconds, sql, answered = _first_answer(cluster, Path(folder) / "cache")
            with console.status("Attacking"):
                candidate = Spark()
                candidate.cluster = cluster
                attacks = attacked(candidate)
    return {"rows": rows, "workers": WORKERS, "first_answer_s": seconds, **attacks, "sql": sql, "answered": answered}


def _first_answer(cluster: SparkCluster, cache: Path) -> tuple[float | None, str, int]:
    """Seconds, None where there was no answer; the query, and how many rows it gave."""
    with own_cache(cache):
        start = time.perf_counter()
        with SQLAgent(cluster.url, model="offline", settings={"query_seconds": _QUERY_SECONDS}) as agent:
            answer = agent.ask(_QUESTION)
        taken = round(time.perf_counter() - start, 2) if answer.rows else None
        return taken, answer.sql or "", len(answer.rows)
