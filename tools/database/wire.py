"""Messages between a process and its worker: a length, a kind and a body."""

from __future__ import annotations

import os
import socket
import struct
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

RESULT, FAILURE, PART = 0, 1, 2
"""Kinds of a worker's messages; parts of a result stand before its end."""

ERROR_BYTES = 1 << 16
"""The longest error that is read."""

_ERRORS: dict[str, type[QueryError]] = {
    kind.__name__: kind for kind in (QueryError, QueryFailed, QueryRejected, QueryTimeout, ResultTooLarge, TableLocked)
}
_OF_OPENING = {kind.__name__: kind for kind in (DatabaseUnavailable, NothingReadable, SettingsError)}


def pack_order(sql: str, limits: Limits, in_parts: bool = False) -> bytes:
    """Return as bytes a query, what it may cost, and whether its rows are wanted in parts as they come."""
    return ormsgpack.packb((sql.encode("utf-8", "surrogatepass"), tuple(vars(limits).values()), in_parts))


def unpack_order(data: bytes) -> tuple[str, list[Any], bool]:
    """Return the query, what makes its `Limits`, and whether it is wanted in parts."""
    sql, limits, in_parts = ormsgpack.unpackb(data)
    return sql.decode("utf-8", "surrogatepass"), limits, in_parts


def pack_opening(path: str | os.PathLike[str], permissions: Permissions, *more: Any) -> bytes:
    """Return as bytes which database a worker opens, under which permissions, and what else its engine has to know."""
    layers = [(layer.allow, layer.deny) for layer in permissions.layers()]
    return ormsgpack.packb((os.fsencode(path), layers, *more))


def unpack_opening(data: bytes) -> Any:
    """Return what `pack_opening` was given."""
    path, layers, *more = ormsgpack.unpackb(data)
    permissions: Permissions | None = None
    for allow, deny in reversed(layers):
        permissions = Permissions(tuple(allow), tuple(deny), permissions)
    return os.fsdecode(path), permissions or Permissions(), *more


def pack_error(error: TableturnError) -> bytes:
    """Return an error as bytes."""
    kind = error.kind if isinstance(error, QueryError) else ""
    message = str(error)[:2_000].encode("utf-8", "replace").decode()
    return ormsgpack.packb((type(error).__name__, kind, message))


def unpack_error(data: bytes) -> TableturnError:
    """Return the error that a worker gave."""
    match ormsgpack.unpackb(data):
        case [str(name), str(), str(message)] if name in _OF_OPENING:
            return _OF_OPENING[name](message)
        case [str(name), str(kind), str(message)] if name in _ERRORS and kind in QueryErrorKind.__args__:
            known: Any = kind
            return _ERRORS[name](message, known)
        case _:
            raise ValueError("no error")


def send(line: socket.socket, kind: Literal[0, 1, 2], body: bytes) -> None:
    """Send a message."""
    line.sendall(_HEAD.pack(len(body), kind) + body)


def receive(line: socket.socket, most: int, overdue: Callable[[], None] | None = None) -> tuple[int, bytes] | None:
    """Return the next message; None where the line has ended.

    `overdue` is called whenever the line's time for one part is over (see `patience`), and raises to give up.

    Raises:
        ValueError: It is longer than `most` bytes.
    """
    head = _read(line, _HEAD.size, overdue)
    if head is None:
        return None
    length, kind = _HEAD.unpack(head)
    if length > most:
        raise ValueError("the message is too long")
    body = _read(line, length, overdue)
    return None if body is None else (kind, body)


def _read(line: socket.socket, size: int, overdue: Callable[[], None] | None) -> bytes | None:
    """Return so many bytes; None if the line ends before."""
    whole = memoryview(bytearray(size))
    left = whole
    while left:
        try:
            read = line.recv_into(left)
        except BlockingIOError:
            if overdue is None:
                raise
            overdue()
            continue
        if not read:
            return None
        left = left[read:]
    return bytes(whole)


def patience(line: socket.socket, seconds: float) -> None:
    """Set how long a part of a message may take. The kernel keeps it: waiting and reading are one call."""
    whole, microseconds = divmod(max(1, int(seconds * 1_000_000)), 1_000_000)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("@ll", whole, microseconds))


_LONG_INTEGER = 1
_CELLS = frozenset({int, float, str, bytes, type(None)})
_TYPES = frozenset({"integer", "real", "text", "blob", "null", "mixed"})


def pack_table(table: Table) -> bytes:
    """Return a result as bytes."""
    columns = tuple(zip(*table.rows, strict=True))
    told = (table.columns, table.types, len(table.rows), columns, table.truncated, table.elapsed)
    return ormsgpack.packb(told, _long_integer, ormsgpack.OPT_PASSTHROUGH_BIG_INT)


def _long_integer(value: Any) -> ormsgpack.Ext:
    if not isinstance(value, int):
        raise TypeError(f"a {type(value).__name__} is no value")
    return ormsgpack.Ext(_LONG_INTEGER, value.to_bytes(value.bit_length() // 8 + 1, signed=True))


def unpack_table(data: bytes) -> Table:
    """Return the result that `pack_table` was given; bytes that are none are a `ValueError`."""
    try:
        names, types, count, columns, truncated, elapsed = ormsgpack.unpackb(
            data, ext_hook=lambda _, long: int.from_bytes(long, signed=True)
        )
        if not all(_CELLS.issuperset(set(map(type, column))) for column in columns):
            raise ValueError("a cell is no value")
        rows = tuple(zip(*columns, strict=True))
        if not _TYPES.issuperset(types) or not len(names) == len(types) or len(columns) not in (0, len(names)):
            raise ValueError("the columns do not fit the rows")
        if len(rows) != count:
            raise ValueError("the rows are not as many as announced")
        return Table(tuple(map(str, names)), tuple(types), rows, bool(truncated), float(elapsed))
    except (TypeError, OverflowError) as error:
        raise ValueError(f"no result: {error}") from None


def soft_limit(kind: int, value: int) -> None:
    """Set a limit of this process, as far as it may have it."""
    import resource  # which some systems lack, where there are no workers

    hard = resource.getrlimit(kind)[1]
    most = value if hard == resource.RLIM_INFINITY else hard if value == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (most, hard))
