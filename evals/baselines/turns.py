"""What baselines share: the turns of an interaction one after the other, and a record of each."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from ...agent.records import Result, plain_result
from ...agent.translator import Usage
from ...tools.database import Database, Limits
from ...tools.errors import QueryError
from ...tools.linking import PastTurn
from ..datasets import Question
from ..runner.answering import failed, not_asked
from ..runner.record import SHOWN_ROWS, TurnRecord
from ..runner.replay import asked_about
from ..runner.spec import History
from ..runner.watch import watched


@dataclass(frozen=True)
class Said:
    """What a baseline gave for one turn.

    Attributes:
        sql: Its query; empty where it wrote none.
        usage: What that cost.
        text: Its words.
        tried: The queries that it ran on the way, that one included; empty for that one alone.
        notes: What was left out of a prompt, or repaired.
    """

    sql: str
    usage: Usage
    text: str = ""
    tried: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


Take = Callable[[Question, Sequence[PastTurn], Database], Awaitable[Said]]
"""Answers one turn, given the turns before it."""


async def turn_by_turn(
    turns: Sequence[Question],
    kept: Mapping[str, TurnRecord],
    history: History,
    locate: Callable[[str], object],
    limits: Limits,
    take: Take,
) -> AsyncIterator[TurnRecord]:
    """Answers an interaction's turns as `Answering.answers` wants it.

    Args:
        turns: Of the interaction.
        kept: Records that are there already.
        history: Whether a turn sees the gold SQL of the turns before it, or their answers.
        locate: Gives a database's file, or raises DatabaseUnavailable.
        limits: Of the query that a record shows the rows of.
        take: Answers one turn.
    """
    past: list[PastTurn] = []
    for turn in turns:
        record = kept.get(turn.id)
        if record is None:
            asked_about.set(turn.id)
            start = time.perf_counter()
            with watched() as requests:
                try:
                    with Database.open(str(locate(turn.database))) as database:
                        said = await take(turn, tuple(past), database)
                        record = _record(turn, said, database, limits, time.perf_counter() - start)
                except Exception as error:  # noqa: BLE001 - a crash is a wrong answer, and the others still count
                    record = failed(turn, error)
            if why := requests.unanswered(record.sql):
                record = not_asked(turn, why)
            yield record
            if not record.asked and history == "predicted":
                return
        past.append(PastTurn(turn.text, sql=turn.golds[0] if history == "gold" else record.sql))


def _record(turn: Question, said: Said, database: Database, limits: Limits, seconds: float) -> TurnRecord:
    usage = {**asdict(said.usage), "seconds": round(seconds, 4)}
    shown: Result | None = None
    attempts: list[dict[str, object]] = []
    for sql in said.tried or ((said.sql,) if said.sql else ()):
        result, error = _run(sql, database, limits)
        attempts.append({"sql": sql, "error": error, "row_count": result and result.row_count, "feedback": ""})
        shown = result if sql == said.sql else shown
    return TurnRecord(
        id=turn.id,
        sql=said.sql,
        status="converged" if shown else "failed",
        text=said.text,
        columns=shown.columns if shown else (),
        rows=shown.rows[:SHOWN_ROWS] if shown else (),
        row_count=shown.row_count if shown else 0,
        attempts=tuple(attempts),
        usage=usage,
        notes=said.notes,
        seconds=round(seconds, 4),
    )


def _run(sql: str, database: Database, limits: Limits) -> tuple[Result | None, str | None]:
    try:
        return plain_result(database.execute(sql, limits)), None
    except QueryError as error:
        return None, str(error)
