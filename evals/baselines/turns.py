"""What baselines share: the turns of an interaction one after the other, and a record of each."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from langchain_core.language_models import BaseChatModel

from ...agent import Settings
from ...agent.records import Result, Usage, plain_result
from ...tools.database import Database
from ...tools.errors import QueryError
from ...tools.linking import PastTurn
from ..datasets import Dataset, Question
from ..runner.model import watch_turn
from ..runner.record import SHOWN_ROWS, TurnRecord
from ..runner.spec import History


@dataclass(frozen=True)
class TurnReply:
    """A baseline's answer to one turn.

    Attributes:
        sql: Its query; empty if it wrote none.
        usage: The cost of the turn.
        text: Its words.
        tried: The queries that it ran on the way, `sql` included; empty if it ran no other.
        notes: What was left out of a prompt, or repaired.
    """

    sql: str
    usage: Usage
    text: str = ""
    tried: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class TurnByTurn:
    """Answers an interaction's turns one after the other, as `Answering` asks for.

    Args:
        dataset: What is asked.
        model: Who is asked.
        settings: The limits of queries count here.
        history: Whether a turn sees the gold SQL of the turns before it, or their answers.
    """

    def __init__(self, dataset: Dataset, model: BaseChatModel, settings: Settings, history: History) -> None:
        self._dataset = dataset
        self._model = model
        self._settings = settings
        self._history: History = history

    async def take(self, turn: Question, past: Sequence[PastTurn], database: Database) -> TurnReply:
        """Answer one turn, given the turns before it."""
        raise NotImplementedError

    def close(self) -> None:
        """Do nothing: no database stays open."""

    async def answers(self, turns: Sequence[Question], recorded: Mapping[str, TurnRecord]) -> AsyncIterator[TurnRecord]:
        """Yield the records that are missing, as `Answering` says."""
        past: list[PastTurn] = []
        for turn in turns:
            record = recorded.get(turn.id)
            if record is None:
                record = await watch_turn(turn, self._record(turn, tuple(past)))
                yield record
                if not record.asked and self._history == "predicted":
                    return
            past.append(PastTurn(turn.text, sql=turn.golds[0] if self._history == "gold" else record.sql))

    async def _record(self, turn: Question, past: Sequence[PastTurn]) -> TurnRecord:
        # A baseline is told the evidence with the question; agents are given it apart.
        asked = replace(turn, text=f"{turn.text}\n({turn.evidence})") if turn.evidence else turn
        start = time.perf_counter()
        result, error = Result((), ()), "no query"
        attempts: list[dict[str, object]] = []
        with Database.open(str(self._dataset.database(turn.database))) as database:
            reply = await self.take(asked, past, database)
            seconds = round(time.perf_counter() - start, 4)
            for sql in reply.tried or filter(None, (reply.sql,)):
                result, error = Result((), ()), None
                try:
                    result = plain_result(database.execute(sql, self._settings.limits))
                except QueryError as failure:
                    error = str(failure)
                count = None if error else result.row_count
                attempts.append({"sql": sql, "error": error, "row_count": count, "feedback": ""})
        return TurnRecord(
            id=turn.id,
            sql=reply.sql,
            status="failed" if error else "converged",
            text=reply.text,
            columns=result.columns,
            rows=result.rows[:SHOWN_ROWS],
            row_count=result.row_count,
            attempts=tuple(attempts),
            usage=asdict(replace(reply.usage, seconds=seconds)),
            notes=reply.notes,
            seconds=seconds,
        )
