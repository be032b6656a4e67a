"""Messages between a process and its worker: a length, a kind and a body."""

from __future__ import annotations

import json
import os
import select
import socket
import struct
import time
from dataclasses import dataclass
from typing import Any, Literal

from ....errors import (
    DatabaseUnavailable,
    QueryError,
    QueryErrorKind,
    QueryFailed,
    QueryRejected,
    QueryTimeout,
    ResultTooLarge,
    TableturnError,
)
from ...session import Permissions
from ...table import Limits

_HEAD = struct.Struct(">QB")
_PART = 1 << 16

RESULT, FAILURE = 0, 1
"""Kinds of a worker's messages."""

ERROR_BYTES = 1 << 16
"""The longest error that is read."""

_ERRORS: dict[str, type[QueryError]] = {
    kind.__name__: kind for kind in (QueryError, QueryFailed, QueryRejected, QueryTimeout, ResultTooLarge)
}


@dataclass(frozen=True)
class Order:
    """A query and what it may cost."""

    sql: str
    limits: Limits

    def pack(self) -> bytes:
        """As bytes."""
        return json.dumps([self.sql, vars(self.limits)]).encode()

    @classmethod
    def unpack(cls, data: bytes) -> Order:
        """What `pack` gave."""
        sql, limits = json.loads(data)
        return cls(sql, Limits(**limits))


@dataclass(frozen=True)
class Opening:
    """The first message to a worker: which database, under which permissions."""

    path: str
    permissions: Permissions

    def pack(self) -> bytes:
        """As bytes."""
        layers = [[layer.allow, layer.deny] for layer in self.permissions.layers()]
        return json.dumps([os.fsencode(self.path).hex(), layers]).encode()

    @classmethod
    def unpack(cls, data: bytes) -> Opening:
        """What `pack` gave."""
        path, layers = json.loads(data)
        permissions: Permissions | None = None
        for allow, deny in reversed(layers):
            permissions = Permissions(tuple(allow), tuple(deny), permissions)
        return cls(os.fsdecode(bytes.fromhex(path)), permissions or Permissions())


def pack_error(error: TableturnError) -> bytes:
    """An error as bytes."""
    kind = error.kind if isinstance(error, QueryError) else ""
    return json.dumps([type(error).__name__, kind, str(error)[:2_000]]).encode()


def unpack_error(data: bytes) -> TableturnError:
    """The error that a worker gave.

    Raises:
        ValueError: These bytes are none.
    """
    match json.loads(data):
        case [str(name), str(), str(message)] if name == DatabaseUnavailable.__name__:
            return DatabaseUnavailable(message)
        case [str(name), str(kind), str(message)] if name in _ERRORS and kind in QueryErrorKind.__args__:
            known: Any = kind
            return _ERRORS[name](message, known)
        case _:
            raise ValueError("no error")


def send(line: socket.socket, kind: Literal[0, 1], body: bytes) -> None:
    """Sends a message."""
    line.sendall(_HEAD.pack(len(body), kind) + body)


def receive(line: socket.socket, most: int) -> tuple[int, bytes] | None:
    """The next message, of which there is one at a time; None where the line has ended.

    Raises:
        ValueError: It is longer than `most`.
    """
    first = line.recv(_PART)
    while 0 < len(first) < _HEAD.size:
        part = line.recv(_PART)
        first = first + part if part else b""
    if not first:
        return None
    length, kind = _HEAD.unpack_from(first)
    if length > most:
        raise ValueError("the message is too long")
    body = first[_HEAD.size :]
    if len(body) < length:
        whole = bytearray(length)
        whole[: len(body)] = body
        if not _fill(line, memoryview(whole)[len(body) :]):
            return None
        body = bytes(whole)
    return kind, body


def wait(line: socket.socket, until: float) -> bool:
    """Waits for a message; whether one comes before `until`, on the `time.monotonic` clock."""
    poll = select.poll()
    poll.register(line, select.POLLIN)
    return bool(poll.poll(max(0.0, until - time.monotonic()) * 1_000))


def _fill(line: socket.socket, view: memoryview) -> bool:
    read = 0
    while read < len(view):
        part = line.recv_into(view[read:])
        if part == 0:
            return False
        read += part
    return True
