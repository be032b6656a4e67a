"""Messages between a process and its worker: a length, a kind and a body."""

from __future__ import annotations

import math
import os
import socket
import struct
import time
from collections.abc import Callable
from typing import Any, Literal

import ormsgpack

from ..errors import (
    DatabaseUnavailable,
    NothingReadable,
    QueryError,
    QueryErrorKind,
    QueryFailed,
    QueryRejected,
    QueryTimeout,
    ResultTooLarge,
    SettingsError,
    TableLocked,
    TableturnError,
)
from .session import Permissions
from .table import Limits, Table

_HEAD = struct.Struct(">QB")
_CHECK_SECONDS = 0.02
_LONGEST_WAIT = 60.0

RESULT, FAILURE, PART = 0, 1, 2
"""Kinds of a worker's messages; parts of a result stand before its end."""

ERROR_BYTES = 1 << 16
"""The longest error that is read."""

MESSAGE_BYTES = 1 << 26
"""The longest message that is read, but a result."""

_ERRORS: dict[str, type[QueryError]] = {
    kind.__name__: kind for kind in (QueryError, QueryFailed, QueryRejected, QueryTimeout, ResultTooLarge, TableLocked)
}
_OF_OPENING = {kind.__name__: kind for kind in (DatabaseUnavailable, NothingReadable, SettingsError)}


def pack_query(sql: str, limits: Limits, is_streamed: bool) -> bytes:
    """Pack a query, its limits, and whether its rows are sent in parts."""
    return ormsgpack.packb((sql.encode("utf-8", "surrogatepass"), tuple(vars(limits).values()), is_streamed))


def unpack_query(data: bytes) -> tuple[str, Limits, bool]:
    """Return the query, its limits, and whether its rows are sent in parts."""
    sql, limits, is_streamed = ormsgpack.unpackb(data)
    return sql.decode("utf-8", "surrogatepass"), Limits(*limits), is_streamed


def pack_open_request(path: str | os.PathLike[str], permissions: Permissions, *details: Any) -> bytes:
    """Pack a database's path, the permissions on it, and further data for its engine."""
    layers = [(layer.allow, layer.deny) for layer in permissions.list_permission_layers()]
    return ormsgpack.packb((os.fsencode(path), layers, *details))


def unpack_open_request(data: bytes) -> Any:
    """Return the path, permissions and further data of a packed open request."""
    path, layers, *details = ormsgpack.unpackb(data)
    permissions: Permissions | None = None
    for allow, deny in reversed(layers):
        permissions = Permissions(tuple(allow), tuple(deny), permissions)
    return os.fsdecode(path), permissions or Permissions(), *details


def pack_error(error: TableturnError) -> bytes:
    """Pack an error as bytes."""
    kind = error.kind if isinstance(error, QueryError) else ""
    message = str(error)[:2_000].encode("utf-8", "replace").decode()
    return ormsgpack.packb((type(error).__name__, kind, message))


def unpack_error(data: bytes) -> TableturnError:
    """Return the error unpacked from a worker's message."""
    match ormsgpack.unpackb(data):
        case [str(name), str(), str(message)] if name in _OF_OPENING:
            return _OF_OPENING[name](message)
        case [str(name), str(kind), str(message)] if name in _ERRORS and kind in QueryErrorKind.__args__:
            error_kind: Any = kind
            return _ERRORS[name](message, error_kind)
        case _:
            raise ValueError("no error")


def send(sock: socket.socket, kind: Literal[0, 1, 2], body: bytes, seconds: float | None = None) -> None:
    """Send a message over a socket; raise `TimeoutError` if the other side is too slow."""
    if seconds is not None:  # a worker, which waits without end, makes no other call of the kernel
        sock.settimeout(seconds)
    sock.sendall(_HEAD.pack(len(body), kind) + body)


def receive(
    sock: socket.socket, limit: int, deadline: float = math.inf, check: Callable[[], None] | None = None
) -> tuple[int, bytes] | None:
    """Return the next message from a socket; None if the connection has ended.

    `deadline` is that of the whole message, on the clock `time.monotonic`. `check` is called again and again while the
    message is awaited, and raises an error to give up.

    Raises:
        ValueError: The message is longer than `limit` bytes.
        TimeoutError: The deadline passes before the message is complete.
    """
    head = _receive_bytes(sock, _HEAD.size, deadline, check)
    if head is None:
        return None
    length, kind = _HEAD.unpack(head)
    if length > limit:
        raise ValueError("the message exceeds the size limit")
    body = _receive_bytes(sock, length, deadline, check)
    return None if body is None else (kind, body)


def _receive_bytes(sock: socket.socket, size: int, deadline: float, check: Callable[[], None] | None) -> bytes | None:
    """Return `size` bytes from a socket; None if the connection ends first."""
    message = memoryview(bytearray(size))
    rest = message
    while rest:
        if check is not None:
            check()
        # Set anew for each part: whoever sends byte by byte gains no time.
        if deadline < math.inf:
            seconds = deadline - time.monotonic()
            if seconds <= 0:
                raise TimeoutError("the message did not arrive completely in time")
            sock.settimeout(min(seconds, _LONGEST_WAIT if check is None else _CHECK_SECONDS))
        try:
            count = sock.recv_into(rest)
        except TimeoutError:
            continue
        if not count:
            return None
        rest = rest[count:]
    return bytes(message)


_LONG_INTEGER = 1
_CELLS = frozenset({int, float, str, bytes, type(None)})
_TYPES = frozenset({"integer", "real", "text", "blob", "null", "mixed"})


def pack_table(table: Table) -> bytes:
    """Pack the result of a query as bytes."""
    columns = tuple(zip(*table.rows, strict=True))
    fields = (table.columns, table.types, len(table.rows), columns, table.truncated, table.elapsed)
    return ormsgpack.packb(fields, _pack_long_integer, ormsgpack.OPT_PASSTHROUGH_BIG_INT)


def _pack_long_integer(value: Any) -> ormsgpack.Ext:
    if not isinstance(value, int):
        raise TypeError(f"cannot pack a {type(value).__name__}")
    return ormsgpack.Ext(_LONG_INTEGER, value.to_bytes(value.bit_length() // 8 + 1, signed=True))


def unpack_table(data: bytes) -> Table:
    """Return the result that `pack_table` packed; raise `ValueError` for other bytes."""
    try:
        names, types, count, columns, truncated, elapsed = ormsgpack.unpackb(
            data, ext_hook=lambda _, long: int.from_bytes(long, signed=True)
        )
        if not all(_CELLS.issuperset(set(map(type, column))) for column in columns):
            raise ValueError("a cell has an invalid type")
        rows = tuple(zip(*columns, strict=True))
        if not _TYPES.issuperset(types) or not len(names) == len(types) or len(columns) not in (0, len(names)):
            raise ValueError("the numbers of names, types and columns differ")
        if len(rows) != count:
            raise ValueError("the number of rows differs from the number in the message's header")
        return Table(tuple(map(str, names)), tuple(types), rows, bool(truncated), float(elapsed))
    except (TypeError, OverflowError) as error:
        raise ValueError(f"the message is not a query result: {error}") from None


def set_limit(kind: int, value: int) -> None:
    """Set a resource limit of this process, as far as the hard limit allows."""
    import resource  # which some systems lack, where there are no workers

    hard = resource.getrlimit(kind)[1]
    maximum = value if hard == resource.RLIM_INFINITY else hard if value == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (maximum, hard))
