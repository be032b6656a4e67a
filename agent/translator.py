"""Who does the tasks: the one interface behind which a chat model and the offline parser look the same to a node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from ..prompts.task import Task

R = TypeVar("R")


@dataclass(frozen=True)
class Usage:
    """What a task cost.

    Attributes:
        llm_calls: Requests to a model, failed and repeated ones included.
        prompt_tokens: As the model reports them, estimated where it doesn't.
        completion_tokens: Likewise.
    """

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.llm_calls + other.llm_calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )


@dataclass(frozen=True)
class Done(Generic[R]):
    """A task done.

    Attributes:
        reply: The typed reply.
        usage: What it cost, retries included.
        notes: For the answer: what the prompt left out, what was repaired.
    """

    reply: R
    usage: Usage = Usage()
    notes: tuple[str, ...] = ()


class Translator(Protocol):
    """Does tasks. Both methods give the same result; neither blocks the other's world (`ado` never blocks the loop)."""

    @property
    def name(self) -> str:
        """`offline` or `prompted`."""
        ...

    @property
    def model(self) -> str:
        """The model's name as answers report it."""
        ...

    @property
    def reads_examples(self) -> bool:
        """Whether few-shot examples are of use to it; where not, none are fetched."""
        ...

    def do(self, task: Task[R]) -> Done[R]:
        """Does the task.

        Raises:
            ModelError: The model could not be reached or would not answer.
            ReplyError: It answered, but not in a usable form, retries included.
            NotUnderstood: The offline translator cannot read the question.
        """
        ...

    async def ado(self, task: Task[R]) -> Done[R]:
        """As `do`, without blocking the event loop."""
        ...
