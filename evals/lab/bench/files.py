"""A first question to a large file of separated values, in a process of its own so that its memory can be told."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from .registry import BenchOptions

_MEGABYTES = 1_000
_MEGABYTE = 1_000_000
_CITIES = ("Oslo", "Bergen", "Lyon", "Porto", "Ghent", "Turin", "Malmo", "Cork")
_BLOCK_ROWS = 20_000
_QUESTION = "How many sales are there for each city?"
_CHILD = """
import json, os, resource, sys, time
from tableturn import SQLAgent
os.environ["TABLETURN_CACHE"] = sys.argv[2]
start = time.perf_counter()
with SQLAgent(sys.argv[1], model="offline") as agent:
    answer = agent.ask(sys.argv[3])
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"seconds": seconds, "rss_mb": peak, "sql": answer.sql, "rows": len(answer.rows)}))
"""


def run(options: BenchOptions) -> dict[str, object]:
    """Figures: `csv_gb`, `first_answer_s` from opening the file to the answer, `rss_mb` at most, and `rows` of it.

    `options.limit` is the file's size in megabytes.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sales.csv"
        size = _write(path, (options.limit or _MEGABYTES) * _MEGABYTE)
        child = subprocess.run(  # noqa: S603 - our own code, in a Python of its own
            [sys.executable, "-c", _CHILD, str(path), f"{folder}/cache", _QUESTION],
            capture_output=True,
            text=True,
            check=True,
        )
    told = json.loads(child.stdout.splitlines()[-1])
    return {
        "csv_gb": round(size / 1e9, 3),
        "first_answer_s": round(told["seconds"], 2),
        "rss_mb": round(told["rss_mb"]),
        "rows": told["rows"],
        "sql": told["sql"],
    }


def _write(path: Path, size: int) -> int:
    """Sales with a header; a block of rows that is written again and again, for only its size matters."""
    chance = random.Random(11)  # noqa: S311 - test data
    block = "".join(
        f"{number},2024-{chance.randint(1, 12):02}-{chance.randint(1, 28):02},{chance.choice(_CITIES)},"
        f"customer {chance.randint(1, 5_000)},{chance.randint(1, 20)},{chance.uniform(1, 900):.2f}\n"
        for number in range(_BLOCK_ROWS)
    )
    with path.open("w", encoding="utf-8") as file:
        written = file.write("id,sold_on,city,customer,quantity,price\n")
        while written < size:
            written += file.write(block)
    return written
