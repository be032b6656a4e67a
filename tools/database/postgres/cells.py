"""Values as PostgreSQL writes them, made cells.

Integers and whole numerics are exact integers, other numerics the nearest float, truth values 1 and 0, bytea bytes.
Everything else, times and arrays, JSON and UUIDs, ranges and values of types that the database defines, is the text
that the server writes, times with the zone that it has; so are numbers that are none (`NaN`, `Infinity`).
"""

from __future__ import annotations

from math import isfinite

from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Loader
from psycopg.types.string import ByteaLoader

_INTEGERS = (20, 21, 23, 26)
_FLOATS = (700, 701)
_NUMERIC = 1700
_BOOLEAN = 16
_BYTEA = 17
_ANY = 0


class _Text(Loader):
    def load(self, data: Buffer) -> str:
        return bytes(data).decode("utf-8", "replace")


class _Integer(Loader):
    def load(self, data: Buffer) -> int:
        return int(bytes(data))


class _Float(Loader):
    def load(self, data: Buffer) -> float | str:
        value = float(bytes(data))
        return value if isfinite(value) else bytes(data).decode()


class _Numeric(Loader):
    def load(self, data: Buffer) -> int | float | str:
        text = bytes(data).decode()
        if text.lstrip("-").isdigit():
            return int(text) if len(text) < 1_000 else text
        value = float(text)
        return value if isfinite(value) else text


class _Boolean(Loader):
    def load(self, data: Buffer) -> int:
        return int(bytes(data) == b"t")


class CellAdapters:
    """What psycopg asks for: how to load the values of each type."""

    def __init__(self) -> None:
        self.connection = None
        self.adapters = AdaptersMap()
        self.adapters.register_loader(_ANY, _Text)
        for oid in _INTEGERS:
            self.adapters.register_loader(oid, _Integer)
        for oid in _FLOATS:
            self.adapters.register_loader(oid, _Float)
        self.adapters.register_loader(_NUMERIC, _Numeric)
        self.adapters.register_loader(_BOOLEAN, _Boolean)
        self.adapters.register_loader(_BYTEA, ByteaLoader)
