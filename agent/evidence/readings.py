"""Other readings of a question, run beside the query that answers it.

They cost no request: the writer of the query gives them with it, and ties are counted. What may not leave is not told,
and of a reading that takes too long only the words.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from ...tools.database.rendering.text import one_line
from ...tools.errors import QueryError
from ...tools.formats import choose_column_formats
from ...tools.labels import Labels
from ...tools.readings import (
    Agreement,
    AlternativeReading,
    Outcome,
    ReadingResult,
    compare_readings,
    format_short_cell,
    make_tie_reading,
    summarize_outcomes,
)
from ...tools.sql import Query
from ..advice import with_fallback
from ..answers.sentence import is_harmless
from ..context.task_inputs import get_full_question
from ..records import AnswerRecord, Attempt, OfferedReading, Readings, Turn, make_plain_result
from ..resources import Run
from ..settings import Settings

SECONDS = 1.0  # what all readings of a turn may take together

_WORDS = 120  # characters of what the model says another reading is
_SETTLED = ("verified", "edited")  # sources of queries in which a person has left nothing open


@with_fallback("readings", Readings())
def run_alternative_readings(chosen: Attempt, query: Query | None, turn: Turn, run: Run, labels: Labels) -> Readings:
    """Run the queries of other interpretations of the question, and return the results.

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
    locale = labels.locale
    other, ties = (chosen.comments.other, make_tie_reading(query, locale) if query else None)
    given = f"{get_full_question(turn)} {chosen.sql} {other.sql if other else ''}"
    meant = None
    if other:
        # Words with a link, or with a number of neither the question nor the queries, are not told.
        words = other.words if is_harmless(other.words, given) else labels.say("another_reading")
        meant = AlternativeReading("meaning", one_line(words, _WORDS), "", run.spell(other.sql))
    rivals = tuple(reading for reading in (meant, ties) if reading is not None)
    if not rivals:
        return Readings()
    formats = choose_column_formats(query, result.columns, result.rows, locale=locale)
    base = ReadingResult(result.rows, result.truncated, formats)
    ordered = query is not None and bool(query.order)
    trials = dict(_run_readings(rivals, run))
    pairs = ((rival, trial) for rival, trial in trials.items() if trial is not None)
    outcomes = (compare_readings(rival, base, trial, ordered, locale) for rival, trial in pairs)
    results: list[Outcome] = [outcome for outcome in outcomes if outcome is not None]
    agreement = Agreement(len(results), sum(outcome.has_same_result for outcome in results))
    if meant is not None and meant in trials and trials[meant] is None:
        results.append(Outcome(**vars(meant), says=Labels(locale).say("not_run_in_time")))
    return Readings(summarize_outcomes(results, locale), tuple(results), agreement)


@with_fallback("readings", None)
def ask_which_reading_is_meant(answer: AnswerRecord, turn: Turn, settings: Settings) -> Turn | None:
    """Return a turn that asks which interpretation is meant; None if no question is needed."""
    rivals = [outcome for outcome in answer.readings.tried if not outcome.has_same_result and outcome.matter != "ties"]
    may = settings.readings == "ask" and settings.clarify and turn.clarifications < settings.max_clarifications
    if not rivals or not may or answer.sql is None:
        return None
    first = rivals[0]
    single = answer.rows[0][0] if answer.row_count == 1 and len(answer.columns) == 1 else None
    labels = Labels(answer.locale or "")
    assumption = first.assumed or labels.say("as_it_stands")
    own_words = assumption if single is None else f"{assumption} ({format_short_cell(single, locale=labels.locale)})"
    offers = (
        OfferedReading(own_words, first.matter, answer.sql),
        *(OfferedReading(f"{outcome.words} ({outcome.says})", outcome.matter, outcome.sql) for outcome in rivals),
    )
    asks = replace(
        turn.rephrasing,
        intent="ambiguous",
        reply=labels.say("which_reading"),
        choices=tuple(offer.words for offer in offers),
    )
    return replace(turn, rephrasing=asks, offered=offers, stop=None)


def _run_readings(
    rivals: tuple[AlternativeReading, ...], run: Run
) -> Iterator[tuple[AlternativeReading, ReadingResult | None]]:
    """Yield each interpretation whose query can be run, with the result; None if it takes too long."""
    until, limits = time.monotonic() + SECONDS, run.settings.limits
    for rival in rivals:
        seconds = until - time.monotonic()
        try:
            within = replace(limits, seconds=min(max(seconds, 0.001), limits.seconds))
            table = run.resources.masked_database.execute(rival.sql, within, run.cancellation)
        except QueryError as error:
            if error.kind == "timeout":
                yield rival, None
            continue
        if not table.withheld:
            yield rival, ReadingResult(make_plain_result(table).rows, table.truncated)
