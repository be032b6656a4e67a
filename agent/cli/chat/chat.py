"""What a conversation at the terminal holds besides its turns: answers by number, their rows, what it cost."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ....tools.errors import SettingsError
from ...answers.commands import Answers
from ...undo import OpenTurn, interruptible
from .cost import Cost
from .paging import Pages

if TYPE_CHECKING:
    from pathlib import Path

    from ....tools.database import Cancellation
    from ...answers.answer import Answer
    from ...answers.why import Why
    from ...conversation import Conversation
    from ...sqlagent import SQLAgent


@dataclass(kw_only=True)
class Chat(Answers):
    """A conversation.

    Attributes:
        agent: Who answers.
        conversation: Its turns.
        cost: What they cost.
        checkpoints: The file that keeps conversations; None for the default one.
        kept: Whether this conversation is kept under a name.
        pages: Rows of the answer that was shown last.
        lost: Words of a turn that came to no answer, to ask them again.
        draft: A query that was written in an editor and did not run, to be opened there again.
    """

    agent: SQLAgent
    conversation: Conversation
    cost: Cost = field(default_factory=Cost)
    checkpoints: Path | None = None
    kept: bool = False
    pages: Pages | None = None
    lost: str = ""
    draft: str = ""

    def begin(self) -> None:
        """Takes up the last answer of an earlier run."""
        last = self.conversation.last()
        if last is not None:
            self.take(last, why=self.conversation.why())

    def take(self, answer: Answer, asked: str = "", why: Why | None = None) -> Answer:
        """Give an answer its number, and the rows that may not leave."""
        answer = super().take(self.agent.deliver(answer), asked, why)
        self._turn_to_last()
        return answer

    def waits(self) -> bool:
        """Whether the last turn asked back, so that the next words are a reply to it."""
        return bool(self.held) and self.held[-1].answer.status == "needs_clarification"

    def undo(self) -> str:
        """Takes the last turn back; the words that began it, empty where there is none or they are not known.

        Raises:
            SettingsError: There is no turn.
        """
        if not self.conversation.undo():
            raise SettingsError("there is no turn to undo")
        while self.held and not self.held[-1].asked and len(self.held) > 1:
            self.held.pop()  # what was made of it
        words = self.held.pop().asked if self.held else ""
        while self.waits():
            words = self.held.pop().asked
        self.offered = ()
        self._turn_to_last()
        return words

    def _turn_to_last(self) -> None:
        self.draft = ""
        last = self.held[-1].answer if self.held else None
        self.pages = Pages(self.agent, last) if last and last.columns else None


@contextmanager
def interrupted() -> Generator[Cancellation]:
    """Within it, Ctrl-C ends what runs with the cancellation that it gives.

    Raises:
        KeyboardInterrupt: It did.
    """
    turn = OpenTurn()
    with interruptible(turn):
        yield turn.cancellation
        if turn.interrupted:
            raise KeyboardInterrupt
