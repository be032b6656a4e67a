"""The years, quarters and months that a question names, and the tables whose names say that they hold them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..words import MONTHS

_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_YEAR_MONTH = re.compile(r"(?<!\d)((?:19|20)\d\d)[-/.](0?[1-9]|1[0-2])(?!\d)")
_QUARTER = re.compile(
    r"\b(?:q([1-4])|([1-4])(?:st|nd|rd|th)? quarter|(first|second|third|fourth|last) quarter)\b", re.I
)
_ORDINALS = ("first", "second", "third", "fourth", "last")
_MONTHS = {form: number for number, name in enumerate(MONTHS, 1) for form in {name, name[:3]} - {"may"}}
_MAY = re.compile(r"\bMay\b")
_IN_NAME = re.compile(r"((?:19|20)\d\d)_?(?:[qQ]_?([1-4])|[mM]?_?(0[1-9]|1[0-2]))?(?!\d)")


@dataclass(frozen=True)
class Periods:
    """What a question says of time.

    Attributes:
        years: Years named; none if none is.
        months: Numbers of the months named, those of quarters among them; none if none is.
    """

    years: frozenset[int]
    months: frozenset[int]

    @classmethod
    def of(cls, text: str) -> Periods:
        """Reads them off a question."""
        months = {_MONTHS[word] for word in re.findall(r"[^\W\d_]+", text.lower()) if word in _MONTHS}
        months |= {5 for _ in _MAY.findall(text)} | {int(month) for _, month in _YEAR_MONTH.findall(text)}
        for one, two, word in _QUARTER.findall(text):
            quarter = int(one or two or 0) or min(4, _ORDINALS.index(word.lower()) + 1)
            months |= set(range(3 * quarter - 2, 3 * quarter + 1))
        return cls(frozenset(map(int, _YEAR.findall(text))), frozenset(months))

    def cover(self, name: str) -> bool:
        """Whether a table's name tells a period that the question names."""
        told = _IN_NAME.search(name)
        if told is None or int(told[1]) not in self.years:
            return False
        months = (
            {int(told[3])} if told[3] else set(range(3 * int(told[2]) - 2, 3 * int(told[2]) + 1)) if told[2] else ()
        )
        return not months or not self.months or not self.months.isdisjoint(months)
