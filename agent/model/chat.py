"""A translator that asks a chat model, and one that masks what is sent to it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from ...prompts.cut_to_budget import Prompt
from ...prompts.rephrase import SimplifyTask
from ...prompts.reply_text import REPLY_LIMIT
from ...prompts.task import Task
from ...prompts.templating import Message, PromptTooLarge, estimate_tokens
from ...tools.database.egress import MaskKind
from ...tools.errors import ReplyError
from ...tools.masking import PersonalDataPlaceholders
from ..effects import Body, Done, ModelRequest, RequestFailed, Translator
from .choose_model import get_model_address, get_model_label
from .replies import get_text, is_refused, is_stream_failure, is_temperature_rejection, is_truncated, make_model_error
from .turn_budget import get_current_allowance

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ..settings import Settings

R = TypeVar("R")

_LIMIT_FIELDS: Final = ("max_tokens", "max_output_tokens", "num_predict", "max_new_tokens")
"""Names of the output limit among chat models' fields."""


class TranslatorOptions(NamedTuple):
    """The budgets and temperatures of requests to a model."""

    prompt_tokens: int = 12_000  # budget of a prompt, by the estimate of prompts/templating.py
    max_output_tokens: int | None = 4_000  # a reply cut there is asked for once more with twice as many
    temperature: float | None = 0.0  # of sampling; None leaves the model's own. 0 as in CREDIT-SQL 4.2.
    simplify_temperature: float | None = None  # 1.0 in the revision chain (4.1.1); None for `temperature`
    request_seconds: float = 60.0  # that one request may stay silent
    request_retries: int = 2

    @classmethod
    def of(cls, settings: Settings) -> TranslatorOptions:
        """Return the options that settings have."""
        return cls(*(getattr(settings, name) for name in cls._fields))


class RequestSettings(NamedTuple):
    """Model settings for one request; None leaves the model's own value."""

    temperature: float | None
    max_output: int | None


class PromptedTranslator:
    """A translator that renders a prompt, asks a chat model, and parses the reply."""

    name = "prompted"
    reads_examples = True
    understands = True

    def __init__(self, model: BaseChatModel, options: TranslatorOptions | None = None) -> None:
        self.model = get_model_label(model)
        self.address = get_model_address(model)  # whose client the model is, and where its server is
        self._chat_model = model
        self._options = options or TranslatorOptions()
        self._models: dict[RequestSettings, BaseChatModel] = {}
        self._takes_temperature = True
        self._streams = True

    def perform(self, task: Task[R]) -> Body[Done[R]]:
        """Perform a task; retry once for an unusable reply, and once for a truncated reply."""
        own_temperature = self._options.simplify_temperature if task.name == SimplifyTask.name else None
        temperature = self._options.temperature if own_temperature is None else own_temperature
        tuning = RequestSettings(temperature, self._options.max_output_tokens)
        prompt = task.render(self._options.prompt_tokens)
        notes = list(prompt.left_out)
        has_hint, has_doubled = False, False
        while True:
            affordable = tuning
            if (allowance := get_current_allowance()) is not None:
                longest = allowance.remaining_budget.compute_max_reply_tokens(prompt.tokens, tuning.max_output)
                affordable = tuning._replace(max_output=longest)
            message = yield from self._send_request(prompt, affordable)
            if is_truncated(message) and not has_doubled and tuning.max_output is not None:
                has_doubled = True
                tuning = RequestSettings(tuning.temperature, 2 * tuning.max_output)
                continue
            try:
                reply = _parse_reply(task, message)
            except ReplyError as error:
                retry = None if has_hint else _make_retry_prompt(task, self._options.prompt_tokens, error)
                if retry is None:
                    raise
                has_hint, prompt = True, retry
                continue
            if has_hint:
                notes.append("The model's first reply could not be used; it was asked once more.")
            return Done(reply, tuple(notes))

    def _send_request(self, prompt: Prompt, tuning: RequestSettings) -> Body[AIMessage]:
        """Send one request; retry without temperature or streaming if the model rejects either."""
        messages: list[BaseMessage] = [
            SystemMessage(message.content) if message.role == "system" else HumanMessage(message.content)
            for message in prompt.messages
        ]
        while True:
            request = ModelRequest(self._get_configured_model(tuning), messages, prompt.tokens)
            try:
                return (yield request)
            except RequestFailed as failed:
                error = failed.error
                if self._takes_temperature and is_temperature_rejection(error):
                    self._takes_temperature = False
                elif self._streams and is_stream_failure(error):
                    self._streams = False
                else:
                    raise make_model_error(self.model, error) from error
                self._models.clear()

    def _get_configured_model(self, tuning: RequestSettings) -> BaseChatModel:
        """Return a cached copy of the model with these settings; the copy shares clients."""
        key = tuning if self._takes_temperature else RequestSettings(None, tuning.max_output)
        model = self._models.get(key)
        if model is None:
            model = _copy_with_settings(self._chat_model, key, drop_temperature=not self._takes_temperature)
            model = model if self._streams else model.model_copy(update={"disable_streaming": True})
            self._models[key] = model
        return model


def _copy_with_settings(model: BaseChatModel, tuning: RequestSettings, *, drop_temperature: bool) -> BaseChatModel:
    fields = getattr(type(model), "model_fields", {})
    update: dict[str, object] = {}
    if "temperature" in fields and (tuning.temperature is not None or drop_temperature):
        update["temperature"] = tuning.temperature
    limit = next((name for name in _LIMIT_FIELDS if name in fields), None)
    if limit is not None and tuning.max_output is not None:
        update[limit] = tuning.max_output
    return model.model_copy(update=update) if update else model


def _parse_reply(task: Task[R], message: AIMessage) -> R:
    text = get_text(message)
    if len(text) > REPLY_LIMIT:
        raise ReplyError(
            f"the model's reply has {len(text):,} characters, and the limit is {REPLY_LIMIT:,}: ask for less",
            "malformed",
            "It was far too long. Write one short query.",
        )
    if is_truncated(message):
        return task.parse_truncated_reply(text)
    if is_refused(message) and not text.strip():
        raise ReplyError("the model refused to answer", "refused", "Only a database query is asked for.")
    return task.parse(text)


def _make_retry_prompt(task: Task[R], budget: int, error: ReplyError) -> Prompt | None:
    """Return the prompt with a hint at the end; None if the prompt would exceed the budget.

    The hint goes into the last message: some chat templates want roles to alternate, and an unusable reply, put in
    as the model's own, would be an example to follow.
    """
    note = f"\n\nA first reply to this could not be used. {error.hint}".rstrip()
    try:
        prompt = task.render(budget - estimate_tokens(note))
    except PromptTooLarge:
        return None
    *before, last = prompt.messages
    messages = (*before, Message(last.role, last.content + note))
    return Prompt(messages, prompt.tokens + estimate_tokens(note), prompt.left_out)


def make_masking_translator(translator: Translator, kinds: Collection[MaskKind]) -> Translator:
    """Return a translator that masks requests, or the same one if nothing is to be masked."""
    if not kinds:
        return translator
    facts = translator.name, translator.model, translator.reads_examples, translator.understands
    return _MaskingTranslator(*facts, translator, kinds)


@dataclass
class _MaskingTranslator:
    """A translator that masks requests, the person's question too, and unmasks replies."""

    name: str
    model: str
    reads_examples: bool
    understands: bool
    translator: Translator
    kinds: Collection[MaskKind]

    def perform(self, task: Task[R]) -> Body[Done[R]]:
        """Perform a task with masked requests, and unmask the replies."""
        placeholders = PersonalDataPlaceholders(self.kinds)
        body = self.translator.perform(task)
        try:
            effect = next(body)
            while True:
                if isinstance(effect, ModelRequest):
                    messages = [
                        message.model_copy(update={"content": placeholders.hide(message.text)})
                        for message in effect.messages
                    ]
                    effect = effect._replace(messages=messages)
                try:
                    result = yield effect
                except Exception as error:  # noqa: BLE001 - the translator's to deal with
                    effect = body.throw(error)
                    continue
                if isinstance(effect, ModelRequest):
                    result = _unmask_reply(result, placeholders)
                effect = body.send(result)
        except StopIteration as finished:
            return finished.value


def _unmask_reply(reply: AIMessage, placeholders: PersonalDataPlaceholders) -> AIMessage:
    content = reply.content
    if isinstance(content, str):
        return reply.model_copy(update={"content": placeholders.restore_text(content)})
    blocks = [
        placeholders.restore_text(part)
        if isinstance(part, str)
        else {key: placeholders.restore_text(value) if isinstance(value, str) else value for key, value in part.items()}
        for part in content
    ]
    return reply.model_copy(update={"content": blocks})
