"""The OpenAI form, by OpenAI's own client."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from tableturn.agent import SQLAgent
from tableturn.serve import ServeSettings, create_app
from tableturn.serve.config import ServerLimits
from tableturn.serve.store import StoreError, TurnStore

from tests.serve.conftest import scripted, serving
from tests.support.scripted import ScriptedModel


def openai_client(app: Any) -> openai.AsyncOpenAI:
    transport = httpx2.ASGITransport(app=app, client=("127.0.0.1", 5000), raise_app_exceptions=False)
    return openai.AsyncOpenAI(
        api_key="none", base_url="http://127.0.0.1:8000/v1", http_client=httpx2.AsyncClient(transport=transport)
    )


@pytest.fixture
async def asked(shop: Path, agent_over: Callable[..., SQLAgent]) -> AsyncIterator[tuple[openai.AsyncOpenAI, Any]]:
    model = scripted()
    app = create_app(agent_over(shop, model=model))
    async with app.router.lifespan_context(app):
        yield openai_client(app), model


async def test_completion(asked: tuple[openai.AsyncOpenAI, Any]) -> None:
    client, _ = asked
    assert [model.id async for model in client.models.list()] == ["tableturn"]
    messages: Any = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who are the customers?"}]
    reply = await client.chat.completions.create(model="tableturn", messages=messages, temperature=2)
    text = reply.choices[0].message.content or ""
    assert "Ada" in text
    assert "```sql" in text
    assert reply.usage is not None
    assert reply.usage.prompt_tokens > 0


@pytest.mark.parametrize(("sure", "certainty"), [(40, "Unsure: the model says “some may be counted twice”."), (95, "")])
async def test_a_doubt_is_one_sentence(
    shop: Path, agent_over: Callable[..., SQLAgent], sure: int, certainty: str
) -> None:
    reply = f"```sql\nSELECT count(*) FROM customers\n```\nSure: {sure}, some may be counted twice"
    app = create_app(agent_over(shop, model=ScriptedModel(script=lambda prompt: reply)))
    async with app.router.lifespan_context(app):
        messages: Any = [{"role": "user", "content": "How many customers are there?"}]
        answer = await openai_client(app).chat.completions.create(model="tableturn", messages=messages)
    text = answer.choices[0].message.content or ""
    assert text.endswith(certainty)
    assert ("counted twice" in text) == bool(certainty)


async def test_a_conversation_goes_on(asked: tuple[openai.AsyncOpenAI, Any]) -> None:
    client, model = asked
    messages: Any = [{"role": "user", "content": "Who are the customers?"}]
    first = (await client.chat.completions.create(model="tableturn", messages=messages)).choices[0].message.content
    messages += [{"role": "assistant", "content": first}, {"role": "user", "content": "And in Paris?"}]
    chunks = [
        chunk
        async for chunk in await client.chat.completions.create(
            model="tableturn", messages=messages, stream=True, stream_options={"include_usage": True}
        )
    ]
    assert "Ada" in "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert chunks[-1].usage is not None
    assert "SELECT name FROM customers" in model.prompts[-1], "the turn before is known by its query"


async def test_a_stream_tells_what_is_known_before_the_answer(asked: tuple[openai.AsyncOpenAI, Any]) -> None:
    messages: Any = [{"role": "user", "content": "Who are the customers?"}]
    stream = await asked[0].chat.completions.create(model="tableturn", messages=messages, stream=True)
    deltas = [chunk.choices[0].delta.model_dump(exclude_none=True) async for chunk in stream]
    before = "".join(delta.get("reasoning_content", "") for delta in deltas)
    assert "Running: SELECT name FROM customers ORDER BY id" in before
    assert "3 row(s)" in before
    pieces = [delta["content"] for delta in deltas if delta.get("content")]
    assert len(pieces) > 2
    assert "Running" not in "".join(pieces)


async def test_steps_are_told_while_a_model_writes(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    told, parts = threading.Event(), list[bytes]()

    def write_once_told(prompt: str) -> str:
        assert told.wait(30), "the tables that were found come before the query is written"
        return "```sql\nSELECT name FROM customers\n```"

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": given.pop()} if given else await asyncio.Future()

    async def send(message: Any) -> None:
        parts.append(message.get("body", b""))
        if b"Tables: " in parts[-1]:
            told.set()

    given = [json.dumps({"messages": [{"role": "user", "content": "Who are the customers?"}], "stream": True}).encode()]
    headers = [(b"host", b"127.0.0.1:8000"), (b"content-type", b"application/json")]
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "path": "/v1/chat/completions",
        "headers": headers,
    }
    scope |= {"raw_path": b"/v1/chat/completions", "query_string": b"", "scheme": "http"}
    scope |= {"server": ("127.0.0.1", 8000), "client": ("127.0.0.1", 5000)}
    app = create_app(agent_over(shop, model=ScriptedModel(script=write_once_told)))
    async with app.router.lifespan_context(app):
        await app(scope, receive, send)
    assert b"Ada" in b"".join(parts)


async def test_notes_are_in_a_reply(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    agent = agent_over(shop, settings={"rows": 1})
    app = create_app(agent)
    async with app.router.lifespan_context(app):
        messages: Any = [{"role": "user", "content": "Who are the customers?"}]
        reply = await openai_client(app).chat.completions.create(model="tableturn", messages=messages)
    assert "*Note: Only the first row is shown.*" in (reply.choices[0].message.content or "")


async def test_what_is_refused(asked: tuple[openai.AsyncOpenAI, Any]) -> None:
    client, _ = asked
    for messages in ([{"role": "assistant", "content": "x"}], [{"role": "user", "content": " "}]):
        with pytest.raises(openai.BadRequestError):
            await client.chat.completions.create(model="tableturn", messages=messages)  # pyright: ignore[reportArgumentType]


async def test_the_one_model_is_found_by_its_name(asked: tuple[openai.AsyncOpenAI, Any]) -> None:
    client, _ = asked
    assert (await client.models.retrieve("tableturn")).id == "tableturn"
    with pytest.raises(openai.NotFoundError, match="tableturn"):
        await client.models.retrieve("gpt-5")


async def test_no_cell_is_markdown(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    sql = "SELECT '![x](https://evil.example/?q=1) <img src=x>' AS n"
    app = create_app(agent_over(shop, model=scripted(sql)))
    async with app.router.lifespan_context(app):
        messages: Any = [{"role": "user", "content": "Which n?"}]
        reply = await openai_client(app).chat.completions.create(model="tableturn", messages=messages)
    text = (reply.choices[0].message.content or "").replace(sql, "")
    assert "evil.example" in text
    assert "![x](" not in text
    assert re.findall(r"(?<!\\)<", text) == []


async def test_a_stream_that_waits_says_so(
    shop: Path, agent_over: Callable[..., SQLAgent], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tableturn.serve.api.turns._KEEP_ALIVE_SECONDS", 0.05)
    async with serving(agent_over(shop, model=scripted(delay=0.5))) as client:
        body = {"messages": [{"role": "user", "content": "Who?"}], "stream": True}
        text = (await client.post("/v1/chat/completions", json=body)).text
    assert "\n: still here\n" in text
    assert text.endswith("data: [DONE]\n\n")


async def test_a_chat_elsewhere_is_not_listed_and_a_refused_one_is_gone(
    shop: Path, agent_over: Callable[..., SQLAgent]
) -> None:
    limits = ServerLimits(dollars_a_day=0.00001, dollars_a_million=(1.0, 1.0))
    app = create_app(agent_over(shop, model=scripted()), settings=ServeSettings(limits=limits))
    async with app.router.lifespan_context(app):
        client, store = openai_client(app), (await app.state.lifecycle.get_server()).store
        owner = (await app.state.lifecycle.get_server()).make_default_asker().owner
        messages: Any = [{"role": "user", "content": "Who are the customers?"}]
        await client.chat.completions.create(model="tableturn", messages=messages)
        assert store.list_threads(owner) == []
        kept = store.list_threads(owner, listed=False)
        with pytest.raises(openai.RateLimitError):
            await client.with_options(max_retries=0).chat.completions.create(model="tableturn", messages=messages)
        assert store.list_threads(owner, listed=False) == kept
        assert len(kept) == 1


@pytest.mark.parametrize("error", [StoreError("the disk is full"), ZeroDivisionError("a secret")])
async def test_a_reply_that_fails_ends_with_an_error_in_openais_form(
    asked: tuple[openai.AsyncOpenAI, Any], error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(TurnStore, "store_digest", fail)
    client, messages = asked[0].with_options(max_retries=0), [{"role": "user", "content": "Who are the customers?"}]
    kind, message = ("StoreError", "the disk is full") if isinstance(error, StoreError) else ("InternalError", "log")
    with pytest.raises(openai.InternalServerError, match=message) as plain:
        await client.chat.completions.create(model="tableturn", messages=messages)  # pyright: ignore[reportArgumentType]
    assert plain.value.type == kind
    stream: Any = await client.chat.completions.create(model="tableturn", messages=messages, stream=True)  # pyright: ignore[reportCallIssue, reportArgumentType]
    with pytest.raises(openai.APIError, match=message) as streamed:
        [chunk async for chunk in stream]
    assert streamed.value.type == kind
    reply = await client._client.post(  # pyright: ignore[reportPrivateUsage] - the bytes after the error
        "http://127.0.0.1:8000/v1/chat/completions", json={"messages": messages, "stream": True}
    )
    assert reply.text.endswith("data: [DONE]\n\n")
    assert "a secret" not in reply.text


@pytest.mark.parametrize(
    ("settings", "refused"),
    [
        (ServeSettings(limits=ServerLimits(at_once=0)), openai.RateLimitError),
        (ServeSettings(token="0123456789abcdef-token"), openai.AuthenticationError),
        (ServeSettings(limits=ServerLimits(body_bytes=10)), openai.APIStatusError),
    ],
)
async def test_what_is_refused_before_a_turn_is_told_in_openais_form(
    settings: ServeSettings, refused: type[openai.APIStatusError], shop: Path, agent_over: Callable[..., SQLAgent]
) -> None:
    app = create_app(agent_over(shop), settings=settings)
    async with app.router.lifespan_context(app):
        client, messages = openai_client(app).with_options(max_retries=0), [{"role": "user", "content": "Who?"}]
        with pytest.raises(refused) as told:
            await client.chat.completions.create(model="tableturn", messages=messages)  # pyright: ignore[reportArgumentType]
    assert told.value.type
    assert set(told.value.response.json()["error"]) == {"message", "type", "param", "code"}
