"""The caller's side: workers of one database, taken and given back by any number of threads."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass

from ....errors import DatabaseUnavailable, QueryError, QueryTimeout, ResultTooLarge
from ...cancellation import Cancellation
from ...session import Permissions
from ...table import Limits, Table
from .codec import decode
from .wire import ERROR_BYTES, RESULT, Opening, Order, receive, send, unpack_error, wait

_START_SECONDS = 60.0
_END_SECONDS = 5.0
# A worker ends its query by itself at the deadline; this much later it is killed.
_GRACE_SECONDS = 0.12
_CANCEL_SECONDS = 0.02
_GREETING_BYTES = 64
_IDLE_WORKERS = 4
_PROGRAM = (
    "import json, sys, importlib; sys.path[:] = json.loads(sys.argv[1]); "
    "importlib.import_module(sys.argv[2]).serve(int(sys.argv[3]))"
)
_ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    # One heap for all threads: further ones reserve address space that no query has asked for.
    "MALLOC_ARENA_MAX": "1",
    # Memory that was used once is kept for the next query, up to this.
    "MALLOC_TRIM_THRESHOLD_": "8000000",
    "MALLOC_MMAP_THRESHOLD_": "4000000",
}


def available() -> bool:
    """Whether this system can hold a process to the limits."""
    return sys.platform == "linux" and hasattr(os, "pidfd_open") and bool(sys.executable)


@dataclass(eq=False)
class _Worker:
    """A forked worker: the line to it, and its number."""

    line: socket.socket
    pid: int

    def end(self) -> None:
        """Kill it, and no process that has its number by now: as long as the line is held, so is the number."""
        with contextlib.suppress(OSError):
            handle = os.pidfd_open(self.pid)
            try:
                if not self._hung_up():
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
            finally:
                os.close(handle)
        self.line.close()

    def _hung_up(self) -> bool:
        poll = select.poll()
        poll.register(self.line, 0)
        return bool(poll.poll(0))


class _Nursery:
    """The process that forks workers; started when first needed, ended with this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._greeted = False

    def start(self) -> None:
        """Start it without waiting for it."""
        with self._lock:
            self._start()

    def worker(self, opening: bytes) -> _Worker:
        """A new worker.

        Raises:
            OSError: None can be started.
        """
        with self._lock:
            for last in (False, True):
                try:
                    return self._forked(opening)
                except OSError:
                    self._stop()
                    if last:
                        raise
        raise OSError

    def close(self) -> None:
        """End it; its workers end with it."""
        with self._lock:
            self._stop()

    def forget(self) -> None:
        """In a forked copy of this process: the nursery is not its own, and locks may be held for ever."""
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.returncode = 0  # somebody else's child: there is nothing to wait for
        self.__init__()

    def _forked(self, opening: bytes) -> _Worker:
        control = self._start()
        if not self._greeted:
            control.settimeout(_START_SECONDS)
            if not control.recv(_GREETING_BYTES):
                raise OSError("the process that forks workers ends at once")
            control.settimeout(None)
            self._greeted = True
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(control, [b"\0"], [theirs.fileno()])
        try:
            ours.settimeout(_START_SECONDS)
            send(ours, RESULT, opening)
            message = receive(ours, _GREETING_BYTES)
            if message is None:
                raise OSError("a worker ends at once")
            ours.settimeout(None)
            return _Worker(ours, int(message[1]))
        except (OSError, ValueError):
            ours.close()
            raise

    def _start(self) -> socket.socket:
        if self._control is None:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                self._process = _spawn(theirs.fileno())
            self._control, self._greeted = ours, False
        return self._control

    def _stop(self) -> None:
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            try:
                self._process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._control = self._process = None


def _spawn(descriptor: int) -> subprocess.Popen[bytes]:
    entries: list[object] = list(sys.path)
    path = json.dumps([entry for entry in entries if entry and isinstance(entry, str)])
    inherited = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "TMPDIR") if name in os.environ}
    return subprocess.Popen(  # noqa: S603 - our own interpreter and program
        [sys.executable, "-I", "-X", "utf8", "-c", _PROGRAM, path, f"{__package__}.nursery", str(descriptor)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=_ENVIRONMENT | inherited,
        pass_fds=[descriptor],
        start_new_session=True,
    )


NURSERY = _Nursery()
atexit.register(NURSERY.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=NURSERY.forget)


class Workers:
    """Runs queries on one database under one set of permissions, each in a worker of its own."""

    def __init__(self, path: str, permissions: Permissions) -> None:
        self._opening = Opening(path, permissions).pack()
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._closed = False
        self._owner = os.getpid()
        NURSERY.start()

    def execute(self, sql: str, limits: Limits, cancellation: Cancellation | None) -> Table:
        """See `Engine.execute`."""
        if cancellation is not None and cancellation.cancelled:
            raise QueryTimeout("the query was cancelled")
        order = Order(sql, limits).pack()
        worker = self._take()
        usable = False
        try:
            send(worker.line, RESULT, order)
            _await(worker, limits, cancellation)
            answer = receive(worker.line, _most(limits))
            if answer is None:
                raise ResultTooLarge("the query needs more memory or temporary disk space than it may use")
            kind, body = answer
            usable = True
        except ValueError:
            raise ResultTooLarge("the result is larger than it may be") from None
        except OSError:
            raise QueryError("the query's process was ended from outside: run it again") from None
        finally:
            self._give(worker, usable)
        try:
            if kind == RESULT:
                return decode(body)
            raise unpack_error(body[:ERROR_BYTES])
        except ValueError:
            raise QueryError("the query's process gave no readable result") from None

    def close(self) -> None:
        """End the workers that wait; those at work are ended when they are given back."""
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

    def _take(self) -> _Worker:
        with self._lock:
            if self._closed:
                raise DatabaseUnavailable("the database was closed: open it again")
            if self._owner != os.getpid():
                # Forked: the workers are the parent's.
                self._owner, self._idle = os.getpid(), []
            if self._idle:
                return self._idle.pop()
        try:
            return NURSERY.worker(self._opening)
        except OSError as error:
            raise DatabaseUnavailable(f"no process can be started for a query: {error}") from None

    def _give(self, worker: _Worker, usable: bool) -> None:
        with self._lock:
            if usable and not self._closed and len(self._idle) < _IDLE_WORKERS:
                self._idle.append(worker)
                return
        worker.end()


def _await(worker: _Worker, limits: Limits, cancellation: Cancellation | None) -> None:
    """Wait for the answer.

    Raises:
        QueryTimeout: It does not come in time, or the query was cancelled; the worker must not be used again.
    """
    deadline = time.monotonic() + limits.seconds + _GRACE_SECONDS
    while True:
        now = time.monotonic()
        until = deadline if cancellation is None else min(deadline, now + _CANCEL_SECONDS)
        if wait(worker.line, until):
            return
        if cancellation is not None and cancellation.cancelled:
            raise QueryTimeout("the query was cancelled")
        if time.monotonic() >= deadline:
            raise QueryTimeout(
                f"the query ran longer than {limits.seconds:g} s: join on keys, filter earlier, or ask for less"
            )


def _most(limits: Limits) -> int:
    """Bytes that a result inside the limits can take: four a character, and what describes it."""
    return 4 * limits.result_bytes + 64 * (limits.rows + 1) + (1 << 20)
