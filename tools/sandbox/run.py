"""Running a model's code and waiting for its answer."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..database.database import Database
from ..database.watchdog import Cancellation
from ..errors import SandboxUnavailable
from .availability import sandbox_available
from .exchange import Cancelled, Done, exchange, turn
from .frames import Frames, load_frames
from .parent import PARENT
from .protocol import Order, Request
from .reply import read_reply
from .static_check import refuse, too_long
from .terms import Boundary, SandboxLimits, SandboxResult

if TYPE_CHECKING:
    import pandas

DEFAULT_LIMITS = SandboxLimits()


def run_python(
    code: str,
    frames: Mapping[str, pandas.DataFrame],
    limits: SandboxLimits = DEFAULT_LIMITS,
    *,
    static_check: bool = True,
    cancellation: Cancellation | None = None,
) -> SandboxResult:
    """Run code that finds the frames in `db_dict`, pandas as `pd` and numpy as `np`, and leaves its answer in `result`.

    Where it assigns no `result`, its last expression counts, or what it prints last, or the variable that it assigns
    last. Blocks; call it through `asyncio.to_thread` where that matters.

    Args:
        code: Python, from an author who is not trusted.
        frames: The tables by the name that the code uses; they are copied, never changed.
        limits: What the run may cost, and how strong the boundary must be.
        static_check: Whether to refuse what cannot work before running it, with a better message.
        cancellation: Ends the run from another thread, with an error in its result.

    Raises:
        SandboxUnavailable: This machine cannot keep the boundary.
    """
    started = time.perf_counter()
    _require(limits.boundary)
    check = refuse if static_check else too_long
    if problem := check(code, limits.code_bytes):
        return _failed(problem, started)
    try:
        request = _request(code, frames, limits)
        done = _run(request, limits, cancellation)
    except ValueError as error:
        return _failed(str(error), started)
    except Cancelled:
        return _failed("the run was cancelled", started)
    if done.problem:
        return _failed(done.problem, started, done.timed_out)
    try:
        return read_reply(done.reply, limits, time.perf_counter() - started)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return _failed("the run ended with a reply that is not one", started)


def run_on_database(
    code: str, database: Database, limits: SandboxLimits = DEFAULT_LIMITS, *, cancellation: Cancellation | None = None
) -> tuple[SandboxResult, Frames]:
    """Run code over the tables that it names, loaded once it is known that it can be run.

    Raises:
        SandboxUnavailable: This machine cannot keep the boundary.
    """
    started = time.perf_counter()
    _require(limits.boundary)
    if problem := refuse(code, limits.code_bytes):
        return _failed(problem, started), Frames({})
    loaded = load_frames(code, database, limits, cancellation)
    return run_python(code, loaded.frames, limits, static_check=False, cancellation=cancellation), loaded


def warm_up(boundary: Boundary = "kernel") -> None:
    """Start the warm parent, which otherwise the first run does, and waits some seconds for.

    Raises:
        SandboxUnavailable: This machine cannot keep the boundary.
    """
    _require(boundary)
    PARENT.warm_up()


def _require(boundary: Boundary) -> None:
    if problem := sandbox_available(boundary):
        raise SandboxUnavailable(problem)


def _run(request: list[memoryview], limits: SandboxLimits, cancellation: Cancellation | None) -> Done:
    """One worker's turn; raises `Cancelled`, and what `exchange` raises."""
    order = Order(limits.seconds, limits.memory_bytes, limits.boundary)
    with turn(PARENT.turns, cancellation), PARENT.run(order) as line:
        return exchange(line, request, limits, cancellation)


def _failed(error: str, started: float, timed_out: bool = False) -> SandboxResult:
    return SandboxResult(None, "", error, time.perf_counter() - started, timed_out)


def _request(code: str, frames: Mapping[str, pandas.DataFrame], limits: SandboxLimits) -> list[memoryview]:
    from .wire import encode

    names: dict[int, list[str]] = {}
    for name, frame in frames.items():
        names.setdefault(id(frame), []).append(name)
    # A frame of several names travels once.
    streams = [(alike, memoryview(encode(frames[alike[0]]))) for alike in names.values()]
    size = sum(len(stream) for _, stream in streams)
    if size > limits.input_bytes:
        raise ValueError(f"the tables take {size:,} bytes, and {limits.input_bytes:,} may be passed")
    return Request(code, streams, limits.output_chars, limits.rows, limits.result_bytes).pack()
