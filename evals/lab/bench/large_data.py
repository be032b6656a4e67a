"""First question on large data: a CSV file, and ten million rows on a Spark cluster."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support.spark_cluster import WORKERS, SparkCluster, missing
from tests.tools.database.conformance.candidates.spark import Spark

from ....agent import SQLAgent
from ....tools.errors import DatabaseUnavailable
from .engines import run_attacks
from .harness import Stopwatch, use_cache_folder
from .registry import BenchOptions, Figures

_QUESTION = "How many sales are there for each city?"
_CITIES = ("Oslo", "Bergen", "Lyon", "Porto", "Ghent", "Turin", "Malmo", "Cork")

_MEGABYTES = 1_000
_BLOCK_ROWS = 20_000
_CHILD = """
import json, os, resource, sys, time
from tableturn import SQLAgent
os.environ["TABLETURN_CACHE"] = sys.argv[2]
start = time.perf_counter()
with SQLAgent(sys.argv[1], model="offline") as agent:
    answer = agent.ask(sys.argv[3])
seconds = round(time.perf_counter() - start, 2)
peak = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
print(json.dumps({"first_answer_s": seconds, "rss_mb": peak, "rows": len(answer.rows), "sql": answer.sql}))
"""

_ROWS = 10_000_000
_PARTS = 10
# The limit of five seconds is for databases that are warm, and a first query on Spark is compiled on every worker.
_QUERY_SECONDS = 60.0
_TABLE = (
    "CREATE TABLE sales (id BIGINT, sold_on DATE, city STRING, customer STRING, quantity INT, price DECIMAL(8, 2))"
    " USING parquet COMMENT 'One row a sale'"
)
_SALES = (
    "INSERT INTO sales SELECT id, date_add(DATE'2024-01-01', CAST(pmod(hash(id, 1), 366) AS INT)),"
    f" element_at(array{_CITIES}, CAST(pmod(hash(id, 2), 8) + 1 AS INT)),"
    " concat('customer ', pmod(hash(id, 3), 5000) + 1), CAST(pmod(hash(id, 4), 20) + 1 AS INT),"
    " CAST(pmod(hash(id, 5), 90000) / 100 + 1 AS DECIMAL(8, 2)) FROM range({start}, {end})"
)


def measure_files(options: BenchOptions) -> Figures:
    """Return the size of a CSV file, the seconds to the first answer, memory and rows.

    `options.limit` is the file's size in megabytes. A process of its own answers, so that its memory can be told.
    """
    chance = random.Random(11)  # noqa: S311 - test data
    # A block of rows is written again and again: only its size matters.
    block = "".join(
        f"{number},2024-{chance.randint(1, 12):02}-{chance.randint(1, 28):02},{chance.choice(_CITIES)},"
        f"customer {chance.randint(1, 5_000)},{chance.randint(1, 20)},{chance.uniform(1, 900):.2f}\n"
        for number in range(_BLOCK_ROWS)
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sales.csv"
        with path.open("w", encoding="utf-8") as file:
            size = file.write("id,sold_on,city,customer,quantity,price\n")
            while size < (options.limit or _MEGABYTES) * 1_000_000:
                size += file.write(block)
        command = [sys.executable, "-c", _CHILD, str(path), f"{folder}/cache", _QUESTION]
        child = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own code
    return {"csv_gb": round(size / 1e9, 3), **json.loads(child.stdout.splitlines()[-1])}


def measure_spark(options: BenchOptions) -> Figures:
    """Return rows, workers, the seconds to the first answer, and attacks tried and refused.

    The rows are made before the clock starts, as Parquet files. `--limit` is their number. Seconds are None if there is
    no answer.
    """
    if wanted := missing():
        return {"not run": f"install {wanted}"}
    rows = options.limit or _ROWS
    with tempfile.TemporaryDirectory(prefix="tableturn-spark-") as folder:
        try:
            cluster = SparkCluster(Path(folder))
        except DatabaseUnavailable as error:
            return {"not run": str(error)}
        with cluster:
            cluster.run(_TABLE)
            step = -(-rows // _PARTS)
            for begin in range(0, rows, step):
                cluster.run(_SALES.format(start=begin, end=min(begin + step, rows)))
            with (
                use_cache_folder(Path(folder) / "cache"),
                Stopwatch() as spent,
                SQLAgent(cluster.url, model="offline", settings={"query_seconds": _QUERY_SECONDS}) as agent,
            ):
                answer = agent.ask(_QUESTION)
            seconds = round(spent.seconds, 2) if answer.rows else None
            candidate = Spark()
            candidate.cluster = cluster
            attacks = run_attacks(candidate)
    figures: Figures = {"rows": rows, "workers": WORKERS, "first_answer_s": seconds, **attacks}
    return figures | {"sql": answer.sql or "", "answered": len(answer.rows)}
