"""The caller's side of `worker`: workers of one database, shared by threads."""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import ormsgpack

from ..errors import DatabaseUnavailable, QueryError, QueryTimeout, ResultTooLarge, TableturnError
from ..forkserver import ForkServer
from .fetch import Sink
from .table import Limits, Table
from .watchdog import OVERDUE, Cancellation, raise_if_cancelled
from .wire import ERROR_BYTES, MESSAGE_BYTES, PART, RESULT, pack_query, receive, send, unpack_error, unpack_table

START_SECONDS = 60.0
# A worker ends its query by itself at the deadline; this much later it is killed.
_GRACE_SECONDS = 0.12
_CANCEL_SECONDS = 0.02
_END_MILLISECONDS = 1_000
_WORKERS = max(4, os.cpu_count() or 1)
"""At once, for one database: each may use every processor, and more would run one another into their time limits."""
_ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    # One heap for all threads: further ones reserve address space that no query has asked for.
    "MALLOC_ARENA_MAX": "1",
    # Memory that was used once is kept for the next query, up to this.
    "MALLOC_TRIM_THRESHOLD_": "8000000",
    "MALLOC_MMAP_THRESHOLD_": "4000000",
    # pandas, where files are read, is imported once no thread may be started any more.
    "OPENBLAS_NUM_THREADS": "1",
}


def make_query_fork_server(package: str) -> ForkServer:
    """Return the fork server that starts an engine's query workers."""
    return ForkServer(f"{package}.worker", _ENVIRONMENT, START_SECONDS, ("TMPDIR", "TZ"), socket.SOCK_STREAM)


@dataclass(eq=False)
class _WorkerProcess:
    """A forked worker process, with the connection to it."""

    line: socket.socket
    pid: int
    about: bytes  # its database, in its own words
    folder: Path | None  # goes with it; None where its files have no names

    def end(self) -> None:
        """Kill the worker and delete its folder."""
        # Its number is nobody else's as long as the line is held.
        with suppress(OSError):
            handle = os.pidfd_open(self.pid)
            try:
                if not _wait_for_event(self.line.fileno(), 0, 0):
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
                if self.folder is not None:
                    # What it holds is free, and it makes no further file, once it is gone.
                    _wait_for_event(handle, select.POLLIN, _END_MILLISECONDS)
            finally:
                os.close(handle)
        self.line.close()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


def _wait_for_event(descriptor: int, events: int, milliseconds: int) -> bool:
    """Whether an event happens in time; without `events`, whether the other side hung up."""
    poll = select.poll()
    poll.register(descriptor, events)
    return bool(poll.poll(milliseconds))


class WorkerPool:
    """A pool of workers that run queries on one database under one set of permissions."""

    def __init__(self, fork_server: ForkServer, opening: bytes, folder: Path | None = None) -> None:
        """Start the fork server, with no worker yet; each worker gets its own folder in `folder`."""
        self._fork_server, self._opening, self._folder = fork_server, opening, folder
        self._lock = threading.Lock()
        self._idle: list[_WorkerProcess] = []
        self._closed = False
        self._owner = os.getpid()
        self._turns = threading.BoundedSemaphore(_WORKERS)
        with suppress(OSError):  # the first query says so
            fork_server.start(wait=False)

    @property
    def about(self) -> bytes:
        """The packed description of the database, as given by a worker."""
        worker = self._take_worker(Limits(seconds=START_SECONDS), None)
        self._return_worker(worker, usable=True)
        return worker.about

    def execute(self, sql: str, limits: Limits, cancellation: Cancellation | None, sink: Sink | None = None) -> Table:
        raise_if_cancelled(cancellation)
        order = pack_query(sql, limits, sink is not None)
        worker = self._take_worker(limits, cancellation)
        usable = False
        try:
            # One deadline for the whole reply, however many parts it comes in.
            deadline = time.monotonic() + limits.seconds + _GRACE_SECONDS
            send(worker.line, RESULT, order, START_SECONDS)
            kind, body = _receive_worker_message(worker.line, deadline, limits, cancellation)
            rows = size = 0
            while sink is not None and kind == PART:
                batch = unpack_table(body)
                if not batch.rows:
                    rows, size = limits.rows, _compute_max_message_bytes(limits)
                    sink.start(batch.columns)
                # A worker is not to be trusted: its parts are held to the limits once more.
                rows, size = rows - len(batch.rows), size - len(body)
                if rows < 0 or size < 0:
                    raise ValueError
                if batch.rows:
                    sink.take(batch.rows)
                kind, body = _receive_worker_message(worker.line, deadline, limits, cancellation)
            outcome = unpack_table(body) if kind == RESULT else unpack_error(body[:ERROR_BYTES])
            # What took too much may have left the worker without room for the next query, or about to end.
            usable = isinstance(outcome, Table | QueryError) and not isinstance(outcome, ResultTooLarge)
        except ValueError:
            raise ResultTooLarge("the result is too large, or is damaged: ask for less") from None
        except TimeoutError:
            raise QueryTimeout(OVERDUE.format(seconds=limits.seconds)) from None
        except OSError:
            raise QueryError("another program ended the query's process: run the query again") from None
        finally:
            self._return_worker(worker, usable)
        if isinstance(outcome, TableturnError):
            raise outcome
        return outcome

    def close(self) -> None:
        """End idle workers; busy ones end when they are given back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        if self._owner == os.getpid():
            for worker in idle:
                worker.end()

    def __del__(self) -> None:
        # A database that nobody closed: its workers end with it.
        if hasattr(self, "_idle"):
            with suppress(OSError, ValueError):  # as the interpreter ends, descriptors may be closed already
                self.close()

    def _take_worker(self, limits: Limits, cancellation: Cancellation | None) -> _WorkerProcess:
        deadline = time.monotonic() + limits.seconds
        while not self._turns.acquire(timeout=_CANCEL_SECONDS):
            raise_if_cancelled(cancellation)
            if time.monotonic() >= deadline:
                raise QueryTimeout(OVERDUE.format(seconds=limits.seconds))
        try:
            with self._lock:
                if self._closed:
                    raise DatabaseUnavailable("the database was closed: open it again")
                if self._owner != os.getpid():
                    # Forked: the workers are the parent's.
                    self._owner, self._idle = os.getpid(), []
                    self._turns = threading.BoundedSemaphore(_WORKERS)
                    self._turns.acquire()
                if self._idle:
                    return self._idle.pop()
            return self._start_worker()
        except BaseException as error:
            self._turns.release()
            if isinstance(error, OSError | ValueError):
                raise DatabaseUnavailable(f"cannot start a process for the query: {error}") from None
            raise

    def _start_worker(self) -> _WorkerProcess:
        line = self._fork_server.call(b"\0")
        try:
            send(line, RESULT, self._opening, START_SECONDS)
            message = receive(line, MESSAGE_BYTES, time.monotonic() + START_SECONDS)
            if message is None:
                raise OSError("the worker process ended at once")
            kind, body = message
            if kind != RESULT:
                raise unpack_error(body)
            pid, description = ormsgpack.unpackb(body)
            return _WorkerProcess(line, pid, description, self._folder and self._folder / str(pid))
        except BaseException:
            line.close()
            raise

    def _return_worker(self, worker: _WorkerProcess, usable: bool) -> None:
        self._turns.release()
        with self._lock:
            if usable and not self._closed:
                self._idle.append(worker)
                return
        worker.end()


def _receive_worker_message(
    sock: socket.socket, deadline: float, limits: Limits, cancellation: Cancellation | None
) -> tuple[int, bytes]:
    """Return a worker's next message; after an error the worker must not be used again."""
    check = partial(raise_if_cancelled, cancellation) if cancellation else None
    answer = receive(sock, _compute_max_message_bytes(limits), deadline, check)
    if answer is None:
        raise ResultTooLarge("the query needs more memory or temporary disk space than it may use")
    return answer


def _compute_max_message_bytes(limits: Limits) -> int:
    """Return the maximum size in bytes of a result message within the limits."""
    # Four a character, and what describes it.
    return 4 * limits.result_bytes + 64 * (limits.rows + 1) + (1 << 20)
