"""The base of tasks for a translator, each with a typed input and a typed reply.

A chat model does a task by its rendered messages and `parse`; the offline translator does it from the same fields.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from ..tools.errors import ReplyError
from .cut_to_budget import Parts, Prompt, fit
from .templating import Message, render_messages

R = TypeVar("R")


@dataclass(frozen=True)
class Task(ABC, Generic[R]):
    """A task: a frozen dataclass of inputs, with a template and a parser."""

    name: ClassVar[str]
    """Short name, for usage per task, traces and the prompt index."""

    @property
    def template(self) -> str:
        """The template's name; it sees `task`, `shown` and what `context` adds."""
        return self.name

    def parts(self) -> Parts:
        """Return the parts of the prompt beside the question."""
        return Parts()

    def context(self, shown: Parts) -> dict[str, object]:
        """Return further values for the template."""
        return {}

    def render(self, budget: int) -> Prompt:
        """Return the prompt within `budget` tokens, with the least important parts left out.

        Raises:
            PromptTooLarge: If even the least that the task needs does not fit.
        """

        def messages(shown: Parts, left_out: tuple[str, ...]) -> tuple[Message, ...]:
            return render_messages(self.template, task=self, shown=shown, left_out=left_out, **self.context(shown))

        return fit(budget, self.parts(), messages)

    @abstractmethod
    def parse(self, text: str) -> R:
        """Return the content of the model's reply.

        Raises:
            ReplyError: If it holds no answer in the asked form; its `hint` is for a second try.
        """

    def parse_cut(self, text: str) -> R:
        """Return the usable part of a reply that was cut at the output limit.

        Raises:
            ReplyError: It holds nothing that is (`cut`).
        """
        raise ReplyError("the reply was cut at the output limit", "cut", "Answer more briefly.")
