"""A conversation at the terminal: its numbered answers, their rows, and its cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from ....tools.errors import SettingsError
from ....tools.words import format_count
from ... import verbs
from ...answers.answer import Answer
from ...answers.commands import ConversationAnswers, NumberedAnswer
from ...answers.paging import PagedAnswer, PagedResultCache, PageRequest, make_first_page
from ...records import Usage

if TYPE_CHECKING:
    from ...answers.render import AnswerBackground
    from ...conversation import Conversation
    from ...conversation_store import ConversationStore
    from ...sqlagent import SQLAgent


@dataclass
class ConversationCost:
    """The cost of a conversation, with undone turns included."""

    price: tuple[float, float] | None = None  # dollars a million prompt and completion tokens; None leaves money out
    turns: int = 0  # turns that came to an answer or asked back
    ended: int = 0  # turns that failed or were interrupted: what they cost is not known
    _past: Usage = field(default_factory=Usage)
    _last: Usage = field(default_factory=Usage)

    def add(self, usage: Usage, *, continues: bool) -> None:
        """Add the usage of a turn; a turn that continues the last one replaces the last usage."""
        if not continues:
            self._past += self._last
            self.turns += 1
        self._last = usage

    @property
    def summary(self) -> str:
        """The cost of the conversation, as one line of text."""
        usage = self._past + self._last
        parts = [
            format_count(self.turns, "question", "questions"),
            format_count(usage.llm_calls, "model request", "model requests"),
            f"{usage.prompt_tokens:,} prompt and {usage.completion_tokens:,} completion tokens",
        ]
        if self.price is not None:
            parts.append(f"${verbs.compute_token_cost(usage.prompt_tokens, usage.completion_tokens, self.price):,.4f}")
        if self.ended:
            parts.append(f"not counted: {format_count(self.ended, 'question', 'questions')} without an answer")
        return ", ".join(parts)


PAGE = 20  # rows of a page
_AHEAD = 10  # so many times the rows that are wanted are read, so that the next pages are at hand

_BYTES = 500_000_000


@dataclass
class AnswerPages:
    """The rows of an answer, with the page of rows that was shown last."""

    answer: Answer
    results: PagedResultCache = field(default_factory=partial(PagedResultCache, _BYTES))

    def __post_init__(self) -> None:
        self.now = make_first_page(self.answer, PAGE)

    def load_page(self, first: int, count: int, chat: ChatSession) -> None:
        """Load a page of `count` rows that starts at row `first`, counted from 0."""
        last = first + count
        view, cap = PageRequest(first, count), min(last * _AHEAD, chat.agent.settings.export_rows)
        paged = PagedAnswer("", self.answer, chat.resources, min(last, cap), cap, chat.cancellation)
        page = self.results.read_page(paged, view)
        if not page.rows:
            raise SettingsError(f"there are no more rows to show: the last is row {page.total:,}")
        self.now = page


@dataclass(kw_only=True)
class ChatSession(ConversationAnswers):
    """A conversation at the terminal."""

    agent: SQLAgent
    conversation: Conversation
    cost: ConversationCost = field(default_factory=ConversationCost)
    store: ConversationStore | None = None  # where this conversation is saved; None if it is not
    pages: AnswerPages | None = None  # rows of the answer that was shown last
    lost: str = ""  # words of a turn that came to no answer, to ask them again
    edit_line: Callable[[str, str], str] | None = None  # shows a text after a prompt, to be edited; None in a pipe
    draft: str = ""  # a query that was written in an editor and did not run, to be opened there again

    def take(self, answer: Answer, words: str = "", why: AnswerBackground | None = None, wording: str = "") -> Answer:
        """Number an answer, and add the rows that may not be sent to a model."""
        answer = super().take(self.agent.deliver(answer), words, why, wording)
        self._reset_pages_to_last_answer()
        return answer

    def choose_wording(self, item: NumberedAnswer) -> str:
        """Return the question under which to save an answer; the person may edit the question."""
        wording = super().choose_wording(item)
        if self.edit_line is None or not (wording or item.answer.record.follow_up):
            return wording
        return self.edit_line("save as the answer to: ", wording or item.answer.rephrased)

    def is_waiting_for_reply(self) -> bool:
        """Whether the last turn asked a question back, so that the next input is the reply."""
        return bool(self.history) and self.history[-1].answer.status == "needs_clarification"

    def undo(self) -> str:
        """Undo the last turn; return the question that began the turn, or '' if unknown."""
        if not self.conversation.undo():
            raise SettingsError("there is no turn to undo")
        while self.history and not self.history[-1].words and len(self.history) > 1:
            self.history.pop()  # what was made of it
        words = self.history.pop().words if self.history else ""
        while self.is_waiting_for_reply():
            words = self.history.pop().words
        self._reset_pages_to_last_answer()
        return words

    def _reset_pages_to_last_answer(self) -> None:
        self.draft = ""
        self.close()
        last = self.history[-1].answer if self.history else None
        self.pages = AnswerPages(last) if last and last.columns else None

    def close(self) -> None:
        """Release the result rows that were read for paging."""
        if self.pages is not None:
            self.pages.results.close()
        self.pages = None
