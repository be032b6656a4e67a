"""A chat model's reply: text, tokens, why it stopped, and errors in one line."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from json import JSONDecodeError
from typing import Any, Final, cast

from langchain_core.messages import AIMessage

from ...prompts.templating import estimate_tokens
from ...tools.errors import ModelError
from ..records import Usage

_LENGTH: Final = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
_SAMPLE_SIZE: Final = 100_000
"""Characters of a reply whose tokens are counted; the rest is taken to have as many in the same length."""

_MOST_TOKENS: Final = 100_000_000
"""A server that reports more tokens is wrong: they are estimated instead."""

_FILTERED: Final = frozenset({"content_filter", "safety", "refusal", "recitation", "blocklist", "prohibited_content"})


def get_text(message: AIMessage) -> str:
    """Return the text of a reply without the reasoning; lone surrogates become `?`."""
    return str(message.text).encode("utf-8", "replace").decode("utf-8")


def get_reply_usage(message: AIMessage, prompt_tokens: int) -> Usage:
    """Return the token usage of one request, as reported by the server or else estimated."""
    metadata = message.response_metadata
    counts = _get_map(message.usage_metadata or metadata.get("token_usage") or metadata.get("usage"))
    completion = _read_token_count(counts, "completion_tokens", "output_tokens")
    if not completion:
        text = get_text(message)
        completion = math.ceil(estimate_tokens(text[:_SAMPLE_SIZE]) * max(len(text) / _SAMPLE_SIZE, 1))
    return Usage(1, _read_token_count(counts, "prompt_tokens", "input_tokens") or prompt_tokens, completion)


def is_truncated(message: AIMessage) -> bool:
    """Whether a reply was cut off at the output limit."""
    return _read_stop_reason(message) in _LENGTH


def is_refused(message: AIMessage) -> bool:
    """Whether the provider or the model marked a reply as a refusal."""
    return bool(message.additional_kwargs.get("refusal")) or _read_stop_reason(message) in _FILTERED


def _read_stop_reason(message: AIMessage) -> str:
    metadata = message.response_metadata
    incomplete = _get_map(metadata.get("incomplete_details")).get("reason")
    for reason in (incomplete, *(metadata.get(key) for key in ("finish_reason", "stop_reason", "done_reason"))):
        if isinstance(reason, str) and reason:
            return reason.lower()
    return ""


def _get_map(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _read_token_count(record: Mapping[str, Any], *names: str) -> int:
    counts = (value for name in names if isinstance(value := record.get(name), int))
    return next((value for value in counts if 0 <= value <= _MOST_TOKENS), 0)


_BY_STATUS: Final = {
    400: ("refused the request", "check the model's name and options"),
    401: ("does not accept the key", "check the API key"),
    402: ("is not paid for", "check the account's balance"),
    403: ("may not be used with this key", "check the key's permissions"),
    404: ("was not found at its address", "check the model's name and the base URL"),
    408: ("did not answer in time", "try again, or raise request_seconds"),
    413: ("says that the prompt is too long", "lower the token budget (prompt_tokens)"),
    429: ("reports too many requests, or no quota left", "wait, or check the plan and its limits"),
}
_BY_NAME: Final = (
    ("ContextOverflow", "says that the prompt is too long", "lower the token budget (prompt_tokens)"),
    ("Timeout", "did not answer in time", "try again, or raise request_seconds"),
    ("Connect", "could not be reached, or closed the connection", "check the address and that the server runs"),
    ("RemoteProtocol", "closed the connection", "check that the server runs"),
)
_REPLY_ERRORS: Final = (LookupError, AttributeError)  # what clients raise over a reply that lacks its parts
_NO_REPLY: Final = ("Unexpected response type", "null value for 'choices'", "No generations found in stream")
"""langchain-openai's words for the same."""
_BARE_DETAILS: Final = ("Connection error.", "Request timed out.")
"""openai's words that say no more than the error's class."""
_TITLE: Final = re.compile(r"<title[^>]*>([^<]{1,80})", re.IGNORECASE)
_TOO_LONG: Final = ("context length", "context size", "context window", "exceed_context", "prompt is too long")
_PROMPT_ERRORS: Final = (*_TOO_LONG, "content_filter", "invalid_prompt", "content policy", "content_policy")


def make_model_error(label: str, error: Exception) -> ModelError:
    """Return an error that says in one line which model failed, how, and what to do."""
    # What openai calls a connection error.
    error = next((cause for cause in _list_causes(error) if str(cause).startswith("the reply is longer")), error)
    failure, advice = _describe_error_with_advice(error)
    detail = "; ".join(filter(None, (_find_server_address(error), _get_error_detail(error))))
    return ModelError(f"model {label} {failure}{f' ({detail})' if detail else ''}: {advice}")


def is_temperature_rejection(error: Exception) -> bool:
    """Whether an error means that the provider rejected the temperature setting."""
    return get_http_status(error) == 400 and "temperature" in str(error).lower()


def is_stream_failure(error: Exception) -> bool:
    """Whether an error means that the server did not stream although it was asked to."""
    return isinstance(error, ValueError) and "No generations found in stream" in str(error)


def is_closed_event_loop_error(error: Exception) -> bool:
    """Whether an error means that the connection belonged to a closed event loop."""
    return isinstance(error, RuntimeError) and "Event loop is closed" in str(error)


def explain_model_failure(label: str, error: Exception) -> str:
    """Return how a model failed; '' if the fault is recoverable, tableturn's or the prompt's."""
    if isinstance(error, ModelError) or is_closed_event_loop_error(error) or is_temperature_rejection(error):
        return ""
    is_too_long = any("ContextOverflow" in base.__name__ for base in type(error).__mro__)
    text = str(error).lower()
    is_refusal = get_http_status(error) == 400 and any(words in text for words in _PROMPT_ERRORS)
    is_prompt_error = is_too_long or is_refusal or get_http_status(error) == 413
    return "" if is_prompt_error else str(make_model_error(label, error))


def get_http_status(error: Exception) -> int | None:
    """Return the HTTP status of an error, or None."""
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _describe_error_with_advice(error: Exception) -> tuple[str, str]:
    names = [base.__name__ for base in type(error).__mro__]
    if _is_malformed_reply_error(error):
        if "<html" in (text := str(error).lower()) or "<!doctype html" in text:
            title = _TITLE.search(str(error))
            page = f"the web page {' '.join(title[1].split())!r}" if title else "a web page"
            return (
                f"is not at this address: the reply was {page}",
                "check the base URL, and any proxy or sign-in on the way",
            )
        return "sent a reply in an unknown format", "check that the server speaks the expected protocol"
    for name_part, failure, advice in _BY_NAME:
        if any(name_part in name for name in names):
            return failure, advice
    status = get_http_status(error)
    if status == 400 and any(words in str(error).lower() for words in _TOO_LONG):
        return _BY_STATUS[413]
    if status is not None and status >= 500:
        return f"is overloaded or failing, status {status}", "try again in a minute"
    return _BY_STATUS.get(status or 0, ("failed", "check the model and its options"))


def _is_malformed_reply_error(error: Exception) -> bool:
    return isinstance(error, (*_REPLY_ERRORS, JSONDecodeError)) or any(words in str(error) for words in _NO_REPLY)


def _find_server_address(error: Exception) -> str:
    """Return the address of a server out of reach, and of where it redirects."""
    addresses: list[str] = []
    for cause in _list_causes(error) if "Connect" in type(error).__name__ else ():
        with suppress(RuntimeError):  # httpx's where an error has no request
            if (url := getattr(getattr(cause, "request", None), "url", None)) is not None:
                addresses.append(f"{url.scheme}://{url.host}{f':{url.port}' if url.port else ''}")
    return ", which redirects to ".join(dict.fromkeys(addresses))


def _list_causes(error: Exception) -> Iterator[Exception]:
    """Yield an error, its cause, and so on."""
    yield error
    if isinstance(error.__cause__, Exception):
        yield from _list_causes(error.__cause__)


def _get_error_detail(error: Exception) -> str:
    if _is_malformed_reply_error(error):
        return ""
    body = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, dict) else None
    text = " ".join(str(message or error or type(error).__name__).split())[:160]
    return "" if text in _BARE_DETAILS else text
