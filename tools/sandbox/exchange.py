"""The caller's talk with one worker: the request in, the reply out, and how it ended."""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from dataclasses import dataclass

from ..errors import SandboxUnavailable
from .protocol import CONFINED, PIPES_FOLLOW, Ending
from .terms import SandboxLimits

# The parent ends a worker when its time is up; this much later, something is wrong with the parent.
_GRACE_SECONDS = 5.0
_PART_BYTES = 1 << 20
_ENDING_BYTES = 64


@dataclass(frozen=True)
class Done:
    """What came back: a reply, or why there is none."""

    reply: bytes = b""
    problem: str = ""
    timed_out: bool = False


def exchange(line: socket.socket, request: list[memoryview], limits: SandboxLimits) -> Done:
    """Write the request and read the reply at the same time: either side may be waiting for the other.

    Args:
        line: The line to the parent; closing it, which is the caller's, ends a worker that is still there.
        request: Parts of the message; used up.
        limits: `seconds` and `result_bytes` apply.

    Raises:
        SandboxUnavailable: The kernel refused to close the boundary; the code was not run.
    """
    deadline = time.monotonic() + limits.seconds + _GRACE_SECONDS
    line.settimeout(limits.seconds + _GRACE_SECONDS)
    try:
        data, pipes, _, _ = socket.recv_fds(line, _ENDING_BYTES, 2)
        if len(pipes) < 2:
            for end in pipes:
                os.close(end)
            few = Done(problem="this process has too many open files to run code")
            return few if data == PIPES_FOLLOW else _judge(data, limits)
        reply = _talk(pipes[0], pipes[1], request, limits.result_bytes, deadline)
        if reply is None:
            return Done(problem=f"the result has more than {limits.result_bytes:,} bytes")
        # A whole reply is all that is wanted; without one, the reason is.
        if len(reply) > len(CONFINED):
            return Done(reply.removeprefix(CONFINED))
        ending = line.recv(_ENDING_BYTES)
        if not reply and ending and Ending.unpack(ending).cause == "exit":
            raise SandboxUnavailable("reasoning with code is off: the kernel refuses to confine a process")
        return _judge(ending, limits)
    except TimeoutError:
        return Done(problem=_too_slow(limits), timed_out=True)
    except OSError:
        return _judge(b"", limits)


def _talk(ours: int, theirs: int, request: list[memoryview], most: int, deadline: float) -> bytes | None:
    """The reply's bytes, possibly none; None if there are more than wanted.

    Raises:
        TimeoutError: The deadline passed.
    """
    open_ends = {ours, theirs}
    poll = select.poll()
    for end, events in ((ours, select.POLLOUT), (theirs, select.POLLIN)):
        os.set_blocking(end, False)
        poll.register(end, events)
    reply = bytearray()
    try:
        while True:
            ready = poll.poll(max(0.0, deadline - time.monotonic()) * 1_000)
            if not ready:
                raise TimeoutError
            for end, _ in ready:
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
    """Write what the pipe takes; whether there is more to write."""
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


def _judge(ending: bytes, limits: SandboxLimits) -> Done:
    """Why there is no reply."""
    if not ending:
        return Done(problem="the sandbox's parent process was ended during the run")
    how = Ending.unpack(ending)
    match how.cause:
        case "fork":
            return Done(problem=f"no process could be started for the run: {os.strerror(how.code)}")
        case "timeout":
            return Done(problem=_too_slow(limits), timed_out=True)
        case "signal" if how.code == signal.SIGXCPU:
            return Done(problem=_too_slow(limits), timed_out=True)
        case "signal":
            return Done(problem=f"the run crashed ({signal.strsignal(how.code)})")
        case "exit":
            return Done(problem="the run ended without a reply")


def _too_slow(limits: SandboxLimits) -> str:
    return f"the code ran past {limits.seconds:g} s"
