"""The context extractor: the earlier query that a turn builds on (Track-SQL 2.3)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter

from ..database import Database, Limits
from ..errors import QueryError
from ..examples.embedding import embed
from .evidence import find_question_cues
from .linked import PastTurn, SchemaItem

Probabilities = Mapping[tuple[str, str | None], float]

LOOK = 0.1  # seconds that looking whether a query runs may take: SQLite refuses unknown names at once
NEARER = 0.35  # how much more relevant an earlier turn has to be than the last one to be the base in its place

AFRESH = 0.8
"""Relevance of every turn below which a question that points at nothing before it starts afresh: in CoSQL, 8 %."""
_ELLIPSIS = 4  # words of a question that is too short to stand alone
_POINTING = ("those", "their", "this", "also", "instead")

_GOES_BACK = re.compile(
    r"^\W*(?:\w+\W+){0,4}?back\s+to\b"
    r"|\bearlier\s+(?:question|query|list|result|answer|one)\b"
    r"|\b(?:first|original|initial)\s+(?:question|query|list|answer)\b",
    re.IGNORECASE,
)
"""Says that an earlier turn than the last is meant."""

_EARLIER_ONE = re.compile(r"\b(?:first|second|third|former|original)\s+ones?\b|\bthe\s+former\b", re.IGNORECASE)
"""May say so, or mean a row of the last result."""


def choose_base_turn(
    question: str,
    items: Sequence[SchemaItem],
    history: Sequence[PastTurn],
    *,
    latest: bool = False,
    can_run: Callable[[str], bool] | None = None,
) -> PastTurn | None:
    """Return the past turn to build on: the most relevant one, by equation 8.

    Args:
        question: This turn's question.
        items: This turn's scored schema items, most probable first.
        history: The turns of the window, oldest first.
        latest: Whether the last turn with SQL that runs is taken unless another is clearly nearer, and none if the
            question starts afresh. A pronoun then points at the last turn, however near another one is; only words
            that name an earlier one go further back.
        can_run: Whether a past query runs; those that don't are skipped.
    """
    now = [((item.table, item.column), item.p) for item in items]
    # Of a past turn the most probable items alone may have been kept: as many of this one's are compared with them.
    relevant = [
        (compute_turn_relevance(question, dict(now[: len(turn.items)]), turn), turn) for turn in history if turn.sql
    ]
    while relevant:
        base = _choose_relevant_turn(question, relevant) if latest else max(reversed(relevant), key=itemgetter(0))[1]
        # Looking takes a query: only what is chosen is looked at.
        if base is None or can_run is None or can_run(base.sql):
            return base
        relevant = [entry for entry in relevant if entry[1].sql != base.sql]
    return None


def _choose_relevant_turn(question: str, relevant: Sequence[tuple[float, PastTurn]]) -> PastTurn | None:
    """Choose the past turn to build on; None if the question starts afresh."""
    *earlier, last = relevant
    if earlier and _GOES_BACK.search(question):
        return max(earlier, key=itemgetter(0))[1]
    nearest = max(relevant, key=itemgetter(0))
    clearly = nearest[0] > last[0] + NEARER
    cues = find_question_cues(question)
    if any(cues[cue] for cue in _POINTING) or len(question.split()) <= _ELLIPSIS:
        clearly = clearly and _EARLIER_ONE.search(question) is not None
    elif nearest[0] < AFRESH:
        return None
    return nearest[1] if clearly else last[1]


def can_still_run_query(database: Database, sql: str, seconds: float = LOOK) -> bool:
    """Whether a past query can still run, because its names exist; a timeout counts as yes."""
    try:
        database.execute(sql, Limits(seconds=seconds, rows=1))
    except QueryError as error:
        return error.kind in ("timeout", "too_large")
    return True


def compute_turn_relevance(question: str, now: Probabilities, turn: PastTurn) -> float:
    """Return a past turn's relevance from 0 to 2, by question and schema items (equation 8)."""
    before = {(table, column): p for table, column, p in turn.items}
    vector, past_vector = embed([question, turn.question])
    return max(0.0, float(vector @ past_vector)) + 1 - compute_divergence(now, before)


def compute_divergence(now: Probabilities, past: Probabilities) -> float:
    """Return the normalised Jensen-Shannon divergence (equations 6, 7), from 0 to 1.

    Both are made to sum to 1; items left out have probability 0. Equation 7 has its arguments exchanged against the
    usual definition of D_KL; the usual one is meant, as only that gives equation 6 its stated range.
    """
    now_sum, past_sum = sum(now.values()), sum(past.values())
    if not now_sum or not past_sum:
        return 1.0
    shares = ((now.get(item, 0.0) / now_sum, past.get(item, 0.0) / past_sum) for item in now.keys() | past.keys())
    total = sum(share * math.log(2 * share / (p + q)) for p, q in shares for share in (p, q) if share)
    return min(1.0, max(0.0, total / (2 * math.log(2))))
