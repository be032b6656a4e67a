"""How charts write numbers and dates in a locale, as Vega takes it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..formats import ENGLISH, ColumnFormat, find_babel_locale, find_number_marks

if TYPE_CHECKING:
    from .chart import TimeUnit

_CODES = {
    "y": "%Y",
    "yy": "%y",
    "M": "%-m",
    "MM": "%m",
    "MMM": "%b",
    "MMMM": "%B",
    "d": "%-d",
    "dd": "%d",
    "H": "%-H",
    "HH": "%H",
    "h": "%-I",
    "hh": "%I",
    "mm": "%M",
    "a": "%p",
}
"""What Vega calls the parts of a date in the patterns of locales."""


@lru_cache(maxsize=64)
def make_chart_locale(form: ColumnFormat, name: str) -> dict[str, Any]:
    """Return the number marks of a format, and the names of months and days of a locale other than plain English."""
    before, thousands, decimal, after = find_number_marks(form)
    marks = {"decimal": decimal, "thousands": thousands, "grouping": [3], "currency": [before, after], "minus": "-"}
    if name in ENGLISH:
        return {"number": marks}
    locale = find_babel_locale(name)
    months, days, clock = locale.months["format"], locale.days["format"], locale.day_periods["format"]["abbreviated"]

    def list_days(width: str) -> list[str]:
        return [days[width][(day - 1) % 7] for day in range(7)]  # Sunday is the first

    day, moment = write_time_pattern("day", name), write_time_pattern("second", name)
    return {
        "number": marks,
        "time": {
            "dateTime": moment,
            "date": day,
            "time": moment.removeprefix(day).strip(),
            "periods": [clock.get("am", "AM"), clock.get("pm", "PM")],
            "days": list_days("wide"),
            "shortDays": list_days("abbreviated"),
            "months": list(months["wide"].values()),
            "shortMonths": list(months["abbreviated"].values()),
        },
    }


def write_time_pattern(unit: TimeUnit, name: str) -> str:
    """Return Vega's pattern for dates of a unit, in a locale other than plain English."""
    from babel.dates import tokenize_pattern

    locale = find_babel_locale(name)
    if unit == "second":
        found = f"{locale.date_formats['medium'].pattern} {locale.time_formats['short'].pattern}"
    else:
        found = (locale.datetime_skeletons["yMMM"] if unit == "month" else locale.date_formats["medium"]).pattern
    parts: list[str] = []
    for kind, part in tokenize_pattern(found):
        # An L is a month's name without a day. Browsers write no narrow space.
        code = _CODES.get(str(part[0]).replace("L", "M") * int(part[1]), "") if kind == "field" else str(part)
        parts.append(code.replace("\N{NARROW NO-BREAK SPACE}", " "))
    return "".join(parts).strip()
