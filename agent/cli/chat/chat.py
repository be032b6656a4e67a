"""A conversation at the terminal: its numbered answers, their rows, and its cost."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ....tools.database import Cancellation
from ....tools.errors import SettingsError
from ...answers.answer import Answer
from ...answers.commands import Answers, NumberedAnswer
from ...answers.paging import Page, ResultPages, View
from ...answers.phrasing import say_count
from ...cancel_turn import OpenTurn, cancel_on_ctrl_c
from ...records import Usage
from ...verbs import price_tokens

if TYPE_CHECKING:
    from ...answers.render import Why
    from ...conversation import Conversation
    from ...sqlagent import SQLAgent


@dataclass
class Cost:
    """The cost of a conversation, undone turns included."""

    price: tuple[float, float] | None = None  # dollars a million prompt and completion tokens; None leaves money out
    turns: int = 0  # turns that came to an answer or asked back
    ended: int = 0  # turns that failed or were interrupted: what they cost is not known
    _whole: Usage = field(default_factory=Usage)
    _last: Usage = field(default_factory=Usage)

    def add(self, usage: Usage, *, goes_on: bool) -> None:
        """Add a turn's usage; if it continues after a question back, its usage replaces the last."""
        if not goes_on:
            self._whole += self._last
            self.turns += 1
        self._last = usage

    @property
    def summary(self) -> str:
        """The cost on one line."""
        spent = self._whole + self._last
        parts = [
            say_count(self.turns, "question", "questions"),
            say_count(spent.llm_calls, "model request", "model requests"),
            f"{spent.prompt_tokens:,} prompt and {spent.completion_tokens:,} completion tokens",
        ]
        if self.price is not None:
            parts.append(f"${price_tokens(spent.prompt_tokens, spent.completion_tokens, self.price):,.4f}")
        if self.ended:
            parts.append(f"not counted: {say_count(self.ended, 'question', 'questions')} without an answer")
        return ", ".join(parts)


PAGE = 20  # rows of a page
_AHEAD = 10  # so many times the rows that are wanted are read, so that the next pages are at hand

_BYTES = 500_000_000


@dataclass
class Pages:
    """The rows of an answer, and the page of them that was shown last."""

    answer: Answer
    results: ResultPages = field(default_factory=partial(ResultPages, _BYTES))

    def __post_init__(self) -> None:
        answer = self.answer
        self.now = Page(answer.columns, answer.headings, answer.rows[:PAGE], len(answer.rows), answer.truncated)

    def turn(self, first: int, count: int, chat: Chat) -> None:
        """Turn to `count` rows from number `first`, counted from 0."""
        last = first + count
        view, read = View(first, count), min(last * _AHEAD, chat.agent.settings.export_rows)
        with cancel_on_interrupt() as stop:
            page = self.results.page("", self.answer, chat.resources, view, stop, need=min(last, read), read=read)
        if not page.rows:
            raise SettingsError(f"there are no more rows: the last one is number {page.total:,}")
        self.now = page


@dataclass(kw_only=True)
class Chat(Answers):
    """A conversation at the terminal."""

    agent: SQLAgent
    conversation: Conversation
    cost: Cost = field(default_factory=Cost)
    checkpoints: Path | None = None  # the file that keeps conversations; None for the default one
    kept: bool = False  # whether this conversation is kept under a name
    pages: Pages | None = None  # rows of the answer that was shown last
    lost: str = ""  # words of a turn that came to no answer, to ask them again
    edit_line: Callable[[str, str], str] | None = None  # shows a text after a prompt, to be edited; None in a pipe
    draft: str = ""  # a query that was written in an editor and did not run, to be opened there again

    def begin(self) -> None:
        """Take up the last answer of an earlier run."""
        last = self.conversation.last()
        if last is not None:
            self.take(last, why=self.conversation.why())

    def take(self, answer: Answer, asked: str = "", why: Why | None = None, wording: str = "") -> Answer:
        """Give an answer its number, and the rows that may not leave."""
        answer = super().take(self.agent.deliver(answer), asked, why, wording)
        self._turn_to_last()
        return answer

    def choose_wording(self, chosen: NumberedAnswer) -> str:
        """Return the question to save an answer to: after the first turn, the person sees it and may change it."""
        wording = super().choose_wording(chosen)
        if self.edit_line is None or (chosen is self.held[0] and chosen.asked):
            return wording
        return self.edit_line("save as the answer to: ", wording or chosen.answer.rephrased)

    def is_waiting(self) -> bool:
        """Whether the last turn asked back, so that the next words are a reply to it."""
        return bool(self.held) and self.held[-1].answer.status == "needs_clarification"

    def undo(self) -> str:
        """Undo the last turn; return the words that began it, or '' if they are not known."""
        if not self.conversation.undo():
            raise SettingsError("there is no turn to undo")
        while self.held and not self.held[-1].asked and len(self.held) > 1:
            self.held.pop()  # what was made of it
        words = self.held.pop().asked if self.held else ""
        while self.is_waiting():
            words = self.held.pop().asked
        self._turn_to_last()
        return words

    def _turn_to_last(self) -> None:
        self.draft = ""
        self.close()
        last = self.held[-1].answer if self.held else None
        self.pages = Pages(last) if last and last.columns else None

    def close(self) -> None:
        """Release the rows that were read."""
        if self.pages is not None:
            self.pages.results.close()
        self.pages = None


@contextmanager
def cancel_on_interrupt() -> Generator[Cancellation]:
    """Let Ctrl-C cancel what runs in the context with the yielded cancellation.

    Raises:
        KeyboardInterrupt: It did.
    """
    turn = OpenTurn()
    with cancel_on_ctrl_c(turn):
        yield turn.cancellation
        if turn.interrupted:
            raise KeyboardInterrupt
