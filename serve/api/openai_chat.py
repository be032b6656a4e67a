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

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse, Response

from ...agent import Answer
from ...agent.answers.render import answer_markdown
from ..errors import find_status
from ..running_turns import RunningTurn
from ..server import Asker, AskerHere
from ..store import TurnRequest, TurnStore
from .bodies import Storable
from .turns import make_event_stream

router = APIRouter(prefix="/v1", tags=["openai"])

MODEL = "tableturn"
_MODEL = {"id": MODEL, "object": "model", "created": 0, "owned_by": "tableturn"}
_ROWS = 50
_LONGEST = 10_000
_HISTORY = 10  # earlier messages that are told as notes, of a conversation that is not known here


class Part(Storable):
    """A part of a message's content."""

    type: str
    text: str = ""


class ChatMessage(Storable):
    """A chat message; other fields are ignored."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[Part] | None = ""

    @property
    def words(self) -> str:
        """The message's text."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type == "text")
        return self.content or ""


class StreamOptions(BaseModel):
    """Options of a stream."""

    include_usage: bool = False


class ChatBody(BaseModel):
    """A request in OpenAI's form; temperature and similar fields are ignored."""

    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=1_000)]
    model: str = MODEL
    stream: bool = False
    stream_options: StreamOptions | None = None


@router.get("/models")
async def list_models(asker: AskerHere) -> dict[str, Any]:
    """Return the list with the only model."""
    return {"object": "list", "data": [_MODEL]}


@router.get("/models/{name}", response_model=None)
async def get_model(name: str, asker: AskerHere) -> dict[str, Any] | Response:
    """Return the model of this name."""
    return _MODEL if name == MODEL else _refuse(f"unknown model: the only one is {MODEL!r}", 404, "NotThere")


@router.post("/chat/completions", response_model=None)
async def complete_chat(body: ChatBody, asker: AskerHere) -> Response:
    """Answer the last message, considering the earlier ones."""
    question = body.messages[-1].words
    if body.messages[-1].role != "user" or not question.strip() or len(question) > _LONGEST or "\0" in question:
        return _refuse(f"the last message must be a person's, of 1 to {_LONGEST:,} characters without U+0000", 400)
    turn = await _begin(question, body, asker)
    if body.stream:
        return make_event_stream(_stream_chunks(turn, asker, body))
    await turn.wait()
    if turn.answer is None:
        kind = type(turn.error).__name__
        return _refuse(str(turn.error), find_status(kind), kind)
    message = {"role": "assistant", "content": await _write_reply(turn.answer, body.messages, turn.asked.thread, asker)}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return JSONResponse(_make_head(turn, "chat.completion") | {"choices": [choice], "usage": _make_usage(turn.answer)})


async def _begin(question: str, body: ChatBody, asker: Asker) -> RunningTurn:
    """Start a turn in the conversation of these messages, or in a new one with notes."""
    said = _list_messages(body.messages[:-1])
    found = await asker.use_store(TurnStore.find_chat, _digest(said)) if said else None
    if found is not None:
        return await asker.begin(TurnRequest(asker.owner, found.id, question, watched=body.stream))
    told = (f"{'Asked' if role == 'user' else 'Answered'} before: {words[:1_000]}" for role, words in said[-_HISTORY:])
    notes = "\n".join(told).replace("\0", "")
    return await asker.begin_thread("chat", TurnRequest(asker.owner, "", question, notes, watched=body.stream))


def _list_messages(messages: list[ChatMessage]) -> list[tuple[str, str]]:
    return [(message.role, message.words) for message in messages if message.role in ("user", "assistant")]


async def _write_reply(answer: Answer, messages: list[ChatMessage], thread: str, asker: Asker) -> str:
    """Return the words of the reply; with them the front end will go on with this conversation."""
    text = asker.mask_json(answer_markdown(await asker.leaving(answer), _ROWS))
    await asker.use_store(TurnStore.note_chat, thread, _digest([*_list_messages(messages), ("assistant", text)]))
    return text


def _digest(said: list[tuple[str, str]]) -> str:
    plain = json.dumps([(role, " ".join(words.split())) for role, words in said])
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()


async def _stream_chunks(turn: RunningTurn, asker: Asker, body: ChatBody) -> AsyncIterator[bytes]:
    head = _make_head(turn, "chat.completion.chunk")

    def chunk(delta: dict[str, str], finish: str | None = None) -> bytes:
        return _encode(head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    yield chunk({"role": "assistant", "content": ""})
    async for _, event in turn.watch():
        if told := _describe_event(event):
            yield chunk({"reasoning_content": asker.mask_json(f"{told}\n")})
    if turn.answer is None:
        error = turn.error
        yield _encode({"error": {"message": str(error), "type": type(error).__name__}})
    else:
        for part in re.split(r"(?<=\n\n)", await _write_reply(turn.answer, body.messages, turn.asked.thread, asker)):
            yield chunk({"content": part})
        yield chunk({}, "stop")
        if body.stream_options and body.stream_options.include_usage:
            yield _encode(head | {"choices": [], "usage": _make_usage(turn.answer)})
    yield b"data: [DONE]\n\n"


def _describe_event(event: dict[str, Any]) -> str:
    """Return an event as progress text; front ends show it apart from the reply."""
    match event["event"]:
        case "linked":
            return f"Tables: {', '.join(event['tables'])}"
        case "sql":
            return f"Running: {event['sql']}"
        case "rows" if event["error"] is None:
            return f"{event['row_count']:,} row(s)"
        case _:
            return ""


def _encode(value: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


def _make_head(turn: RunningTurn, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{turn.id}", "object": kind, "created": int(time.time()), "model": MODEL}


def _make_usage(answer: Answer) -> dict[str, int]:
    usage = answer.usage
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.tokens,
    }


def _refuse(message: str, status: int, kind: str = "invalid_request_error") -> Response:
    return JSONResponse({"error": {"message": message, "type": kind, "param": None, "code": None}}, status)
