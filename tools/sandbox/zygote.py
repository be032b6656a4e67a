"""The warm parent: a process that has pandas loaded, holds no data, and forks a worker for every run.

It never reads a request or a reply: frames and answers pass between caller and worker alone. It has one thread, so that
forking is safe. One worker is always forked ahead, confined and waiting for its request.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import select
import signal
import socket
import sys
import time
from dataclasses import dataclass

from ..forkserver import READY
from .answer import to_answer
from .boundary import bound_run, bound_worker, confine, die_with_parent, memory_held
from .protocol import CONFINED, PIPES_FOLLOW, Ending, Order
from .terms import Boundary
from .warm import load_all
from .worker import work

_ORDER_BYTES = 4_096
# Where a worker keeps its two pipes, just above standard input, output and error.
_REQUEST, _REPLY = 3, 4


@dataclass(frozen=True)
class _Worker:
    """A forked worker and the caller's ends of its pipes."""

    pid: int
    pidfd: int
    request: int
    reply: int
    boundary: Boundary


@dataclass(frozen=True)
class _Run:
    """A worker at work, the line to its caller, and when its time is up."""

    worker: _Worker
    line: socket.socket
    deadline: float


def serve(descriptor: int) -> None:
    """Fork workers as ordered until the caller closes the socket or ends; then leave none behind. Never returns."""
    os.chdir("/")
    # They name folders of this machine.
    sys.argv[:] = sys.orig_argv[:] = [""]
    control = socket.socket(fileno=descriptor)
    try:
        load_all()
        os.environ.clear()
        # What is loaded is never collected: looking at it would copy its pages into every worker.
        gc.collect()
        gc.freeze()
        parent = _Parent(control)
    except Exception as error:  # noqa: BLE001 - whatever it is, the caller is the one to tell
        control.send(f"{type(error).__name__}: {error}".encode()[:_ORDER_BYTES])
        os._exit(1)
    control.send(READY)
    parent.run()
    os._exit(0)


class _Parent:
    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._spare: _Worker | None = None
        self._runs: dict[int, _Run] = {}  # by pidfd, and by the line's descriptor
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._memory_held = memory_held()

    def run(self) -> None:
        while True:
            for descriptor, _ in self._poll.poll(self._reply_seconds()):
                if descriptor == self._control.fileno():
                    if not self._accept():
                        return self._end_all()
                elif run := self._runs.get(descriptor):
                    # The worker has ended, or the caller has hung up: nobody waits for this run any more.
                    self._finish(run)
            now = time.monotonic()
            for run in {id(run): run for run in self._runs.values() if run.deadline <= now}.values():
                self._finish(run, timed_out=True)

    def _reply_seconds(self) -> float | None:
        """Milliseconds until the next deadline; None if there is none."""
        if not self._runs:
            return None
        return max(0.0, min(run.deadline for run in self._runs.values()) - time.monotonic()) * 1_000 + 1

    def _accept(self) -> bool:
        """Give the next order to a worker; False when the caller is gone."""
        data, descriptors, _, _ = socket.recv_fds(self._control, _ORDER_BYTES, 1)
        if not data:
            return False
        if not descriptors:
            return True  # the caller had none to spare, and knows
        line = socket.socket(fileno=descriptors[0])
        try:
            order = Order.unpack(data)
            worker = self._take(order.boundary)
        except (OSError, ValueError, TypeError) as error:
            return self._decline(line, error)
        try:
            bound_run(worker.pid, order.seconds, self._memory_held + order.memory_bytes)
        except (OSError, ValueError, TypeError, OverflowError) as error:
            _discard(worker)
            return self._decline(line, error)
        run = _Run(worker, line, time.monotonic() + order.seconds)
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

    def _take(self, boundary: Boundary) -> _Worker:
        """The worker that waits, or a new one where none does, it has died, or its boundary is another."""
        spare, self._spare = self._spare, None
        if spare is None:
            return _fork_worker(boundary)
        if spare.boundary == boundary and not select.select([spare.pidfd], [], [], 0)[0]:
            return spare
        _discard(spare)
        return _fork_worker(boundary)

    def _decline(self, line: socket.socket, error: Exception) -> bool:
        """Tell a caller that its run cannot be; an order never ends the parent, whose other runs it would end too."""
        number = error.errno if isinstance(error, OSError) else errno.EINVAL
        with contextlib.suppress(OSError), line:
            line.send(Ending("fork", number or 0).pack())
        return True

    def _finish(self, run: _Run, timed_out: bool = False) -> None:
        """Leave nothing of the run behind, and tell its caller how it ended."""
        del self._runs[run.worker.pidfd], self._runs[run.line.fileno()]
        self._poll.unregister(run.worker.pidfd)
        self._poll.unregister(run.line)
        code = _bury(run.worker)
        ending = Ending("timeout") if timed_out else Ending("signal", -code) if code < 0 else Ending("exit", code)
        with contextlib.suppress(OSError), run.line:
            run.line.send(ending.pack())

    def _end_all(self) -> None:
        for run in {id(run): run for run in self._runs.values()}.values():
            self._finish(run)
        if self._spare:
            _bury(self._spare)


def _fork_worker(boundary: Boundary) -> _Worker:
    """A worker that waits for its request.

    Raises:
        OSError: No process or pipe could be made.
    """
    with contextlib.ExitStack() as theirs, contextlib.ExitStack() as ours:
        request, our_request = os.pipe()
        theirs.callback(os.close, request)
        ours.callback(os.close, our_request)
        our_reply, reply = os.pipe()
        theirs.callback(os.close, reply)
        ours.callback(os.close, our_reply)
        pid = os.fork()
        if pid == 0:
            _be_worker(request, reply, boundary)
        worker = _Worker(pid, os.pidfd_open(pid), our_request, our_reply, boundary)
        ours.pop_all()
        return worker


def _be_worker(request: int, reply: int, boundary: Boundary) -> None:
    """In the forked process: keep two pipes, close the boundary, work, end. Never returns."""
    status = 1
    try:
        die_with_parent()
        os.setsid()
        request, reply = (_moved_up(descriptor) for descriptor in (request, reply))
        os.dup2(request, _REQUEST)
        os.dup2(reply, _REPLY)
        os.closerange(_REPLY + 1, 1 << 20)
        bound_worker()
        confine(boundary)
        os.write(_REPLY, CONFINED)
        # While waiting: brings in the pages that every run needs.
        to_answer([1], 1)
        work(_REQUEST, _REPLY)
        status = 0
    finally:
        # Not through interpreter shutdown: this process shares the parent's buffers and exit handlers.
        os._exit(status)


def _discard(worker: _Worker) -> None:
    """End a worker that was not used."""
    os.close(worker.request)
    os.close(worker.reply)
    _bury(worker)


def _bury(worker: _Worker) -> int:
    """Kill what is left of the worker's session; its exit code, negative for a signal."""
    # Not reaped yet, so its number is still its own.
    for kill in (os.kill, os.killpg):
        with contextlib.suppress(ProcessLookupError):
            kill(worker.pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(worker.pid, 0)[1])
    os.close(worker.pidfd)
    return code


def _moved_up(descriptor: int) -> int:
    """A copy of the descriptor above those that are about to be overwritten."""
    while descriptor <= _REPLY:
        descriptor = os.dup(descriptor)
    return descriptor
