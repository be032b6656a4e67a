"""Days as texts, and what a comparison of a column with one lets through."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from ..database.schema import ColumnSchema

MIDNIGHT = " 00:00"
"""Behind a last day of which only the first moment is let through."""
Operator = Literal["=", "<", "<=", ">", ">="]
_PREFIX = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?")
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)(?:([ T])(\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?")


@dataclass(frozen=True)
class Bound:
    """The days that a condition lets through.

    Attributes:
        first: The first; empty where it does not say.
        last: The last, with `MIDNIGHT` behind it where the rest of that day is out; empty where it does not say.
        whole: Whether that is all that the condition says.
    """

    first: str = ""
    last: str = ""
    whole: bool = False


NOTHING = Bound()


@dataclass(frozen=True)
class Times:
    """How a column holds dates.

    Attributes:
        text: As texts, which compare by their letters.
        timed: With a time of day, after this letter; empty for days alone.
    """

    text: bool
    timed: str = ""


def times_of(column: ColumnSchema, *, is_sqlite: bool) -> Times | None:
    """How a column holds dates; None where that is not known, or they do not sort as days."""
    kind = column.type.lower()
    if not is_sqlite and kind.startswith(("timestamp", "datetime")):
        return Times(False, " ")
    if not is_sqlite and kind == "date":
        return Times(False)
    samples = [_MOMENT.match(str(sample)) for sample in column.samples]
    found = [sample for sample in samples if sample is not None and is_day(sample[1])]
    timed = {sample[2] or "" for sample in found}
    return Times(True, timed.pop()) if samples and len(found) == len(samples) and len(timed) == 1 else None


def is_day(text: str) -> bool:
    """Whether a text is a day: `2023-01-31`."""
    return step(text, 0) == text


def step(day: str, days: int) -> str:
    """The day so many days on; empty for what is no day."""
    try:
        return str(date.fromisoformat(day) + timedelta(days=days))
    except (ValueError, OverflowError):
        return ""


def whole(text: str) -> Bound:
    """A year, a month or a day from its first to its last day."""
    found = _PREFIX.fullmatch(text)
    if found is None:
        return NOTHING
    year, month, day = found.groups()
    first = f"{year}-{month or '01'}-{day or '01'}"
    if not is_day(first):
        return NOTHING
    days = calendar.monthrange(int(year), int(month or 12))[1]
    return Bound(first, first if day else f"{year}-{month or '12'}-{days:02}", True)


def compared(operator: Operator, text: str, times: Times) -> Bound:
    """What a comparison of a column with a text lets through."""
    moment = _MOMENT.fullmatch(text)
    if moment is None:
        return _of_part(operator, text) if times.text else NOTHING
    day, separator, clock = moment[1], moment[2] or "", moment[3] or ""
    if not is_day(day):
        return NOTHING
    if operator == "=":
        return Bound(day, day, True) if not times.timed and not clock else NOTHING
    if not times.timed:
        return _of_days(operator, day, clock, times)
    if times.text and separator not in ("", times.timed):
        return NOTHING
    return _of_moments(operator, day, clock, times)


def _of_part(operator: Operator, text: str) -> Bound:
    """Of a year or a month, which as a text is less than every day in it."""
    first = whole(text).first if len(text) < 10 else ""
    if not first or operator == "=":
        return NOTHING
    return Bound(first, "", True) if operator in (">", ">=") else Bound("", step(first, -1), True)


def _of_days(operator: Operator, day: str, clock: str, times: Times) -> Bound:
    """Of days alone; a day as a text is less than any moment of it, as a date its midnight."""
    if not times.text and re.search("[1-9]", clock):
        return NOTHING  # engines differ in whether they compare the time too
    later = bool(clock) and times.text
    if operator in (">", ">="):
        return Bound(day if operator == ">=" and not later else step(day, 1), "", True)
    return Bound("", day if operator == "<=" or later else step(day, -1), True)


def _of_moments(operator: Operator, day: str, clock: str, times: Times) -> Bound:
    """Of days with a time."""
    midnight = not re.search("[1-9]", clock)
    if operator in (">", ">="):
        return Bound(day, "", midnight and (operator == ">=" or (times.text and not clock)))
    if not midnight:
        return Bound("", day, clock.startswith("23:59:59"))
    return Bound("", f"{day}{MIDNIGHT}" if operator == "<=" else step(day, -1), True)
