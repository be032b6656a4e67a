"""A chart as data: what is drawn, before anything draws it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .columns import TimeUnit
from .wish import Kind


@dataclass(frozen=True)
class Axis:
    """What one axis shows.

    Attributes:
        title: For people.
        scale: What its values are.
        unit: Of times, the finest part that is given.
    """

    title: str
    scale: Literal["time", "number", "category"]
    unit: TimeUnit = ""


@dataclass(frozen=True)
class Mark:
    """One thing that is drawn: a bar, a point, a part of a line.

    Attributes:
        x: Where, on the axis `x`; None where there is none.
        y: How much.
        group: Which of the groups it belongs to; empty where there are none.
        label: What else is known of it, for whoever points at it.
    """

    x: int | float | str | None
    y: int | float
    group: str = ""
    label: str = ""


@dataclass(frozen=True)
class Chart:
    """A chart of a result.

    Attributes:
        kind: What it looks like.
        x: Across; None for a single number, and for one bar or pie that is divided into groups.
        y: Up: what is measured.
        marks: What is drawn, in the result's order.
        groups: What the colours stand for; empty where there is one colour.
        title: Over it; may be empty.
        partial: Whether the result had more rows than these.
    """

    kind: Kind
    x: Axis | None
    y: Axis
    marks: tuple[Mark, ...]
    groups: str = ""
    title: str = ""
    partial: bool = False
