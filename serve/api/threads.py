"""Conversations, and deleting them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from .asking import turn_reply
from .bodies import ThreadBody, ThreadReply, ThreadWithTurns
from .who import AskerHere

router = APIRouter(tags=["threads"])


@router.post("/threads", status_code=201)
async def begin_thread(body: ThreadBody, asker: AskerHere) -> ThreadReply:
    """A new conversation."""
    thread = await asker.server.store.run(asker.server.store.add_thread, asker.owner, body.title)
    return ThreadReply(**vars(thread))


@router.get("/threads")
async def list_threads(
    asker: AskerHere,
    offset: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> list[ThreadReply]:
    """One's own conversations, the last used first."""
    found = await asker.server.store.run(asker.server.store.threads, asker.owner, offset, limit)
    return [ThreadReply(**vars(thread)) for thread in found]


@router.get("/threads/{thread}", response_model=ThreadWithTurns)
async def get_thread(thread: str, asker: AskerHere, rows: Annotated[int, Query(ge=0, le=1_000)] = 20) -> dict[str, Any]:
    """A conversation with its turns; of each answer so many rows."""
    store = asker.server.store
    found = await store.run(store.thread, asker.owner, thread)
    turns = await store.run(store.turns, asker.owner, thread)
    shown = [await turn_reply(turn, asker, rows) for turn in turns if asker.may_see(turn)]
    return vars(found) | {"turns": shown}


@router.patch("/threads/{thread}")
async def rename_thread(thread: str, body: ThreadBody, asker: AskerHere) -> ThreadReply:
    """Gives a conversation another name."""
    found = await asker.server.store.run(asker.server.store.rename, asker.owner, thread, body.title)
    return ThreadReply(**vars(found))


@router.delete("/threads/{thread}", status_code=204)
async def delete_thread(thread: str, asker: AskerHere) -> None:
    """Deletes a conversation with its turns and all that the next turn would have known of them.

    A turn that runs in it is ended first.
    """
    await asker.server.delete(asker.owner, thread)


@router.delete("/me", status_code=204)
async def delete_me(asker: AskerHere) -> None:
    """Deletes all of one's conversations and questions, ending turns that run. What was approved or noted stays."""
    await asker.server.delete(asker.owner)
