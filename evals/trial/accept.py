"""Whether an answer is what a question of a trial accepts, and if not, why not."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...tools.database import Cell

ABOUT = 0.05
"""How far, as a share, a value may be from one that is said to be "about" so much."""

_NUMBER = r"[-+]?\d[\d,_ ]*(?:\.\d+)?|[-+]?\.\d+"
_VALUE = re.compile(
    rf"(?P<about>about|around|roughly|approximately|~|≈)?\s*(?P<number>{_NUMBER})\s*(?P<share>%)?"
    rf"(?:\s*(?:within|±|\+/-)\s*(?P<width>{_NUMBER})\s*(?P<percent>%)?)?",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"(?:(?P<least>at least|>=)\s*(?P<low>\d+)|(?P<most>at most|<=)\s*(?P<high>\d+)"
    r"|(?P<from>\d+)\s*(?:to|-|–)\s*(?P<to>\d+)|(?:exactly\s*)?(?P<exact>\d+))(?:\s*rows?)?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Quantity:
    """A number, and how far another may be from it.

    Attributes:
        tolerance: In the number's own unit.
    """

    number: float
    tolerance: float

    def holds(self, cell: Cell) -> bool:
        """Whether a cell is that number."""
        if isinstance(cell, str):
            try:
                cell = float(cell.replace(",", ""))
            except ValueError:
                return False
        return isinstance(cell, int | float) and abs(cell - self.number) <= self.tolerance


@dataclass(frozen=True)
class Count:
    """How many rows: from `low` to `high`, both included."""

    low: int
    high: int | None

    def holds(self, rows: int, more: bool) -> bool:
        """Whether so many rows are right; `more` where the result had more than were fetched."""
        return rows >= self.low and (self.high is None or (rows <= self.high and not more))

    def __str__(self) -> str:
        if self.high is None:
            return f"at least {self.low}"
        if self.low == self.high:
            return str(self.low)
        return f"at most {self.high}" if self.low == 0 else f"{self.low} to {self.high}"


def read_value(value: object) -> Quantity | str:
    """What a `value` accepts: a number with its tolerance, or a text.

    >>> read_value("about 12,400")
    Quantity(number=12400.0, tolerance=620.0)

    Raises:
        ValueError: It is neither.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str) or value == "":
        raise ValueError(f"a value is a number or a text, not {value!r}")
    if not isinstance(value, str):
        if not math.isfinite(value):
            raise ValueError(f"a value is a finite number, not {value!r}")
        return Quantity(float(value), _rounding(repr(value)))
    found = _VALUE.fullmatch(value.strip())
    if found is None:
        return value.strip()
    number = _number(found["number"])
    if found["width"]:
        width = _number(found["width"])
        if width < 0:
            raise ValueError(f"a value is within so much or more, not within {found['width']}")
        return Quantity(number, abs(number) * width / 100 if found["percent"] else width)
    return Quantity(number, ABOUT * abs(number) if found["about"] else _rounding(found["number"]))


def read_count(rows: object) -> Count:
    """How many rows `rows` accepts.

    Raises:
        ValueError: It says nothing of the kind.
    """
    found = None if isinstance(rows, bool) else _COUNT.fullmatch(str(rows).strip())
    if found is None:
        raise ValueError(f'rows is a number, "at least 3", "at most 10" or "3 to 10", not {rows!r}')
    if found["least"]:
        return Count(int(found["low"]), None)
    if found["most"]:
        return Count(0, int(found["high"]))
    if found["from"]:
        low, high = int(found["from"]), int(found["to"])
        if low > high:
            raise ValueError(f"no number of rows is {low} to {high}: write {high} to {low}")
        return Count(low, high)
    return Count(int(found["exact"]), int(found["exact"]))


def holds_value(accepted: Quantity | str, rows: Sequence[Sequence[Cell]]) -> bool:
    """Whether a result is a single row in which a cell is the accepted value."""
    if len(rows) != 1:
        return False
    if isinstance(accepted, Quantity):
        return any(accepted.holds(cell) for cell in rows[0])
    wanted = " ".join(accepted.casefold().split())
    return any(isinstance(cell, str) and " ".join(cell.casefold().split()) == wanted for cell in rows[0])


def missing_columns(wanted: Sequence[str], columns: Sequence[str]) -> list[str]:
    """The wanted columns that a result lacks: each must have one of its own whose name has all of its words."""
    left = [_words(column) for column in columns]
    missing: list[str] = []
    for name in sorted(wanted, key=lambda name: -len(_words(name))):
        words = _words(name)
        found = next((column for column in left if words == column), None)
        found = found or next((column for column in left if words <= column), None)
        if found is None:
            missing.append(name)
        else:
            left.remove(found)
    return missing


def _words(name: str) -> frozenset[str]:
    parts = re.findall(r"[^\W\d_]+|\d+", re.sub(r"([a-z])([A-Z])", r"\1 \2", name))
    return frozenset(part.lower().removesuffix("s") for part in parts)


def _number(text: str) -> float:
    return float(re.sub(r"[,_ ]", "", text))


def _rounding(text: str) -> float:
    """Half of the last place that was written: 3.14 accepts what rounds to it, 12 accepts 12."""
    decimals = len(text.partition(".")[2]) if "." in text else 0
    return 0.5 * 10**-decimals * (1 + 1e-9) if decimals else 1e-6 * max(1.0, abs(_number(text)))
