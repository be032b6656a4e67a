"""Labels of totals and of other measures, and the rows of a table that have them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Sequence
from decimal import Decimal
from importlib.resources import files
from statistics import mean, median, pstdev, pvariance, stdev, variance

from .rows import MONTH, Cells, find_texts, fold_cell


def _compile_labels() -> tuple[str, ...]:
    """Return the patterns in data/totals.toml: possible and certain labels, means, taxes."""
    content = files(__package__ or "").joinpath("data", "totals.toml").read_text(encoding="utf-8")
    patterns = {key: "|".join(map(re.escape, listed)) for key, listed in tomllib.loads(content).items()}
    measures = "|".join(f"(?P<{name}>{patterns[name]})" for name in MEASURES)
    word = rf"({patterns['words']}|\S*(?:{patterns['endings']}))"
    totals = rf"{word}(?:[\s:(/.,-].*)?|.*[\s)/.-]{word}|.*(?:{patterns['signs']}).*|{patterns['labels']}"
    gap = r"[\s\d.,:()/'*+–—-]"
    beside = rf"(?:{patterns['beside']}|{MONTH})"
    end = rf"(?:{gap}*{beside})*{gap}*|\s*[:(].*"
    total = rf"(?:{word}|{patterns['signs']})(?:{end}|\s+(?:{patterns['of']})\s.*)|(?:{patterns['labels']})(?:{end})"
    plain = rf"{gap}*(?:{beside}{gap}*)*(?:{total})"
    return totals, plain, patterns["signs"], rf"(?:{measures})(?:[\s:(].*)?", rf"\b(?:{patterns['taxes']})(?!\w)"


MEASURES: dict[str, Sequence[Callable[[list[Decimal]], Decimal | int]]] = {
    "means": (mean,),
    "medians": (median,),
    "spreads": (stdev, pstdev, variance, pvariance),
    "minima": (min,),
    "maxima": (max,),
    "counts": (len,),
}
TOTAL, PLAIN_TOTAL, TOTAL_SIGN, MEASURE, TAX = (re.compile(pattern, re.IGNORECASE) for pattern in _compile_labels())
LONGEST_LABEL = 30  # characters of the longest label of a total


def find_total_word(cell: object) -> str:
    """Return the word by which a cell is the label of a total; '' if it is none."""
    short = cell.strip(" \t:*\u00a0") if isinstance(cell, str) and len(cell) <= LONGEST_LABEL else ""
    match = TOTAL.fullmatch(short)
    return (next(filter(None, match.groups()), short) if match else "").casefold()


def is_total_label(label: str, groups: Collection[str]) -> bool:
    """Whether a total's word has nothing beside it but a period, a kind, or a group's name."""
    short = label.strip(" \t:*\u00a0")
    match = TOTAL.fullmatch(short)
    if not match or PLAIN_TOTAL.fullmatch(short):
        return bool(match)
    spans = [match.span(at) for at, word in enumerate(match.groups(), 1) if word]
    names = (short[:start] + short[end:] for start, end in spans)
    # Blanks do not part the words of some languages.
    others = [part for part in TOTAL_SIGN.split(short) if part != short]
    return any(fold_group(name) in groups for name in (*names, *others))


def fold_group(cell: object) -> str:
    """Return a group's name as it may stand in a total's label."""
    return fold_cell(cell).strip(" \t:.,()/-–—_")


def name_measure(row: Cells, *, is_alone: bool = False) -> str:
    """Return the measure that the first text of a row names, with nothing else if `is_alone`."""
    label = next((str(row[place]) for place in find_texts(row)), "")
    match = MEASURE.fullmatch(label.strip(" \t:*\u00a0")) if len(label) <= LONGEST_LABEL else None
    words = match.groupdict().items() if match else ()
    return next((name for name, word in words if word and (not is_alone or (match and word == match[0]))), "")
