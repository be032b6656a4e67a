"""Having tasks done by a chat model."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from ..prompts.simplify import SimplifyTask
from ..prompts.task import Message, Prompt, Task
from ..prompts.tokens import PromptTooLarge, estimate_tokens
from ..tools.errors import ModelError, ReplyError
from .budget import BudgetReached, current_allowance
from .model_errors import loop_is_gone, model_error, rejects_temperature
from .model_reply import reply_text, reply_usage, was_cut, was_refused
from .models import model_label
from .translator import Done, Usage

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import RunnableConfig

R = TypeVar("R")

_LIMIT_FIELDS: Final = ("max_tokens", "max_output_tokens", "num_predict", "max_new_tokens")
"""What chat models call their output limit."""

_DEAD_CONNECTIONS: Final = 100
"""As many as the pools of the usual clients keep alive."""


@dataclass(frozen=True)
class TranslatorOptions:
    """How tasks are put to a model.

    Attributes:
        prompt_tokens: Budget of a prompt, by the estimate of prompts/tokens.py.
        max_output_tokens: Limit of a reply; None leaves the model's own. A reply that is cut there is asked for once
            more with twice as many. 4,000 leave room for models that reason before they answer.
        temperature: Of sampling; None leaves the model's own. 0 as in CREDIT-SQL 4.2.
        simplify_temperature: The same for simplification, which the revision chain (4.1.1) samples at 1.0; None takes
            `temperature`.
    """

    prompt_tokens: int = 12_000
    max_output_tokens: int | None = 4_000
    temperature: float | None = 0.0
    simplify_temperature: float | None = None

    def tuning(self, task: str) -> Tuning:
        """What the model is set to for the task of that name."""
        own = self.simplify_temperature if task == SimplifyTask.name else None
        return Tuning(self.temperature if own is None else own, self.max_output_tokens)


class Tuning(NamedTuple):
    """A model's settings for one request; None leaves its own."""

    temperature: float | None
    max_output: int | None


@dataclass(frozen=True)
class _Call:
    """One request, for a driver to send."""

    task: str
    model: BaseChatModel
    messages: list[BaseMessage]

    @property
    def config(self) -> RunnableConfig:
        """Names the run after its task, for traces."""
        return {"run_name": self.task}


class PromptedTranslator:
    """Does tasks with a chat model: render, call, read; a second try where it helps.

    The logic is one generator that asks its driver to send requests; `do` and `ado` are the two drivers.
    """

    def __init__(self, model: BaseChatModel, options: TranslatorOptions | None = None) -> None:
        self._model = model
        self._options = options or TranslatorOptions()
        self._tuned: dict[Tuning, BaseChatModel] = {}
        self._takes_temperature = True

    @property
    def name(self) -> str:
        """See `Translator`."""
        return "prompted"

    @property
    def model(self) -> str:
        """See `Translator`."""
        return model_label(self._model)

    @property
    def reads_examples(self) -> bool:
        """See `Translator`."""
        return True

    def do(self, task: Task[R]) -> Done[R]:
        """See `Translator`."""
        steps = self._steps(task)
        try:
            call = next(steps)
            while True:
                try:
                    reply = call.model.invoke(call.messages, call.config)
                except Exception as error:  # noqa: BLE001 - chat models raise what they like; `_steps` tells it apart
                    call = steps.throw(error)
                else:
                    call = steps.send(reply)
        except StopIteration as stop:
            return stop.value

    async def ado(self, task: Task[R]) -> Done[R]:
        """See `Translator`."""
        steps = self._steps(task)
        try:
            call = next(steps)
            while True:
                try:
                    reply = await _ainvoke(call)
                except Exception as error:  # noqa: BLE001 - as in `do`
                    call = steps.throw(error)
                else:
                    call = steps.send(reply)
        except StopIteration as stop:
            return stop.value

    def _steps(self, task: Task[R]) -> Generator[_Call, AIMessage, Done[R]]:
        """One task: at most one further try for an unusable reply, and one for a cut reply."""
        tuning = self._options.tuning(task.name)
        prompt = task.render(self._options.prompt_tokens)
        notes = list(prompt.left_out)
        usage = Usage()
        hinted, doubled = False, False
        while True:
            before = _sent()
            try:
                message = yield from self._answered(task.name, prompt, _within_budget(tuning, prompt, usage))
            except ModelError as error:
                sent = _sent() - before
                error.spent = usage + Usage(sent if isinstance(error, BudgetReached) else max(sent, 1))
                raise
            usage += reply_usage(message, prompt.tokens)
            usage += Usage(max(_sent() - before - 1, 0))
            if was_cut(message) and not doubled and tuning.max_output is not None:
                doubled = True
                tuning = Tuning(tuning.temperature, 2 * tuning.max_output)
                continue
            try:
                reply = _read(task, message)
            except ReplyError as error:
                retry = None if hinted else _with_hint(task, self._options.prompt_tokens, error)
                if retry is None:
                    error.spent = usage
                    raise
                hinted, prompt = True, retry
                continue
            if hinted:
                notes.append("The model's first reply could not be used; it was asked once more.")
            return Done(reply, usage, tuple(notes))

    def _answered(self, task: str, prompt: Prompt, tuning: Tuning) -> Generator[_Call, AIMessage, AIMessage]:
        """One request, and another without a temperature where the model turns that down."""
        messages = [_chat_message(message) for message in prompt.messages]
        try:
            return (yield _Call(task, self._tuned_model(tuning), messages))
        except BudgetReached:
            raise
        except Exception as error:
            if not (self._takes_temperature and rejects_temperature(error)):
                raise model_error(self.model, error) from error
        self._takes_temperature = False
        try:
            return (yield _Call(task, self._tuned_model(tuning), messages))
        except BudgetReached:
            raise
        except Exception as error:
            raise model_error(self.model, error) from error

    def _tuned_model(self, tuning: Tuning) -> BaseChatModel:
        """The model with the options set, as far as it has such fields; clients are shared with the original."""
        wanted = tuning if self._takes_temperature else Tuning(None, tuning.max_output)
        found = self._tuned.get(wanted)
        if found is None:
            found = self._tuned[wanted] = _tune(self._model, wanted, drop_temperature=not self._takes_temperature)
        return found


async def _ainvoke(call: _Call) -> AIMessage:
    """Asks; again where the client took up a kept-alive connection of an event loop that is gone.

    Clients are shared, and each such try rids their pool of one dead connection. Without this the second
    `asyncio.run` of a program would fail. Nothing went out over it, so that it counts as no request.
    """
    allowance, sent = current_allowance(), _sent()
    for _ in range(_DEAD_CONNECTIONS):
        try:
            return await call.model.ainvoke(call.messages, call.config)
        except RuntimeError as error:
            if not loop_is_gone(error):
                raise
            if allowance is not None:
                allowance.sent = sent
    return await call.model.ainvoke(call.messages, call.config)


def _tune(model: BaseChatModel, tuning: Tuning, *, drop_temperature: bool) -> BaseChatModel:
    fields = getattr(type(model), "model_fields", {})
    update: dict[str, object] = {}
    if "temperature" in fields and (tuning.temperature is not None or drop_temperature):
        update["temperature"] = tuning.temperature
    limit = next((name for name in _LIMIT_FIELDS if name in fields), None)
    if limit is not None and tuning.max_output is not None:
        update[limit] = tuning.max_output
    return model.model_copy(update=update) if update else model


def _within_budget(tuning: Tuning, prompt: Prompt, spent: Usage) -> Tuning:
    """The tuning with as long a reply as the turn may still afford.

    Raises:
        BudgetReached: There must be no further request.
    """
    allowance = current_allowance()
    if allowance is None:
        return tuning
    return Tuning(tuning.temperature, allowance.budget.reply_tokens(spent, prompt.tokens, tuning.max_output))


def _sent() -> int:
    """Requests that went out for this task so far, as far as the model's client is one of ours."""
    allowance = current_allowance()
    return 0 if allowance is None else allowance.sent


def _read(task: Task[R], message: AIMessage) -> R:
    text = reply_text(message)
    if was_cut(message):
        return task.parse_cut(text)
    if was_refused(message) and not text.strip():
        raise ReplyError("the model refused to answer", "refused", "Only a database query is asked for.")
    return task.parse(text)


def _with_hint(task: Task[R], budget: int, error: ReplyError) -> Prompt | None:
    """The prompt once more with the hint at its end, still within the budget; None if there is no room.

    The hint goes into the last message: some chat templates want roles to alternate, and an unusable reply, put in
    as the model's own, would be an example to follow.
    """
    said = f"\n\nA first reply to this could not be used. {error.hint}".rstrip()
    try:
        prompt = task.render(budget - estimate_tokens(said))
    except PromptTooLarge:
        return None
    *before, last = prompt.messages
    hinted = (*before, Message(last.role, last.content + said))
    return Prompt(hinted, prompt.tokens + estimate_tokens(said), prompt.left_out)


def _chat_message(message: Message) -> BaseMessage:
    return SystemMessage(message.content) if message.role == "system" else HumanMessage(message.content)
