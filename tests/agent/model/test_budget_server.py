"""Budgets of a turn against a server that counts no tokens, never ends, floods, or says nothing."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tableturn.agent import Answer, SQLAgent
from tableturn.agent.model import http as bounded_http
from tableturn.agent.model.turn_budget import BudgetReached, TaskAllowance, TurnBudget

from tests.support.openai_server import DRIP, FLOOD, HANG, Behaviour, OpenAIServer, fails, says, sql

LOOP: dict[str, Any] = {"examples": "none", "rephrase": "never", "simplify": False, "gate": False, "max_attempts": 20}


def asked(shop: Path, server: OpenAIServer, **settings: Any) -> Answer:
    settings = {**LOOP, "request_retries": 0, **settings}
    with SQLAgent(shop, model="openai:m", base_url=server.base_url, settings=settings) as agent:
        return agent.ask("What are the ids of customers?")


def growing(**more: Any) -> list[Behaviour]:
    return [sql(f"SELECT id + {number} FROM customers", **more) for number in range(20)]


def test_tokens_are_estimated_where_the_server_counts_none(shop: Path) -> None:
    with OpenAIServer(growing(usage=None)) as server:
        answer = asked(shop, server, turn_tokens=3_000)
    assert 1 <= len(server.requests) < 15
    assert 0 < answer.usage.prompt_tokens + answer.usage.completion_tokens <= 3_000
    assert (answer.status, answer.row_count) == ("capped", 3)
    assert "turn_tokens" in answer.stopped


@pytest.mark.parametrize("usage", [(0, 0), (-1_000, -1_000), (10**30, 10**30)])
def test_tokens_that_cannot_be_are_estimated_too(shop: Path, usage: tuple[int, int]) -> None:
    with OpenAIServer(growing(usage=usage)) as server:
        answer = asked(shop, server, turn_tokens=3_000)
    assert len(server.requests) < 15
    assert answer.status == "capped"


def test_a_huge_reply_spends_the_tokens(shop: Path) -> None:
    long = "SELECT id FROM customers -- " + "so it is " * 300_000
    with OpenAIServer([sql(long, usage=None)]) as server:
        answer = asked(shop, server, turn_tokens=200_000)
    assert len(server.requests) == 1
    assert answer.status in ("capped", "failed")
    assert answer.usage.completion_tokens > 200_000


def test_a_call_of_a_tool_is_no_reply(shop: Path) -> None:
    with OpenAIServer([says("", tool=("run_sql", '{"sql": "SELECT 1"}'))]) as server:
        answer = asked(shop, server)
    assert answer.status == "failed"
    assert len(server.requests) == 2, "the reply, and one more try"


@pytest.mark.parametrize("never_ends", [HANG, DRIP, FLOOD])
def test_a_reply_that_never_ends_leaves_the_best_so_far(
    shop: Path, never_ends: Behaviour, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_http, "MOST_BYTES", 3_000_000)
    before = threading.active_count()
    with OpenAIServer([growing()[0], never_ends]) as server:
        answer = asked(shop, server, turn_seconds=1.5, request_seconds=2.0)
        assert (answer.status, answer.rows) == ("capped", ((1,), (2,), (3,)))
        until = time.monotonic() + 60
        while threading.active_count() > before + 1 and time.monotonic() < until:
            time.sleep(0.05)
        assert threading.active_count() <= before + 1, "the thread that reads it ends; one more is the server's"


def test_a_server_that_answered_is_not_called_out_of_reach(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_http, "MOST_BYTES", 1_000_000)
    with OpenAIServer([FLOOD]) as server:
        told = asked(shop, server).text
    assert told.startswith("model m failed (the reply is longer than 1,000,000 bytes): check")
    with OpenAIServer([Behaviour(status=302, headers={"location": "http://127.0.0.1:1/login"})]) as server:
        told = asked(shop, server).text
    assert f"({server.base_url.removesuffix('/v1')}, which redirects to http://127.0.0.1:1): check" in told


async def test_nor_does_it_without_blocking(shop: Path) -> None:
    settings = {**LOOP, "turn_seconds": 1.0, "request_retries": 0}
    with (
        OpenAIServer([growing()[0], DRIP]) as server,
        SQLAgent(shop, model="openai:m", base_url=server.base_url, settings=settings) as agent,
    ):
        answer = await agent.aask("What are the ids of customers?")
    assert (answer.status, answer.row_count) == ("capped", 3)


FAILS = fails(500, retry_after="0.01")


@pytest.mark.parametrize("drafts", [0, 1])
def test_requests_that_the_client_repeats_count(shop: Path, drafts: int) -> None:
    with OpenAIServer([*growing()[:drafts], FAILS]) as server:
        answer = asked(shop, server, turn_calls=4, request_retries=9)
        assert len(server.requests) == 4
    assert answer.usage.llm_calls == 4
    assert answer.status == ("capped" if drafts else "failed")
    assert "turn_calls" in answer.stopped


async def test_they_count_without_blocking_too(shop: Path) -> None:
    settings = {**LOOP, "turn_calls": 4, "request_retries": 9}
    with (
        OpenAIServer([growing()[0], FAILS]) as server,
        SQLAgent(shop, model="openai:m", base_url=server.base_url, settings=settings) as agent,
    ):
        answer = await agent.aask("What are the ids of customers?")
        assert len(server.requests) == answer.usage.llm_calls == 4
    assert (answer.status, answer.row_count) == ("capped", 3)


def test_failures_between_replies_count(shop: Path) -> None:
    every_other = [one for good in growing() for one in (FAILS, good)]
    with OpenAIServer(every_other) as server:
        answer = asked(shop, server, turn_calls=5, request_retries=2)
        assert len(server.requests) == answer.usage.llm_calls == 5
    assert (answer.status, len(answer.attempts)) == ("capped", 2)


def test_a_failure_costs_one_call_where_nothing_is_repeated(shop: Path) -> None:
    with OpenAIServer([fails(500)]) as server:
        assert asked(shop, server).usage.llm_calls == len(server.requests) == 1


def test_nothing_is_sent_once_the_turn_is_over(shop: Path) -> None:
    with OpenAIServer([growing()[0], fails(500, retry_after="0.2")]) as server:
        answer = asked(shop, server, turn_seconds=0.5, request_retries=9)
        sent = len(server.requests)
        assert (answer.status, answer.row_count) == ("capped", 3)
        time.sleep(0.6)
        assert len(server.requests) == sent


def test_nothing_is_sent_for_a_task_that_was_given_up() -> None:
    budget = TurnBudget(calls=9, tokens=10_000, until=time.monotonic() + 60)
    allowance = TaskAllowance(budget)
    allowance.count_request()
    allowance.is_cancelled = True
    with pytest.raises(BudgetReached):
        allowance.count_request()
    assert allowance.usage.llm_calls == 1
