"""How sure a reading is: a logistic score of what it left open, fitted on training databases.

The weights are in `data/confidence.json`; `python -m tableturn.evals.fit_confidence` fits them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from importlib.resources import files
from typing import cast

from ...tools.database.table import Cell
from ...tools.frames import Frame
from .parse import Parse
from .unread import literals_left, lost, words_left

_WEIGHTS = cast(
    "dict[str, float]",
    json.loads(files(__name__.rpartition(".")[0]).joinpath("data/confidence.json").read_text("utf-8")),
)


def signals(
    parse: Parse, frame: Frame, rows: tuple[tuple[Cell, ...], ...] | None, editing: bool = False
) -> dict[str, float]:
    """What the score weighs.

    Args:
        parse: The question as read.
        frame: What is answered.
        rows: The first rows that the query gives; None where it was too slow to know.
        editing: Whether the query before is changed.
    """
    reading = parse.reading
    names = [mark for mark in reading.marks if mark.kind in ("c", "x", "t") and mark.hits]
    columns = [mark for mark in names if mark.kind != "t" and mark.column]
    values = [mark for mark in reading.marks if mark.kind == "v" and mark.matches]
    tables = len(frame.used())
    found: dict[str, float] = {
        "one": 1,
        "words left": min(len({word for word in words_left(reading, frame, editing) if word.isalpha()}), 4),
        "literals left": len(literals_left(reading)),
        "mentions lost": min(len(lost(reading, frame)), 3),
        "weak names": min(sum(mark.hits[0].score < 0.8 for mark in names), 4),
        "weakest column": min((mark.hits[0].score for mark in columns), default=1),
        "column elsewhere": min(sum(m.column is not None and m.column.table != m.hits[0].table for m in columns), 3),
        "a title": any(mark.text.lower() in ("name", "names", "title") for mark in columns),
        "tables said": min(sum(mark.kind == "t" for mark in reading.marks), 4),
        "loose value": any(mark.matches[0].score < 0.95 for mark in values),
        "value of several columns": any(len({(m.table, m.column) for m in mark.matches}) > 1 for mark in values),
        "patterns": len(reading.fired),
        "how many": parse.mask.startswith("#howmany"),
        "nothing asked": not editing and not reading.markers("cxa"),
        "length": len(parse.mask.split()) / 10,
        "joined": tables > 1,
        "tables": max(min(tables - 2, 3), 0),
        "nested": len(list(frame.nested())) > 1,
        "combined": frame.combine is not None,
        "grouped": bool(frame.group),
        "grouped, not computed": bool(frame.group) and not any(term.aggregate for term in frame.select),
        "rows counted": any(term.column is None and term.aggregate for term in frame.select),
        "limit": bool(frame.limit),
        "conditions": len(frame.where),
        "shown": len(frame.select) > 2,
        "one shown": len(frame.select) == 1,
        "different": frame.distinct,
        "no row": rows is not None and not rows,
        "too slow": rows is None,
        "a row twice": rows is not None and len(set(rows)) < len(rows),
        "editing": editing,
    }
    return {name: float(value) for name, value in found.items()}


def confidence(found: Mapping[str, float]) -> float:
    """Probability that a reading with these signals is right."""
    return 1.0 / (1.0 + math.exp(-sum(_WEIGHTS[name] * value for name, value in found.items())))
