"""The fork server (warm parent): a process with pandas loaded and no data, which forks the workers.

It never reads a request or a reply: frames and answers pass between caller and worker alone. It has one thread, so that
forking is safe. One worker is always forked ahead, confined and waiting for its request.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import gc
import io
import os
import pkgutil
import select
import signal
import socket
import sys
import time
import warnings
import zoneinfo
from dataclasses import dataclass
from datetime import tzinfo
from importlib import import_module

import pandas as pd
import pyarrow

from ..forkserver import READY
from .answer import convert_value_to_answer
from .boundary import confine, die_with_parent, limit_process_resources, limit_worker_resources, measure_address_space
from .protocol import CONFINED, PIPES_FOLLOW, RunOrder, WorkerEnding
from .static_check import ALLOWED_MODULES
from .terms import Boundary
from .worker import answer_request

_ORDER_BYTES = 4_096
# Where a worker keeps its two pipes, just above standard input, output and error.
_REQUEST, _REPLY = 3, 4

# Parts of pandas and numpy that load others only when used.
_PACKAGES = ("pandas.core", "pandas.tseries", "pandas.io.formats", "pandas.compat")
_MODULES = (
    "_strptime", "dateutil.parser", "dateutil.tz", "linecache", "numpy.fft", "numpy.linalg", "numpy.ma",
    "numpy.polynomial", "numpy.random", "numpy.rec", "pandas.io.json", "pandas.io.parsers", "pyarrow.compute",
    *(f"encodings.{name}" for name in ("ascii", "cp1252", "hex_codec", "idna", "latin_1", "utf_16", "utf_8_sig")),
)  # fmt: skip

_TIME_ZONES: list[tuple[tzinfo, tzinfo]] = []


@dataclass(frozen=True)
class _ForkedWorker:
    """A forked worker and the caller's ends of its pipes."""

    pid: int
    pidfd: int
    request: int
    reply: int
    boundary: Boundary


@dataclass(frozen=True)
class _BusyWorker:
    """A running worker, with the socket to its caller and its deadline."""

    worker: _ForkedWorker
    line: socket.socket
    deadline: float


def serve(descriptor: int) -> None:
    """Fork workers as ordered until the caller closes the socket, then end this process."""
    os.chdir("/")
    # They name folders of this machine.
    sys.argv[:] = sys.orig_argv[:] = [""]
    control = socket.socket(fileno=descriptor)
    try:
        _import_all_modules()
        os.environ.clear()
        # What is loaded is never collected: looking at it would copy its pages into every worker.
        gc.collect()
        gc.freeze()
        parent = _WorkerManager(control)
    except Exception as error:  # noqa: BLE001 - whatever it is, the caller is the one to tell
        control.send(f"{type(error).__name__}: {error}".encode()[:_ORDER_BYTES])
        os._exit(1)
    control.send(READY)
    parent.run()
    os._exit(0)


class _WorkerManager:
    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._spare: _ForkedWorker | None = None
        self._runs: dict[int, _BusyWorker] = {}  # by pidfd, and by the line's descriptor
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._base_memory = measure_address_space()

    def run(self) -> None:
        while True:
            next_deadline = min((run.deadline for run in self._runs.values()), default=None)
            wait = None if next_deadline is None else max(0.0, next_deadline - time.monotonic()) * 1_000 + 1
            for descriptor, _ in self._poll.poll(wait):
                if descriptor == self._control.fileno():
                    if not self._accept_order():
                        for run in set(self._runs.values()):
                            self._finish_run(run)
                        return _discard_worker(self._spare) if self._spare else None
                elif run := self._runs.get(descriptor):
                    # The worker has ended, or the caller has hung up: nobody waits for this run any more.
                    self._finish_run(run)
            now = time.monotonic()
            for run in {run for run in self._runs.values() if run.deadline <= now}:
                self._finish_run(run, timed_out=True)

    def _accept_order(self) -> bool:
        """Accept the next order and assign a worker; return False if the caller is gone."""
        data, descriptors, _, _ = socket.recv_fds(self._control, _ORDER_BYTES, 1)
        if not data:
            return False
        if not descriptors:
            return True  # the caller had none to spare, and knows
        line = socket.socket(fileno=descriptors[0])
        try:
            order = RunOrder.unpack(data)
            worker = self._take_or_fork_worker(order.boundary)
        except (OSError, ValueError, TypeError) as error:
            return self._decline_order(line, error)
        try:
            limit_process_resources(worker.pid, order.seconds, self._base_memory + order.memory_bytes)
        except (OSError, ValueError, TypeError, OverflowError) as error:
            _discard_worker(worker)
            return self._decline_order(line, error)
        run = _BusyWorker(worker, line, time.monotonic() + order.seconds)
        self._runs[worker.pidfd] = self._runs[line.fileno()] = run
        self._poll.register(worker.pidfd, select.POLLIN)
        self._poll.register(line, 0)  # errors and hang-ups only
        with contextlib.suppress(OSError):
            socket.send_fds(line, [PIPES_FOLLOW], [worker.request, worker.reply])
        os.close(worker.request)
        os.close(worker.reply)
        with contextlib.suppress(OSError):
            self._spare = _fork_worker(order.boundary)
        return True

    def _take_or_fork_worker(self, boundary: Boundary) -> _ForkedWorker:
        """Return the spare worker if it is alive and has this boundary, else fork a new one."""
        spare, self._spare = self._spare, None
        if spare is not None:
            if spare.boundary == boundary and not select.select([spare.pidfd], [], [], 0)[0]:
                return spare
            _discard_worker(spare)
        return _fork_worker(boundary)

    def _decline_order(self, sock: socket.socket, error: Exception) -> bool:
        """Report to the caller that the run cannot start; always return True."""
        number = error.errno if isinstance(error, OSError) else errno.EINVAL
        with contextlib.suppress(OSError), sock:
            sock.send(WorkerEnding("fork", number or 0).pack())
        return True

    def _finish_run(self, run: _BusyWorker, timed_out: bool = False) -> None:
        """Kill the worker of a run, and report to the caller how the worker ended."""
        del self._runs[run.worker.pidfd], self._runs[run.line.fileno()]
        self._poll.unregister(run.worker.pidfd)
        self._poll.unregister(run.line)
        code = _kill_worker(run.worker)
        ending = (
            WorkerEnding("timeout")
            if timed_out
            else WorkerEnding("signal", -code)
            if code < 0
            else WorkerEnding("exit", code)
        )
        with contextlib.suppress(OSError), run.line:
            run.line.send(ending.pack())


def _fork_worker(boundary: Boundary) -> _ForkedWorker:
    """Fork a worker that waits for its request; raise OSError if that fails."""
    with contextlib.ExitStack() as worker_ends, contextlib.ExitStack() as own_ends:
        request, our_request = os.pipe()
        worker_ends.callback(os.close, request)
        own_ends.callback(os.close, our_request)
        our_reply, reply = os.pipe()
        worker_ends.callback(os.close, reply)
        own_ends.callback(os.close, our_reply)
        pid = os.fork()
        if pid == 0:
            _run_worker_process(request, reply, boundary)
        worker = _ForkedWorker(pid, os.pidfd_open(pid), our_request, our_reply, boundary)
        own_ends.pop_all()
        return worker


def _run_worker_process(request: int, reply: int, boundary: Boundary) -> None:
    """Run as the forked worker: confine this process, do one run, then exit."""
    status = 1
    try:
        die_with_parent()
        os.setsid()
        # Out of the way of the two numbers that they are copied to.
        request, reply = (fcntl.fcntl(descriptor, fcntl.F_DUPFD, _REPLY + 1) for descriptor in (request, reply))
        os.dup2(request, _REQUEST)
        os.dup2(reply, _REPLY)
        os.closerange(_REPLY + 1, 1 << 20)
        limit_worker_resources()
        confine(boundary)
        os.write(_REPLY, CONFINED)
        # While waiting: brings in the pages that every run needs.
        convert_value_to_answer([1], 1)
        answer_request(_REQUEST, _REPLY)
        status = 0
    finally:
        # Not through interpreter shutdown: this process shares the parent's buffers and exit handlers.
        os._exit(status)


def _discard_worker(worker: _ForkedWorker) -> None:
    """End a worker that was not used."""
    os.close(worker.request)
    os.close(worker.reply)
    _kill_worker(worker)


def _kill_worker(worker: _ForkedWorker) -> int:
    """Kill the session of a worker and return the exit code, negative for a signal."""
    # Not reaped yet, so its number is still its own.
    for kill in (os.kill, os.killpg):
        with contextlib.suppress(ProcessLookupError):
            kill(worker.pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(worker.pid, 0)[1])
    os.close(worker.pidfd)
    return code


def _import_all_modules() -> None:
    """Import every module that code may use, because a confined worker cannot open files."""
    warnings.simplefilter("ignore")
    for name in (*ALLOWED_MODULES, *_MODULES):
        import_module(name)
    for package in _PACKAGES:
        for module in pkgutil.walk_packages(import_module(package).__path__, package + "."):
            # Some need optional libraries, and are of no use without them.
            with contextlib.suppress(ImportError):
                import_module(module.name)
    pyarrow.set_cpu_count(1)
    pyarrow.set_io_thread_count(1)
    pd.set_option("compute.use_numexpr", False)
    # Every time zone, also as the twin in Python that pandas asks for, would be forgotten if nobody held on to it.
    twin = import_module("zoneinfo._zoneinfo").ZoneInfo
    for key in zoneinfo.available_timezones():
        with contextlib.suppress(zoneinfo.ZoneInfoNotFoundError, ValueError):
            _TIME_ZONES.append((zoneinfo.ZoneInfo(key), twin(key)))
    _warm_pandas_caches()


def _warm_pandas_caches() -> None:
    """Run common pandas operations once to fill caches."""
    days = pd.Series(["2020-01-31", None, "2021-02-01"])
    left = pd.DataFrame({"key": ["a", "b", "a"], "day": pd.to_datetime(days)})
    right = pd.DataFrame({"key": ["a", "b"], "number": pd.array([1, None], dtype="Int64")})
    frame = left.merge(right, on="key", how="left")
    groups = frame.groupby("key").agg(total=("number", "sum"), first=("day", "min")).reset_index()
    groups.sort_values(["total", "key"], ascending=[False, True]).head(1).to_string()
    frame.pivot_table(index="key", columns=frame["day"].dt.year, values="number", aggfunc="sum")
    frame["key"].str.upper().str.contains("A", regex=True).value_counts().describe()
    frame.query("number > 0").drop_duplicates().nlargest(1, "number")
    frame["day"].dt.strftime("%Y-%m").rank()
    frame["number"].rolling(2).mean()
    pd.read_csv(io.StringIO(frame.to_csv(index=False)))
