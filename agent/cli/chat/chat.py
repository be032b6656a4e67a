"""What a conversation at the terminal holds besides its turns: answers by number, their rows, what it cost."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ....tools.errors import SettingsError
from ...undo import OpenTurn, interruptible
from .cost import Cost
from .paging import Pages

if TYPE_CHECKING:
    from pathlib import Path

    from ....tools.database import Cancellation
    from ....tools.knowledge import Entry
    from ...answers.answer import Answer
    from ...answers.why import Why
    from ...conversation import Conversation
    from ...sqlagent import SQLAgent


@dataclass(frozen=True)
class Held:
    """An answer with its number's place.

    Attributes:
        answer: The answer.
        asked: The words that it answers; empty where it was not a turn that gave it.
        why: What it rests on; None where that is not known.
    """

    answer: Answer
    asked: str = ""
    why: Why | None = None


@dataclass
class Chat:
    """A conversation.

    Attributes:
        agent: Who answers.
        conversation: Its turns.
        cost: What they cost.
        checkpoints: The file that keeps conversations; None for the default one.
        kept: Whether this conversation is kept under a name.
        held: Answers in order; the first is number 1. Where a conversation goes on, its last answer is the first here.
        pages: Rows of the answer that was shown last.
        lost: Words of a turn that came to no answer, to ask them again.
        offered: What could be remembered.
        draft: A query that was written in an editor and did not run, to be opened there again.
    """

    agent: SQLAgent
    conversation: Conversation
    cost: Cost = field(default_factory=Cost)
    checkpoints: Path | None = None
    kept: bool = False
    held: list[Held] = field(default_factory=list[Held])
    pages: Pages | None = None
    lost: str = ""
    offered: tuple[Entry, ...] = ()
    draft: str = ""

    def begin(self) -> None:
        """Takes up the last answer of an earlier run."""
        last = self.conversation.last()
        if last is not None:
            self.take(last, why=self.conversation.why())

    def take(self, answer: Answer, asked: str = "", why: Why | None = None) -> None:
        """Gives an answer its number."""
        self.held.append(Held(answer, asked, why))
        self._turn_to_last()

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

    def chosen(self, rest: str, what: str) -> tuple[Answer, str]:
        """The answer that is meant, and the words after its number, if any.

        Raises:
            SettingsError: There is none.
        """
        held, words = self.place(rest, what)
        return held.answer, words

    def place(self, rest: str, what: str) -> tuple[Held, str]:
        """As `chosen`, with what is known of the answer."""
        if not self.held:
            raise SettingsError(f"there is no answer to {what} yet")
        first, _, words = rest.partition(" ")
        if not first.isdecimal():
            return self.held[-1], rest
        if not 1 <= int(first) <= len(self.held):
            raise SettingsError(f"there is no answer {first}: /answers lists them")
        return self.held[int(first) - 1], words


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
