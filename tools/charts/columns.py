"""What a result's columns can stand for in a chart: times, numbers, shares, categories, or nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, TypeAlias

from ..database.table import Cell
from ..terminal import safe
from .chart import TimeUnit

Role = Literal["time", "number", "category", "label", "none"]
"""What a column is good for.

`time`: points in time. `number`: something measured. `category`: groups, each with a name. `label`: names that are
numbers or keys, such as identifiers. `none`: bytes, mixtures, nothing but NULL.
"""

_UNITS: tuple[TimeUnit, ...] = ("year", "quarter", "month", "day", "second")

_TIME = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d{2})(?:-(?P<day>\d{2})"
    r"(?P<clock>[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}(?::?\d{2})?)?)?)?)?"
)
_QUARTER = re.compile(r"(\d{4})[- ]?Q([1-4])", re.IGNORECASE)
_BLOB = re.compile(r"x'(?:[0-9A-Fa-f]{2})*'")
_NO_NUMBER = frozenset({"nan", "infinity", "-infinity", "inf", "-inf"})
"""What stands for numbers that are none (`plain_cell`, and engines' own words)."""

_KEYS = frozenset({"id", "ids", "key", "code", "zip", "zipcode", "postcode", "phone", "isbn", "sku", "uuid", "number"})
_SHARES = frozenset({"share", "percent", "percentage", "pct", "proportion", "fraction"})
_PARTS = {"month": (1, 12), "quarter": (1, 4), "weekday": (0, 7), "day": (1, 31), "hour": (0, 23), "week": (0, 53)}
"""Parts of times as numbers, by the word in their column's name."""

_YEARS = (1000, 2999)

NOTHING = "(none)"
"""Stands for NULL among names of groups."""

LONGEST = 60
"""Characters of a group's name; a column of longer texts holds prose, not groups."""

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|%|[^\W\d_a-zA-Z]+")


Values: TypeAlias = Sequence[int | float | str | None]


@dataclass(frozen=True)
class Column:
    """One column as a chart may use it.

    Attributes:
        index: Its position in the result.
        title: Its name, for people.
        role: What it is good for.
        values: A value a row: numbers as finite floats or integers, times as `YYYY-MM-DDTHH:MM:SS` in the time of the
            clock on the wall, everything else as text; None where there is none.
        words: The words of its name, in lower case.
        unit: Of a `time`, the finest part that is given.
        distinct: How many different values it has.
        share: Whether its numbers add up to a whole: to 1 or to 100.
    """

    index: int
    title: str
    role: Role
    values: tuple[int | float | str | None, ...]
    words: tuple[str, ...]
    unit: TimeUnit = ""
    distinct: int = 0
    share: bool = False

    @property
    def numbers(self) -> list[int | float]:
        """Its numbers, without what is missing."""
        return [value for value in self.values if isinstance(value, int | float)]

    @property
    def names_rows(self) -> bool:
        """Whether no value is there twice; in a column of times one may be missing."""
        return self.distinct == sum(value is not None for value in self.values) >= len(self.values) - 1


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name: `unitPrice`, `unit_price` and `Unit Price` are the same."""
    return tuple(word.lower() for word in _WORD.findall(name))


def read_columns(titles: Sequence[str], rows: Sequence[Sequence[Cell]]) -> tuple[Column, ...]:
    """Read the columns of a result.

    Args:
        titles: A name a column, for people.
        rows: The rows, each as long as `titles`.
    """
    columns: list[Column] = []
    for index, name in enumerate(titles):
        title = cut(name.replace("_", " "))
        words = words_of(title)
        role, unit, values = _values(words, [row[index] for row in rows])
        if role in ("category", "label"):
            values = [NOTHING if value is None else cut(str(value)) for value in values]
        distinct = len(set(values) - {None})
        column = Column(index, title, role if distinct else "none", tuple(values), words, unit, distinct)
        share = role == "number" and bool(_SHARES.intersection(words) or "%" in words) and _whole(column.numbers)
        columns.append(replace(column, share=share))
    return tuple(columns)


def _values(words: Sequence[str], cells: Sequence[Cell]) -> tuple[Role, TimeUnit, Values]:
    """Return what cells are good for, how fine they are given if they are times, and their values."""
    texts = [cell for cell in cells if isinstance(cell, str) and cell.lower() not in _NO_NUMBER]
    numbers = [cell for cell in cells if isinstance(cell, int | float)]
    if any(isinstance(cell, bytes) for cell in cells) or bool(texts) == bool(numbers):
        return "none", "", ()
    if numbers:
        return _numeric(words, [_finite(cell) for cell in cells])
    read = [_time(cell) if isinstance(cell, str) else None for cell in cells]
    points = [point for point in read if point]
    if len(points) == len(texts):
        units: list[TimeUnit] = [unit for _, unit in points]
        return "time", max(units, key=_UNITS.index), [point and point[0] for point in read]
    if all(map(_BLOB.fullmatch, texts)) or 2 * sum(len(text) > LONGEST for text in texts) > len(texts):
        return "none", "", ()
    return "category", "", [cell if isinstance(cell, str) else None for cell in cells]


def _numeric(words: Sequence[str], values: Sequence[int | float | None]) -> tuple[Role, TimeUnit, Values]:
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, int) for value in known):
        if "year" in words and all(_YEARS[0] <= value <= _YEARS[1] for value in known):
            return "time", "year", [value and f"{value:04d}-01-01T00:00:00" for value in values]
        last = words[-1] if words else ""
        least, most = _PARTS.get(last, (1, 0))
        is_key = last in _KEYS and not {"of", "count"}.intersection(words)
        if is_key or all(least <= value <= most for value in known):
            return "label", "", values
    return "number", "", values


def _finite(cell: Cell) -> int | float | None:
    if not isinstance(cell, int | float):
        return None
    try:
        return cell if math.isfinite(float(cell)) else None
    except OverflowError:
        return None


def _time(text: str) -> tuple[str, TimeUnit] | None:
    """A point in time, and how fine it is given; None where the text is none."""
    if quarter := _QUARTER.fullmatch(text):
        return f"{quarter[1]}-{3 * int(quarter[2]) - 2:02d}-01T00:00:00", "quarter"
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    year, month, day, clock = found["year"], found["month"] or "01", found["day"] or "01", found["clock"] or ""
    if not found["month"] and not _YEARS[0] <= int(year) <= _YEARS[1]:
        return None
    try:
        point = datetime.fromisoformat(f"{year}-{month}-{day}{clock}")
    except ValueError:
        return None
    unit: TimeUnit = "second" if clock else "day" if found["day"] else "month" if found["month"] else "year"
    return point.replace(tzinfo=None, microsecond=0).isoformat(), unit


def _whole(numbers: Sequence[int | float]) -> bool:
    """Whether these are parts of one whole."""
    if len(numbers) < 2 or min(numbers) < 0:
        return False
    total = math.fsum(numbers)
    return any(math.isclose(total, whole, rel_tol=0.02) for whole in (1, 100))


def cut(text: str) -> str:
    """A text for an axis: printable, and not too long."""
    text = " ".join(safe(text).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
