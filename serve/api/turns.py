"""Questions: of their own, and in conversations, with events as they happen."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, Header
from fastapi.sse import format_sse_event
from starlette.responses import JSONResponse, Response, StreamingResponse

from ..errors import error_body, status_of
from ..running_turns import RunningTurn
from ..server import Asker, AskerHere
from ..store import StoredTurn, TurnRequest, TurnStore
from .bodies import AgainBody, AskBody, Decision, TurnBody, TurnReply

router = APIRouter(tags=["asking"])

STREAM = "text/event-stream"

_KEEP_ALIVE_SECONDS = 15.0

TURN_HEADER = "tableturn-turn"  # names the turn of a question that was asked on its own

_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {"content": {STREAM: {}}, "description": "Events, the answer last; or the turn as JSON."}
}


@router.post("/ask", response_class=JSONResponse)
async def ask(body: AskBody, asker: AskerHere) -> Response:
    """Answer one question on its own, with the JSON of `tableturn ask --json`."""
    turn = await asker.begin(TurnRequest(asker.owner, "", body.question, body.notes))
    await turn.wait()
    return _refused(turn) if turn.answer is None else JSONResponse(turn.answer.to_dict(), 200, {TURN_HEADER: turn.id})


@router.post("/threads/{thread}/turns", response_model=TurnReply, responses=_EVENTS)
async def take_turn(thread: str, body: TurnBody, asker: AskerHere, accept: str = Header("")) -> Response:
    """Take a turn: events where `text/event-stream` is accepted, else the turn once it is over.

    A turn goes on when nobody listens any more: `GET /turns/{id}` and its events have it.
    """
    question = body.question.model_dump(exclude_defaults=True) if isinstance(body.question, Decision) else body.question
    asked = TurnRequest(asker.owner, thread, question, body.notes, body.approve, STREAM in accept)
    return await _shown(await asker.begin(asked), asker)


@router.post("/turns/{id_}/again", response_model=TurnReply, responses=_EVENTS)
async def ask_again(id_: str, asker: AskerHere, body: AgainBody | None = None, accept: str = Header("")) -> Response:
    """Ask a turn's question once more, as it was asked: one that was lost, stopped or failed."""
    turn = await asker.turn(id_)
    last = (await asker.kept(TurnStore.turns, turn.thread))[-1] if turn.thread else turn
    if turn.answer is not None or turn.id != last.id:
        await asker.check_not_waiting(turn)
    approve = turn.approve or False if body is None or body.approve is None else body.approve
    question, watched = turn.decision or turn.question, STREAM in accept
    asked = TurnRequest(asker.owner, turn.thread, question, turn.notes, approve, watched, turn.wording or "")
    return await _shown(await asker.begin(asked), asker)


@router.get("/turns/{id_}/events", response_class=StreamingResponse, responses=_EVENTS)
async def watch_turn(id_: str, asker: AskerHere, last_event_id: str = Header("")) -> Response:
    """The events of a turn from the one after `Last-Event-ID`; of one that is over, or runs elsewhere, its end."""
    running = asker.server.turns.get(id_)
    if running is not None and running.asked.owner == asker.owner:
        small = last_event_id.isdecimal() and len(last_event_id) < 10
        return _stream(running, int(last_event_id) if small else 0)
    await asker.turn(id_)

    async def ending() -> AsyncIterator[bytes]:
        turn = await turn_reply(await asker.server.turns.follow(asker.owner, id_), asker)
        if turn["answer"] is not None:
            yield _line(1, {"event": "answer", "turn": id_, "answer": turn["answer"], "choices": turn["choices"]})
        elif turn["status"] != "running":
            yield _line(1, {"event": "error", "turn": id_, **(turn["error"] or {})})

    return event_stream(ending())


@router.post("/turns/{id_}/stop", status_code=202)
async def stop_turn(id_: str, asker: AskerHere) -> dict[str, str]:
    """End a turn; the conversation stands as it did before it."""
    await asker.kept(TurnStore.turn, id_)
    await asker.server.turns.cancel(asker.owner, id_)
    return {"id": id_}


async def turn_reply(turn: StoredTurn, asker: Asker, rows: int | None = None) -> dict[str, Any]:
    """Return a turn as JSON, with so many of its answer's rows at most."""
    answer = await asker.answer(turn)
    told = None if answer is None else answer.to_dict()
    if told is not None and rows is not None:
        told["rows"] = told["rows"][:rows]
    error = None if turn.error_kind is None else error_body(turn.error_kind, turn.error or "")["error"]
    if turn.status == "lost":
        error = error_body("Lost", "the worker that ran this turn has stopped: ask again")["error"]
    choices = [] if answer is None else list(answer.choices)
    fields = vars(turn) | {"answer": told, "choices": choices, "error": error}
    return {name: fields[name] for name in TurnReply.model_fields}


async def _shown(turn: RunningTurn, asker: Asker) -> Response:
    if turn.asked.watched:
        return _stream(turn, 0)
    await turn.wait()
    if turn.error is not None:
        return _refused(turn)
    return JSONResponse(await turn_reply(turn.stored, asker), 200, {TURN_HEADER: turn.id})


def _refused(turn: RunningTurn) -> Response:
    kind = type(turn.error).__name__
    return JSONResponse(error_body(kind, str(turn.error)), status_of(kind), {TURN_HEADER: turn.id})


def _stream(turn: RunningTurn, after: int) -> Response:
    async def lines() -> AsyncIterator[bytes]:
        if not after:
            yield _line(0, {"event": "begun", "turn": turn.id, "thread": turn.asked.thread})
        async for number, event in turn.watch(after):
            yield _line(number, event)

    return event_stream(lines(), {TURN_HEADER: turn.id})


def _line(number: int, event: dict[str, Any]) -> bytes:
    return format_sse_event(data_str=json.dumps(event, ensure_ascii=False), event=event["event"], id=str(number))


def event_stream(lines: AsyncIterator[bytes], headers: dict[str, str] | None = None) -> Response:
    """Return a reply of these events."""
    more = {"x-accel-buffering": "no", "cache-control": "no-store"}
    return StreamingResponse(_kept_alive(lines), media_type=STREAM, headers=more | (headers or {}))


async def _kept_alive(lines: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the lines, with a comment wherever there is none for a while: proxies close what is silent."""
    line: asyncio.Task[bytes] | None = None
    try:
        while True:
            line = line or asyncio.ensure_future(anext(lines))
            if (await asyncio.wait((line,), timeout=_KEEP_ALIVE_SECONDS))[0]:
                yield line.result()
                line = None
            else:
                yield b": still here\n\n"
    except StopAsyncIteration:
        return
    finally:
        if line is not None:
            line.cancel()
