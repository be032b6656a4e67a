"""Values as MySQL and MariaDB write them, made cells.

Integers and whole decimals are exact integers, other decimals the nearest float, bit fields integers, binary strings
bytes. Everything else, times and JSON, enumerations and sets, is the text that the server writes, timestamps in the
session's zone, which is the server's.
"""

from __future__ import annotations

from pymysql.constants import FIELD_TYPE

_INTEGERS = (
    FIELD_TYPE.TINY,
    FIELD_TYPE.SHORT,
    FIELD_TYPE.LONG,
    FIELD_TYPE.LONGLONG,
    FIELD_TYPE.INT24,
    FIELD_TYPE.YEAR,
)


def _decimal(text: str) -> int | float:
    return int(text) if text.lstrip("-").isdigit() else float(text)


def _bits(data: bytes) -> int:
    return int.from_bytes(data, "big")


DECODERS = {
    **dict.fromkeys(_INTEGERS, int),
    FIELD_TYPE.FLOAT: float,
    FIELD_TYPE.DOUBLE: float,
    FIELD_TYPE.DECIMAL: _decimal,
    FIELD_TYPE.NEWDECIMAL: _decimal,
    FIELD_TYPE.BIT: _bits,
}
"""How to load the values of each type."""
