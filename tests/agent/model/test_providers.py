"""Models of other providers by name: their own clients against a loopback server, no key of anybody's."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tableturn.agent import SQLAgent
from tableturn.agent.model.choose_model import resolve_model
from tableturn.tools.errors import ModelError

from tests.support.openai_server import OpenAIServer, raw

REPLY = "```sql\nSELECT count(*) AS n FROM customers\n```"
ANTHROPIC = {
    "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": REPLY}],
    "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 70, "output_tokens": 9},
}  # fmt: skip
OLLAMA = {
    "model": "m", "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant", "content": REPLY},
    "done": True, "done_reason": "stop", "prompt_eval_count": 70, "eval_count": 9,
}  # fmt: skip


@pytest.mark.parametrize(("provider", "reply"), [("anthropic", ANTHROPIC), ("ollama", OLLAMA)])
def test_a_provider_named_by_its_extra_answers(
    shop: Path, monkeypatch: pytest.MonkeyPatch, provider: str, reply: dict[str, object]
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    with OpenAIServer([raw(json.dumps(reply))]) as server:
        url = server.base_url.removesuffix("/v1")
        with SQLAgent(shop, model=f"{provider}:m", base_url=url, settings={"examples": "none"}) as agent:
            answer = agent.ask("How many customers are there?")
    assert (answer.status, answer.model, answer.usage.llm_calls) == ("converged", "m", 1), answer.text
    assert answer.usage.prompt_tokens == 70


@pytest.mark.parametrize(("extra", "package"), [("google", "langchain_google_genai"), ("ollama", "langchain_ollama")])
def test_an_extra_that_is_missing_is_named_before_its_key(
    monkeypatch: pytest.MonkeyPatch, extra: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    with pytest.raises(ModelError, match=rf"{extra}:m needs .*pip install 'tableturn\[{extra}\]'"):
        resolve_model(f"{extra}:m")


@pytest.mark.parametrize("provider", ["openai", "ollama"])
def test_a_server_that_is_not_there_is_named(shop: Path, provider: str) -> None:
    with SQLAgent(
        shop, model=f"{provider}:m", base_url="http://127.0.0.1:9/v1", settings={"examples": "none"}
    ) as agent:
        assert "http://127.0.0.1:9" in agent.ask("How many customers are there?").text


def test_a_package_of_another_provider_is_named() -> None:
    with pytest.raises(ModelError, match=r"groq:m needs .*pip install langchain-groq"):
        resolve_model("groq:m")


def test_a_key_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ModelError, match="anthropic:m needs ANTHROPIC_API_KEY"):
        resolve_model("anthropic:m")
