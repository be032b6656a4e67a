"""Results of other readings, compared with the query's result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..database.rendering.text import one_line
from ..database.table import Cell, PlainCell
from ..results import label_cells, same_result

Rows = Sequence[Sequence[Cell]] | Sequence[Sequence[PlainCell]]

_ROUND = ((1e9, "bn"), (1e6, "M"))
_TEXT = 40
_WORDS = 120


Matter = Literal["meaning", "ties", "left_out", "net", "date", "like", "count", "missing", "zeros"]
"""What a question can leave open.

- `meaning`: what else its words can mean, as the writer of the query says.
- `ties`: what shares the last place that LIMIT lets through.

The others stand in answers of earlier versions alone.
"""


@dataclass(frozen=True)
class Rival:
    """Another reading of a question."""

    matter: Matter
    words: str  # how it reads the question: `by booking date`
    assumed: str  # how the query reads it; empty if that is not known
    sql: str
    outputs: int = 0  # columns of its result that answer the question; further ones say where ties are
    limit: int = 0  # for ties, the rows that the query lets through; 0 for all


@dataclass(frozen=True)
class Agreement:
    """The number of readings that ran, and of those with the same result."""

    ran: int = 0
    same: int = 0


@dataclass(frozen=True)
class Outcome(Rival):
    """A reading with its result in words."""

    says: str = ""  # in a few words; empty where it is the same

    @property
    def same(self) -> bool:
        """Whether the result is that of the query."""
        return not self.says


@dataclass(frozen=True)
class ReadingResult:
    """A result to compare."""

    rows: Rows
    truncated: bool = False


def outcome_of(rival: Rival, here: ReadingResult, there: ReadingResult, ordered: bool) -> Outcome | None:
    """Return the outcome of a rival; None if its result cannot be compared."""
    # Nobody means what finds nothing.
    nothing = all(cell in (None, 0) for row in there.rows for cell in row)
    if rival.matter == "ties":
        says = _count_ties(rival, there)
    elif here.truncated or there.truncated or nothing:
        return None
    elif same_result(here.rows, there.rows, ordered=ordered):
        says = ""
    else:
        says = _describe(here.rows, there.rows)
    return Outcome(**vars(rival), says=says)


def _count_ties(rival: Rival, there: ReadingResult) -> str:
    rows = there.rows
    if len(rows) <= rival.limit:
        return ""
    last = tuple(rows[rival.limit - 1][rival.outputs :])
    more = 0
    for row in rows[rival.limit :]:
        if tuple(row[rival.outputs :]) != last:
            break
        more += 1
    if not more:
        return ""
    at_least = "at least " if more == len(rows) - rival.limit else ""
    return f"{at_least}{more} more"


def _describe(here: Rows, there: Rows) -> str:
    if len(there) == 1 and len(there[0]) == 1:
        before = here[0][0] if len(here) == 1 and len(here[0]) == 1 else None
        return short_cell(there[0][0], before)
    if not there:
        return "no rows"
    if len(here) == len(there) == 1 and len(here[0]) == len(there[0]):
        changed = [(after, before) for before, after in zip(here[0], there[0], strict=True) if before != after]
        return ", ".join(short_cell(after, before) for after, before in changed)
    labels = label_cells(cell for rows in (here, there) for row in rows for cell in row)
    old = Counter(tuple(labels[cell] for cell in row) for row in here)
    new = Counter(tuple(labels[cell] for cell in row) for row in there)
    added, gone = (new - old).total(), (old - new).total()
    if not gone:
        return f"{added:,} more {'row' if added == 1 else 'rows'}"
    if not added:
        return f"{gone:,} fewer {'row' if gone == 1 else 'rows'}"
    if len(here) == len(there):
        return f"{gone:,} of {len(here):,} rows differ"
    return f"{len(there):,} rows instead of {len(here):,}"


def short_cell(cell: Cell, beside: Cell = None) -> str:
    """Return a value in few characters, distinct from `beside`."""
    if cell is None:
        return "nothing"
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return one_line(" ".join(str(cell).split()), _TEXT)
    short = _format_number(cell)
    same = isinstance(beside, int | float) and _format_number(beside) == short and beside != cell
    return f"{cell:,}" if same else short


def _format_number(number: float) -> str:
    for size, unit in _ROUND:
        if abs(number) >= size:
            return f"{number / size:,.1f} {unit}"
    if isinstance(number, int) or number.is_integer():
        return f"{int(number):,}"
    return f"{number:,.0f}" if abs(number) >= 1_000 else f"{number:,.2f}" if abs(number) >= 1 else f"{number:.3g}"


def summarize(outcomes: Sequence[Outcome]) -> str:
    """Return the outcomes that differ in one line; empty if none does."""
    line = "; ".join(map(_say, filter(lambda outcome: not outcome.same, outcomes)))
    return f"{line[:1].upper()}{line[1:]}." if line else ""


def _say(outcome: Outcome) -> str:
    if outcome.matter == "meaning":
        return f"read as “{' '.join(outcome.words.split())[:_WORDS]}”: {outcome.says}"
    return f"{outcome.says} {outcome.words}"
