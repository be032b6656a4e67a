"""The OpenAI form of the API: the agent as a model for chat front ends.

Such a front end sends the whole conversation each time: one that was had here is gone on with, by its messages, and
another is told as notes. A reply is words, the SQL and a table, without the rows that may not leave: front ends send
replies on to other models.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse, Response

from ...agent import Answer
from ...agent.answers.render import render_answer_markdown
from ..errors import make_error_reply, make_openai_error
from ..running_turns import RunningTurn
from ..server import Asker, AskerHere
from ..store import NotThere, TurnRequest, TurnStore
from .bodies import StorableModel
from .turns import make_event_stream_response

router = APIRouter(prefix="/v1", tags=["openai"])

MODEL = "tableturn"
_MODEL = {"id": MODEL, "object": "model", "created": 0, "owned_by": "tableturn"}
_ROWS = 50
_LONGEST = 10_000
_HISTORY = 10  # earlier messages that are told as notes, of a conversation that is not known here


class MessagePart(StorableModel):
    """A part of the content of a chat message."""

    type: str
    text: str = ""


class ChatMessage(StorableModel):
    """A chat message; other fields are ignored."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[MessagePart] | None = ""

    @property
    def words(self) -> str:
        """The text of the message."""
        if isinstance(self.content, list):
            return "\n".join(block.text for block in self.content if block.type == "text")
        return self.content or ""


class StreamOptions(BaseModel):
    """The `stream_options` of a chat request."""

    include_usage: bool = False


class ChatBody(BaseModel):
    """A chat request in OpenAI's format; temperature and similar fields are ignored."""

    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=1_000)]
    model: str = MODEL
    stream: bool = False
    stream_options: StreamOptions | None = None


@router.get("/models")
async def list_models(asker: AskerHere) -> dict[str, Any]:
    """Return the list of models, which has a single entry."""
    return {"object": "list", "data": [_MODEL]}


@router.get("/models/{name}", response_model=None)
async def get_model(name: str, asker: AskerHere) -> dict[str, Any]:
    """Return the model with the given name, or an error if it is unknown."""
    if name != MODEL:
        raise NotThere(f"unknown model: the only one is {MODEL!r}")
    return _MODEL


@router.post("/chat/completions", response_model=None)
async def complete_chat(body: ChatBody, request: Request, asker: AskerHere) -> Response:
    """Answer the last message of a chat, with the earlier messages as context."""
    question = body.messages[-1].words
    if body.messages[-1].role != "user" or not question.strip() or len(question) > _LONGEST or "\0" in question:
        reason = f"the last message must be a person's, of 1 to {_LONGEST:,} characters without U+0000"
        return JSONResponse(make_openai_error("invalid_request_error", reason), 400)
    turn = await _begin_chat_turn(question, body, asker)
    if body.stream:
        return make_event_stream_response(_stream_reply(turn, asker, body, request))
    answer = await turn.wait()
    message = {"role": "assistant", "content": await _write_reply(answer, body.messages, turn.request.thread, asker)}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return JSONResponse(
        _make_common_reply_fields(turn, "chat.completion") | {"choices": [choice], "usage": _make_token_usage(answer)}
    )


async def _begin_chat_turn(question: str, body: ChatBody, asker: Asker) -> RunningTurn:
    """Start a turn in the stored conversation with these messages, or else in a new one."""
    texts = _list_texts(body.messages[:-1])
    thread = await asker.call_store(TurnStore.find_chat_thread, _hash_chat(texts)) if texts else None
    if thread is not None:
        return await asker.begin_turn(TurnRequest(asker.owner, thread.id, question, watched=body.stream))
    lines = (f"{'Asked' if role == 'user' else 'Answered'} before: {text[:1_000]}" for role, text in texts[-_HISTORY:])
    notes = "\n".join(lines).replace("\0", "")
    return await asker.begin_thread("chat", TurnRequest(asker.owner, "", question, notes, watched=body.stream))


def _list_texts(messages: list[ChatMessage]) -> list[tuple[str, str]]:
    return [(message.role, message.words) for message in messages if message.role in ("user", "assistant")]


async def _write_reply(answer: Answer, messages: list[ChatMessage], thread: str, asker: Asker) -> str:
    """Return an answer as chat text, and store the digest that identifies the chat later."""
    text = asker.mask_json(render_answer_markdown(await asker.get_sendable_answer(answer), _ROWS))
    await asker.call_store(TurnStore.store_digest, thread, _hash_chat([*_list_texts(messages), ("assistant", text)]))
    return text


def _hash_chat(texts: list[tuple[str, str]]) -> str:
    chat_json = json.dumps([(role, " ".join(words.split())) for role, words in texts])
    return hashlib.sha256(chat_json.encode("utf-8", "surrogatepass")).hexdigest()


async def _stream_reply(turn: RunningTurn, asker: Asker, body: ChatBody, request: Request) -> AsyncIterator[bytes]:
    head = _make_common_reply_fields(turn, "chat.completion.chunk")

    def encode_chunk(delta: dict[str, str], finish: str | None = None) -> bytes:
        return _encode_server_sent_event(head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    yield encode_chunk({"role": "assistant", "content": ""})
    try:
        async for _, event in turn.watch():
            if progress := _describe_progress_event(event):
                yield encode_chunk({"reasoning_content": asker.mask_json(f"{progress}\n")})
        answer = await turn.wait()
        reply = await _write_reply(answer, body.messages, turn.request.thread, asker)
    except Exception as error:  # noqa: BLE001 - the stream has begun: what ends it is told in it
        yield b"data: %b\n\n" % make_error_reply(request, error).body
    else:
        for paragraph in re.split(r"(?<=\n\n)", reply):
            yield encode_chunk({"content": paragraph})
        yield encode_chunk({}, "stop")
        if body.stream_options and body.stream_options.include_usage:
            yield _encode_server_sent_event(head | {"choices": [], "usage": _make_token_usage(answer)})
    yield b"data: [DONE]\n\n"


def _describe_progress_event(event: dict[str, Any]) -> str:
    """Return the progress text of an event, which clients show apart from the reply, or ''."""
    match event["event"]:
        case "linked":
            return f"Tables: {', '.join(event['tables'])}"
        case "sql":
            return f"Running: {event['sql']}"
        case "rows" if event["error"] is None:
            return f"{event['row_count']:,} row(s)"
        case _:
            return ""


def _encode_server_sent_event(value: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


def _make_common_reply_fields(turn: RunningTurn, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{turn.id}", "object": kind, "created": int(time.time()), "model": MODEL}


def _make_token_usage(answer: Answer) -> dict[str, int]:
    usage = answer.usage
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.tokens,
    }
