"""Questions, alone and in conversations, with events; conversations, and deleting them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from fastapi.sse import format_sse_event
from starlette.responses import JSONResponse, Response, StreamingResponse

from ...agent.answers.render import render_answer
from ...tools.errors import TableturnError
from ..errors import find_http_status, make_error
from ..running_turns import RunningTurn
from ..server import Asker, AskerHere
from ..store import StoredTurn, Thread, TurnRequest, TurnStore
from .bodies import AskAgainBody, AskBody, Decision, ThreadBody, ThreadWithTurns, TurnBody, TurnReply

router = APIRouter(tags=["asking"])
threads = APIRouter(tags=["threads"])

STREAM = "text/event-stream"

_KEEP_ALIVE_SECONDS = 15.0

TURN_HEADER = "tableturn-turn"  # names the turn of a question that was asked on its own

_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {"content": {STREAM: {}}, "description": "Events, the answer last; or the turn as JSON."}
}


@router.post("/ask", response_class=JSONResponse)
async def ask(body: AskBody, asker: AskerHere) -> Response:
    """Answer a single question, as `tableturn ask --json` does."""
    turn = await asker.begin_turn(TurnRequest(asker.owner, "", body.question, body.notes))
    return await _make_turn_response(turn, asker, answer_only=True)


@router.post("/threads/{thread}/turns", response_model=TurnReply, responses=_EVENTS)
async def take_turn(thread: str, body: TurnBody, asker: AskerHere, accept: str = Header("")) -> Response:
    """Take a turn; stream events if `text/event-stream` is accepted, else return the result.

    A turn goes on when nobody listens any more: `GET /turns/{id}` and its events have it.
    """
    question = body.question.model_dump(exclude_defaults=True) if isinstance(body.question, Decision) else body.question
    request = TurnRequest(asker.owner, thread, question, body.notes, body.approve, STREAM in accept, leave=body.leave)
    return await _make_turn_response(await asker.begin_turn(request), asker)


@router.post("/turns/{id_}/again", response_model=TurnReply, responses=_EVENTS)
async def ask_again(id_: str, asker: AskerHere, body: AskAgainBody | None = None, accept: str = Header("")) -> Response:
    """Ask the question of an earlier turn again, such as a lost, stopped or failed one."""
    turn = await asker.turn(id_)
    last_turn = (await asker.call_store(TurnStore.list_turns, turn.thread))[-1] if turn.thread else turn
    if turn.answer is not None or turn.id != last_turn.id:
        await asker.check_no_pending_question(turn)
    approve = turn.approve or False if body is None or body.approve is None else body.approve
    question, is_watched = turn.decision or turn.question, STREAM in accept
    request = TurnRequest(asker.owner, turn.thread, question, turn.notes, approve, is_watched, turn.wording or "")
    return await _make_turn_response(await asker.begin_turn(request), asker)


@router.get("/turns/{id_}/events", response_class=StreamingResponse, responses=_EVENTS)
async def watch_turn(id_: str, asker: AskerHere, last_event_id: str = Header("")) -> Response:
    """Stream a turn's events; only the last one if the turn ended or another worker runs it."""
    running_turn = asker.server.turns.get(id_)
    if running_turn is not None and running_turn.request.owner == asker.owner:
        is_small = last_event_id.isdecimal() and len(last_event_id) < 10
        return _stream_turn_events(running_turn, int(last_event_id) if is_small else 0)
    await asker.turn(id_)

    async def yield_final_event() -> AsyncIterator[bytes]:
        turn = await render_turn(await asker.server.turns.wait_for_remote_turn(asker.owner, id_), asker)
        if turn["answer"] is not None:
            fields = {name: turn[name] for name in ("answer", "choices", "page", "dates")}
            yield _encode_event(1, {"event": "answer", "turn": id_, **fields})
        elif turn["status"] != "running":
            yield _encode_event(1, {"event": "error", "turn": id_, **(turn["error"] or {})})

    return make_event_stream_response(yield_final_event())


@router.post("/turns/{id_}/stop", status_code=202)
async def stop_turn(id_: str, asker: AskerHere) -> dict[str, str]:
    """Stop a turn; the conversation is then as it was before that turn."""
    await asker.call_store(TurnStore.get_turn, id_)
    await asker.server.turns.cancel(asker.owner, id_)
    return {"id": id_}


async def render_turn(turn: StoredTurn, asker: Asker, rows: int | None = None) -> dict[str, Any]:
    """Return a turn as JSON, with at most `rows` rows of the answer."""
    answer = await asker.deliver_answer(turn)
    content: dict[str, Any] = {"answer": None, "choices": [], "page": None, "dates": {}}
    if answer is not None:
        content = render_answer(answer)
        content["answer"]["rows"] = content["answer"]["rows"][:rows]
    error = None if turn.error_kind is None else make_error(turn.error_kind, turn.error or "")["error"]
    if turn.status == "lost":
        error = make_error("Lost", "the worker that ran this turn has stopped: ask again")["error"]
    fields = vars(turn) | content | {"error": error}
    return {name: fields[name] for name in TurnReply.model_fields}


async def _make_turn_response(turn: RunningTurn, asker: Asker, *, answer_only: bool = False) -> Response:
    """Stream the events of a watched turn; wait for another one, and return it or its answer."""
    if turn.request.watched:
        return _stream_turn_events(turn, 0)
    status = 200
    try:
        answer = await turn.wait()
        reply = answer.to_dict() if answer_only else await render_turn(turn.record, asker)
    except TableturnError as error:
        kind = type(error).__name__
        reply, status = make_error(kind, str(error)), find_http_status(kind)
    return JSONResponse(reply, status, {TURN_HEADER: turn.id})


def _stream_turn_events(turn: RunningTurn, last_number: int) -> Response:
    async def yield_encoded_events() -> AsyncIterator[bytes]:
        if not last_number:
            yield _encode_event(0, {"event": "begun", "turn": turn.id, "thread": turn.request.thread})
        async for number, event in turn.watch(last_number):
            yield _encode_event(number, event)

    return make_event_stream_response(yield_encoded_events(), {TURN_HEADER: turn.id})


def _encode_event(number: int, event: dict[str, Any]) -> bytes:
    return format_sse_event(data_str=json.dumps(event, ensure_ascii=False), event=event["event"], id=str(number))


def make_event_stream_response(lines: AsyncIterator[bytes], headers: dict[str, str] | None = None) -> Response:
    """Return a response that streams encoded events."""
    defaults = {"x-accel-buffering": "no", "cache-control": "no-store"}
    return StreamingResponse(_add_keep_alive_comments(lines), media_type=STREAM, headers=defaults | (headers or {}))


async def _add_keep_alive_comments(lines: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the lines, and comments during pauses, so that proxies keep the connection open."""
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


@threads.post("/threads", status_code=201)
async def begin_thread(body: ThreadBody, asker: AskerHere) -> Thread:
    """Start a conversation."""
    return await asker.call_store(TurnStore.add_thread, body.title)


@threads.get("/threads")
async def list_threads(
    asker: AskerHere,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    search: Annotated[str, Query(max_length=200, description="Text of titles, questions or answers.")] = "",
) -> list[Thread]:
    """Return the signed-in person's conversations, last used first."""
    return await asker.call_store(TurnStore.list_threads, offset, limit, search, asker.may_see)


@threads.get("/threads/{thread}", response_model=ThreadWithTurns)
async def get_thread(thread: str, asker: AskerHere, rows: Annotated[int, Query(ge=0, le=1_000)] = 20) -> dict[str, Any]:
    """Return a conversation with its turns, with at most `rows` rows per answer."""
    conversation = await asker.call_store(TurnStore.get_thread, thread)
    turns = await asker.call_store(TurnStore.list_turns, thread)
    replies = [await render_turn(turn, asker, rows) for turn in turns if asker.can_see_turn(turn)]
    return vars(conversation) | {"turns": replies}


@threads.patch("/threads/{thread}")
async def rename_thread(thread: str, body: ThreadBody, asker: AskerHere) -> Thread:
    """Rename a conversation."""
    return await asker.call_store(TurnStore.set_thread_title, thread, body.title)


@threads.delete("/threads/{thread}", status_code=204)
async def delete_thread(thread: str, asker: AskerHere) -> None:
    """Delete a conversation with its turns.

    A turn that runs in it is ended first.
    """
    await asker.server.delete_conversations(asker.owner, thread)


@threads.delete("/me", status_code=204)
async def delete_me(asker: AskerHere) -> None:
    """Delete the signed-in person's conversations and questions; keep saved answers and notes."""
    await asker.server.delete_conversations(asker.owner)
