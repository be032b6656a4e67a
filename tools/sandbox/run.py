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
from .frames import DEFAULT_LIMITS, LoadedFrames, load_frames
from .parent import PARENT, RunCancelled, acquire_slot, exchange_with_worker
from .protocol import ERROR_CHARS, MOST_COLUMNS, TOO_WIDE, Request, RunOrder, format_omission
from .static_check import find_code_problem, find_size_problem
from .syscalls import MACHINES, get_processor_architecture
from .terms import SANDBOX_VARIABLE, Boundary, SandboxLimits, SandboxResult

if TYPE_CHECKING:
    import pandas

_TYPE_NAMES: Mapping[type, str] = {int: "integer", float: "real", str: "text", bytes: "blob"}
_CELL_BYTES = 1_000_000  # as a database bounds them
_MOST_DROPPED = 2**63  # no text is longer


def find_sandbox_problem(boundary: Boundary = "kernel") -> str | None:
    """Return why code cannot run in the sandbox, in one line; None if code can run."""
    missing = [name for name in ("pandas", "pyarrow") if find_spec(name) is None]
    lacking = None
    if sys.platform != "linux":
        lacking = f"the sandbox needs Linux; this is {platform.system()}"
    elif missing:
        lacking = f"{' and '.join(missing)} missing; install tableturn[reason]"
    elif boundary == "none_i_trust_this_code":
        return None
    elif get_processor_architecture() is None:
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
    """Run code in the sandbox, with `frames` as `db_dict`, and return its `result`.

    Where it assigns no `result`, its last expression counts, or what it prints last, or the variable that it assigns
    last. Blocks; call it through `asyncio.to_thread` where that matters.

    The frames are copied, never changed. The static check refuses what cannot work before running it, with a better
    message. A cancellation ends the run from another thread, with an error in its result.

    Raises:
        SandboxUnavailable: This machine cannot keep the boundary.
    """
    start = time.perf_counter()
    _require_sandbox(limits.boundary)
    check = find_code_problem if static_check else find_size_problem
    if problem := check(code, limits.code_bytes):
        return _make_failed_result(problem, start)
    try:
        request = _build_worker_request(code, frames, limits)
        order = RunOrder(limits.seconds, limits.memory_bytes, limits.boundary)
        with acquire_slot(PARENT.slots, cancellation), PARENT.run(order) as line:
            outcome = exchange_with_worker(line, request, limits, cancellation)
    except ValueError as error:
        return _make_failed_result(str(error), start)
    except RunCancelled:
        return _make_failed_result("the run was cancelled", start)
    if outcome.problem:
        return _make_failed_result(outcome.problem, start, outcome.timed_out)
    try:
        return _parse_reply(outcome.reply, limits, time.perf_counter() - start)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return _make_failed_result("the run ended with a reply that is not one", start)


def run_on_database(
    code: str, database: Database, limits: SandboxLimits = DEFAULT_LIMITS, *, cancellation: Cancellation | None = None
) -> tuple[SandboxResult, LoadedFrames]:
    """Run code in the sandbox on the database tables that the code names."""
    start = time.perf_counter()
    _require_sandbox(limits.boundary)
    if problem := find_code_problem(code, limits.code_bytes):
        return _make_failed_result(problem, start), LoadedFrames({})
    input_frames = load_frames(code, database, limits, cancellation)
    return run_python(code, input_frames.frames, limits, static_check=False, cancellation=cancellation), input_frames


def warm_up(boundary: Boundary = "kernel") -> None:
    """Start the sandbox's parent process in advance, so that the first run need not wait."""
    _require_sandbox(boundary)
    PARENT.warm_up()


def _require_sandbox(boundary: Boundary) -> None:
    if problem := find_sandbox_problem(boundary):
        raise SandboxUnavailable(problem)


def _make_failed_result(error: str, start: float, timed_out: bool = False) -> SandboxResult:
    return SandboxResult(None, "", error, time.perf_counter() - start, timed_out)


def _build_worker_request(code: str, frames: Mapping[str, pandas.DataFrame], limits: SandboxLimits) -> list[memoryview]:
    from .wire import encode_frame

    names: dict[int, list[str]] = {}
    for name, frame in frames.items():
        names.setdefault(id(frame), []).append(name)
    # A frame of several names travels once.
    streams = [(aliases, memoryview(encode_frame(frames[aliases[0]]))) for aliases in names.values()]
    size = sum(len(stream) for _, stream in streams)
    if size > limits.input_bytes:
        raise ValueError(f"the tables take {size:,} bytes; the limit is {limits.input_bytes:,}: use fewer tables")
    return Request(code, streams, limits.output_chars, limits.rows, limits.result_bytes).pack()


def _parse_reply(reply: bytes, limits: SandboxLimits, elapsed: float) -> SandboxResult:
    """Parse the untrusted reply of a worker, checking types and limits.

    One that the worker would not have sent raises ValueError, TypeError, KeyError, OverflowError or RecursionError.
    """
    content = json.loads(reply)
    if not isinstance(content, dict):
        raise TypeError("the reply is not a JSON object")
    content = cast(dict[str, Any], content)
    output = _replace_surrogates(content.get("output", ""))[: limits.output_chars + len(format_omission(_MOST_DROPPED))]
    if (error := content.get("error")) is not None:
        return SandboxResult(None, output, _replace_surrogates(error)[:ERROR_CHARS], elapsed)
    if len(content["columns"]) > MOST_COLUMNS:
        return SandboxResult(None, output, TOO_WIDE, elapsed)
    table = _parse_reply_table(content, limits, elapsed)
    cells = (cell for row in (table.columns, *table.rows) for cell in row)
    if any(isinstance(cell, str | bytes) and len(cell) > _CELL_BYTES for cell in cells):
        problem = f"a value of the result has more than {_CELL_BYTES:,} characters or bytes"
        return SandboxResult(None, output, problem, elapsed)
    index_columns = min(max(0, int(content.get("index_columns", 0))), len(table.columns))
    return SandboxResult(table, output, None, elapsed, False, index_columns, bool(content.get("labelled")))


def _parse_reply_table(content: dict[str, Any], limits: SandboxLimits, elapsed: float) -> Table:
    names, lines = content["columns"], content["rows"]
    if not isinstance(names, list) or not isinstance(lines, list) or len(lines) > limits.rows:
        raise ValueError("the reply has values other than lists, or more rows than requested")
    columns = tuple(_replace_surrogates(column) for column in names)
    if any(len(line) != len(columns) for line in lines):
        raise ValueError("a row has more or fewer cells than there are columns")
    rows = tuple(tuple(_parse_reply_cell(cell) for cell in line) for line in lines)
    kinds = ({type(row[position]) for row in rows} - {type(None)} for position in range(len(columns)))
    types = tuple("mixed" if len(kind) > 1 else _TYPE_NAMES[kind.pop()] if kind else "null" for kind in kinds)
    return Table(columns, types, rows, bool(content["truncated"]), elapsed)


def _parse_reply_cell(cell: Any) -> Cell:
    """Convert a cell of the reply to a type that SQLite stores."""
    if isinstance(cell, str):
        return _replace_surrogates(cell)
    if isinstance(cell, float):
        return None if math.isnan(cell) else cell
    if isinstance(cell, int):
        return int(cell) if -(2**63) <= cell < 2**63 else float(cell)  # int: SQLite has no truth values
    return None if cell is None else base64.b64decode(cell["b64"], validate=True)


def _replace_surrogates(text: object) -> str:
    """Replace lone surrogates in a text, because UTF-8 cannot encode them."""
    return str(text).encode("utf-8", "replace").decode()
