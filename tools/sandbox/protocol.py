"""What the caller, the warm parent and the worker say to one another.

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
from dataclasses import asdict, dataclass
from typing import Literal, cast

from .terms import Boundary

CODE_NAME = "<code>"
"""The file name that tracebacks give to the model's code."""

PIPES_FOLLOW = b" "
"""First message on the line, with two descriptors; a message of another length is an `Ending`."""

CONFINED = b"+"
"""First byte on the reply's pipe: the boundary is closed. It comes before any code has run, so it cannot be forged."""

ERROR_CHARS = 2_000
"""The longest error that is told."""

MOST_COLUMNS = 2_000
"""The widest result, as a database bounds it."""

TOO_WIDE = f"the result has more than {MOST_COLUMNS:,} columns: select or aggregate more"

_LENGTH = struct.Struct("<Q")
_ENDING = struct.Struct("<Bi")
_CAUSES = ("exit", "signal", "timeout", "fork")


def dropped(count: int) -> str:
    """What stands after printed text that was cut."""
    return f"\n[{count:,} more characters]"


@dataclass(frozen=True)
class Order:
    """What the parent must know of a run: its limits."""

    seconds: float
    memory_bytes: int
    boundary: Boundary

    def pack(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def unpack(cls, data: bytes) -> Order:
        return cls(**json.loads(data))


@dataclass(frozen=True)
class Ending:
    """How a worker ended.

    Attributes:
        cause: It exited, a signal ended it, the parent did since time was up, or it could not be forked.
        code: The exit status, the signal, or the error's number.
    """

    cause: Literal["exit", "signal", "timeout", "fork"]
    code: int = 0

    def pack(self) -> bytes:
        return _ENDING.pack(_CAUSES.index(self.cause), self.code)

    @classmethod
    def unpack(cls, data: bytes) -> Ending:
        cause, code = _ENDING.unpack(data)
        return cls(_CAUSES[cause], code)


@dataclass(frozen=True)
class Request:
    """What the worker is to do; `frames` are Arrow streams, each with the names that it has."""

    code: str
    frames: Sequence[tuple[Sequence[str], memoryview]]
    output_chars: int
    rows: int
    result_bytes: int

    def pack(self) -> list[memoryview]:
        """The parts of the message, without copying the frames."""
        header = {
            "code": self.code,
            "frames": [[list(names), len(stream)] for names, stream in self.frames],
            "output_chars": self.output_chars,
            "rows": self.rows,
            "result_bytes": self.result_bytes,
        }
        text = json.dumps(header).encode()
        return [memoryview(_LENGTH.pack(len(text)) + text), *(stream for _, stream in self.frames)]


def read_request(fd: int) -> Request:
    """The request, read from a pipe.

    Raises:
        EOFError: The caller went away.
    """
    (length,) = _LENGTH.unpack(_read(fd, _LENGTH.size))
    header = json.loads(bytes(_read(fd, length)))
    frames = [(cast(list[str], names), memoryview(_read(fd, size))) for names, size in header["frames"]]
    return Request(header["code"], frames, header["output_chars"], header["rows"], header["result_bytes"])


def _read(fd: int, size: int) -> bytearray:
    """Exactly so many bytes; a buffer of their own, so that frames may be written to in place."""
    data = bytearray(size)
    view = memoryview(data)
    while view:
        part = os.read(fd, min(len(view), 1 << 20))
        if not part:
            raise EOFError
        view[: len(part)] = part
        view = view[len(part) :]
    return data
