"""What bombs cost beyond their limits: time, memory of this process and its workers together, temporary files."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from ...tools.database import Database, Limits
from ...tools.errors import QueryError
from .corpus import corpus
from .registry import BenchOptions

LIMITS = Limits(seconds=2.0, rows=100_000, memory_bytes=64_000_000, disk_bytes=64_000_000)
_MB = 1_000_000
_INTERVAL = 0.005


@dataclass
class _Watch:
    """Looks at this process and its descendants every few milliseconds; needs /proc, and the rights to look."""

    most_memory: int = 0
    most_disk: int = 0
    _ended: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        threading.Thread(target=self._run, daemon=True).start()

    def stop(self) -> None:
        self._ended.set()

    def _run(self) -> None:
        while not self._ended.wait(_INTERVAL):
            family = descendants()
            self.most_memory = max(self.most_memory, sum(map(_resident, family)))
            self.most_disk = max(self.most_disk, sum(map(_temporary, family)))


def descendants() -> list[int]:
    """This process and all that come from it."""
    found = [os.getpid()]
    for pid in found:
        try:
            for thread in os.listdir(f"/proc/{pid}/task"):
                found += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_text(encoding="ascii").split())
        except OSError:
            continue
    return found


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGESIZE")
    except OSError:
        return 0


def _temporary(pid: int) -> int:
    """Bytes on disk of a process's open files that have no name any more."""
    size = 0
    try:
        for name in os.listdir(f"/proc/{pid}/fd"):
            path = f"/proc/{pid}/fd/{name}"
            if os.readlink(path).endswith(" (deleted)"):
                size += os.stat(path).st_blocks * 512
    except OSError:
        return size
    return size


def run(options: BenchOptions) -> dict[str, object]:
    """Figures: `bombs`, `worst_seconds_over`, `worst_rss_mb_over`, `worst_disk_mb`, and how the bombs ended.

    Memory is what this process and its workers hold beyond what they held before the first bomb, less the limit.
    """
    bombs = corpus("bombs")
    ended: Counter[str] = Counter()
    worst: tuple[float, str] = (0.0, "")
    worst_memory: tuple[int, str] = (0, "")
    worst_disk: tuple[int, str] = (0, "")
    with tempfile.TemporaryDirectory() as folder, Database.open(bombs.make(Path(folder) / "shop.db")) as database:
        database.execute("SELECT 1", LIMITS)
        before = sum(map(_resident, descendants()))
        for sql in islice(bombs.bombs(), options.limit):
            watch = _Watch()
            watch.start()
            start = time.monotonic()
            ended[_outcome(database, sql)] += 1
            seconds = time.monotonic() - start - LIMITS.seconds
            watch.stop()
            shown = sql[:80]
            worst = max(worst, (seconds, shown))
            worst_memory = max(worst_memory, (watch.most_memory - before - LIMITS.memory_bytes, shown))
            worst_disk = max(worst_disk, (watch.most_disk, shown))
    return {
        "bombs": ended.total(),
        "worst_seconds_over": round(worst[0], 3),
        "worst_rss_mb_over": round(worst_memory[0] / _MB, 1),
        "worst_disk_mb": round(worst_disk[0] / _MB, 1),
        "ended": dict(ended.most_common()),
        "slowest": worst[1],
        "largest": worst_memory[1],
        "fullest": worst_disk[1],
    }


def _outcome(database: Database, sql: str) -> str:
    try:
        database.execute(sql, LIMITS)
    except QueryError as error:
        return error.kind
    return "ran"
