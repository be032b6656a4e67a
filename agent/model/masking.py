"""Masks in what goes to a model, taken off what comes back."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TypeVar

from langchain_core.messages import AIMessage, BaseMessage

from ...prompts.task import Task
from ...tools.database.egress import MaskKind
from ...tools.masking import Placeholders
from ..effects import Body, Done, Request, Translator

R = TypeVar("R")


def masking(translator: Translator, kinds: Collection[MaskKind]) -> Translator:
    """A translator whose requests show placeholders for what is masked; the same where nothing is."""
    return _Masking(translator, kinds) if kinds else translator


@dataclass(frozen=True)
class _Masking:
    """The person's own question is masked like everything else; the SQL that comes back holds the words again."""

    translator: Translator
    kinds: Collection[MaskKind]

    @property
    def name(self) -> str:
        """See `Translator`."""
        return self.translator.name

    @property
    def model(self) -> str:
        """See `Translator`."""
        return self.translator.model

    @property
    def reads_examples(self) -> bool:
        """See `Translator`."""
        return self.translator.reads_examples

    @property
    def understands(self) -> bool:
        """See `Translator`."""
        return self.translator.understands

    def perform(self, task: Task[R]) -> Body[Done[R]]:
        """See `Translator`."""
        placeholders = Placeholders(self.kinds)
        body = self.translator.perform(task)
        try:
            effect = next(body)
            while True:
                if isinstance(effect, Request):
                    effect = replace(effect, messages=[_hidden(message, placeholders) for message in effect.messages])
                try:
                    result = yield effect
                except Exception as error:  # noqa: BLE001 - the translator's to deal with
                    effect = body.throw(error)
                    continue
                if isinstance(effect, Request):
                    result = _restored(result, placeholders)
                effect = body.send(result)
        except StopIteration as finished:
            return finished.value


def _hidden(message: BaseMessage, placeholders: Placeholders) -> BaseMessage:
    return message.model_copy(update={"content": placeholders.hide(message.text)})


def _restored(reply: AIMessage, placeholders: Placeholders) -> AIMessage:
    content = reply.content
    if isinstance(content, str):
        return reply.model_copy(update={"content": placeholders.restore(content)})
    parts = [
        placeholders.restore(part)
        if isinstance(part, str)
        else {key: placeholders.restore(value) if isinstance(value, str) else value for key, value in part.items()}
        for part in content
    ]
    return reply.model_copy(update={"content": parts})
