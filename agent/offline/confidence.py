"""How sure a reading is: a logistic score of what it left open, fitted on training databases."""

from __future__ import annotations

import math
import re

from .frame import Condition, Frame
from .parse import Parse
from .reading import Reading

_HARMLESS = frozenset(
    """show list give find return display tell what which who whose whom where when how count is are was were be been
    being do does did has have had having all any many much that this these those them their its it he she they his her
    of in on at to by for from with without and or as there only also too out up about into than then here one ones
    name names please each every some other others most more less least . , can you i we me us if so such but not yes no
    database records record table tables entries entry list lists result results use used using located live lives
    living called named existing exist exists belong belongs belonging corresponding associated together get gets got
    come comes total different #distinct #who #and #all #not #sort value values between respectively identify report
    compute calculate provide describe select state states order including along type types kind kinds
    ordered sorted ok okay thanks thank thats great good cool nice now just well hi hello instead again
    """.split()
)


def unread(reading: Reading) -> tuple[str, ...]:
    """The words that the reading did not use and that may matter."""
    words = (word for word in re.split(r"\s+", reading.text) if word and not word.startswith("@"))
    left = [word.lstrip("#") for word in words if word not in _HARMLESS]
    left += [reading.mark(marker).text for marker in reading.markers("onvqs")]
    return tuple(dict.fromkeys(left))


def features(parse: Parse, frame: Frame, rows: int | None) -> tuple[float, ...]:
    """What the score weighs; `rows` is None where the query was not run."""
    reading = parse.reading
    left = [word for word in unread(reading) if word.isalpha()]
    marks = [m for m in reading.marks if m.kind in ("c", "x", "t") and m.hits]
    weak = sum(m.hits[0].score < 0.8 for m in marks)
    return (
        1.0,
        float(min(len(left), 4)),
        float(len(reading.markers("onvqs"))),
        float(min(weak, 4)),
        float(min(len(frame.used()) - 1, 4)),
        float(_nested(frame)),
        float(frame.combine is not None),
        float(bool(frame.group)),
        float(rows == 0),
        float(len(frame.select) > 2),
        float(min(len(parse.mask.split()) / 10, 3)),
        float(any(len(group) > 1 for group in frame.where)),
        float(len(frame.where) > 1),
        float(not reading.markers("cxa") and not reading.everything),
    )


def _nested(frame: Frame) -> bool:
    conditions: list[Condition] = [*(c for group in frame.where for c in group), *frame.having]
    return any(isinstance(condition.value, Frame) for condition in conditions)


WEIGHTS = (2.0, -0.6, -0.9, -0.4, -0.4, -0.3, -0.5, -0.2, -1.0, -0.1, -0.2, -0.2, -0.1, -0.1)
"""Of `features`, in order."""


def confidence(parse: Parse, frame: Frame, rows: int | None) -> float:
    """Probability that the reading is right."""
    total = sum(weight * feature for weight, feature in zip(WEIGHTS, features(parse, frame, rows), strict=True))
    return 1.0 / (1.0 + math.exp(-total))
