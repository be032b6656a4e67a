"""Tasks done over real HTTP, by a server that behaves as badly as servers do."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr
from tableturn.agent.model.chat import PromptedTranslator, TranslatorOptions
from tableturn.prompts.generate import GenerateSQLTask
from tableturn.prompts.rephrase import SimplifyTask
from tableturn.prompts.reply_types import Rephrasing, SQLDraft
from tableturn.tools.database.schema import ColumnSchema, Schema, TableSchema
from tableturn.tools.errors import ModelError, ReplyError

from ...support.done import Done, adone, done_by
from ...support.openai_server import EMPTY, HANG, RESET, Behaviour, OpenAIServer, Script, cut, fails, says, sql

Q = "SELECT count(*) FROM singer"
SCHEMA = Schema("shop", (TableSchema("singer", (ColumnSchema("id", "INTEGER", "number", 1), ColumnSchema("name"))),))
TASK = GenerateSQLTask("How many singers?", Rephrasing("Give me the number of singers.", ""), SCHEMA)


def chat(server: OpenAIServer, **more: Any) -> ChatOpenAI:
    options: dict[str, Any] = {"timeout": 5, "max_retries": 2} | more
    return ChatOpenAI(model="scripted", base_url=server.base_url, api_key=SecretStr("none"), **options)


@contextmanager
def translating(script: Script, **more: Any) -> Generator[tuple[OpenAIServer, PromptedTranslator]]:
    with OpenAIServer(script) as server:
        yield server, PromptedTranslator(chat(server, **more))


Outcome: TypeAlias = Done[SQLDraft] | Exception


async def both_ways(script: Script, **more: Any) -> list[tuple[Outcome, int]]:
    """What `invoke` and `ainvoke` come to, with the number of requests that each sent."""
    outcomes: list[tuple[Outcome, int]] = []
    with OpenAIServer(script) as server:
        model = chat(server, **more)
        for asynchronous in (False, True):
            server.requests.clear()
            translator = PromptedTranslator(model)
            try:
                way = adone if asynchronous else partial(asyncio.to_thread, done_by)
                done = await way(translator, TASK)
            except (ModelError, ReplyError) as error:
                outcomes.append((error, len(server.requests)))
            else:
                outcomes.append((done, len(server.requests)))
    return outcomes


HELPED: dict[str, tuple[list[Behaviour], int]] = {
    "fence": ([sql(Q)], 1),
    "prose": ([says(f"Here you are:\n\n{Q};\n\nIt counts.")], 1),
    "json": ([says(f'{{"sql": "{Q}"}}')], 1),
    "prefix": ([says(f"SQLQuery: {Q}")], 1),
    "several statements": ([says(f"{Q}; SELECT 2;")], 1),
    "no usage": ([sql(Q, usage=None)], 1),
    "slow": ([sql(Q, delay=0.2)], 1),
    "refusal, then an answer": ([says("I'm sorry, I can't do that."), sql(Q)], 2),
    "refusal field, then an answer": ([Behaviour(refusal="no"), sql(Q)], 2),
    "empty, then an answer": ([says(""), sql(Q)], 2),
    "prose without SQL, then an answer": ([says("You count the singers."), sql(Q)], 2),
    "cut, then whole": ([cut("```sql\nSELECT count("), sql(Q)], 2),
    "cut, then empty, then an answer": ([cut("First,"), says(""), sql(Q)], 3),
    "429 with Retry-After": ([fails(429, retry_after="0.05"), sql(Q)], 2),
    "500": ([fails(500), sql(Q)], 2),
    "reset": ([RESET, sql(Q)], 2),
    "temperature not supported": ([fails(400, "Unsupported value: 'temperature' must be 1"), sql(Q)], 2),
}


@pytest.mark.parametrize(("script", "requests"), HELPED.values(), ids=HELPED.keys())
async def test_a_retry_helps(script: list[Behaviour], requests: int) -> None:
    for outcome, sent in await both_ways(script):
        assert isinstance(outcome, Done)
        assert outcome.reply.sql == Q
        assert sent == requests


FAILED: dict[str, tuple[list[Behaviour], type[Exception], str, int]] = {
    "refusal": ([says("I cannot help with that.")], ReplyError, "declined", 2),
    "empty": ([says("")], ReplyError, "empty", 2),
    "prose": ([says("Count them yourself.")], ReplyError, "no SQL", 2),
    "always cut": ([cut("```sql\nSELECT")], ReplyError, "cut", 3),
    "429 for ever": ([fails(429, "slow down", retry_after="0.01")], ModelError, "too many requests", 3),
    "500 for ever": ([fails(500, retry_after="0.01")], ModelError, "status 500", 3),
    "reset for ever": ([RESET], ModelError, "closed the connection", 3),
    "wrong key": ([fails(401, "bad key")], ModelError, "API key", 1),
    "unknown model": ([fails(404, "no such model")], ModelError, "model's name", 1),
    "bad request": ([fails(400, "no such option")], ModelError, "no such option", 1),
    "no reply in it": ([EMPTY], ModelError, "in an unknown format", 1),
    "too long": ([fails(400, "This model's maximum context length is 10")], ModelError, "lower the token budget", 1),
}


@pytest.mark.parametrize(("script", "kind", "words", "requests"), FAILED.values(), ids=FAILED.keys())
async def test_what_no_retry_helps_is_said_in_one_line(
    script: list[Behaviour], kind: type[Exception], words: str, requests: int
) -> None:
    for outcome, sent in await both_ways(script):
        assert isinstance(outcome, kind)
        assert words in str(outcome)
        assert "\n" not in str(outcome)
        assert sent == requests


async def test_a_hang_ends_at_the_timeout() -> None:
    for outcome, _ in await both_ways([HANG], timeout=0.2, max_retries=0):
        assert isinstance(outcome, ModelError)
        assert "did not answer in time" in str(outcome)


def test_nobody_listens() -> None:
    with OpenAIServer([sql(Q)]) as server:
        model = chat(server, max_retries=0)
    with pytest.raises(ModelError, match="could not be reached"):
        done_by(PromptedTranslator(model), TASK)


def test_retry_after_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    with translating([fails(429, retry_after="0.4"), sql(Q)]) as (_, translator):
        monkeypatch.setattr("openai._base_client.time.sleep", waits.append)
        done_by(translator, TASK)
        monkeypatch.undo()
    assert 0.4 in waits


def test_the_second_try_carries_a_hint() -> None:
    with translating([says("Hm."), sql(Q)]) as (server, translator):
        done = done_by(translator, TASK)
    first, second = server.prompts
    assert second.startswith(first)
    assert "```sql" in second.removeprefix(first)
    assert any("asked once more" in note for note in done.notes)


def test_a_cut_reply_doubles_the_limit() -> None:
    with translating([cut("SELECT"), sql(Q)]) as (server, translator):
        done_by(translator, TASK)
    assert [body["max_completion_tokens"] for body in server.requests] == [4_000, 8_000]


def test_temperature_is_dropped_for_good_once_turned_down() -> None:
    with translating([fails(400, "temperature is not supported"), sql(Q)]) as (server, translator):
        done_by(translator, TASK)
        done_by(translator, TASK)
    assert ["temperature" in body for body in server.requests] == [True, False, False]


def test_temperatures_follow_the_options() -> None:
    options = TranslatorOptions(temperature=0.5, simplify_temperature=1.0, max_output_tokens=None)
    with OpenAIServer([sql(Q)]) as server:
        translator = PromptedTranslator(chat(server), options)
        done_by(translator, TASK)
        done_by(translator, SimplifyTask("How many?"))
    assert [body["temperature"] for body in server.requests] == [0.5, 1.0]
    assert server.requests[0]["max_completion_tokens"] > 100_000_000, "no limit but the budget"


def test_usage_counts_every_call() -> None:
    with translating([cut("SELECT"), says(""), sql(Q)]) as (_, translator):
        usage = done_by(translator, TASK).usage
    assert (usage.llm_calls, usage.prompt_tokens, usage.completion_tokens) == (3, 300, 30)


def test_a_streaming_model_gives_the_same() -> None:
    with translating([sql(Q)], streaming=True, stream_usage=True) as (server, translator):
        done = done_by(translator, TASK)
    assert server.requests[0]["stream"] is True
    assert done.reply.sql == Q
    assert done.usage.prompt_tokens == 100


def test_a_streamed_reply_that_is_cut_is_noticed() -> None:
    with translating([cut("SELECT"), sql(Q)], streaming=True) as (server, translator):
        assert done_by(translator, TASK).reply.sql == Q
    assert len(server.requests) == 2


def test_prompts_keep_to_the_budget() -> None:
    columns = tuple(ColumnSchema(f"column_number_{n}") for n in range(500))
    wide = GenerateSQLTask("How many?", Rephrasing("", ""), Schema("wide", (TableSchema("t", columns),)))
    with OpenAIServer([says("Hm."), sql(Q)]) as server:
        done = done_by(PromptedTranslator(chat(server), TranslatorOptions(prompt_tokens=700)), wide)
    assert any("columns" in note for note in done.notes)
    assert "has no room" in server.prompts[0]
    assert all(len(prompt) < 4 * 700 for prompt in server.prompts)


def test_a_budget_too_small_for_anything() -> None:
    with OpenAIServer([sql(Q)]) as server, pytest.raises(ModelError, match="token budget"):
        done_by(PromptedTranslator(chat(server), TranslatorOptions(prompt_tokens=10)), TASK)
    assert not server.requests


def fake(*replies: AIMessage) -> BaseChatModel:
    return FakeMessagesListChatModel(responses=list(replies))


def test_models_without_usage_or_options_work() -> None:
    done = done_by(PromptedTranslator(fake(AIMessage(Q))), TASK)
    assert done.reply.sql == Q
    assert done.usage.llm_calls == 1
    assert done.usage.prompt_tokens > 100, "estimated"
    assert done.usage.completion_tokens > 0


def test_runs_are_named_after_their_task() -> None:
    names: list[str] = []

    class Names(BaseCallbackHandler):
        def on_chat_model_start(self, *_: Any, **more: Any) -> None:
            names.append(more["name"])

    model = FakeMessagesListChatModel(responses=[AIMessage(Q)], callbacks=[Names()])
    done_by(PromptedTranslator(model), TASK)
    assert names == ["generate"]


def test_reasoning_blocks_are_no_part_of_the_answer() -> None:
    blocks: list[str | dict[Any, Any]] = [
        {"type": "reasoning", "reasoning": "SELECT 1?"},
        {"type": "text", "text": f"```sql\n{Q}\n```"},
    ]
    assert done_by(PromptedTranslator(fake(AIMessage(blocks))), TASK).reply.sql == Q


@pytest.mark.parametrize(
    "metadata", [{"stop_reason": "max_tokens"}, {"incomplete_details": {"reason": "max_output_tokens"}}]
)
def test_other_providers_ways_to_say_cut(metadata: dict[str, Any]) -> None:
    message = AIMessage("```sql\nSELECT", response_metadata=metadata)
    assert done_by(PromptedTranslator(fake(message, AIMessage(Q))), TASK).reply.sql == Q


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_one_translator_serves_one_event_loop_after_another() -> None:
    with OpenAIServer([sql(Q)], keep_alive=True) as server:
        translator = PromptedTranslator(chat(server))
        assert [asyncio.run(adone(translator, TASK)).reply.sql for _ in range(3)] == [Q, Q, Q]
    gc.collect()


async def test_two_hundred_at_once() -> None:
    with OpenAIServer(lambda _: sql(Q, delay=0.5)) as server:
        translator = PromptedTranslator(chat(server, timeout=60))
        tasks = [asyncio.create_task(adone(translator, TASK)) for _ in range(200)]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        assert len(server.requests) > 4, "they are sent without waiting for one another"
        done = await asyncio.gather(*tasks)
    assert all(one.reply.sql == Q for one in done)
