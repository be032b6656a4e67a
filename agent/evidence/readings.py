"""Other readings of a question, run beside the query that answers it.

They cost no request: each differs from the query in one matter that nothing settles (`tools.readings`). What may not
leave is not run, and where a reading takes too long nothing is said of it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from ...tools.database import Limits
from ...tools.database.table import Cell
from ...tools.errors import QueryError
from ...tools.examples import VERIFIED
from ...tools.readings import Agreement, Look, Outcome, QuestionContext, Rival, rivals
from ...tools.readings.compare import ReadingResult, outcome_of, short_cell, summarize
from ...tools.sql import is_ordered
from ..advice import advisory
from ..context.task_inputs import as_asked, readable_turns
from ..records import AnswerRecord, Attempt, Offer, Readings, Turn, plain_result
from ..resources import Run
from ..settings import Settings
from ..state import AgentState

SECONDS = 0.15  # what all readings of a turn may take together

WHICH = "This can be read in more than one way, and the answer changes with it. Which do you mean?"

_SETTLED = ("verified", "edited")  # sources of queries in which a person has left nothing open


@advisory("readings", Readings())
def readings_of(chosen: Attempt, state: AgentState, turn: Turn, run: Run) -> Readings:
    """Return the results of the question's other readings; empty if there are none.

    Nothing runs where a person approves each query. Runs queries, so call it within an effect.
    """
    result = chosen.result
    if (
        turn.approve
        or run.settings.approve
        or run.settings.readings == "off"
        or result is None
        or result.withheld
        or chosen.source in _SETTLED
    ):
        return Readings()
    schema = run.resources.database.schema()
    look = _look(run)
    # Beside the person's words stand notes, definitions, and the questions that this one leans on.
    before = [] if turn.rephrasing.self_contained else [past.question for past in readable_turns(state, run)]
    noted = [f"{entry.name} {entry.text} {entry.sql}" for entry in turn.knowledge]
    context = QuestionContext(as_asked(turn), " ".join([*before, turn.evidence, *noted]))
    found = rivals(chosen.sql, schema, context, look=look)
    found = tuple(rival for rival in found if not _is_settled(rival, turn, run, look))
    if not found:
        return Readings()
    here, ordered = ReadingResult(result.rows, result.truncated), is_ordered(chosen.sql, schema.dialect)
    outcomes = (outcome_of(rival, here, there, ordered) for rival, there in _run(found, run))
    tried: list[Outcome] = [outcome for outcome in outcomes if outcome is not None]
    agreement = Agreement(len(tried), sum(outcome.same for outcome in tried))
    return Readings(summarize(tried), tuple(tried), agreement)


@advisory("readings", None)
def asks_which(answer: AnswerRecord, turn: Turn, settings: Settings) -> Turn | None:
    """Return the turn that asks which reading is meant; None if there is no need."""
    changed = [outcome for outcome in answer.readings.tried if not outcome.same and outcome.matter != "ties"]
    may = settings.readings == "ask" and settings.clarify and turn.clarifications < settings.max_clarifications
    if not changed or not may or answer.sql is None:
        return None
    first = changed[0]
    single = answer.rows[0][0] if answer.row_count == 1 and len(answer.columns) == 1 else None
    here = first.assumed if single is None else f"{first.assumed} ({short_cell(single)})"
    offered = (
        Offer(here, first.matter, answer.sql),
        *(Offer(f"{one.words} ({one.says})", one.matter, one.sql) for one in changed),
    )
    asks = replace(turn.rephrasing, intent="ambiguous", reply=WHICH, choices=tuple(offer.words for offer in offered))
    return replace(turn, rephrasing=asks, offered=offered, stop=None)


def _look(run: Run) -> Look:
    """Look up values once, as far as they may leave."""

    @cache
    def look(sql: str) -> tuple[Cell, ...] | None:
        try:
            table = run.resources.outgoing.execute(sql, _limits(run, SECONDS), run.cancellation)
        except QueryError:
            return None
        return None if table.withheld else tuple(row[0] for row in table.rows)

    return look


def _is_settled(rival: Rival, turn: Turn, run: Run, look: Look) -> bool:
    """Whether a person has chosen this reading, or approved a query that leaves it open."""
    replies = {reply for _, reply in turn.clarified}
    chosen = any(offer.words in replies for offer in turn.offered)
    if chosen and any(offer.matter == rival.matter for offer in turn.offered):
        return True
    schema = run.resources.database.schema()
    own = (example for example in turn.examples if example.source in VERIFIED)
    return any(
        (other.matter, other.words) == (rival.matter, rival.words)
        for example in own
        for other in rivals(example.sql, schema, QuestionContext(example.question), look=look)
    )


def _run(found: tuple[Rival, ...], run: Run) -> Iterator[tuple[Rival, ReadingResult]]:
    """Yield the readings that run within their time, with what they give."""
    until = time.monotonic() + SECONDS
    for rival in found:
        left = until - time.monotonic()
        if left <= 0:
            return
        try:
            table = run.resources.outgoing.execute(rival.sql, _limits(run, left), run.cancellation)
        except QueryError:
            continue
        if not table.withheld:
            yield rival, ReadingResult(plain_result(table).rows, table.truncated)


def _limits(run: Run, seconds: float) -> Limits:
    limits = run.settings.limits
    return replace(limits, seconds=min(seconds, limits.seconds))
