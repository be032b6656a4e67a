"""Values as drivers give them, made cells.

Truth values are 1 and 0, whole decimals exact integers, other decimals the nearest float; times are ISO text, with
their zone where they have one; lists and mappings JSON, everything else the text that Python makes of it.
"""

from __future__ import annotations

import json
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from ..table import Cell


def cell(value: Any) -> Cell:
    """A driver's value."""
    if value is None or isinstance(value, str | bytes | float):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, Decimal):
        return _number(value)
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if isinstance(value, list | tuple | dict):
        return json.dumps(value, default=str, ensure_ascii=False)
    return str(value)


def _number(value: Decimal) -> Cell:
    if not value.is_finite():
        return str(value)
    return int(value) if value == value.to_integral_value() and value.as_tuple().exponent == 0 else float(value)
