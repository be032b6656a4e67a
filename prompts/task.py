"""The base of tasks for a translator, each with a typed input and a typed reply.

A chat model does a task by its rendered messages and `parse`; the offline translator does it from the same fields.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from ..tools.errors import ReplyError
from .cut_to_budget import Prompt, PromptParts, fit_prompt
from .templating import Message, render_messages

R = TypeVar("R")


@dataclass(frozen=True)
class Task(ABC, Generic[R]):
    """A task for a translator: typed inputs, a prompt template and a reply parser."""

    name: ClassVar[str]
    """Short name, for usage per task, traces and the prompt index."""

    @property
    def template(self) -> str:
        """The name of the template, which receives `task`, `shown` and further values."""
        return self.name

    def parts(self) -> PromptParts:
        """Return the parts of the prompt that may be cut to fit the budget."""
        return PromptParts()

    def make_values(self, parts: PromptParts) -> dict[str, object]:
        """Return additional values for the prompt template."""
        return {}

    def render(self, budget: int) -> Prompt:
        """Return the prompt within `budget` tokens, with the least important parts left out.

        Raises:
            PromptTooLarge: If even the least that the task needs does not fit.
        """

        def render_parts(shown: PromptParts, left_out: tuple[str, ...]) -> tuple[Message, ...]:
            return render_messages(self.template, task=self, shown=shown, left_out=left_out, **self.make_values(shown))

        return fit_prompt(budget, self.parts(), render_parts)

    @abstractmethod
    def parse(self, text: str) -> R:
        """Parse the model's reply.

        Raises:
            ReplyError: If it holds no answer in the asked form; its `hint` is for a second try.
        """

    def parse_truncated_reply(self, text: str) -> R:
        """Return the usable part of a reply that was cut at the output limit.

        Raises:
            ReplyError: It holds nothing that is (`cut`).
        """
        raise ReplyError("the reply was cut at the output limit", "cut", "Answer more briefly.")
