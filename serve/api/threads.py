"""Conversations, and deleting them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from ..server import AskerHere
from ..store import Thread, TurnStore
from .bodies import ThreadBody, ThreadWithTurns
from .turns import turn_reply

router = APIRouter(tags=["threads"])


@router.post("/threads", status_code=201)
async def begin_thread(body: ThreadBody, asker: AskerHere) -> Thread:
    """Return a new conversation."""
    return await asker.kept(TurnStore.add_thread, body.title)


@router.get("/threads")
async def list_threads(
    asker: AskerHere,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> tuple[Thread, ...]:
    """Return one's own conversations, the last used first."""
    return await asker.kept(TurnStore.threads, offset, limit)


@router.get("/threads/{thread}", response_model=ThreadWithTurns)
async def get_thread(thread: str, asker: AskerHere, rows: Annotated[int, Query(ge=0, le=1_000)] = 20) -> dict[str, Any]:
    """Return a conversation with its turns; of each answer so many rows."""
    found = await asker.kept(TurnStore.thread, thread)
    turns = await asker.kept(TurnStore.turns, thread)
    shown = [await turn_reply(turn, asker, rows) for turn in turns if asker.may_see(turn)]
    return vars(found) | {"turns": shown}


@router.patch("/threads/{thread}")
async def rename_thread(thread: str, body: ThreadBody, asker: AskerHere) -> Thread:
    """Give a conversation another name."""
    return await asker.kept(TurnStore.rename, thread, body.title)


@router.delete("/threads/{thread}", status_code=204)
async def delete_thread(thread: str, asker: AskerHere) -> None:
    """Delete a conversation with its turns and all that the next turn would have known of them.

    A turn that runs in it is ended first.
    """
    await asker.server.delete(asker.owner, thread)


@router.delete("/me", status_code=204)
async def delete_me(asker: AskerHere) -> None:
    """Delete all of one's conversations and questions, ending turns that run. What was approved or noted stays."""
    await asker.server.delete(asker.owner)
