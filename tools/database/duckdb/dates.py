"""Dates that a file writes with the day or the month first: the formats to try, and whether the rows tell which."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SHAPE = re.compile(
    r"\s*\d{1,2}(?P<sign>[/.-])\d{1,2}(?P=sign)(?P<year>\d{4}|\d{2})"
    r"(?P<time>[ T]\d{1,2}:\d{2}(?P<seconds>:\d{2})?(?P<half>\s?[AaPp][Mm])?)?\s*"
)

ORDERS = ("%d{0}%m", "%m{0}%d")
"""Day first, which most of the world writes, and month first."""

READ_AS = {
    "%d{0}%m": "read as day/month/year; the file may mean month/day/year",
    "%m{0}%d": "read as month/day/year; the file may mean day/month/year",
}
"""What is told of a column that could be read in both orders."""


def shapes(texts: Iterable[str]) -> tuple[str, ...]:
    """Formats, with `{order}` for day and month, of the dates and times among some texts; at most one of each."""
    days = times = ""
    for text in texts:
        found = _SHAPE.fullmatch(text)
        if found is None:
            continue
        sign, year = found["sign"], "%Y" if len(found["year"]) == 4 else "%y"
        day = f"{{order}}{sign}{year}"
        if found["time"] is None:
            days = days or day
        elif not times:
            seconds = ":%S" if found["seconds"] else ""
            half = "" if found["half"] is None else " %p" if found["half"][0].isspace() else "%p"
            times = f"{day}{found['time'][0]}{'%I' if half else '%H'}:%M{seconds}{half}"
    return days, times


def options(formats: tuple[str, ...], order: str) -> str:
    """The options of `sniff_csv` for one order."""
    days, times = (each.replace("{order}", order.format(_sign(each))) for each in formats)
    return (f", dateformat = '{days}'" if days else "") + (f", timestampformat = '{times}'" if times else "")


def is_open(text: str) -> bool:
    """Whether a text is a date that people write in either order; with points, the day comes first."""
    found = _SHAPE.fullmatch(text)
    return found is not None and found["sign"] != "."


def _sign(format_: str) -> str:
    return format_.removeprefix("{order}")[:1]
