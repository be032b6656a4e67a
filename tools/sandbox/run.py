"""Running a model's code and waiting for its answer."""

from __future__ import annotations

import base64
import json
import os
import select
import signal
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..database.results import column_types
from ..database.table import Cell, Table
from ..errors import SandboxUnavailable
from .availability import sandbox_available
from .parent import PARENT, Pipes
from .protocol import Ending, Order, Request
from .static_check import refuse
from .terms import SandboxLimits, SandboxResult

if TYPE_CHECKING:
    import pandas

DEFAULT_LIMITS = SandboxLimits()

# More workers than processors would only run one another into their time limits.
_TURNS = threading.BoundedSemaphore(max(2, os.cpu_count() or 1))
# The parent ends a worker when its time is up; this much later, something is wrong with the parent.
_GRACE_SECONDS = 5.0
_PART_BYTES = 1 << 20


def run_python(
    code: str,
    frames: Mapping[str, pandas.DataFrame],
    limits: SandboxLimits = DEFAULT_LIMITS,
    *,
    static_check: bool = True,
) -> SandboxResult:
    """Run code that finds the frames in `db_dict`, pandas as `pd` and numpy as `np`, and leaves its answer in `result`.

    Where it assigns no `result`, its last expression counts, or what it prints last, or the variable that it assigns
    last. Blocks; call it through `asyncio.to_thread` where that matters.

    Args:
        code: Python, from an author who is not trusted.
        frames: The tables by the name that the code uses; they are copied, never changed.
        limits: What the run may cost, and how strong the boundary must be.
        static_check: Whether to refuse what cannot work before running it, with a better message.

    Raises:
        SandboxUnavailable: This machine cannot keep the boundary.
    """
    started = time.perf_counter()

    def failed(error: str, output: str = "", timed_out: bool = False) -> SandboxResult:
        return SandboxResult(None, output, error, time.perf_counter() - started, timed_out)

    if problem := sandbox_available(limits.boundary):
        raise SandboxUnavailable(problem)
    if static_check and (problem := refuse(code)):
        return failed(problem)
    try:
        request = _request(code, frames, limits)
    except ValueError as error:
        return failed(str(error))
    with _TURNS:
        pipes = PARENT.fork(Order(limits.seconds, limits.memory_bytes, limits.boundary))
        done = _exchange(pipes, request, limits)
    if done.problem:
        return failed(done.problem, timed_out=done.timed_out)
    try:
        return _result(done.reply, started)
    except (ValueError, TypeError, KeyError, RecursionError):
        return failed("the run ended with a reply that is not one")


def _request(code: str, frames: Mapping[str, pandas.DataFrame], limits: SandboxLimits) -> list[memoryview]:
    from .wire import encode

    streams = [(name, memoryview(encode(frame))) for name, frame in frames.items()]
    size = sum(len(stream) for _, stream in streams)
    if size > limits.input_bytes:
        raise ValueError(f"the tables take {size:,} bytes, and {limits.input_bytes:,} may be passed")
    return Request(code, streams, limits.output_chars, limits.rows, limits.result_bytes).pack()


@dataclass(frozen=True)
class _Done:
    """What came back: a reply, or why there is none."""

    reply: bytes = b""
    problem: str = ""
    timed_out: bool = False


def _exchange(pipes: Pipes, request: list[memoryview], limits: SandboxLimits) -> _Done:
    """Write the request and read the reply at the same time: either side may be waiting for the other."""
    open_ends = {pipes.request, pipes.reply, pipes.ending}
    poll = select.poll()
    for end, events in ((pipes.request, select.POLLOUT), (pipes.reply, select.POLLIN), (pipes.ending, select.POLLIN)):
        os.set_blocking(end, False)
        poll.register(end, events)

    def close(end: int) -> None:
        poll.unregister(end)
        open_ends.discard(end)
        os.close(end)

    reply, ending = bytearray(), b""
    deadline = time.monotonic() + limits.seconds + _GRACE_SECONDS
    try:
        while pipes.reply in open_ends or pipes.ending in open_ends:
            ready = poll.poll(max(0.0, deadline - time.monotonic()) * 1_000)
            if not ready:
                return _Done(problem=_too_slow(limits), timed_out=True)
            for end, _ in ready:
                if end == pipes.request:
                    if not _write(end, request):
                        close(end)
                    continue
                part = os.read(end, _PART_BYTES)
                if not part:
                    close(end)
                elif end == pipes.ending:
                    ending += part
                else:
                    reply += part
                    if len(reply) > limits.result_bytes:
                        return _Done(problem=f"the result has more than {limits.result_bytes:,} bytes")
    finally:
        # Closing tells the parent to end a worker that is still there.
        for end in open_ends:
            os.close(end)
    return _judge(bytes(reply), ending, limits)


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


def _judge(reply: bytes, ending: bytes, limits: SandboxLimits) -> _Done:
    if not ending:
        return _Done(problem="the sandbox's parent process was ended during the run")
    how = Ending.unpack(ending)
    if how.cause == "timeout" or (how.cause == "signal" and how.code in (signal.SIGXCPU, signal.SIGKILL)):
        timed_out = how.cause == "timeout" or how.code == signal.SIGXCPU
        return _Done(problem=_too_slow(limits) if timed_out else "the run was killed", timed_out=timed_out)
    if how.cause == "fork":
        return _Done(problem=f"no process could be started for the run: {os.strerror(how.code)}")
    if how.cause == "signal":
        return _Done(problem=f"the run crashed ({signal.strsignal(how.code)})")
    return _Done(reply) if reply else _Done(problem="the run ended without a reply")


def _too_slow(limits: SandboxLimits) -> str:
    return f"the code ran past {limits.seconds:g} s"


def _result(reply: bytes, started: float) -> SandboxResult:
    """The reply checked and typed; it may hold whatever the code liked to write.

    Raises:
        ValueError: It is no reply.
    """
    content = json.loads(reply)
    error, output = content.get("error"), str(content.get("output", ""))
    table = None
    elapsed = time.perf_counter() - started
    if error is None:
        columns = tuple(str(column) for column in content["columns"])
        rows = tuple(tuple(_cell(cell) for cell in row) for row in content["rows"])
        if any(len(row) != len(columns) for row in rows):
            raise ValueError("rows and columns differ")
        table = Table(columns, column_types(rows, len(columns)), rows, bool(content["truncated"]), elapsed)
    index_columns = int(content.get("index_columns", 0))
    return SandboxResult(table, output, None if error is None else str(error), elapsed, False, index_columns)


def _cell(cell: Any) -> Cell:
    if cell is None or isinstance(cell, int | float | str):
        return cell
    return base64.b64decode(cell["b64"], validate=True)
