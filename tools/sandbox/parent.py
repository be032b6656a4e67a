"""The caller's side: the warm parent, and the exchange with one worker."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Generator
from dataclasses import dataclass

from ..database.watchdog import Cancellation
from ..errors import SandboxUnavailable
from ..forkserver import ForkServer
from .protocol import CONFINED, PIPES_FOLLOW, Ending, Order
from .terms import SandboxLimits

_START_SECONDS = 120.0
_GRACE_SECONDS = 5.0  # the parent ends a worker when its time is up; this much later, something is wrong with it
_SLICE_SECONDS = 0.1  # a cancellation is noticed within so many seconds
_PART_BYTES = 1 << 20
_ENDING_BYTES = 64
# Arrow and BLAS otherwise start threads, and a process with threads cannot be forked safely.
_ENVIRONMENT = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "LC_ALL": "C.UTF-8",
}


class WarmParent(ForkServer):
    """A process that forks workers for code. May be used from any number of threads."""

    def __init__(self) -> None:
        super().__init__(f"{__package__}.zygote", _ENVIRONMENT, _START_SECONDS)

    def run(self, order: Order) -> socket.socket:
        """Return the socket over which a worker's pipes and its ending will come."""
        with _start_errors():
            return self.call(order.pack())

    def warm_up(self) -> None:
        """Start the parent if it isn't running."""
        with _start_errors():
            self.start()

    def _begin(self) -> None:
        super()._begin()
        # More workers than processors would only run one another into their time limits.
        self.turns = threading.BoundedSemaphore(max(2, os.cpu_count() or 1))


@contextlib.contextmanager
def _start_errors() -> Generator[None]:
    try:
        yield
    except OSError as error:
        problem = f"reasoning with code is off: the sandbox's parent process does not start: {error}"
        raise SandboxUnavailable(problem) from None


PARENT = WarmParent()


@dataclass(frozen=True)
class _RunOutcome:
    """A worker's reply, or the reason why there is none."""

    reply: bytes = b""
    problem: str = ""
    timed_out: bool = False


class Cancelled(Exception):
    """The caller no longer wants the run."""


class _Wait:
    """A wait that ends at a deadline, or when the caller cancels."""

    def __init__(self, seconds: float, cancellation: Cancellation | None) -> None:
        self._deadline = time.monotonic() + seconds
        self._cancellation = cancellation

    def ready(self, poll: select.poll) -> list[tuple[int, int]]:
        """Return at least one ready descriptor; raise `Cancelled` or `TimeoutError`."""
        while True:
            if self._cancellation is not None and self._cancellation.cancelled:
                raise Cancelled
            left = self._deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            if ready := poll.poll(1_000 * (left if self._cancellation is None else min(left, _SLICE_SECONDS))):
                return ready


@contextlib.contextmanager
def take_turn(turns: threading.Semaphore, cancellation: Cancellation | None) -> Generator[None]:
    """Wait for a free slot in `turns`; raise `Cancelled` if cancelled while waiting."""
    while not turns.acquire(timeout=_SLICE_SECONDS):
        if cancellation is not None and cancellation.cancelled:
            raise Cancelled
    try:
        yield
    finally:
        turns.release()


def exchange(
    line: socket.socket, request: list[memoryview], limits: SandboxLimits, cancellation: Cancellation | None = None
) -> _RunOutcome:
    """Write the request while reading the reply, since either side may wait for the other.

    Parts of the request are used up. Closing the line, which is the caller's, ends a worker that is still there. It
    raises `Cancelled`, or SandboxUnavailable if the kernel refused to close the boundary; the code was not run then.
    """
    wait = _Wait(limits.seconds + _GRACE_SECONDS, cancellation)
    message = select.poll()
    message.register(line, select.POLLIN)
    try:
        wait.ready(message)
        data, pipes, _, _ = socket.recv_fds(line, _ENDING_BYTES, 2)
        if len(pipes) < 2:
            for end in pipes:
                os.close(end)
            few = _RunOutcome(problem="this process has too many open files to run code")
            return few if data == PIPES_FOLLOW else _explain_ending(data, limits)
        reply = _exchange_bytes(pipes[0], pipes[1], request, limits.result_bytes, wait)
        if reply is None:
            return _RunOutcome(problem=f"the result has more than {limits.result_bytes:,} bytes")
        # A whole reply is all that is wanted; without one, the reason is.
        if len(reply) > len(CONFINED):
            return _RunOutcome(reply.removeprefix(CONFINED))
        wait.ready(message)
        ending = line.recv(_ENDING_BYTES)
        if not reply and ending and Ending.unpack(ending).cause == "exit":
            raise SandboxUnavailable("reasoning with code is off: the kernel refuses to confine a process")
        return _explain_ending(ending, limits)
    except TimeoutError:
        return _time_out(limits)
    except OSError:
        return _explain_ending(b"", limits)


def _exchange_bytes(ours: int, theirs: int, request: list[memoryview], most: int, wait: _Wait) -> bytes | None:
    """Return the reply's bytes; None if there are more than `most`; raise as `ready` does."""
    open_ends = {ours, theirs}
    poll = select.poll()
    for end, events in ((ours, select.POLLOUT), (theirs, select.POLLIN)):
        os.set_blocking(end, False)
        poll.register(end, events)
    reply = bytearray()
    try:
        while True:
            for end, _ in wait.ready(poll):
                if end == ours:
                    if not _write(end, request):
                        poll.unregister(end)
                        open_ends.discard(end)
                        os.close(end)
                    continue
                part = os.read(end, _PART_BYTES)
                if not part:
                    return bytes(reply)
                reply += part
                if len(reply) > most:
                    return None
    finally:
        for end in open_ends:
            os.close(end)


def _write(end: int, request: list[memoryview]) -> bool:
    """Write what the pipe takes; return whether there is more to write."""
    while request:
        try:
            written = os.write(end, request[0][:_PART_BYTES])
        except BlockingIOError:
            return True
        except BrokenPipeError:
            return False
        request[0] = request[0][written:]
        if not request[0]:
            del request[0]
    return False


def _explain_ending(ending: bytes, limits: SandboxLimits) -> _RunOutcome:
    """Return the reason for a missing reply."""
    if not ending:
        return _RunOutcome(problem="the sandbox's parent process was ended during the run")
    how = Ending.unpack(ending)
    if how.cause == "timeout" or (how.cause == "signal" and how.code == signal.SIGXCPU):
        return _time_out(limits)
    if how.cause == "fork":
        return _RunOutcome(problem=f"no process could be started for the run: {os.strerror(how.code)}")
    if how.cause == "signal":
        return _RunOutcome(problem=f"the run crashed ({signal.strsignal(how.code)})")
    return _RunOutcome(problem="the run ended without a reply")


def _time_out(limits: SandboxLimits) -> _RunOutcome:
    return _RunOutcome(problem=f"the code ran past {limits.seconds:g} s", timed_out=True)
