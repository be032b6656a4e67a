"""Helpers of benches: a clean environment, processes with memory use, and timing."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar
from unittest.mock import patch

import httpx2 as httpx
import numpy as np

from ....tools.folders import CACHE_VARIABLE

_START_SECONDS = 120.0
_TICKS = os.sysconf("SC_CLK_TCK")

T = TypeVar("T")


def use_cache_folder(folder: Path) -> AbstractContextManager[object]:
    """Return a context manager that sets the cache folder, so that runs share nothing."""
    return patch.dict(os.environ, {CACHE_VARIABLE: str(folder)})


def compute_percentile_ms(seconds: Sequence[float], percent: int) -> float:
    """Return a percentile of times in seconds, as milliseconds."""
    return 1000 * float(np.percentile(seconds, percent))


class Stopwatch:
    """The elapsed seconds of a `with` block, and the processor seconds of this process."""

    seconds = cpu = 0.0

    def __enter__(self) -> Self:
        self._start = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *error: object) -> None:
        self.seconds, self.cpu = time.perf_counter() - self._start[0], time.process_time() - self._start[1]


def time_calls(call: Callable[[T], object], arguments: Iterable[T]) -> tuple[list[Any], list[float]]:
    """Call a function with each argument; return the results and the seconds of each call."""
    found: list[Any] = []
    seconds: list[float] = []
    for argument in arguments:
        with Stopwatch() as spent:
            found.append(call(argument))
        seconds.append(spent.seconds)
    return found, seconds


def measure_least_seconds(functions: Sequence[Callable[[], object]], passes: int) -> list[float]:
    """Return the shortest time of each function over several passes in alternating order.

    What else the machine does only adds to a time.
    """
    best = [float("inf")] * len(functions)
    for number in range(passes):
        places = range(len(functions))
        for place in places if number % 2 else reversed(places):
            with Stopwatch() as spent:
                functions[place]()
            best[place] = min(best[place], spent.seconds)
    return best


def list_process_tree(pid: int) -> list[int]:
    """Return the ids of a process and all its descendants."""
    found = [pid]
    for each in found:
        with suppress(OSError):
            for thread in os.listdir(f"/proc/{each}/task"):
                found += map(int, Path(f"/proc/{each}/task/{thread}/children").read_text(encoding="ascii").split())
    return found


def sum_resident_memory(processes: Iterable[int]) -> int:
    """Return the resident memory of processes in bytes; processes that ended count as 0."""
    pages = sum(int(_read_proc(pid, "statm").split()[1]) for pid in processes if _read_proc(pid, "statm"))
    return pages * os.sysconf("SC_PAGESIZE")


def count_open_descriptors(processes: Iterable[int]) -> int:
    """Return how many files and sockets processes have open."""
    count = 0
    for pid in processes:
        with suppress(OSError):
            count += len(os.listdir(f"/proc/{pid}/fd"))
    return count


def _read_proc(pid: int, name: str) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/{name}").read_bytes()
    return b""


@dataclass(frozen=True)
class ServerProcess:
    """A running `tableturn serve`."""

    url: str
    session: int

    def list_processes(self) -> list[int]:
        """Return the ids of the server's processes: the first, workers, and those of queries."""
        found: list[int] = []
        for name in filter(str.isdecimal, os.listdir("/proc")):
            with suppress(OSError):
                if os.getsid(int(name)) == self.session:
                    found.append(int(name))
        return found

    def list_workers(self) -> list[int]:
        """Return the ids of the worker processes that take requests, if there are several."""
        return [pid for pid in self.list_processes() if b"spawn_main" in _read_proc(pid, "cmdline")]

    def measure_cpu_seconds(self) -> float:
        """Return the processor time of the server's processes and their ended children."""
        # The fields after the name, which may hold blanks; a process that has ended has none.
        fields = (_read_proc(pid, "stat").decode().rpartition(")")[2].split()[11:15] for pid in self.list_processes())
        return sum(sum(map(int, four)) for four in fields) / _TICKS

    def measure_memory_and_descriptors(self) -> tuple[float, int]:
        """Return the server's memory in megabytes, and its number of open files and sockets."""
        processes = self.list_processes()
        return round(sum_resident_memory(processes) / 1_000_000, 1), count_open_descriptors(processes)


def find_free_port() -> int:
    """Return a free TCP port of this machine."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@asynccontextmanager
async def run_server(folder: Path, *options: str, file_bytes: int | None = None) -> AsyncGenerator[ServerProcess]:
    """Run `tableturn serve` in processes of its own.

    Args:
        folder: Where it keeps everything.
        options: Its options; host and port are chosen here.
        file_bytes: No file of it may grow larger, as if the disk were full.
    """
    port = find_free_port()
    command = [sys.executable, "-m", "tableturn", "serve", "--port", str(port), "--rate", "1000000", *options]
    own = {"TABLETURN_HOME": str(folder / "home"), "OPENAI_API_KEY": "none"}
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (file_bytes, file_bytes)) if file_bytes else None
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - our own command
            command, env={**os.environ, **own}, stdout=log, stderr=log, start_new_session=True, preexec_fn=limit
        )
        serving = ServerProcess(f"http://127.0.0.1:{port}", process.pid)
        try:
            await _wait_until_server_ready(serving.url, process, folder / "server.log")
            yield serving
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                await asyncio.to_thread(process.wait, 30)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


async def _wait_until_server_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + _START_SECONDS
    async with httpx.AsyncClient() as client:
        while time.monotonic() < until and process.poll() is None:
            with suppress(httpx.HTTPError):
                if (await client.get(f"{url}/health")).status_code == 200:
                    return
            await asyncio.sleep(0.2)
    raise RuntimeError(f"the server did not start: {log.read_text()[-2_000:]}")


def make_http_client(serving: ServerProcess, seconds: float = 120.0, headers: Mapping[str, str] | None = None) -> Any:
    """Return an HTTP client with enough connections for hundreds of conversations."""
    limits = httpx.Limits(max_connections=2_000, max_keepalive_connections=2_000)
    return httpx.AsyncClient(base_url=serving.url, timeout=seconds, limits=limits, headers=headers)
