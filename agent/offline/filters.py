"""All patterns for conditions on rows, in their order, and how conditions join."""

from __future__ import annotations

import re

from . import comparisons, equalities
from .conditions import FILTERS
from .frame import Condition, Frame
from .reading import Reading

_OR = re.compile(r"@w(\d+)(?: ,)? or((?: (?!@w)\S+){0,3}) @w(\d+)")
_AND = re.compile(r"@w(\d+)((?: (?!@w)\S+){0,5}?(?: and| ,| but)(?: (?!@w)\S+){0,5}) @w(\d+)")


def join_alternatives(reading: Reading) -> None:
    """Conditions with `or` between them become one group; ones that no row can meet together, two sets that meet."""
    while match := _OR.search(reading.text):
        first, second = int(match[1]), int(match[3])
        reading.where[first] += reading.where[second]
        reading.where[second] = ()
        reading.text = f"{reading.text[: match.start()]}@w{first}{match[2]}{reading.text[match.end() :]}"
    for match in _AND.finditer(reading.text):
        first, second = reading.where[int(match[1])], reading.where[int(match[3])]
        if reading.combine is None and len(first) == len(second) == 1 and _contradict(first[0], second[0]):
            reading.combine = ("intersect", [second[0]])
            reading.where[int(match[3])] = ()
    reading.where = [group for group in reading.where if group]


def _contradict(one: Condition, other: Condition) -> bool:
    if one.term != other.term or isinstance(one.value, Frame) or isinstance(other.value, Frame):
        return False
    if one.operator == other.operator == "=":
        return one.value != other.value
    if isinstance(one.value, int | float) and isinstance(other.value, int | float):
        low, high = (one, other) if one.operator.startswith(">") else (other, one)
        return low.operator[0] == ">" and high.operator[0] == "<" and low.value > high.value  # type: ignore[operator]
    return False


__all__ = ["FILTERS", "comparisons", "equalities", "join_alternatives"]
