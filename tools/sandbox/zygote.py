"""The warm parent: a process that has pandas loaded, holds no data, and forks a worker for every run.

It never reads a request or a reply: frames and answers pass between caller and worker alone. It has one thread, so that
forking is safe.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import time
from dataclasses import dataclass

from .boundary import confine, die_with_parent, limit_resources
from .protocol import READY, Ending, Order
from .warm import warm_up
from .worker import work

_ORDER_BYTES = 4_096
_DESCRIPTORS = 3
# Where a worker keeps its two pipes, just above standard input, output and error.
_REQUEST, _REPLY = 3, 4


@dataclass(frozen=True)
class _Worker:
    pid: int
    pidfd: int
    ending: int
    deadline: float


def serve(descriptor: int) -> None:
    """Fork workers as ordered until the caller closes the socket or ends; then leave none behind."""
    os.chdir("/")
    with socket.socket(fileno=descriptor) as control:
        warm_up()
        os.environ.clear()
        # What is loaded is never collected: looking at it would copy its pages into every worker.
        gc.collect()
        gc.freeze()
        control.send(READY)
        _Parent(control).run()


class _Parent:
    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._workers: dict[int, _Worker] = {}  # by pidfd
        self._by_ending: dict[int, _Worker] = {}
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)

    def run(self) -> None:
        while True:
            for descriptor, _ in self._poll.poll(self._patience()):
                if descriptor == self._control.fileno():
                    if not self._accept():
                        return self._end_all()
                elif worker := self._workers.get(descriptor):
                    self._bury(worker)
                elif worker := self._by_ending.get(descriptor):
                    # The caller has closed its end: nobody waits for this run any more.
                    self._bury(worker)
            now = time.monotonic()
            for worker in [worker for worker in self._workers.values() if worker.deadline <= now]:
                self._bury(worker, timed_out=True)

    def _patience(self) -> float | None:
        """Milliseconds until the next deadline; None if there is none."""
        if not self._workers:
            return None
        return max(0.0, min(worker.deadline for worker in self._workers.values()) - time.monotonic()) * 1_000 + 1

    def _accept(self) -> bool:
        """Fork a worker for the next order; False when the caller is gone."""
        data, descriptors, _, _ = socket.recv_fds(self._control, _ORDER_BYTES, _DESCRIPTORS)
        if not data:
            return False
        request, reply, ending = descriptors
        order = Order.unpack(data)
        try:
            pid = os.fork()
            if pid == 0:
                _be_worker(request, reply, order)
        except OSError as error:
            os.write(ending, Ending("fork", error.errno or 0).pack())
            os.close(ending)
        else:
            worker = _Worker(pid, os.pidfd_open(pid), ending, time.monotonic() + order.seconds)
            self._workers[worker.pidfd] = self._by_ending[ending] = worker
            self._poll.register(worker.pidfd, select.POLLIN)
            self._poll.register(ending, 0)  # errors and hang-ups only
        finally:
            os.close(request)
            os.close(reply)
        return True

    def _bury(self, worker: _Worker, timed_out: bool = False) -> None:
        """Kill what is left of the worker's session, and say how it ended."""
        del self._workers[worker.pidfd], self._by_ending[worker.ending]
        # Not reaped yet, so its number is still its own.
        for kill in (os.kill, os.killpg):
            with contextlib.suppress(ProcessLookupError):
                kill(worker.pid, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(worker.pid, 0)[1])
        ending = Ending("timeout") if timed_out else Ending("signal", -code) if code < 0 else Ending("exit", code)
        for descriptor in (worker.pidfd, worker.ending):
            self._poll.unregister(descriptor)
        with contextlib.suppress(BrokenPipeError):
            os.write(worker.ending, ending.pack())
        os.close(worker.pidfd)
        os.close(worker.ending)

    def _end_all(self) -> None:
        for worker in list(self._workers.values()):
            self._bury(worker)


def _be_worker(request: int, reply: int, order: Order) -> None:
    """In the forked process: keep two pipes, close the boundary, work, end. Never returns."""
    status = 1
    try:
        die_with_parent()
        os.setsid()
        request, reply = (_moved_up(descriptor) for descriptor in (request, reply))
        os.dup2(request, _REQUEST)
        os.dup2(reply, _REPLY)
        os.closerange(_REPLY + 1, 1 << 20)
        limit_resources(order.seconds, order.memory_bytes)
        confine(order.boundary)
        work(_REQUEST, _REPLY)
        status = 0
    finally:
        # Not through interpreter shutdown: this process shares the parent's buffers and exit handlers.
        os._exit(status)


def _moved_up(descriptor: int) -> int:
    """A copy of the descriptor above those that are about to be overwritten."""
    while descriptor <= _REPLY:
        descriptor = os.dup(descriptor)
    return descriptor
