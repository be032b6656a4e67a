"""Other readings of a question, run beside the query that answers it.

They cost no request: the writer of the query gives them with it, and ties are counted. What may not leave is not told,
and if a reading takes too long nothing is said of it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from ...tools.database import Limits
from ...tools.database.rendering.text import one_line
from ...tools.errors import QueryError
from ...tools.readings import Agreement, Outcome, ReadingResult, Rival, outcome_of, short_cell, summarize, tie_reading
from ...tools.sql import Query
from ..advice import advisory
from ..answers.labels import choose_locale
from ..answers.sentence import is_harmless
from ..context.task_inputs import as_asked
from ..records import AnswerRecord, Attempt, Offer, Readings, Turn, plain_result
from ..resources import Run
from ..settings import Settings

SECONDS = 0.15  # what all readings of a turn may take together

_WORDS = 120  # characters of what the model says another reading is
_ANOTHER = "another reading"  # stands for words with a link, or with a number of neither the question nor the queries

WHICH = "This can be read in more than one way, and the answer changes with it. Which do you mean?"

_SETTLED = ("verified", "edited")  # sources of queries in which a person has left nothing open


@advisory("readings", Readings())
def readings_of(chosen: Attempt, query: Query | None, turn: Turn, run: Run) -> Readings:
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
    other, ties = chosen.comments.other, tie_reading(query, as_asked(turn)) if query else None
    given = f"{as_asked(turn)} {chosen.sql} {other.sql if other else ''}"
    meant = None
    if other:
        words = other.words if is_harmless(other.words, given) else _ANOTHER
        meant = Rival("meaning", one_line(words, _WORDS), "", run.spell(other.sql))
    found = tuple(reading for reading in (meant, ties) if reading is not None)
    if not found:
        return Readings()
    here, ordered = ReadingResult(result.rows, result.truncated), query is not None and bool(query.order)
    locale = choose_locale(turn.asked or turn.question, run.settings.locale)
    outcomes = (outcome_of(rival, here, there, ordered, locale) for rival, there in _run(found, run))
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
    assumed = first.assumed or "as it stands"
    here = (
        assumed
        if single is None
        else f"{assumed} ({short_cell(single, locale=choose_locale(answer.question, settings.locale))})"
    )
    offered = (
        Offer(here, first.matter, answer.sql),
        *(Offer(f"{one.words} ({one.says})", one.matter, one.sql) for one in changed),
    )
    asks = replace(turn.rephrasing, intent="ambiguous", reply=WHICH, choices=tuple(offer.words for offer in offered))
    return replace(turn, rephrasing=asks, offered=offered, stop=None)


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
