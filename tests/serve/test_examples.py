"""The examples run."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from langchain_core.messages import HumanMessage
from tableturn.agent import SQLAgent

from tests.serve.conftest import scripted
from tests.support.scripted import ScriptedModel

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name: str) -> ModuleType:
    spec = spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def test_fastapi(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_DB", str(shop))
    monkeypatch.setenv("SHOP_MODEL", "offline")
    app = example("fastapi_mount").app
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 5000))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            assert (await client.get("/customers/count")).json()["count"] == 3
            reply = await client.post("/data/ask", json={"question": "How many customers are there?"})
            assert reply.json()["rows"] == [[3]]
            assert (await client.get("/data/")).status_code == 200
            assert (await client.get("/data/schema", headers={"host": "evil.example"})).status_code == 403


def test_streamlit(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    testing: Any = pytest.importorskip("streamlit.testing.v1", reason="streamlit is not installed")
    monkeypatch.setenv("SHOP_DB", str(shop))
    monkeypatch.setenv("SHOP_MODEL", "offline")
    app = testing.AppTest.from_file(str(EXAMPLES / "streamlit_app.py"), default_timeout=120).run()
    app.chat_input[0].set_value("How many customers are there?").run()
    assert not app.exception
    assert app.code[0].value == "SELECT COUNT(*) FROM customers"
    assert app.dataframe[0].value.iloc[0, 0] == 3


def test_slack_replies(shop: Path, agent_over: Callable[..., SQLAgent], tmp_path: Path) -> None:
    rules = tmp_path / "people.toml"
    rules.write_text('[users.U1]\n[users.U2]\ndeny = ["customers.name"]\n')
    agent = agent_over(shop, permissions=rules, user="U1")
    bot = example("slack_bot")
    said: list[dict[str, Any]] = []
    event = {"text": "<@B1> Who are the customers?", "channel": "C", "ts": "1.0", "user": "U1"}

    def say(**words: Any) -> None:
        said.append(words)

    bot.on_mention(agent)(event, say)
    assert "Ada" in said[0]["text"]
    assert said[0]["thread_ts"] == "1.0"
    assert "Ada" not in bot.reply_to(agent, event | {"user": "U2", "ts": "2.0"})
    assert "nothing of user" in bot.reply_to(agent, event | {"user": "U3"})


def test_slack_bolt_takes_the_listener(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    bolt: Any = pytest.importorskip("slack_bolt", reason="slack_bolt is not installed")
    app = bolt.App(token="xoxb-none", signing_secret="none", token_verification_enabled=False)
    app.event("app_mention")(example("slack_bot").on_mention(agent_over(shop)))


async def test_supervisor(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    def script(prompt: str) -> str:
        if "Say yes or no" in prompt:
            return "yes" if "customers are there" in prompt else "no"
        return "Hello."

    graph = example("supervisor").supervisor(agent_over(shop, model=scripted()), ScriptedModel(script=script))
    answered = await graph.ainvoke({"messages": [HumanMessage("Which customers are there?")]})
    assert answered["answer"]["rows"] == [["Ada"], ["Bo"], ["Cy"]]
    talked = await graph.ainvoke({"messages": [HumanMessage("Good morning")]})
    assert talked["messages"][-1].text == "Hello."
    assert not talked.get("answer")
