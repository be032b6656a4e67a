"""The example store at ten thousand, a hundred thousand and a million pairs: import, size, lookup, recall."""

from __future__ import annotations

import multiprocessing
import resource
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ....tools.examples import Example, ExampleStore, embed
from .harness import percentile_ms
from .registry import BenchOptions
from .synthetic_pairs import pairs

SIZES = (10_000, 100_000, 1_000_000)
LOOKUPS = 500
K = 10
_SLICE = 50_000


def run(options: BenchOptions) -> dict[str, object]:
    """One row a size; `limit` leaves out the sizes above it.

    Figures: pairs imported a second (parsing and masking included), milliseconds of a lookup of the 10 nearest
    questions (embedding and fetching included), the share of what exact search gives that the lookup gives (equally
    near ones count), memory of a process that has opened the store and searched it, and the folder's size.
    """
    sizes = [size for size in SIZES if options.limit is None or size <= options.limit]
    return {"k": K, "rows": [_row(size) for size in sizes]}


def _row(size: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        seconds = _apart(_import, folder, size)
        asked = [example.question for example in islice(pairs(seed=1), LOOKUPS)]
        times, similarities, rss = _apart(_look_up, folder, asked)
        disk = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    return {
        "pairs": size,
        "import_per_s": round(size / seconds),
        "p50_ms": round(percentile_ms(times, 50), 2),
        "p95_ms": round(percentile_ms(times, 95), 2),
        "recall": round(_recall(size, asked, similarities), 4),
        "rss_mb": round(rss / 1024),
        "disk_mb": round(disk / 2**20),
    }


def _apart(function: Any, *arguments: object) -> Any:
    """Runs in a process of its own, so that memory is that of this step alone."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def _import(folder: str, size: int) -> float:
    start = time.perf_counter()
    with ExampleStore.open(folder) as store:
        store.add(islice(pairs(seed=0), size))
    return time.perf_counter() - start


def _look_up(folder: str, asked: list[str]) -> tuple[list[float], list[list[float]], int]:
    times: list[float] = []
    similarities: list[list[float]] = []
    with ExampleStore.open(folder) as store:
        store.nearest("question", asked[0], K)  # loads the index
        for question in asked:
            start = time.perf_counter()
            found = store.nearest("question", question, K)
            times.append(time.perf_counter() - start)
            similarities.append([hit.similarity for hit in found])
    return times, similarities, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _recall(size: int, asked: list[str], similarities: list[list[float]]) -> float:
    best = np.full((len(asked), K), -1.0, dtype=np.float32)
    queries = embed(asked)
    for part in _questions(size):
        found = queries @ embed(part).T
        best = -np.sort(-np.concatenate([best, found], axis=1), axis=1)[:, :K]
    worst = best[:, -1] - 1e-4
    hits = [sum(value >= least for value in row) for row, least in zip(similarities, worst, strict=True)]
    return sum(hits) / (K * len(asked))


def _questions(size: int) -> Iterator[list[str]]:
    stream: Iterator[Example] = islice(pairs(seed=0), size)
    while part := [example.question for example in islice(stream, _SLICE)]:
        yield part
