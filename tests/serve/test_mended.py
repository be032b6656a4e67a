"""Requests that are refused whole, before anything is kept or used up."""

from __future__ import annotations

from typing import Any, cast

import pytest
from tableturn.serve.running import RunningTurn

from tests.serve.conftest import Client


@pytest.mark.parametrize("content", [r'"a\ud800"', r'[{"type": "text", "text": "a\ud800"}]'])
@pytest.mark.parametrize("last", [True, False])
async def test_half_a_surrogate_pair_is_refused(client: Client, content: str, last: bool) -> None:
    messages = [f'{{"role": "user", "content": {content}}}', '{"role": "user", "content": "Who?"}']
    body = f'{{"model": "tableturn", "messages": [{", ".join(messages[::-1] if last else messages)}]}}'
    reply = await client.post("/v1/chat/completions", content=body, headers={"content-type": "application/json"})
    assert reply.status_code == 422, reply.text


async def test_an_edit_without_a_query_leaves_the_query_waiting(client: Client) -> None:
    thread = (await client.post("/threads", json={})).json()["id"]
    path = f"/threads/{thread}/turns"
    await client.post(path, json={"question": "Who are the customers?", "approve": True})
    assert (await client.post(path, json={"question": {"action": "edit"}})).status_code == 422
    approved = (await client.post(path, json={"question": {"action": "approve"}})).json()
    assert approved["status"] == "answered", approved
    assert approved["answer"]["sql"], approved


async def test_a_number_past_the_events_still_tells_the_end() -> None:
    nothing = cast(Any, None)
    turn = RunningTurn(nothing, nothing, nothing, events=[{"event": "step"}])
    turn.answer = cast(Any, "an answer")
    turn._told = lambda answer: {"event": "answer"}
    turn.finish()
    assert [event async for event in turn.watch(999)] == [(2, {"event": "answer"})]
