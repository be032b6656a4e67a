"""Running a model's code and waiting for its answer."""

from __future__ import annotations

import base64
import json
import math
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..database.table import Cell, Table
from ..errors import SandboxUnavailable
from .availability import sandbox_available
from .exchange import exchange
from .parent import PARENT
from .protocol import Order, Request
from .static_check import refuse
from .terms import SandboxLimits, SandboxResult

if TYPE_CHECKING:
    import pandas

DEFAULT_LIMITS = SandboxLimits()

_TYPE_NAMES: Mapping[type, str] = {int: "integer", float: "real", str: "text", bytes: "blob"}


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
    with PARENT.turns, PARENT.call(Order(limits.seconds, limits.memory_bytes, limits.boundary)) as line:
        done = exchange(line, request, limits)
    if done.problem:
        return failed(done.problem, timed_out=done.timed_out)
    try:
        return _result(done.reply, started)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return failed("the run ended with a reply that is not one")


def _request(code: str, frames: Mapping[str, pandas.DataFrame], limits: SandboxLimits) -> list[memoryview]:
    from .wire import encode

    streams = [(name, memoryview(encode(frame))) for name, frame in frames.items()]
    size = sum(len(stream) for _, stream in streams)
    if size > limits.input_bytes:
        raise ValueError(f"the tables take {size:,} bytes, and {limits.input_bytes:,} may be passed")
    return Request(code, streams, limits.output_chars, limits.rows, limits.result_bytes).pack()


def _result(reply: bytes, started: float) -> SandboxResult:
    """The reply checked and typed; it may hold whatever the code liked to write.

    Raises:
        ValueError: It is no reply.
    """
    content = json.loads(reply)
    if not isinstance(content, dict):
        raise TypeError("a reply is an object")
    error, output = content.get("error"), _text(content.get("output", ""))
    table = None
    elapsed = time.perf_counter() - started
    if error is None:
        columns = tuple(_text(column) for column in content["columns"])
        rows = tuple(tuple(_cell(cell) for cell in row) for row in content["rows"])
        if any(len(row) != len(columns) for row in rows):
            raise ValueError("rows and columns differ")
        table = Table(
            columns,
            tuple(_type([row[position] for row in rows]) for position in range(len(columns))),
            rows,
            bool(content["truncated"]),
            elapsed,
        )
    index_columns = int(content.get("index_columns", 0))
    return SandboxResult(table, output, None if error is None else _text(error), elapsed, False, index_columns)


def _cell(cell: Any) -> Cell:
    """A value that SQLite could hold."""
    if isinstance(cell, str):
        return _text(cell)
    if isinstance(cell, float):
        return None if math.isnan(cell) else cell
    if isinstance(cell, int):
        # Not a truth value: SQLite has none.
        return int(cell) if -(2**63) <= cell < 2**63 else float(cell)
    return None if cell is None else base64.b64decode(cell["b64"], validate=True)


def _type(column: list[Cell]) -> str:
    """As `Table.types` names it."""
    seen = {type(cell) for cell in column} - {type(None)}
    if len(seen) > 1:
        return "mixed"
    return _TYPE_NAMES[seen.pop()] if seen else "null"


def _text(text: object) -> str:
    """Text without lone surrogates, which nothing else could encode."""
    return str(text).encode("utf-8", "replace").decode()
