"""The programs of examples/ run, with what they print by default, and with a model."""

from __future__ import annotations

import ast
import json
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import datetime, tzinfo
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from queue import Queue
from typing import Any

import httpx
import pytest
from langchain_core.messages import HumanMessage
from tableturn.agent import SQLAgent

from tests.examples.conftest import EXAMPLES, RunsExample, example
from tests.serve.conftest import scripted
from tests.support.openai_server import OpenAIServer, fails, sql
from tests.support.scripted import ScriptedModel
from tests.tools.database.servers import POSTGRES

PROGRAMS = sorted(EXAMPLES.glob("*.py"))
RECIPES = EXAMPLES.parent / "docs" / "embed.md"


def with_model(server: OpenAIServer) -> dict[str, str]:
    return {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": server.base_url, "TABLETURN_MODEL": "openai:scripted"}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_says_how_to_run_it_and_stays_short(program: Path) -> None:
    source = program.read_text(encoding="utf-8")
    told = ast.get_docstring(ast.parse(source)) or ""
    assert f" examples/{program.name}" in told
    assert 20 <= source.count("\n") <= 80
    assert f"(../examples/{program.name})" in RECIPES.read_text(encoding="utf-8")


def test_own_model(runs: RunsExample, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TABLETURN_DB")
    code, out = runs("own_model")
    assert code == 0
    assert "Andersen     688" in out
    assert "request 1: " in out
    assert Path("build/kestrel.sqlite").exists()


def test_own_model_by_name(runs: RunsExample) -> None:
    with OpenAIServer([sql("SELECT 'served' AS who")]) as server:
        code, out = runs("own_model", "qwen3", server.base_url)
    assert code == 0
    assert "served" in out
    assert "tokens: 110" in out
    assert server.requests[0]["model"] == "qwen3"


def test_own_model_stops_at_its_limit(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    module = example("own_model")
    agent = agent_over(shop, model=module.Metered(inner=module.chosen(), most=0))
    assert "no more than 0 requests" in agent.ask("How many customers are there?").text


def test_own_questions(runs: RunsExample) -> None:
    code, out = runs("own_questions")
    assert code == 0
    assert "EX 66.7" in out
    assert "How about Italy?" in Path("build/own/report.html").read_text(encoding="utf-8")


def test_graph_node(runs: RunsExample) -> None:
    code, out = runs("graph_node")
    assert code == 0
    assert "Run this query?\nSELECT method, SUM(amount) FROM payments GROUP BY method" in out
    assert " 63.1 %  card" in out


def test_graph_node_with_a_model(runs: RunsExample) -> None:
    with OpenAIServer([sql("SELECT 'a', 3 UNION ALL SELECT 'b', 1")]) as server:
        code, out = runs("graph_node", "How is it shared out?", given=with_model(server))
    assert code == 0
    assert " 75.0 %  a" in out


def test_supervisor_asks_who_answers(runs: RunsExample) -> None:
    code, out = runs("supervisor")
    assert code == 0
    assert "Name: Web Shop." in out
    assert "I stand in for a model" in out


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


async def test_fastapi(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLETURN_DB", str(sample))
    app = example("fastapi_mount").app
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app=app, client=("192.0.2.7", 5000))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            for given in (None, ("ada", "wrong"), ("eve", "lovelace"), ("ädä", "ö")):
                for path in ("/ask?question=x", "/data/", "/data/me"):
                    reply = await client.get(path, auth=given, headers={"x-signed-in": "ada"})
                    assert (reply.status_code, reply.headers["www-authenticate"]) == (401, 'Basic realm="shop"')
            ada, bo = ("ada", "lovelace"), ("bo", "diddley")
            question = {"question": "What is the average salary of employees by role?"}
            own = await client.get("/ask", params=question, auth=ada)
            assert own.json()["rows"][0] == ["Buyer", 54200]
            assert (await client.get("/ask", params=question, auth=bo)).json()["rows"] == []
            claims = await client.get("/data/me", auth=bo, headers={"X-Signed-In": "ada"})
            assert claims.json()["user"] == "bo"
            mounted = await client.post("/data/ask", json={"question": "How many stores are there?"}, auth=bo)
            assert mounted.json()["rows"] == [[12]]
            assert (await client.get("/data/", auth=bo)).status_code == 200
            evil = await client.get("/data/schema", auth=ada, headers={"host": "evil.example"})
            assert evil.status_code == 403


def test_streamlit(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    testing: Any = pytest.importorskip("streamlit.testing.v1", reason="streamlit is not installed")
    monkeypatch.setenv("TABLETURN_DB", str(sample))
    app = testing.AppTest.from_file(str(EXAMPLES / "streamlit_app.py"), default_timeout=120).run()
    app.chat_input[0].set_value("How many orders does each store have?").run()
    assert not app.exception
    assert app.code[0].value.startswith("SELECT stores.name, COUNT(*) FROM stores")
    assert app.dataframe[0].value["number of orders"].iloc[0] == 576
    assert len(app.get("vega_lite_chart")) == 1
    app.chat_input[0].set_value("Only those in Berlin").run()
    assert not app.exception
    assert len(app.chat_message) == 4


def test_streamlit_shows_a_heading_that_comes_again(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    testing: Any = pytest.importorskip("streamlit.testing.v1", reason="streamlit is not installed")
    streamlit: Any = import_module("streamlit")
    streamlit.cache_resource.clear()
    monkeypatch.setenv("TABLETURN_DB", str(sample))
    query = "SELECT stores.name, countries.name FROM stores JOIN countries USING (country_code)"
    with OpenAIServer([sql(query)]) as server:
        for name, value in with_model(server).items():
            monkeypatch.setenv(name, value)
        app = testing.AppTest.from_file(str(EXAMPLES / "streamlit_app.py"), default_timeout=120).run()
        app.chat_input[0].set_value("Stores with their countries").run()
    streamlit.cache_resource.clear()
    assert not app.exception
    assert list(app.dataframe[0].value.columns) == ["name", "name (2)"]


def test_postgres(runs: RunsExample) -> None:
    if problem := POSTGRES.unavailable():
        pytest.skip(problem)
    code, out = runs("postgres_permissions", POSTGRES.root)
    assert code == 0
    assert "ada: How many employees are there?\n  There are 42 employees." in out
    assert "bo: How many employees are there?\n  There are 53 employees." in out
    assert "eve: How many employees are there?\n  Employees: 0." in out
    assert POSTGRES.run(POSTGRES.root, "SELECT 1 FROM pg_roles WHERE rolname ~ '^tableturn_[0-9a-f]{8}$'") == []


def test_postgres_that_is_not_there(runs: RunsExample) -> None:
    code, out = runs("postgres_permissions", "postgresql://postgres@127.0.0.1:1/postgres")
    assert code == 1
    assert out.startswith("no PostgreSQL here: ")


def test_dbt(runs: RunsExample) -> None:
    code, out = runs("dbt_knowledge")
    assert code == 0
    assert "left out: schema.yml: column payments.voided_on: payments has no column 'voided_on'" in out
    assert "returned orders included. SQL: METRIC('takings') = SUM(payments.amount)" in out
    assert "Only a model reads definitions" in out


def test_dbt_with_a_model(runs: RunsExample) -> None:
    with OpenAIServer([sql("SELECT METRIC('Takings') FROM payments")]) as server:
        code, out = runs(
            "dbt_knowledge", str(EXAMPLES / "dbt" / "schema.yml"), "What were the takings?", given=with_model(server)
        )
    assert code == 0
    assert "SELECT (SUM(payments.amount)) FROM payments" in out
    assert "by definition: takings: What customers paid, returned orders included." in out


def test_nightly(runs: RunsExample) -> None:
    code, out = runs("nightly_evaluation")
    assert code == 0
    assert "86 % of 7 questions pass" in out
    assert "fails: How many orders are open?" in out
    assert "questions as in" not in out
    (report,) = Path("build/nightly").glob("*/report.html")
    assert "How many orders are open?" in report.read_text(encoding="utf-8")


def test_nightly_says_what_changed(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = example("nightly_evaluation")
    questions = tmp_path / "questions.yaml"
    questions.write_text("- {question: How many shops are there, rows: 1}\n- {question: Who sells, rows: at least 1}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "QUESTIONS", questions)

    def night(day: int, shops: str, who: str = "SELECT first_name FROM employees") -> tuple[int, str]:
        class Clock(datetime):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> Clock:
                return cls(2026, 1, day)

        monkeypatch.setattr(module, "datetime", Clock)
        with OpenAIServer(lambda body: sql(who if "Who sells" in str(body["messages"]) else shops)) as server:
            for name, value in with_model(server).items():
                monkeypatch.setenv(name, value)
            code = module.night(str(sample), "openai:scripted")
        return code, capsys.readouterr().out

    count = "SELECT COUNT(*) FROM stores"
    assert night(1, count) == (0, "100 % of 2 questions pass: build/nightly/2026-01-01-000000/report.html\n")
    code, out = night(2, "SELECT COUNT(store_id) FROM stores")
    assert code == 0
    assert "2 questions as in 2026-01-01-000000, 0 better" in out
    code, out = night(3, count, who="SELECT first_name FROM employees WHERE 0")
    assert code == 1
    assert "50 % of 2 questions pass" in out
    assert "1 questions as in 2026-01-02-000000, 0 better\n  worse: Who sells: its rows must be at least 1" in out


def test_nightly_without_a_model_server(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with OpenAIServer([fails(401)]) as server:
        for name, value in with_model(server).items():
            monkeypatch.setenv(name, value)
        assert example("nightly_evaluation").night(str(sample), "openai:scripted") == 1
    assert "could not be asked" in capsys.readouterr().out
    assert not list(Path("build/nightly").glob("*/results.json"))


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
    assert "neither a user" in bot.reply_to(agent, event | {"user": "U3"})


def test_slack_mentions_nobody_that_a_cell_names(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    hostile = "SELECT '<!channel> ```<https://evil.example|look>' AS name UNION ALL SELECT '&'"
    agent = agent_over(shop, model=scripted(hostile))
    event = {"text": "Who?", "channel": "C", "ts": "1.0", "user": "U1"}
    told = example("slack_bot").reply_to(agent, event)
    assert "<" not in told
    assert "&lt;!channel&gt; '''&lt;https" in told
    assert told.count("```") == 4


def test_slack_at_the_terminal(runs: RunsExample, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLACK_BOT_TOKEN", raising=False)
    code, out = runs("slack_bot", "How many stores are there?")
    assert code == 0
    assert out == "There are 12 stores.\n```SELECT COUNT(*) FROM stores```\n"


@contextmanager
def slack_api(said: Queue[dict[str, Any]]) -> Generator[str]:
    """Slack's Web API as far as the bot calls it, on a port of this machine; gives its base URL."""

    class Api(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"] or 0))
            if self.path == "/api/chat.postMessage":
                said.put(json.loads(body))
            reply = {"ok": True, "user_id": "B1", "bot_id": "B1", "bot_user_id": "B1", "team_id": "T1", "ts": "2.0"}
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(reply).encode())

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Api) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/api/"
        finally:
            server.shutdown()
            thread.join()


def test_slack_bolt_answers_in_the_thread(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    bolt: Any = pytest.importorskip("slack_bolt", reason="slack_bolt is not installed")
    client: Any = import_module("slack_sdk").WebClient
    said: Queue[dict[str, Any]] = Queue()
    with slack_api(said) as url:
        app = bolt.App(client=client("xoxb-none", base_url=url), signing_secret="none", process_before_response=True)
        app.event("app_mention")(example("slack_bot").on_mention(agent_over(shop)))
        event = {"type": "app_mention", "text": "<@B1> Who?", "channel": "C", "ts": "1.0", "user": "U1"}
        body = {"type": "event_callback", "event": event, "team_id": "T1", "event_id": "E1"}
        reply = app.dispatch(bolt.BoltRequest(body=body, mode="socket_mode"))
        assert reply.status == 200
        posted = said.get(timeout=60)
    assert posted["channel"] == "C"
    assert posted["thread_ts"] == "1.0"
    assert "Ada" in posted["text"]
