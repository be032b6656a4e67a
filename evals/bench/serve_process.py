"""A server in processes of its own, and what they cost: for the benchmarks of the server."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx2 as httpx

_START_SECONDS = 120.0
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Serving:
    """A server that runs.

    Attributes:
        url: Where.
        session: The session of its processes.
    """

    url: str
    session: int

    def processes(self) -> list[int]:
        """All of its processes, by number: the first, its workers, and those that run queries."""
        found: list[int] = []
        for name in filter(str.isdecimal, os.listdir("/proc")):
            with suppress(OSError):
                if os.getsid(int(name)) == self.session:
                    found.append(int(name))
        return found

    def workers(self) -> list[int]:
        """Those that take requests, where there are several."""
        return [number for number in self.processes() if b"spawn_main" in _read(number, "cmdline")]

    def cpu_seconds(self) -> float:
        """Processor time of all that run, and of those that they waited for."""
        return sum(sum(map(int, _stat(number)[11:15])) for number in self.processes()) / _TICKS

    def memory_mb(self) -> float:
        """Memory that they hold themselves."""
        pages = sum(
            int(_read(number, "statm").split()[1] or 0) for number in self.processes() if _read(number, "statm")
        )
        return round(pages * os.sysconf("SC_PAGE_SIZE") / 1_000_000, 1)

    def descriptors(self) -> int:
        """Files and sockets that they have open."""
        count = 0
        for number in self.processes():
            with suppress(OSError):
                count += len(os.listdir(f"/proc/{number}/fd"))
        return count


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@asynccontextmanager
async def served(
    folder: Path, *options: str, environment: Mapping[str, str] | None = None, file_bytes: int | None = None
) -> AsyncGenerator[Serving]:
    """A server that answers, stopped at the end.

    Args:
        folder: Where it keeps everything.
        options: Of `tableturn serve`; host and port are chosen here.
        environment: More variables.
        file_bytes: No file of it may grow larger, as if the disk were full.
    """
    port = free_port()
    command = [sys.executable, "-m", "tableturn", "serve", "--port", str(port), "--rate", "1000000", *options]
    own = {"TABLETURN_HOME": str(folder / "home"), "OPENAI_API_KEY": "none", **(environment or {})}
    limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (file_bytes, file_bytes)) if file_bytes else None
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - our own command
            command, env={**os.environ, **own}, stdout=log, stderr=log, start_new_session=True, preexec_fn=limit
        )
        serving = Serving(f"http://127.0.0.1:{port}", process.pid)
        try:
            await _until_ready(serving.url, process, folder / "server.log")
            yield serving
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                await asyncio.to_thread(process.wait, 30)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


async def _until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + _START_SECONDS
    async with httpx.AsyncClient() as client:
        while time.monotonic() < until and process.poll() is None:
            with suppress(httpx.HTTPError):
                if (await client.get(f"{url}/health")).status_code == 200:
                    return
            await asyncio.sleep(0.2)
    raise RuntimeError(f"the server did not start: {log.read_text()[-2_000:]}")


def client_of(serving: Serving, seconds: float = 120.0) -> Any:
    """A client with connections enough for hundreds of conversations."""
    limits = httpx.Limits(max_connections=2_000, max_keepalive_connections=2_000)
    return httpx.AsyncClient(base_url=serving.url, timeout=seconds, limits=limits)


def _read(number: int, what: str) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{number}/{what}").read_bytes()
    return b""


def _stat(number: int) -> list[str]:
    """The fields of a process after its name; zeros where it is gone."""
    return _read(number, "stat").decode().rpartition(")")[2].split() or ["0"] * 20
