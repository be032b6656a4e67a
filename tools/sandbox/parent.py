"""The caller's side: the fork server's process, and the exchange with one worker."""

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
from .protocol import CONFINED, PIPES_FOLLOW, RunOrder, WorkerEnding
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


class SandboxForkServer(ForkServer):
    """A fork server whose forked workers run code; threads may share it."""

    def __init__(self) -> None:
        super().__init__(f"{__package__}.zygote", _ENVIRONMENT, _START_SECONDS)

    def run(self, order: RunOrder) -> socket.socket:
        """Request a worker for a run; return the socket over which its pipes will come."""
        with _convert_start_errors():
            return self.call(order.pack())

    def warm_up(self) -> None:
        """Start the parent process if it is not running."""
        with _convert_start_errors():
            self.start()

    def _reset_state(self) -> None:
        super()._reset_state()
        # More workers than processors would only run one another into their time limits.
        self.slots = threading.BoundedSemaphore(max(2, os.cpu_count() or 1))


@contextlib.contextmanager
def _convert_start_errors() -> Generator[None]:
    try:
        yield
    except OSError as error:
        problem = f"reasoning with code is off: the sandbox's parent process does not start: {error}"
        raise SandboxUnavailable(problem) from None


PARENT = SandboxForkServer()


@dataclass(frozen=True)
class _RunOutcome:
    """The reply of a worker, or the problem that prevented a reply."""

    reply: bytes = b""
    problem: str = ""
    timed_out: bool = False


class RunCancelled(Exception):
    """An error raised if the caller cancels the run."""


class _CancellableWait:
    """A wait that ends at a deadline, or when the caller cancels."""

    def __init__(self, seconds: float, cancellation: Cancellation | None) -> None:
        self._deadline = time.monotonic() + seconds
        self._cancellation = cancellation

    def wait_for_descriptors(self, poll: select.poll) -> list[tuple[int, int]]:
        """Return at least one ready descriptor; raise an error if cancelled or out of time."""
        while True:
            if self._cancellation is not None and self._cancellation.cancelled:
                raise RunCancelled
            seconds = self._deadline - time.monotonic()
            if seconds <= 0:
                raise TimeoutError
            if ready := poll.poll(1_000 * (seconds if self._cancellation is None else min(seconds, _SLICE_SECONDS))):
                return ready


@contextlib.contextmanager
def acquire_slot(slots: threading.Semaphore, cancellation: Cancellation | None) -> Generator[None]:
    """Occupy a slot of the semaphore; wait for a free one unless the run is cancelled."""
    while not slots.acquire(timeout=_SLICE_SECONDS):
        if cancellation is not None and cancellation.cancelled:
            raise RunCancelled
    try:
        yield
    finally:
        slots.release()


def exchange_with_worker(
    sock: socket.socket, request: list[memoryview], limits: SandboxLimits, cancellation: Cancellation | None = None
) -> _RunOutcome:
    """Send a request to a worker while receiving the reply, to avoid a deadlock.

    Parts of the request are used up. Closing the line, which is the caller's, ends a worker that is still there. It
    raises `Cancelled`, or SandboxUnavailable if the kernel refused to close the boundary; the code was not run then.
    """
    wait = _CancellableWait(limits.seconds + _GRACE_SECONDS, cancellation)
    message = select.poll()
    message.register(sock, select.POLLIN)
    try:
        wait.wait_for_descriptors(message)
        data, pipes, _, _ = socket.recv_fds(sock, _ENDING_BYTES, 2)
        if len(pipes) < 2:
            for end in pipes:
                os.close(end)
            outcome = _RunOutcome(problem="this process has too many open files to run code")
            return outcome if data == PIPES_FOLLOW else _explain_missing_reply(data, limits)
        reply = _pipe_data(pipes[0], pipes[1], request, limits.result_bytes, wait)
        if reply is None:
            return _RunOutcome(problem=f"the result has more than {limits.result_bytes:,} bytes")
        # A whole reply is all that is wanted; without one, the reason is.
        if len(reply) > len(CONFINED):
            return _RunOutcome(reply.removeprefix(CONFINED))
        wait.wait_for_descriptors(message)
        ending = sock.recv(_ENDING_BYTES)
        if not reply and ending and WorkerEnding.unpack(ending).cause == "exit":
            raise SandboxUnavailable("pandas code cannot run here: the kernel does not let a process be confined")
        return _explain_missing_reply(ending, limits)
    except TimeoutError:
        return _make_timeout_outcome(limits)
    except OSError:
        return _explain_missing_reply(b"", limits)


def _pipe_data(to_fd: int, from_fd: int, request: list[memoryview], limit: int, wait: _CancellableWait) -> bytes | None:
    """Write the request and return the bytes of the reply; None if more than `limit`."""
    open_pipes = {to_fd, from_fd}
    poll = select.poll()
    for end, events in ((to_fd, select.POLLOUT), (from_fd, select.POLLIN)):
        os.set_blocking(end, False)
        poll.register(end, events)
    reply = bytearray()
    try:
        while True:
            for end, _ in wait.wait_for_descriptors(poll):
                if end == to_fd:
                    if not _write_request_part(end, request):
                        poll.unregister(end)
                        open_pipes.discard(end)
                        os.close(end)
                    continue
                chunk = os.read(end, _PART_BYTES)
                if not chunk:
                    return bytes(reply)
                reply += chunk
                if len(reply) > limit:
                    return None
    finally:
        for end in open_pipes:
            os.close(end)


def _write_request_part(descriptor: int, request: list[memoryview]) -> bool:
    """Write as much of the request as the pipe accepts; return whether any is left."""
    while request:
        try:
            size = os.write(descriptor, request[0][:_PART_BYTES])
        except BlockingIOError:
            return True
        except BrokenPipeError:
            return False
        request[0] = request[0][size:]
        if not request[0]:
            del request[0]
    return False


def _explain_missing_reply(ending: bytes, limits: SandboxLimits) -> _RunOutcome:
    """Return the outcome of a run without a reply, with the reason."""
    if not ending:
        return _RunOutcome(problem="the sandbox's parent process was ended during the run")
    cause = WorkerEnding.unpack(ending)
    if cause.cause == "timeout" or (cause.cause == "signal" and cause.code == signal.SIGXCPU):
        return _make_timeout_outcome(limits)
    if cause.cause == "fork":
        return _RunOutcome(problem=f"no process could be started for the run: {os.strerror(cause.code)}")
    if cause.cause == "signal":
        return _RunOutcome(problem=f"the run crashed ({signal.strsignal(cause.code)})")
    return _RunOutcome(problem="the run ended without a reply")


def _make_timeout_outcome(limits: SandboxLimits) -> _RunOutcome:
    return _RunOutcome(problem=f"the code ran past {limits.seconds:g} s", timed_out=True)
