"""Reading what any LangChain chat model returns: text, tokens used, and why it stopped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from langchain_core.messages import AIMessage

from .translator import Usage

_LENGTH: Final = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
_FILTERED: Final = frozenset({"content_filter", "safety", "refusal", "recitation", "blocklist", "prohibited_content"})


def reply_text(message: AIMessage) -> str:
    """The text blocks together; reasoning blocks are no part of it. Half a character (a cut emoji) becomes `?`."""
    return str(message.text).encode("utf-8", "replace").decode("utf-8")


def reply_usage(message: AIMessage) -> Usage:
    """One call with its tokens; 0 where the model doesn't say."""
    if message.usage_metadata is not None:
        used = message.usage_metadata
        return Usage(1, used.get("input_tokens", 0), used.get("output_tokens", 0))
    reported = _mapping(message.response_metadata.get("token_usage")) or _mapping(
        message.response_metadata.get("usage")
    )
    return Usage(
        1, _count(reported, "prompt_tokens", "input_tokens"), _count(reported, "completion_tokens", "output_tokens")
    )


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
    return next((value for name in names if isinstance(value := record.get(name), int)), 0)
