"""How large a prompt is, without downloading any tokenizer: an estimate that errs to the large side."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from ..tools.errors import ModelError
from .task import Message

MESSAGE_OVERHEAD = 4
"""Tokens that chat formats spend on each message's role and borders."""

_PIECE = re.compile(r" ?[A-Za-z]{1,6}|\d{1,2}|[^\sA-Za-z\d]|\s+")
"""Byte-pair vocabularies split text about here: short word pieces with the space before them, two or three digits,
single signs, runs of white space. Six letters a piece and two digits keep the estimate above what they need."""

_NON_ASCII = re.compile(r"[^\x00-\x7f]")


class PromptTooLarge(ModelError):
    """Even the least that a task needs is larger than the token budget: the model cannot be asked.

    What to do: raise `prompt_tokens`, or show fewer tables (`allow`, `deny`).
    """


@lru_cache(maxsize=64)
def estimate_tokens(text: str) -> int:
    """Tokens that a model is likely to need for `text`, rather too many than too few.

    A sign outside ASCII counts two: older vocabularies spell many of them in two or three bytes. What a prompt begins
    with is the same from turn to turn, and is counted once.
    """
    pieces = len(_PIECE.findall(text))
    return pieces if text.isascii() else pieces + len(_NON_ASCII.findall(text))


def estimate_messages(messages: Iterable[Message]) -> int:
    """As `estimate_tokens`, for a whole prompt."""
    return sum(MESSAGE_OVERHEAD + estimate_tokens(message.content) for message in messages)
