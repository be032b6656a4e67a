"""What a task is: something a translator is asked to do, with a typed input and a typed reply.

A chat model does a task by its rendered messages and `parse`; the offline translator does it from the same fields.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeVar

from ..tools.errors import ReplyError

R = TypeVar("R")


@dataclass(frozen=True)
class Message:
    """One chat message of a prompt."""

    role: str
    content: str


@dataclass(frozen=True)
class Prompt:
    """A rendered prompt.

    Attributes:
        messages: System message first.
        tokens: Estimated size, at most the budget it was rendered for.
        left_out: What did not fit, one short sentence each, for the answer's notes; the prompt itself says so too.
    """

    messages: tuple[Message, ...]
    tokens: int
    left_out: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Task(ABC, Generic[R]):
    """Base of every task. A subclass is a frozen dataclass of inputs, with a template and a parser."""

    name: ClassVar[str]
    """Short name, for usage per task, traces and the prompt index."""

    @abstractmethod
    def render(self, budget: int) -> Prompt:
        """The prompt within `budget` tokens; what matters least is left out first.

        Raises:
            PromptTooLarge: If even the least that the task needs does not fit.
        """

    @abstractmethod
    def parse(self, text: str) -> R:
        """The reply's content.

        Args:
            text: What the model said.

        Raises:
            ReplyError: If it holds no answer in the asked form; its `hint` is for a second try.
        """

    def parse_cut(self, text: str) -> R:
        """What a reply holds that was cut at the output limit, where a part of it is of use.

        Raises:
            ReplyError: It holds nothing that is (`cut`).
        """
        raise ReplyError("the reply was cut at the output limit", "cut", "Answer more briefly.")
