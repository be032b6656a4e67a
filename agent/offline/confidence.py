"""How sure a reading is: a logistic score of what it left open, fitted on training databases.

The weights are in `data/confidence.json`; `python -m tableturn.evals.fit_confidence` fits them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from importlib.resources import files
from typing import cast

from ...tools.frames import Frame
from .parse import Parse
from .unread import literals_left, lost, words_left

_WEIGHTS = cast(
    "dict[str, float]",
    json.loads(files(__name__.rpartition(".")[0]).joinpath("data/confidence.json").read_text("utf-8")),
)


def signals(parse: Parse, frame: Frame, rows: int | None, editing: bool = False) -> dict[str, float]:
    """What the score weighs.

    Args:
        parse: The question as read.
        frame: What is answered.
        rows: How many rows the query gives, up to a few; None where it was too slow to know.
        editing: Whether the query before is changed.
    """
    reading = parse.reading
    left = {word for word in words_left(reading, frame, editing) if word.isalpha()}
    names = [mark for mark in reading.marks if mark.kind in ("c", "x", "t") and mark.hits]
    columns = [mark for mark in names if mark.kind != "t" and mark.column]
    values = [mark for mark in reading.marks if mark.kind == "v"]
    said = {mark.table for mark in names} | {mark.column.table for mark in (*names, *values) if mark.column}
    tables = len(frame.used())
    found: dict[str, float] = {
        "one": 1,
        "words left": min(len(left), 4),
        "any word left": bool(left),
        "literals left": len(literals_left(reading)),
        "mentions lost": min(len(lost(reading, frame)), 3),
        "weak names": min(sum(mark.hits[0].score < 0.8 for mark in names), 4),
        "weakest column": min((mark.hits[0].score for mark in columns), default=1),
        "column elsewhere": min(sum(m.column is not None and m.column.table != m.hits[0].table for m in columns), 3),
        "a title": any(mark.text.lower() in ("name", "names", "title") for mark in columns),
        "loose value": any(mark.matches[0].score < 0.95 for mark in values if mark.matches),
        "values": min(len(values), 3),
        "joined": tables > 1,
        "tables": max(min(tables - 2, 3), 0),
        "unsaid tables": 0 if editing else sum(table not in said for table in frame.used()),
        "nested": len(list(frame.nested())) > 1,
        "combined": frame.combine is not None,
        "grouped": bool(frame.group),
        "grouped, not computed": bool(frame.group) and not any(term.aggregate for term in frame.select),
        "limit": bool(frame.limit),
        "conditions": len(frame.where) > 1,
        "alternatives": any(len(group) > 1 for group in frame.where),
        "no row": rows == 0,
        "nothing asked": not editing and not reading.markers("cxa"),
        "shown": len(frame.select) > 2,
        "one shown": len(frame.select) == 1,
        "different": frame.distinct,
        "length": len(parse.mask.split()) / 10,
        "sentences": " . " in parse.mask,
        "or left": "or" in reading.text.split(),
        "editing": editing,
    }
    return {name: float(value) for name, value in found.items()}


def confidence(found: Mapping[str, float]) -> float:
    """Probability that a reading with these signals is right."""
    return 1.0 / (1.0 + math.exp(-sum(_WEIGHTS[name] * value for name, value in found.items())))
