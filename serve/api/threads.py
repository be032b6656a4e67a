"""Conversations, and deleting them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from ..server import AskerHere
from ..store import Thread, TurnStore
from .bodies import ThreadBody, ThreadWithTurns
from .turns import render_turn

router = APIRouter(tags=["threads"])


@router.post("/threads", status_code=201)
async def begin_thread(body: ThreadBody, asker: AskerHere) -> Thread:
    """Start a conversation."""
    return await asker.call_store(TurnStore.add_thread, body.title)


@router.get("/threads")
async def list_threads(
    asker: AskerHere,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    search: Annotated[str, Query(max_length=200, description="Text of titles, questions or answers.")] = "",
) -> list[Thread]:
    """Return the signed-in person's conversations, last used first."""
    return await asker.call_store(TurnStore.list_threads, offset, limit, search, asker.may_see)


@router.get("/threads/{thread}", response_model=ThreadWithTurns)
async def get_thread(thread: str, asker: AskerHere, rows: Annotated[int, Query(ge=0, le=1_000)] = 20) -> dict[str, Any]:
    """Return a conversation with its turns, with at most `rows` rows per answer."""
    found = await asker.call_store(TurnStore.get_thread, thread)
    turns = await asker.call_store(TurnStore.list_turns, thread)
    shown = [await render_turn(turn, asker, rows) for turn in turns if asker.can_see_turn(turn)]
    return vars(found) | {"turns": shown}


@router.patch("/threads/{thread}")
async def rename_thread(thread: str, body: ThreadBody, asker: AskerHere) -> Thread:
    """Rename a conversation."""
    return await asker.call_store(TurnStore.set_thread_title, thread, body.title)


@router.delete("/threads/{thread}", status_code=204)
async def delete_thread(thread: str, asker: AskerHere) -> None:
    """Delete a conversation with its turns.

    A turn that runs in it is ended first.
    """
    await asker.server.delete(asker.owner, thread)


@router.delete("/me", status_code=204)
async def delete_me(asker: AskerHere) -> None:
    """Delete the signed-in person's conversations and questions; keep saved answers and notes."""
    await asker.server.delete(asker.owner)
