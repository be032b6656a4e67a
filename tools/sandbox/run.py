"""The run of a model's code, and the reading of its untrusted reply."""

from __future__ import annotations

import base64
import json
import math
import platform
import sys
import time
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

from ..database.database import Database
from ..database.table import Cell, Table
from ..database.watchdog import Cancellation
from ..errors import SandboxUnavailable
from .boundary import MISSING_LANDLOCK, MISSING_SECCOMP, has_seccomp, landlock_version
from .frames import DEFAULT_LIMITS, Frames, load_frames
from .parent import PARENT, Cancelled, exchange, take_turn
from .protocol import ERROR_CHARS, MOST_COLUMNS, TOO_WIDE, Order, Request, omission_note
from .static_check import refuse, size_problem
from .syscalls import MACHINES, find_machine
from .terms import SANDBOX_VARIABLE, Boundary, SandboxLimits, SandboxResult

if TYPE_CHECKING:
    import pandas

_TYPE_NAMES: Mapping[type, str] = {int: "integer", float: "real", str: "text", bytes: "blob"}
_CELL_BYTES = 1_000_000  # as a database bounds them
_MOST_DROPPED = 2**63  # no text is longer


def sandbox_available(boundary: Boundary = "kernel") -> str | None:
    """Return why code cannot be run with this boundary, in one line; None if it can."""
    missing = [name for name in ("pandas", "pyarrow") if find_spec(name) is None]
    lacking = None
    if sys.platform != "linux":
        lacking = f"the sandbox needs Linux; this is {platform.system()}"
    elif missing:
        lacking = f"{' and '.join(missing)} missing; install tableturn[reason]"
    elif boundary == "none_i_trust_this_code":
        return None
    elif find_machine() is None:
        lacking = f"the sandbox knows {' and '.join(MACHINES)}; this processor is {platform.machine()}"
    elif not has_seccomp():
        lacking = MISSING_SECCOMP
    elif boundary == "kernel" and landlock_version() == 0:
        lacking = f"{MISSING_LANDLOCK}; {SANDBOX_VARIABLE}=without_landlock accepts that"
    return lacking and f"reasoning with code is off: {lacking}"


def run_python(
    code: str,
    frames: Mapping[str, pandas.DataFrame],
    limits: SandboxLimits = DEFAULT_LIMITS,
    *,
    static_check: bool = True,
    cancellation: Cancellation | None = None,
) -> SandboxResult:
    """Run code over `frames` (`db_dict` to the code) and return its answer, `result`.

    Where it assigns no `result`, its last expression counts, or what it prints last, or the variable that it assigns
    last. Blocks; call it through `asyncio.to_thread` where that matters.

    The frames are copied, never changed. The static check refuses what cannot work before running it, with a better
    message. A cancellation ends the run from another thread, with an error in its result.

    Raises:
        SandboxUnavailable: This machine cannot keep the boundary.
    """
    started = time.perf_counter()
    _require_sandbox(limits.boundary)
    check = refuse if static_check else size_problem
    if problem := check(code, limits.code_bytes):
        return _fail(problem, started)
    try:
        request = _build_request(code, frames, limits)
        order = Order(limits.seconds, limits.memory_bytes, limits.boundary)
        with take_turn(PARENT.turns, cancellation), PARENT.run(order) as line:
            outcome = exchange(line, request, limits, cancellation)
    except ValueError as error:
        return _fail(str(error), started)
    except Cancelled:
        return _fail("the run was cancelled", started)
    if outcome.problem:
        return _fail(outcome.problem, started, outcome.timed_out)
    try:
        return _read_reply(outcome.reply, limits, time.perf_counter() - started)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return _fail("the run ended with a reply that is not one", started)


def run_on_database(
    code: str, database: Database, limits: SandboxLimits = DEFAULT_LIMITS, *, cancellation: Cancellation | None = None
) -> tuple[SandboxResult, Frames]:
    """Run code over the tables that it names, loaded after the static check."""
    started = time.perf_counter()
    _require_sandbox(limits.boundary)
    if problem := refuse(code, limits.code_bytes):
        return _fail(problem, started), Frames({})
    loaded = load_frames(code, database, limits, cancellation)
    return run_python(code, loaded.frames, limits, static_check=False, cancellation=cancellation), loaded


def warm_up(boundary: Boundary = "kernel") -> None:
    """Start the warm parent ahead of the first run, which would wait some seconds for it."""
    _require_sandbox(boundary)
    PARENT.warm_up()


def _require_sandbox(boundary: Boundary) -> None:
    if problem := sandbox_available(boundary):
        raise SandboxUnavailable(problem)


def _fail(error: str, started: float, timed_out: bool = False) -> SandboxResult:
    return SandboxResult(None, "", error, time.perf_counter() - started, timed_out)


def _build_request(code: str, frames: Mapping[str, pandas.DataFrame], limits: SandboxLimits) -> list[memoryview]:
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


def _read_reply(reply: bytes, limits: SandboxLimits, elapsed: float) -> SandboxResult:
    """Return the reply checked, typed and bounded again.

    One that the worker would not have sent raises ValueError, TypeError, KeyError, OverflowError or RecursionError.
    """
    content = json.loads(reply)
    if not isinstance(content, dict):
        raise TypeError("a reply is an object")
    content = cast(dict[str, Any], content)
    output = _clean_text(content.get("output", ""))[: limits.output_chars + len(omission_note(_MOST_DROPPED))]
    if (error := content.get("error")) is not None:
        return SandboxResult(None, output, _clean_text(error)[:ERROR_CHARS], elapsed)
    if len(content["columns"]) > MOST_COLUMNS:
        return SandboxResult(None, output, TOO_WIDE, elapsed)
    table = _read_table(content, limits, elapsed)
    cells = (cell for row in (table.columns, *table.rows) for cell in row)
    if any(isinstance(cell, str | bytes) and len(cell) > _CELL_BYTES for cell in cells):
        problem = f"a value of the result has more than {_CELL_BYTES:,} characters or bytes"
        return SandboxResult(None, output, problem, elapsed)
    index_columns = min(max(0, int(content.get("index_columns", 0))), len(table.columns))
    return SandboxResult(table, output, None, elapsed, False, index_columns, bool(content.get("labelled")))


def _read_table(content: dict[str, Any], limits: SandboxLimits, elapsed: float) -> Table:
    names, lines = content["columns"], content["rows"]
    if not isinstance(names, list) or not isinstance(lines, list) or len(lines) > limits.rows:
        raise ValueError("no lists, or more rows than asked for")
    columns = tuple(_clean_text(column) for column in names)
    if any(len(line) != len(columns) for line in lines):
        raise ValueError("rows and columns differ")
    rows = tuple(tuple(_read_cell(cell) for cell in line) for line in lines)
    kinds = ({type(row[position]) for row in rows} - {type(None)} for position in range(len(columns)))
    types = tuple("mixed" if len(kind) > 1 else _TYPE_NAMES[kind.pop()] if kind else "null" for kind in kinds)
    return Table(columns, types, rows, bool(content["truncated"]), elapsed)


def _read_cell(cell: Any) -> Cell:
    """Return a value that SQLite could hold."""
    if isinstance(cell, str):
        return _clean_text(cell)
    if isinstance(cell, float):
        return None if math.isnan(cell) else cell
    if isinstance(cell, int):
        return int(cell) if -(2**63) <= cell < 2**63 else float(cell)  # int: SQLite has no truth values
    return None if cell is None else base64.b64decode(cell["b64"], validate=True)


def _clean_text(text: object) -> str:
    """Return a text without lone surrogates, which nothing else could encode."""
    return str(text).encode("utf-8", "replace").decode()
