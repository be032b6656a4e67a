"""Reading what any LangChain chat model returns: text, tokens used, and why it stopped."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, cast

from langchain_core.messages import AIMessage

from ...prompts.templating import estimate_tokens
from ..records import Usage

_LENGTH: Final = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
_LOOKED_AT: Final = 100_000
"""Characters of a reply whose tokens are counted; the rest is taken to have as many in the same length."""

_MOST_TOKENS: Final = 100_000_000
"""No request has more: a server that reports more is wrong, and the tokens are estimated."""

_FILTERED: Final = frozenset({"content_filter", "safety", "refusal", "recitation", "blocklist", "prohibited_content"})


def reply_text(message: AIMessage) -> str:
    """The text blocks together; reasoning blocks are no part of it. Half a character (a cut emoji) becomes `?`."""
    return str(message.text).encode("utf-8", "replace").decode("utf-8")


def reply_usage(message: AIMessage, prompt: int) -> Usage:
    """One request with its tokens: as the model says, or estimated where it doesn't, so that budgets hold all the same.

    Args:
        message: The reply.
        prompt: Estimated tokens of the prompt.
    """
    metadata = message.response_metadata
    reported = _mapping(message.usage_metadata or metadata.get("token_usage") or metadata.get("usage"))
    written = _count(reported, "completion_tokens", "output_tokens")
    return Usage(1, _count(reported, "prompt_tokens", "input_tokens") or prompt, written or _estimate(message))


def _estimate(message: AIMessage) -> int:
    """Tokens of a reply, of a huge one by its beginning."""
    text = reply_text(message)
    return math.ceil(estimate_tokens(text[:_LOOKED_AT]) * max(len(text) / _LOOKED_AT, 1))


def was_cut(message: AIMessage) -> bool:
    """Whether the reply ended at the output limit."""
    return _stopped(message) in _LENGTH


def was_refused(message: AIMessage) -> bool:
    """Whether the provider or the model itself marked the reply as a refusal."""
    return bool(message.additional_kwargs.get("refusal")) or _stopped(message) in _FILTERED


def _stopped(message: AIMessage) -> str:
    metadata = message.response_metadata
    incomplete = _mapping(metadata.get("incomplete_details")).get("reason")
    for reason in (incomplete, *(metadata.get(key) for key in ("finish_reason", "stop_reason", "done_reason"))):
        if isinstance(reason, str) and reason:
            return reason.lower()
    return ""


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _count(record: Mapping[str, Any], *names: str) -> int:
    counts = (value for name in names if isinstance(value := record.get(name), int))
    return next((value for value in counts if 0 <= value <= _MOST_TOKENS), 0)
