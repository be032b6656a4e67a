"""Who may ask, from where, and how much."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx
import pytest
from tableturn.agent import SQLAgent
from tableturn.serve import ServerLimits, ServeSettings, create_app
from tableturn.serve.request_checks import RequestRateLimiter, TooMany
from tableturn.serve.store import Busy, NotThere, Owner, TurnRequest, TurnStore
from tableturn.tools.database import PermissionsFile
from tableturn.tools.errors import SettingsError

from tests.serve.conftest import Client, events, scripted, serving
from tests.support.command_line import tableturn

TOKEN = "0123456789abcdef-token"


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "evil.example:8000"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "https://127.0.0.1.evil.example"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
    ],
    ids=str,
)
async def test_other_sites_may_not_ask(headers: dict[str, str], client: Client) -> None:
    for path in ("/schema", "/threads", "/v1/models", "/metrics"):
        reply = await client.get(path, headers=headers)
        assert reply.status_code == 403
        assert "access-control-allow-origin" not in reply.headers
    assert (await client.post("/mcp", headers=headers, json={})).status_code == 403


async def test_ones_own_page_may(client: Client) -> None:
    assert (await client.get("/me", headers={"origin": "http://127.0.0.1:8000"})).status_code == 200
    policy = (await client.get("/")).headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy


async def test_a_named_origin_may(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    async with serving(agent_over(shop), ServeSettings(origins=("https://intranet.example",))) as client:
        reply = await client.get("/me", headers={"origin": "https://intranet.example"})
        assert reply.headers["access-control-allow-origin"] == "https://intranet.example"
        assert reply.headers["access-control-expose-headers"] == "tableturn-turn"
        assert (await client.get("/me", headers={"origin": "https://other.example"})).status_code == 403
        asked = {"access-control-request-method": "POST"}
        asked |= {"access-control-request-headers": "content-type,mcp-protocol-version"}
        before = await client.options("/mcp", headers={"origin": "https://intranet.example"} | asked)
        assert before.status_code == 200


async def test_a_token_is_asked_for(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    async with serving(agent_over(shop), ServeSettings(token=TOKEN)) as client:
        for path in ("/me", "/threads", "/schema", "/v1/models", "/metrics"):
            assert (await client.get(path)).status_code == 401, path
        assert (await client.post("/mcp", json={})).status_code == 401
        refused = await client.get("/me", headers={"authorization": "Bearer wrong"})
        assert refused.status_code == 401
        assert refused.json()["error"]["message"].startswith("wrong token: give the server's token")
        assert (await client.get("/me", headers={"authorization": f"Bearer {TOKEN}"})).status_code == 200
        assert (await client.get("/health")).status_code == 200
        assert (await client.post("/session", json={"token": "wrong"})).status_code == 401
        session = await client.post("/session", json={"token": TOKEN})
        assert "HttpOnly" in session.headers["set-cookie"]
        assert "SameSite=strict" in session.headers["set-cookie"]
        assert TOKEN not in session.headers["set-cookie"]
        assert (await client.get("/me")).status_code == 200, "the cookie counts"
        cookie = client.cookies["tableturn_session"]
        said, _, signed = cookie.partition(".")
        for forged in (f"99999999999-{said.partition('-')[2]}.{signed}", f"99999999999.{signed}", ".", f"{said}."):
            assert (await client.get("/me", headers=session_of(forged))).status_code == 401, "with a time of one's own"
        assert (await client.delete("/session")).status_code == 204
        assert (await client.get("/me", headers=session_of(cookie))).status_code == 401, "a copy of it neither"


async def test_servers_below_one_host_keep_a_session_each(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    tokens = {"": TOKEN, "/one": f"{TOKEN}-one", "/two": f"{TOKEN}-two"}
    apps = {prefix: create_app(agent_over(shop), settings=ServeSettings(token=tokens[prefix])) for prefix in tokens}

    async def proxy(scope: Any, receive: Any, send: Any) -> None:
        """Passes requests on as nginx does, which tells no prefix."""
        prefix = scope["path"][:4] if scope["path"][:4] in apps else ""
        await apps[prefix]({**scope, "path": scope["path"].removeprefix(prefix)}, receive, send)

    transport = httpx.ASGITransport(app=proxy, client=("127.0.0.1", 5000))
    async with AsyncExitStack() as stack:
        for app in apps.values():
            await stack.enter_async_context(app.router.lifespan_context(app))
        client = await stack.enter_async_context(httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1"))
        for prefix, token in tokens.items():
            assert (await client.post(f"{prefix}/session", json={"token": token})).status_code == 204
        for prefix in tokens:
            assert (await client.get(f"{prefix}/me")).status_code == 200, prefix
            (place,) = (await client.get(f"{prefix}/openapi.json")).json()["servers"]
            assert urljoin(f"http://here{prefix}/openapi.json", place["url"]) == f"http://here{prefix}/"
            assert (await client.get(f"{prefix}/me/")).json() == (await client.get(f"{prefix}/me")).json()
        assert (await client.delete("/one/session")).status_code == 204
        for prefix in tokens:
            assert (await client.get(f"{prefix}/me")).status_code == (401 if prefix == "/one" else 200), prefix


async def test_a_session_is_secure_where_the_browser_says_https(
    shop: Path, agent_over: Callable[..., SQLAgent]
) -> None:
    async with serving(agent_over(shop), ServeSettings(token=TOKEN)) as client:
        for origin, secure in (("https://127.0.0.1:8000", True), ("http://127.0.0.1:8000", False)):
            headers = {"origin": origin, "x-forwarded-proto": "http" if secure else "https"}
            session = await client.post("/session", json={"token": TOKEN}, headers=headers)
            assert session.status_code == 204
            assert ("Secure" in session.headers["set-cookie"]) == secure, "nobody's forwarded headers count"


def session_of(cookie: str) -> dict[str, str]:
    return {"cookie": f"tableturn_session={cookie}"}


async def test_people_see_their_own(shop: Path, agent_over: Callable[..., SQLAgent], tmp_path: Path) -> None:
    rules = tmp_path / "people.toml"
    rules.write_text('[users.ada]\n[users.bo]\ndeny = ["orders"]\n')
    agent = agent_over(shop, permissions=rules, user="ada", model=scripted("SELECT count(*) FROM orders"))
    async with serving(agent, ServeSettings(user_header="X-User")) as client:
        ada, bo = {"X-User": "ada"}, {"X-User": "bo"}
        assert (await client.get("/me")).status_code == 401
        assert (await client.get("/me", headers={"X-User": "eve"})).status_code == 403
        thread = (await client.post("/threads", json={}, headers=ada)).json()["id"]
        turn = (await client.post(f"/threads/{thread}/turns", json={"question": "Orders?"}, headers=ada)).json()["id"]
        for path in (f"/threads/{thread}", f"/turns/{turn}", f"/turns/{turn}/rows", f"/turns/{turn}/export?sort=0"):
            assert (await client.get(path, headers=ada)).status_code == 200, path
            assert (await client.get(path, headers=bo)).status_code == 404, path
        for path in (f"/turns/{turn}/stop", f"/turns/{turn}/again"):
            assert (await client.post(path, headers=bo)).status_code == 404
        assert (await client.delete(f"/threads/{thread}", headers=bo)).status_code == 404
        assert (await client.get("/threads", headers=bo)).json() == []
        tables = [table["name"] for table in (await client.get("/schema", headers=bo)).json()["tables"]]
        assert tables == ["customers"]
        answer = (await client.post("/ask", json={"question": "Orders?"}, headers=bo)).json()
        assert answer["status"] == "failed"


@pytest.mark.parametrize(
    "default", ["", "[default]\ndeny = ['*']\n", "[default]\nallow = ['totals']\n"], ids=["none", "nothing", "a view"]
)
async def test_what_is_not_allowed_is_denied(
    default: str, shop: Path, agent_over: Callable[..., SQLAgent], tmp_path: Path
) -> None:
    with closing(sqlite3.connect(shop)) as connection:
        connection.execute("CREATE VIEW totals AS SELECT sum(total) AS total FROM orders")
    rules = tmp_path / "people.toml"
    rules.write_text(f'{default}[users.ada]\n[users.bo]\nallow = ["orders", "totals"]\n')
    agent = agent_over(shop, permissions=PermissionsFile.read(rules).allow_unnamed())
    async with serving(agent, ServeSettings(user_header="X-User")) as client:
        assert (await client.get("/ready")).status_code == 200
        assert (await client.get("/")).status_code == 200
        for path in ("/me", "/schema", "/threads"):
            refused = await client.get(path, headers={"X-User": "eve"})
            assert (refused.status_code, refused.json()["error"]["kind"]) == (403, "Forbidden"), path
            assert not [word for word in ("ada", "bo", str(tmp_path), "totals") if word in refused.text]
        assert (await client.post("/mcp", json={}, headers={"X-User": "eve"})).status_code == 403
        assert (await client.get("/schema")).status_code == 401
        for name in (b"ada\x85", b"\xa0ada", b"ada\x1f"):
            assert (await client.get("/me", headers={b"X-User": name})).status_code == 403, name
        assert (await client.get("/me", headers={"X-User": "\tada "})).json()["user"] == "ada"
        for name, tables in (("ada", {"customers", "orders", "totals"}), ("bo", {"orders", "totals"})):
            assert (await client.get("/me", headers={"X-User": name})).json()["user"] == name
            found = (await client.get("/schema", headers={"X-User": name})).json()["tables"]
            assert {table["name"] for table in found} == tables


async def test_what_somebody_approves_tells_nothing_of_a_wider_persons(
    shop: Path, agent_over: Callable[..., SQLAgent], tmp_path: Path
) -> None:
    rules = tmp_path / "people.toml"
    rules.write_text('[users.ada]\n[users.bo]\ndeny = ["orders"]\n')
    agent = agent_over(shop, permissions=PermissionsFile.read(rules).allow_unnamed())
    customers, orders, question = "SELECT count(*) FROM customers", "SELECT sum(total) FROM orders", "How big are we?"
    async with serving(agent, ServeSettings(user_header="X-User")) as client:

        async def turn_of(user: str) -> dict[str, Any]:
            headers = {"X-User": user}
            thread = (await client.post("/threads", json={}, headers=headers)).json()["id"]
            path = f"/threads/{thread}/turns"
            return (await client.post(path, json={"question": question}, headers=headers)).json()

        async def corrected(user: str, sql: str) -> dict[str, Any]:
            body = {"kind": "correct", "sql": sql, "question": question}
            path = f"/turns/{(await turn_of(user))['id']}/feedback"
            return (await client.post(path, json=body, headers={"X-User": user})).json()["saved"]

        async def approved(user: str, turn: str) -> dict[str, Any]:
            call = {"name": "approve", "arguments": {"turn": turn, "question": question}}
            headers = {"X-User": user, "accept": "application/json, text/event-stream"}
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
            return (await client.post("/mcp", json=body, headers=headers)).json()["result"]["structuredContent"]

        alone = await turn_of("bo")
        await corrected("ada", orders)
        assert (await turn_of("bo"))["answer"]["confidence"] == alone["answer"]["confidence"]
        saved = await corrected("bo", customers)
        assert (saved["new"], saved["replaced"]) == (True, 0)
        assert (await turn_of("ada"))["answer"]["sql"] == orders
        mine = await turn_of("bo")
        assert mine["answer"]["sql"] == customers
        assert await approved("bo", mine["id"]) == {"id": saved["id"], "new": False, "question": "How big are we?"}
        assert (await turn_of("ada"))["answer"]["sql"] == orders


async def test_only_the_proxy_names_people(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    settings = ServeSettings(user_header="X-User", proxies=("10.0.0.0/8",))
    async with serving(agent_over(shop), settings) as client:
        assert (await client.get("/me", headers={"X-User": "ada"})).status_code == 401


@pytest.mark.parametrize("chunked", [False, True])
async def test_bodies_are_bounded(chunked: bool, client: Client) -> None:
    long = b'{"question": "' + b"x" * 200_000 + b'"}'

    async def parts() -> AsyncIterator[bytes]:
        yield long

    json = {"content-type": "application/json"}
    reply = await client.post("/ask", content=parts() if chunked else long, headers=json)
    assert (reply.status_code, reply.json()["error"]["kind"]) == (413, "TooLarge")
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert (await client.post("/ask", content=b"{", headers={"content-type": "application/json"})).status_code == 422
    plain = await client.post("/ask", content=b'{"question": "x"}', headers={"content-type": "text/plain"})
    assert plain.status_code == 422, "no form of another site can send it"


def test_rates() -> None:
    rates = RequestRateLimiter(60)
    for _ in range(10):
        rates.count_request("ada", now=0.0)
    with pytest.raises(TooMany):
        rates.count_request("ada", now=0.0)
    rates.count_request("bo", now=0.0)
    rates.count_request("ada", now=1.5)


async def test_a_name_counts_only_from_the_proxy(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    limits = ServerLimits(requests_a_minute=60)
    settings = ServeSettings(user_header="X-User", proxies=("10.0.0.7",), limits=limits)
    app = create_app(agent_over(shop, user="zed"), settings=settings)

    def client(address: str) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(app=app, client=(address, 5000))
        return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000")

    async with app.router.lifespan_context(app), client("192.0.2.1") as attacker, client("10.0.0.7") as proxy:
        told = [(await attacker.get("/me", headers={"X-User": name})).status_code for name in ["zed"] * 20]
        assert told == [401] * 10 + [429] * 10
        assert (await attacker.get("/me", headers={"X-User": "somebody new"})).status_code == 429
        assert (await proxy.get("/me", headers={"X-User": "zed"})).status_code == 200


async def test_the_pages_own_files_count_against_no_rate(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    async with serving(agent_over(shop), ServeSettings(limits=ServerLimits(requests_a_minute=6))) as client:
        for _ in range(30):
            assert (await client.get("/app.js")).status_code == 200
        assert (await client.get("/")).status_code == 200
        assert (await client.get("/me")).status_code == 200
        assert (await client.get("/me")).status_code == 429
        assert (await client.get("/nothing")).status_code == 429


async def test_one_persons_sum_leaves_the_others_theirs(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    limits = ServerLimits(dollars_a_day=1.0, dollars_a_person=0.0001, dollars_a_million=(10.0, 10.0))
    settings = ServeSettings(user_header="X-Forwarded-User", limits=limits)
    ada, ben = ({"X-Forwarded-User": name} for name in ("ada", "ben"))
    async with serving(agent_over(shop), settings) as client:
        assert (await client.get("/me", headers=ada)).json()["dollars_left"] == 0.0001
        assert (await client.post("/ask", json={"question": "Who?"}, headers=ada)).status_code == 200
        assert (await client.get("/me", headers=ada)).json()["dollars_left"] == 0
        assert (await client.post("/ask", json={"question": "Who?"}, headers=ada)).status_code == 429
        assert (await client.get("/me", headers=ben)).json()["dollars_left"] == 0.0001
        assert (await client.post("/ask", json={"question": "Who?"}, headers=ben)).status_code == 200


def test_a_sum_for_each_person_takes_names(shop: Path) -> None:
    ran = tableturn("serve", "--db", str(shop), "--price", "1,2", "--dollars-a-person", "1")
    assert (ran.returncode, "--user-header" in ran.stderr) == (2, True), ran.stderr


@pytest.mark.parametrize(("limit", "whose"), [("dollars_a_day", "everybody's"), ("dollars_a_person", "your")])
async def test_questions_at_once_share_a_budget(
    limit: str, whose: str, shop: Path, agent_over: Callable[..., SQLAgent]
) -> None:
    async def ask(client: Client, times: int) -> list[Any]:
        replies = await asyncio.gather(*(client.post("/ask", json={"question": "Who?"}) for _ in range(times)))
        return [*sorted(reply.status_code for reply in replies), replies[-1].text]

    def limited(dollars: float) -> ServeSettings:
        limits: dict[str, Any] = {limit: dollars, "dollars_a_million": (10.0, 10.0)}
        return ServeSettings(limits=ServerLimits(**limits))

    agent = agent_over(shop, model=scripted(delay=0.3))
    async with serving(agent, limited(0.0001)) as client:
        *statuses, told = await ask(client, 4)
        assert statuses == [200, 429, 429, 429]
        assert f"running questions may use up {whose} budget" in told
        *statuses, told = await ask(client, 1)
        assert statuses == [429]
        assert f"{whose} budget for today is used up" in told
    async with serving(agent, limited(5.0)) as client:
        assert (await ask(client, 4))[:4] == [200] * 4


async def test_questions_on_other_workers_count_for_a_budget(
    shop: Path, agent_over: Callable[..., SQLAgent], tmp_path: Path
) -> None:
    url, limits = f"sqlite:///{tmp_path}/store.sqlite", ServerLimits(dollars_a_day=0.01, dollars_a_million=(10.0, 10.0))
    other = TurnStore(url)
    async with serving(agent_over(shop), ServeSettings(limits=limits), store=url) as client:
        other.record_heartbeat()
        running = other.begin_turn(TurnRequest(Owner("ben", "shop"), "", "Who?"))
        assert (await client.post("/ask", json={"question": "Who?"})).status_code == 429
        other.end_turn(running, "stopped")
        assert (await client.post("/ask", json={"question": "Who?"})).status_code == 200
    other.close()


async def test_money_and_turns_at_once(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    limits = ServerLimits(dollars_a_day=0.0001, dollars_a_million=(10.0, 10.0))
    async with serving(agent_over(shop), ServeSettings(limits=limits)) as client:
        assert (await client.post("/ask", json={"question": "Who?"})).status_code == 200
        assert (await client.post("/ask", json={"question": "Who?"})).status_code == 429
    slow = agent_over(shop, model=scripted(delay=30.0))
    async with serving(slow, ServeSettings(limits=ServerLimits(at_once=1))) as client:
        thread = (await client.post("/threads", json={})).json()["id"]
        first = asyncio.create_task(client.post(f"/threads/{thread}/turns", json={"question": "Who?"}))
        while not (turns := (await client.get(f"/threads/{thread}")).json()["turns"]):
            await asyncio.sleep(0.01)
        assert (await client.post("/ask", json={"question": "Who?"})).status_code == 429
        assert (await client.post(f"/turns/{turns[0]['id']}/stop")).status_code == 202
        assert (await first).json()["error"]["kind"] == "TurnCancelled"
        assert (await client.get(f"/turns/{turns[0]['id']}")).json()["status"] == "stopped"


async def test_a_turn_goes_on_when_nobody_listens(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    async with serving(agent_over(shop, model=scripted(delay=0.3))) as client:
        thread = (await client.post("/threads", json={})).json()["id"]
        listening = asyncio.create_task(events(client, f"/threads/{thread}/turns", {"question": "Who?"}))
        while not (turns := (await client.get(f"/threads/{thread}")).json()["turns"]):
            await asyncio.sleep(0.01)
        listening.cancel()
        told = await events(client, f"/turns/{turns[0]['id']}/events")
        assert told[-1]["answer"]["row_count"] == 3


def test_a_server_for_the_network_asks_who_is_there(shop: Path) -> None:
    for host in ("0.0.0.0", "::", "192.168.1.7", "data.example.com"):
        with pytest.raises(SettingsError, match="--token"):
            ServeSettings().check_host(host)
        ServeSettings(token=TOKEN).check_host(host)
    ServeSettings().check_host("127.0.0.1")
    ran = tableturn("serve", "--db", str(shop), "--host", "0.0.0.0")
    assert ran.returncode == 2
    assert "--token" in ran.stderr


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"token": "short"}, "too short"),
        ({"origins": ("*",)}, "not allowed as an origin"),
        ({"origins": ("foo",)}, "invalid origin 'foo'"),
        ({"origins": ("https://a.example", "http://x/y")}, "invalid origin 'http://x/y'"),
        ({"hosts": ("http://x",)}, "invalid host name 'http://x'"),
        ({"hosts": ("x.example:8000",)}, "invalid host name 'x.example:8000'"),
        ({"user_header": "X User"}, "invalid header name"),
        ({"proxies": ("proxy",)}, "invalid proxy address"),
    ],
)
def test_wrong_settings_are_told(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        ServeSettings(**wrong)  # pyright: ignore[reportArgumentType]


def test_turns_of_a_dead_worker_are_lost_and_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url, owner = f"sqlite:///{tmp_path}/store.sqlite", Owner("ada", "shop")
    dead, alive = TurnStore(url), TurnStore(url)
    dead.record_heartbeat()
    alive.record_heartbeat()
    thread = dead.add_thread(owner).id
    turn = dead.begin_turn(TurnRequest(owner, thread, "Who?"))
    with pytest.raises(Busy):
        alive.begin_turn(TurnRequest(owner, thread, "And?"))
    alive.request_turn_stop(owner, turn.id)
    assert dead.list_turns_to_stop() == (turn.id,)
    monkeypatch.setattr("tableturn.serve.store.time.time", lambda: __import__("time").monotonic() + 10**10)
    alive.record_heartbeat()
    assert alive.mark_orphaned_turns_as_lost() == 1
    assert alive.get_turn(owner, turn.id).status == "lost"
    again = alive.begin_turn(TurnRequest(owner, thread, "Who?"))
    alive.end_turn(again, "answered")
    with pytest.raises(NotThere):
        alive.get_turn(Owner("eve", "shop"), turn.id)
    assert alive.delete_threads(owner) == (thread,)
    dead.close()
    alive.close()


def test_a_few_turns_that_run_are_found_among_many_that_are_kept(tmp_path: Path) -> None:
    store = TurnStore(f"sqlite:///{tmp_path}/store.sqlite")
    plan = "EXPLAIN QUERY PLAN SELECT id FROM tableturn_turns WHERE worker = ? AND status = 'running' AND stop = 1"
    with sqlite3.connect(tmp_path / "store.sqlite") as connection:
        (row,) = connection.execute(plan, ("one",))
    assert "USING INDEX tableturn_turns_going" in row[3]
    store.close()


async def test_a_server_waits_for_a_locked_store(
    tmp_path: Path, shop: Path, agent_over: Callable[..., SQLAgent], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that came up beside a busy writer used to end all of them."""
    monkeypatch.setattr("tableturn.serve.store._BUSY_SECONDS", 0.0)
    monkeypatch.setattr("tableturn.serve.app._BETWEEN_TRIES", 0.0)
    waited: list[str] = []

    def warned(message: str, error: Exception) -> None:
        waited.append(type(error).__name__)
        writer.rollback()
        monkeypatch.setattr("tableturn.serve.store._BUSY_SECONDS", 10.0)

    monkeypatch.setattr("tableturn.serve.app._log.warning", warned)
    place = tmp_path / "store.sqlite"
    TurnStore(f"sqlite:///{place}").close()
    writer = sqlite3.connect(place, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    async with serving(agent_over(shop), store=f"sqlite:///{place}") as client:
        assert waited == ["StoreError"]
        assert (await client.get("/ready")).status_code == 200
    writer.close()
