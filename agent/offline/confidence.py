"""How sure a reading is: a logistic score of what it left open, fitted on training databases."""

from __future__ import annotations

import math

from ...tools.frames import Condition, Frame, Term
from .parse import Parse
from .unread import literals_left, lost, words_left


def features(parse: Parse, frame: Frame, rows: int | None, editing: bool = False) -> tuple[float, ...]:
    """What the score weighs; `rows` is None where the query was not run."""
    reading = parse.reading
    left = {word for word in words_left(reading, frame, editing) if word.isalpha()}
    idle = lost(reading, frame)
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
        float(len(literals_left(reading))),
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
        float(not reading.markers("cxa")),
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
        math.log(sum(len(table.columns) for table in reading.names.schema.tables)),
        min((m.hits[0].score for m in columns), default=1.0),
        float(len(set(reading.fired))),
        float("." in reading.text.split() or "or" in reading.text.split()),
        float(len(reading.markers("t")) > 1),
        float(sum(m.kind == "v" for m in reading.marks) > 1),
        float(sum(t.aggregate != "" for t in frame.select)),
        float(bool(frame.group) and not any(t.aggregate for t in frame.select)),
        float(any(m.text.lower() in ("name", "names", "title") for m in columns)),
        float(min(len(idle), 3)),
    )


def _nested(frame: Frame) -> bool:
    conditions: list[Condition] = [*(c for group in frame.where for c in group), *frame.having]
    return any(isinstance(condition.value, Frame) for condition in conditions)


WEIGHTS = (
    2.04,
    -0.66,
    -0.18,
    -2.2,
    -0.06,
    -0.48,
    -0.21,
    -0.02,
    1.71,
    -0.78,
    -1.51,
    -2.0,
    -0.94,
    -0.13,
    -0.05,
    -1.39,
    -0.01,
    -0.22,
    -1.04,
    -0.29,
    -0.28,
    0.17,
    -0.07,
    -0.16,
    -0.43,
    -0.13,
    0.9,
    -0.37,
    -0.25,
    -0.03,
    1.01,
    0.07,
    -0.23,
    0.01,
    0.07,
    0.26,
    1.15,
    0.37,
    -1.87,
)
"""Of `features`, in order."""


def confidence(parse: Parse, frame: Frame, rows: int | None, editing: bool = False) -> float:
    """Probability that the reading is right; `editing` if it changes the query before."""
    found = features(parse, frame, rows, editing)
    total = sum(weight * feature for weight, feature in zip(WEIGHTS, found, strict=True))
    return 1.0 / (1.0 + math.exp(-total))
