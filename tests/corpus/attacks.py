"""Attacks by the corpora beside this, as `evals.lab bench` tries them all: nothing gets through."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from tableturn.evals.datasets import load_dataset
from tableturn.evals.lab.bench.harness import Stopwatch, list_process_tree, sum_resident_memory, use_cache_folder
from tableturn.evals.lab.bench.registry import BenchOptions, Figures
from tableturn.tools.database import Database, Limits
from tableturn.tools.errors import DatabaseUnavailable, QueryError, SQLParseError

from tests.support.transcript import Transcript, steady, take_turns
from tests.tools.database.carried import ENGINES, carry, explain_missing
from tests.tools.database.traces import trace
from tests.tools.database.translated import translate_to_dialect

from . import bombs, egress, hidden, poisoned, statements

_MARK = 3
_PAIRED = (3, 4, 0, 5, 6)
_BLOCK = re.compile(r"<([a-z][a-z0-9-]*)>\n(.*?)\n</\1>", re.DOTALL)
_BUDGET = 1_000_000
_BOMBED = Limits(seconds=2.0, rows=100_000, memory_bytes=64_000_000, disk_bytes=64_000_000)
_MB = 1_000_000
_INTERVAL = 0.005
_STATEMENTS = 1_000_000
_SEED = 20_240_601
_FUZZED = Limits(seconds=0.05, rows=50)


def measure_egress(options: BenchOptions) -> Figures:
    """Return `canaries`, cells that must not get out, and `leaked`, how many of them did, on all engines together.

    `engines` has the same for each engine, or why it was not tried. `--limit` is the number of turns on each.
    """
    with tempfile.TemporaryDirectory() as folder, use_cache_folder(Path(folder)):
        found = {name: _engine(name, options.limit) for name in ENGINES}
    tried = [figures for figures in found.values() if "leaked" in figures]
    return {
        "canaries": sum(figures["canaries"] for figures in tried),
        "leaked": sum(figures["leaked"] for figures in tried),
        "engines": found,
    }


def _engine(name: str, limit: int | None) -> dict[str, Any]:
    canaries = set(egress.canaries(_MARK))
    leaked: set[str] = set()
    if missing := explain_missing(name):
        return {"not run": missing}
    for transcript in transcripts(_MARK, limit) if name == "sqlite" else _carried(name, limit):
        leaked |= {found for _, text in transcript.said for found in re.findall(egress.CANARY, text)} & canaries
    return {"canaries": len(canaries), "leaked": len(leaked)}


def transcripts(mark: int, limit: int | None = None, folder: Path | None = None) -> Iterator[Transcript]:
    """Yield what leaves of every turn of the corpus over the database of that mark, and of the tools."""
    with tempfile.TemporaryDirectory() as own:
        path = egress.make((folder or Path(own)) / "shop.db", mark)
        yield from take_turns(path, list(islice(egress.turns(), limit)), deny=egress.DENY, egress=egress.EGRESS)


def _carried(name: str, limit: int | None) -> Iterator[Transcript]:
    """Yield the same over a copy on another engine, with its own statements and those that its dialect can say."""
    with tempfile.TemporaryDirectory() as folder:
        url = carry(egress.make(Path(folder) / "shop.db", _MARK, carried=True), name, Path(folder), egress.VIEWS)
        with Database.open(url) as database:
            dialect = database.dialect
        statements = [*egress.OWN_STATEMENTS.get(dialect, ()), *(_written(sql, dialect) for sql in egress.STATEMENTS)]
        yield from take_turns(url, list(islice(egress.turns(statements), limit)), egress=egress.CARRIED)


def _written(sql: str, dialect: str) -> str:
    """A statement in another dialect, or as it is where that cannot be had."""
    try:
        return translate_to_dialect(sql, dialect)
    except SQLParseError:
        return sql


def measure_non_interference(options: BenchOptions) -> Figures:
    """Return `pairs` of runs, the same turn over two databases, and `differing`, in which not everything was equal.

    The databases lie at the same place, one after the other, so that they differ in nothing else.
    """
    found: list[list[str]] = []
    for mark in _PAIRED:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "same"
            place.mkdir()
            with use_cache_folder(Path(folder) / "cache"):
                found.append([steady(one.text, place) for one in transcripts(mark, options.limit, place)])
    first, *others = found
    pairs = [(one, other) for texts in others for one, other in zip(first, texts, strict=True)]
    differing = [pair for pair in pairs if pair[0] != pair[1]]
    return {"pairs": len(pairs), "differing": len(differing)}


def measure_poisoned(options: BenchOptions) -> Figures:
    """Return `prompts` rendered, `cells` that gave orders, and `escaped`, prompts in which one was outside a fence.

    A prompt is read as a model would: a block ends at the first tag that answers its opening one. An order in the
    system message has escaped, and so has one that no longer stands anywhere.
    """
    orders = poisoned.orders()[: options.limit]
    prompts = escaped = 0
    for text in orders:
        for _, task in poisoned.tasks(text):
            system, *others = task.render(_BUDGET).messages
            said = "\n".join(message.content for message in others)
            prompts += 1
            inside = any(poisoned.MARK in block[1] for block in _BLOCK.findall(said))
            outside = poisoned.MARK in _BLOCK.sub("", said) or poisoned.MARK in system.content
            escaped += outside or not inside
    return {"prompts": prompts, "cells": len(orders), "escaped": escaped}


def measure_hidden(options: BenchOptions) -> Figures:
    """Return `tried`, `read_anything_hidden`, `distinguishable`, `harmless_refused`.

    The last is the share of Spider train's gold queries that are refused once a table is hidden that the query does not
    name.
    """
    with tempfile.TemporaryDirectory() as folder:
        tried = list(hidden.try_on_all(Path(folder), islice(hidden.statements(), options.limit)))
    read = [sql for sql, some, _ in tried if some]
    distinguished = [sql for sql, _, apart in tried if apart]
    golds, refused, differing = _harmless(options.folder, options.limit)
    return {
        "tried": len(tried) - 1,
        "read_anything_hidden": len(read),
        "distinguishable": len(distinguished),
        "harmless_refused": round(len(refused) / max(1, golds), 4),
        "harmless_tried": golds,
        "harmless_other_rows": differing,
        "read": read[:10],
        "distinguished": distinguished[:10],
        "refused": refused[:10],
    }


def _harmless(data: Path, limit: int | None) -> tuple[int, list[str], int]:
    """Return how many gold queries were tried with a table hidden, which were refused, and how many gave other rows."""
    dataset = load_dataset("spider", "train", data).head(limit)
    golds: dict[str, list[str]] = {}
    for question in dataset.questions:
        golds.setdefault(question.database, []).append(question.golds[0])
    tried = differing = 0
    refused: list[str] = []
    for name, queries in golds.items():
        with contextlib.suppress(DatabaseUnavailable):
            for sql, before, after in hidden.hide_others(dataset.find_file(name), queries):
                tried += 1
                differing += after.startswith("(") and after != before
                refused += [] if after.startswith("(") else [sql]
    return tried, refused, differing


class _Watch(threading.Thread):
    """Looks at this process and its descendants every few milliseconds; needs /proc, and the rights to look."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most_memory = self.most_disk = 0
        self._ended = threading.Event()

    def stop(self) -> None:
        self._ended.set()

    def run(self) -> None:
        while not self._ended.wait(_INTERVAL):
            family = list_process_tree(os.getpid())
            self.most_memory = max(self.most_memory, sum_resident_memory(family))
            self.most_disk = max(self.most_disk, sum(map(_temporary, family)))


def _temporary(pid: int) -> int:
    """Return the bytes on disk of a process's open files that have no name any more."""
    size = 0
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            path = f"/proc/{pid}/fd/{name}"
            if os.readlink(path).endswith(" (deleted)"):
                size += os.stat(path).st_blocks * 512
    return size


def measure_limits(options: BenchOptions) -> Figures:
    """Return `bombs`, `worst_seconds_over`, `worst_rss_mb_over`, `worst_disk_mb`, and how the bombs ended.

    Memory is what this process and its workers hold beyond what they held before the first bomb, less the limit.
    """
    ended: Counter[str] = Counter()
    seconds, memory, disk = [0.0], [0], [0]
    with tempfile.TemporaryDirectory() as folder, Database.open(bombs.make(Path(folder) / "shop.db")) as database:
        database.execute("SELECT 1", _BOMBED)
        before = sum_resident_memory(list_process_tree(os.getpid()))
        for sql in islice(bombs.bombs(), options.limit):
            watch = _Watch()
            watch.start()
            with Stopwatch() as spent:
                ended[_outcome(database, sql, _BOMBED)] += 1
            seconds.append(spent.seconds - _BOMBED.seconds)
            watch.stop()
            memory.append(watch.most_memory - before - _BOMBED.memory_bytes)
            disk.append(watch.most_disk)
    return {
        "bombs": ended.total(),
        "worst_seconds_over": round(max(seconds), 3),
        "worst_rss_mb_over": round(max(memory) / _MB, 1),
        "worst_disk_mb": round(max(disk) / _MB, 1),
        "ended": dict(ended.most_common()),
    }


def measure_fuzz(options: BenchOptions) -> Figures:
    """Return `statements`, `file_unchanged` (hash and folder listing), how many ran, how the others were refused.

    Anything but a result or a `QueryError` ends the benchmark with that error.
    """
    count = options.limit or _STATEMENTS
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        folder = Path(name)
        path = folder / "fuzzed.db"
        connection = sqlite3.connect(path)
        connection.executescript(statements.SCHEMA)
        connection.close()
        before = trace(folder)
        with Stopwatch() as spent, Database.open(path) as database:
            outcomes = Counter(
                _outcome(database, sql, _FUZZED) for sql in islice(statements.statements(_SEED, name), count)
            )
        unchanged = trace(folder) == before
    return {
        "statements": count,
        "file_unchanged": unchanged,
        "ran": outcomes.pop("ran", 0),
        "refused": dict(outcomes.most_common()),
        "seconds": round(spent.seconds, 1),
    }


def _outcome(database: Database, sql: str, limits: Limits) -> str:
    try:
        database.execute(sql, limits)
    except QueryError as error:
        return error.kind
    return "ran"
