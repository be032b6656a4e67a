"""The messages between the caller, the fork server and the worker.

The caller sends the parent an `Order` and one end of a socket pair, its line. The parent sends over the line the ends
of two pipes to a worker, and when the worker has ended, the `Ending`; a caller that hangs up ends the worker. The
worker reads a request from the first pipe and writes a JSON reply to the second. Only frames and code travel in, only
JSON travels out.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

from .terms import Boundary

CODE_NAME = "<code>"  # the file name that tracebacks give to the model's code
ERROR_CHARS = 2_000  # the longest error that is told
MOST_COLUMNS = 2_000  # the widest result, as a database bounds it

# First message on the line, with two descriptors; a message of another length is an `Ending`.
PIPES_FOLLOW = b" "
# First byte on the reply's pipe: the boundary is closed. It comes before any code has run, so it cannot be forged.
CONFINED = b"+"

TOO_WIDE = f"the result has more than {MOST_COLUMNS:,} columns: select or aggregate more"

_LENGTH = struct.Struct("<Q")
_ENDING = struct.Struct("<Bi")
_CAUSES = ("exit", "signal", "timeout", "fork")


def format_omission(count: int) -> str:
    """Return the note that is appended to truncated text."""
    return f"\n[{count:,} more characters]"


@dataclass(frozen=True)
class RunOrder:
    """The limits of a run, as the caller sends them to the parent process."""

    seconds: float
    memory_bytes: int
    boundary: Boundary

    def pack(self) -> bytes:
        return json.dumps(vars(self)).encode()

    @classmethod
    def unpack(cls, data: bytes) -> RunOrder:
        return cls(**json.loads(data))


@dataclass(frozen=True)
class WorkerEnding:
    """The way in which a worker ended: exit, signal, timeout or failed fork."""

    cause: Literal["exit", "signal", "timeout", "fork"]
    code: int = 0  # the exit status, the signal, or the error's number

    def pack(self) -> bytes:
        return _ENDING.pack(_CAUSES.index(self.cause), self.code)

    @classmethod
    def unpack(cls, data: bytes) -> WorkerEnding:
        cause, code = _ENDING.unpack(data)
        return cls(_CAUSES[cause], code)


@dataclass(frozen=True)
class Request:
    """The code and data of a run, as sent to the worker; `frames` are named Arrow streams."""

    code: str
    frames: Sequence[tuple[Sequence[str], memoryview]]
    output_chars: int
    rows: int
    result_bytes: int

    def pack(self) -> list[memoryview]:
        """Return the parts of the encoded request, without copying the frames."""
        sizes = [[list(names), len(stream)] for names, stream in self.frames]
        text = json.dumps(vars(self) | {"frames": sizes}).encode()
        return [memoryview(_LENGTH.pack(len(text)) + text), *(stream for _, stream in self.frames)]


def read_request(fd: int) -> Request:
    """Read a request from a pipe; raise EOFError if the caller has closed the pipe."""
    (length,) = _LENGTH.unpack(_read_exact_bytes(fd, _LENGTH.size))
    header = json.loads(bytes(_read_exact_bytes(fd, length)))
    frames = [(cast(list[str], names), memoryview(_read_exact_bytes(fd, size))) for names, size in header["frames"]]
    return Request(**header | {"frames": frames})


def _read_exact_bytes(fd: int, size: int) -> bytearray:
    """Read exactly `size` bytes from a pipe into a new buffer."""
    data = bytearray(size)
    view = memoryview(data)
    while view:
        chunk = os.read(fd, min(len(view), 1 << 20))
        if not chunk:
            raise EOFError
        view[: len(chunk)] = chunk
        view = view[len(chunk) :]
    return data
