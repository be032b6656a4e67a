"""What a column holds, by its declared type and its values."""

from __future__ import annotations

import re
from collections.abc import Collection

from .schema import ColumnKind
from .table import Cell

_BY_TYPE: tuple[tuple[re.Pattern[str], ColumnKind], ...] = (
    (re.compile(r"BOOL|^BIT$|^BIT\(1\)"), "boolean"),
    (re.compile(r"DATE|TIME|INTERVAL"), "time"),
    (re.compile(r"CHAR|TEXT|CLOB|STRING|UUID|JSON|ENUM|GUID"), "text"),
    (re.compile(r"BLOB|BINARY|BYTE|IMAGE"), "binary"),
    (re.compile(r"INT(?!.*POINT)|REAL|FLOA|DOUB|NUM|DEC|MONEY|CURRENCY|SERIAL|YEAR"), "number"),
)
# Their names begin, or end, as those of numbers and times do.
_COMPOUND = re.compile(r"RANGE$|^(MULTI)?POINT$|\]$")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_TIME_LIKE = re.compile(
    rf"""\d{{4}}-\d{{1,2}}-\d{{1,2}}(?:[T ]\d{{1,2}}:\d{{2}}(?::\d{{2}}(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?
    |(?:\d{{4}}(?P<a>[/.])\d{{1,2}}(?P=a)\d{{1,2}}|\d{{1,2}}(?P<b>[/.])\d{{1,2}}(?P=b)(?:\d{{4}}|\d{{2}}))
     (?:\ \d{{1,2}}:\d{{2}}(?::\d{{2}})?)?
    |\d{{1,2}}:\d{{2}}(?::\d{{2}}(?:\.\d+)?)?
    |\d{{1,2}}[ -]{_MONTH}[ -]\d{{2,4}}
    |{_MONTH}\ \d{{1,2}},?\ \d{{4}}""",
    re.VERBOSE | re.IGNORECASE,
)

_YES_OR_NO = frozenset(["t", "f", "true", "false", "y", "n", "yes", "no", "0", "1", "on", "off"])


def is_time_like(text: str) -> bool:
    """Whether a text is a date, a time of day or both, in a form that people write."""
    return _TIME_LIKE.fullmatch(text) is not None


def column_kind(declared: str, values: Collection[Cell]) -> ColumnKind:
    """The kind of a column.

    The declared type decides unless the values all speak against it: SQLite lets any column hold anything, and has no
    type for dates, which stand in text columns.

    Args:
        declared: The declared type, possibly empty.
        values: Some of its non-null values, possibly none.
    """
    seen = _kind_of_values(values)
    upper = declared.upper()
    if _COMPOUND.search(upper):
        return seen or "other"
    for pattern, kind in _BY_TYPE:
        if pattern.search(upper):
            return seen if seen is not None and _contradicted(kind, seen, values) else kind
    return seen or "other"


def _contradicted(kind: ColumnKind, seen: ColumnKind, values: Collection[Cell]) -> bool:
    """Whether what the values are speaks against the declared kind."""
    if kind == "boolean":
        return seen in ("text", "time") and not all(str(value).lower() in _YES_OR_NO for value in values)
    return (kind == "number" and seen in ("text", "time")) or (kind == "text" and seen == "time")


def _kind_of_values(values: Collection[Cell]) -> ColumnKind | None:
    """The kind that all values share; None without values or with several kinds."""
    if not values:
        return None
    if all(isinstance(value, str) for value in values):
        return "time" if all(_TIME_LIKE.fullmatch(value) for value in values if isinstance(value, str)) else "text"
    if all(isinstance(value, int | float) for value in values):
        return "number"
    return "binary" if all(isinstance(value, bytes) for value in values) else None
