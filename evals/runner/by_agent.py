"""The agent as the one who answers."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace

from ...agent import Conversation, TableturnError
from ..datasets import Question
from .agents import Agents
from .answering import failed, not_asked
from .cache import repeated
from .person import told
from .record import TurnRecord, record_answer
from .replay import asked_about
from .spec import History
from .watch import watched


class AgentAnswering:
    """Answers with an agent for each database.

    Args:
        agents: The agents.
        history: What a turn sees of the turns before it.
    """

    def __init__(self, agents: Agents, history: History) -> None:
        self._agents = agents
        self._answers = self._after_gold if history == "gold" else self._after_own

    def answers(self, turns: Sequence[Question], recorded: Mapping[str, TurnRecord]) -> AsyncIterator[TurnRecord]:
        """See `Answering`."""
        return self._answers(turns, recorded)

    def close(self) -> None:
        """See `Answering`."""
        self._agents.close()

    async def _after_gold(
        self, turns: Sequence[Question], recorded: Mapping[str, TurnRecord]
    ) -> AsyncIterator[TurnRecord]:
        """Each turn in a conversation of its own, starting with the gold SQL of the turns before it."""
        for place, turn in enumerate(turns):
            if turn.id in recorded:
                continue
            try:
                with self._agents.conversation(turn.database) as conversation:
                    await self._agents.remember(turn.database, conversation, turns[:place])
                    record = await self._take(turn, conversation)
            except TableturnError as error:
                record = failed(turn, error)
            yield record

    async def _after_own(
        self, turns: Sequence[Question], recorded: Mapping[str, TurnRecord]
    ) -> AsyncIterator[TurnRecord]:
        """All turns in one conversation.

        Turns that were answered before are taken again where a later one builds on them; their replies are cached.
        """
        to_do = [turn for turn in turns if turn.id not in recorded]
        if not to_do:
            return
        try:
            with self._agents.conversation(turns[0].database) as conversation:
                for turn in turns[: turns.index(to_do[-1]) + 1]:
                    record = await self._take(turn, conversation)
                    if not record.asked:
                        yield replace(record, id=to_do[0].id)
                        return
                    if turn.id not in recorded:
                        to_do.remove(turn)
                        yield record
        except TableturnError as error:
            for turn in to_do:
                yield failed(turn, error)

    async def _take(self, turn: Question, conversation: Conversation) -> TurnRecord:
        asked_about.set(turn.id)
        repeated.set(turn.repeat or 0)
        start = time.perf_counter()
        with watched() as requests:
            try:
                answer = await conversation.aask(turn.text, notes=turn.evidence)
                asked_back = answer.text if answer.status == "needs_clarification" else ""
                if asked_back and (reply := told(turn, answer, self._agents.schema(turn.database))):
                    answer = await conversation.aask(reply)
                seconds = time.perf_counter() - start
                linked = await self._agents.linked(turn.database, conversation)
                record = record_answer(turn.id, answer, linked, seconds, asked_back)
            except Exception as error:  # noqa: BLE001 - a crash is a wrong answer, and the other questions still count
                record = failed(turn, error)
        why = requests.unanswered(record.sql)
        return not_asked(turn, why) if why else record
