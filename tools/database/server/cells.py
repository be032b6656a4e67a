"""Values as drivers give them, made cells.

Truth values are 1 and 0, whole decimals exact integers, other decimals the nearest float; times are ISO text, with
their zone where they have one; lists, structs and maps JSON; numbers that are none (`nan`, `inf`) and everything else
the text that Python makes of it.
"""

from __future__ import annotations

import json
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any

from ..table import Cell


def cell(value: Any) -> Cell:
    """A driver's value."""
    if value is None or isinstance(value, str | bytes):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, Decimal):
        return int(value) if value.as_tuple().exponent == 0 else float(value)
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if isinstance(value, list | tuple | dict):
        return json.dumps(_plain(value), default=_text, ensure_ascii=False)
    return _text(value)


def _plain(value: Any) -> Any:
    """Mappings with texts for keys, as JSON asks for."""
    if isinstance(value, dict):
        return {str(key): _plain(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(held) for held in value]
    return value


def _text(value: Any) -> Any:
    if isinstance(value, timedelta):
        return str(value)
    if isinstance(value, Decimal):
        return int(value) if value.as_tuple().exponent == 0 else float(value)
    return value.isoformat(" ") if isinstance(value, datetime) else str(value)
