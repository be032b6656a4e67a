"""How sure a reading is: a logistic score of what it left open, fitted on training databases."""

from __future__ import annotations

import math
import re

from .frame import Condition, Frame, Term
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
    said = {m.table for m in marks if m.table} | {m.column.table for m in marks if m.column}
    said |= {m.column.table for m in reading.marks if m.kind == "v" and m.column}
    columns = [m for m in marks if m.kind != "t" and m.column]
    rivals = sum(sum(h.column is not None and h.score >= m.hits[0].score - 0.05 for h in m.hits) > 1 for m in columns)
    far = sum(m.column is not None and m.column.table != m.hits[0].table for m in columns)
    loose = sum(m.kind == "v" and m.matches[0].score < 0.95 for m in reading.marks if m.matches)
    tables = len(frame.used())
    return (
        1.0,
        float(min(len(left), 4)),
        float(bool(left)),
        float(len(reading.markers("onvqs"))),
        float(min(weak, 4)),
        float(tables > 1),
        float(max(min(tables - 2, 3), 0)),
        float(_nested(frame)),
        float(frame.combine is not None),
        float(bool(frame.group)),
        float(rows == 0),
        float(rows is None),
        float(len(parse.mask.split()) / 10),
        float(any(len(group) > 1 for group in frame.where)),
        float(len(frame.where) > 1),
        float(not reading.markers("cxa") and not reading.everything),
        float(min(rivals, 3)),
        float(min(far, 3)),
        float(loose > 0),
        float(any(m.kind == "x" for m in marks)),
        float(bool(frame.limit)),
        float(bool(frame.having)),
        float(frame.select[:1] == (Term(None, "count"),)),
        float(len(frame.select) == 1),
        float(len(frame.select) > 2),
        float(frame.distinct),
        float(" . " in parse.mask),
        float(sum(table not in said for table in frame.used())),
        float(len({column.table for column in frame.columns()}) < tables),
    )


def _nested(frame: Frame) -> bool:
    conditions: list[Condition] = [*(c for group in frame.where for c in group), *frame.having]
    return any(isinstance(condition.value, Frame) for condition in conditions)


WEIGHTS = (
    2.44,
    -0.45,
    -0.4,
    -2.0,
    -0.29,
    -0.25,
    -0.3,
    0.15,
    1.7,
    -0.16,
    -1.3,
    -1.84,
    -0.97,
    0.17,
    -0.25,
    -1.59,
    0.03,
    -0.11,
    -1.36,
    -0.31,
    0.13,
    0.55,
    0.21,
    0.11,
    -0.2,
    -0.17,
    0.55,
    -0.28,
    -0.26,
)
"""Of `features`, in order."""


def confidence(parse: Parse, frame: Frame, rows: int | None) -> float:
    """Probability that the reading is right."""
    total = sum(weight * feature for weight, feature in zip(WEIGHTS, features(parse, frame, rows), strict=True))
    return 1.0 / (1.0 + math.exp(-total))
