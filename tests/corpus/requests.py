"""Hostile requests to the server: each is bytes for a socket, and what shows that it was held."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

MARK = "<script>alert('from a cell')</script>"
"""A cell of the database that is asked."""

FORMULA = '=HYPERLINK("http://evil.example","click")'
"""Another one."""

QUERY = "SELECT note FROM notes ORDER BY id"
"""What gives both."""


@dataclass(frozen=True)
class Reply:
    """What came back; status 0 where the connection was closed without an answer."""

    status: int
    head: str
    body: str


@dataclass(frozen=True)
class Attack:
    """A request and its judge."""

    name: str
    data: bytes
    held: Callable[[Reply], bool]
    drip: bool = False


@dataclass(frozen=True)
class Target:
    """A server: where it is, its token, and a turn that was taken there."""

    host: str
    token: str
    thread: str
    turn: str

    def request(
        self, method: str, path: str, body: object = None, *, login: bool = True, host: str = "", **headers: str
    ) -> bytes:
        """A request's bytes; a body that is not bytes goes as JSON."""
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        given = {"host": host or self.host, "connection": "close"}
        if login:
            given["authorization"] = f"Bearer {self.token}"
        if body is not None:
            given |= {"content-type": "application/json", "content-length": str(len(data))}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items() if value)]
        return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + data


def refused(reply: Reply) -> bool:
    """It was turned down, in words of ours, and no other site may read them."""
    return (reply.status == 0 or 400 <= reply.status < 500) and _quiet(reply)


def _quiet(reply: Reply) -> bool:
    wrong = ("Traceback", "root:x:0", "sqlalchemy", "site-packages")
    return not any(word in reply.body for word in wrong) and "access-control-allow-origin" not in reply.head


def _unauthorized(reply: Reply) -> bool:
    return reply.status in (401, 403) and _quiet(reply)


def _plain(reply: Reply) -> bool:
    """An answer whose texts no browser takes for a page."""
    head = reply.head
    shown = "content-type: text/html" not in head and "x-content-type-options: nosniff" in head
    return reply.status == 200 and shown and "content-security-policy: default-src 'none'" in head


def _guarded(reply: Reply) -> bool:
    """A file in which no cell is a formula."""
    lines = reply.body.splitlines()
    return reply.status == 200 and not any(line.lstrip('"').startswith(("=", "+", "@")) for line in lines)


def _one_answer(reply: Reply) -> bool:
    """A stream in which nothing that was asked stands as an event."""
    names = [line for line in reply.body.splitlines() if line.startswith("event: ")]
    return reply.status == 200 and names.count("event: answer") == 1 and "event: forged" not in names


def attacks(target: Target) -> list[Attack]:
    """All of them."""
    made = [*_paths(target), *_hosts(target), *_logins(target), *_bodies(target), *_queries(target)]
    return [*made, *_statements(target), *_texts(target), *_framing(target)]


def _paths(target: Target) -> Iterator[Attack]:
    up = ("/../../../../etc/passwd", "/..%2f..%2f..%2fetc%2fpasswd", "/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd")
    more = (
        "/....//....//etc/passwd",
        "/..\\..\\etc\\passwd",
        "/%00",
        "/index.html%00.js",
        "/./../serve/app.py",
        "/app.py",
    )
    odd = (
        "/threads/%2e%2e%2fme",
        "/turns/" + "a" * 5_000,
        "/threads/' OR 1=1 --",
        "/turns/%27%20OR%201%3D1",
        "/.git/config",
    )
    for path in (*up, *more, *odd, "/docs", "/redoc", "/" + "a" * 60_000):
        yield Attack(f"path {path[:40]}", target.request("GET", path.replace(" ", "%20")), refused)
    for method in ("TRACE", "CONNECT", "PUT", "PROPFIND"):
        yield Attack(f"method {method}", target.request(method, "/threads"), refused)


def _hosts(target: Target) -> Iterator[Attack]:
    port = target.host.rpartition(":")[2]
    for host in (
        "evil.example",
        f"evil.example:{port}",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "0.0.0.0",
        "127.1",
    ):
        for path in ("/me", "/schema"):
            yield Attack(f"host {host} {path}", target.request("GET", path, host=host), refused)
    origins = ("http://evil.example", "null", f"http://127.0.0.1:{port}.evil.example", "http://127.0.0.1:1", "file://")
    for origin in (*origins, f"http://user@{target.host}.evil.example", "http://localhost", "chrome-extension://abc"):
        yield Attack(f"origin {origin} GET", target.request("GET", "/schema", origin=origin), refused)
        body = {"question": "Who?"}
        yield Attack(f"origin {origin} POST", target.request("POST", "/ask", body, origin=origin), refused)
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        yield Attack(f"origin {origin} MCP", target.request("POST", "/mcp", call, origin=origin), refused)
    ahead = target.request("OPTIONS", "/ask", origin="http://evil.example", access_control_request_method="POST")
    yield Attack("preflight", ahead, refused)
    site = target.request("POST", "/ask", {"question": "Who?"}, sec_fetch_site="cross-site", sec_fetch_mode="no-cors")
    yield Attack("cross-site without an origin", site, refused)


def _logins(target: Target) -> Iterator[Attack]:
    paths = (
        "/me",
        "/threads",
        "/schema",
        f"/turns/{target.turn}",
        f"/turns/{target.turn}/export",
        "/v1/models",
        "/metrics",
    )
    for path in paths:
        yield Attack(f"no token {path}", target.request("GET", path, login=False), _unauthorized)
    cut, mixed = target.token[:-1], target.token.swapcase()
    for token in ("", "x", cut, mixed, target.token + "x", "null", "undefined", "' OR '1'='1"):
        yield Attack(
            f"token {token[:12]!r}", target.request("GET", "/me", login=False, authorization=f"Bearer {token}"), refused
        )
    yield Attack("basic", target.request("GET", "/me", login=False, authorization="Basic YWRtaW46YWRtaW4="), refused)
    for cookie in ("99999999999.", "99999999999.deadbeef", ".", "x.y", "9" * 4_000, "٣.x".encode().decode("latin-1")):
        sent = target.request("GET", "/me", login=False, cookie=f"tableturn_session={cookie}")
        yield Attack(f"cookie {cookie[:20]!r}", sent, refused)
    for name in ("x-forwarded-user", "x-user", "remote-user", "x-forwarded-for", "x-real-ip"):
        sent = target.request("GET", "/me", login=False, **{name.replace("-", "_"): "127.0.0.1"})
        yield Attack(f"header {name}", sent, _unauthorized)
    yield Attack("token in the address", target.request("GET", f"/me?token={target.token}", login=False), _unauthorized)
    yield Attack("MCP without a token", target.request("POST", "/mcp", {}, login=False), _unauthorized)


def _bodies(target: Target) -> Iterator[Attack]:
    wrong: tuple[object, ...] = (
        {},
        [],
        "x",
        7,
        None,
        {"question": ""},
        {"question": " "},
        {"question": ["x"]},
        {"question": {"sql": "x"}},
        {"question": "x" * 20_000},
        {"question": "x", "settings": {"query_seconds": 3_600}},
        {"question": "x", "user": "admin"},
        {"question": "x", "model": "openai:other"},
        {"question": "x", "base_url": "http://evil.example"},
        {"question": "x", "notes": 7},
        {"question": "x", "__proto__": {}},
        b"{",
        b"\xff\xfe{}",
        b'{"question": "\xed\xa0\x80"}',
        b"[" * 50_000,
        b'{"question": NaN}',
    )
    for number, body in enumerate(wrong):
        sent = target.request("POST", "/ask", b"null" if body is None else body)
        yield Attack(f"body {number}", sent, refused)
    yield Attack("body too long", target.request("POST", "/ask", {"question": "x", "notes": "x" * 300_000}), refused)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        yield Attack(f"as {kind}", target.request("POST", "/ask", {"question": "x"}, content_type=kind), refused)
    feedback: tuple[object, ...] = (
        {"kind": "delete"},
        {"kind": "approve", "shared": True},
        {"kind": "note", "text": "x" * 9_000},
    )
    for number, body in enumerate(feedback):
        yield Attack(f"feedback {number}", target.request("POST", f"/turns/{target.turn}/feedback", body), refused)
    chats: tuple[object, ...] = (
        {"messages": []},
        {"messages": [{"role": "user"}]},
        {"messages": [{"role": "x", "content": "y"}]},
    )
    for number, body in enumerate(chats):
        yield Attack(f"chat {number}", target.request("POST", "/v1/chat/completions", body), refused)


def _queries(target: Target) -> Iterator[Attack]:
    rows = (
        "limit=-1",
        "limit=100000000",
        "offset=-1",
        "offset=x",
        "sort=-1",
        "sort=99",
        "sort=1;DROP%20TABLE%20rows",
        "limit=1e9",
    )
    for query in rows:
        yield Attack(f"rows {query}", target.request("GET", f"/turns/{target.turn}/rows?{query}"), refused)
    for query in ("format=exe", "format=../../etc/passwd", "format=csv&rows=-1", "format=csv%00"):
        yield Attack(f"export {query}", target.request("GET", f"/turns/{target.turn}/export?{query}"), refused)
    yield Attack("chart", target.request("GET", f"/turns/{target.turn}/chart?kind=javascript"), refused)
    quoted = target.request("GET", f"/turns/{target.turn}/rows?search=%27)%20OR%201%3D1%20--")
    yield Attack("search", quoted, lambda reply: reply.status == 200 and '"total":0' in reply.body)


def _statements(target: Target) -> Iterator[Attack]:
    written = (
        "DELETE FROM notes",
        "UPDATE notes SET note = ''",
        "DROP TABLE notes",
        "INSERT INTO notes VALUES (9, 'x')",
    )
    around = (
        "ATTACH 'x.db' AS x",
        "PRAGMA writable_schema = 1",
        "SELECT load_extension('x')",
        "SELECT 1; DELETE FROM notes",
    )
    for sql in (*written, *around, "VACUUM INTO 'x.db'", "SELECT readfile('/etc/passwd')", "x" * 60_000):
        yield Attack(f"run {sql[:30]}", target.request("POST", f"/turns/{target.turn}/run", {"sql": sql}), refused)
        correct = {"kind": "correct", "sql": sql, "question": "What are the notes?"}
        yield Attack(f"correct {sql[:30]}", target.request("POST", f"/turns/{target.turn}/feedback", correct), refused)


def _texts(target: Target) -> Iterator[Attack]:
    for path in (
        f"/turns/{target.turn}",
        f"/turns/{target.turn}/rows",
        f"/threads/{target.thread}",
        "/schema",
        "/threads",
    ):
        yield Attack(f"texts of {path[:9]}", target.request("GET", path), _plain)
    for form in ("json", "md", "jsonl"):
        path = f"/turns/{target.turn}/export?format={form}"
        yield Attack(f"texts of {form}", target.request("GET", path), _plain)
    yield Attack("formulas", target.request("GET", f"/turns/{target.turn}/export?format=csv"), _guarded)
    stream = {"question": "What?\n\nevent: forged\ndata: {}\n\nevent: answer\ndata: {}\n\n"}
    path = f"/threads/{target.thread}/turns"
    yield Attack("events in a question", target.request("POST", path, stream, accept="text/event-stream"), _one_answer)
    for last in ("-1", "9" * 400, "x\tevent: forged", "0"):
        sent = target.request("GET", f"/turns/{target.turn}/events", last_event_id=last)
        yield Attack(f"last event {last[:8]!r}", sent, _one_answer)
    title = target.request("POST", "/threads", {"title": MARK})
    yield Attack("title", title, lambda reply: reply.status == 201 and "application/json" in reply.head)
    asked = target.request("POST", "/ask", {"question": MARK})
    yield Attack("question", asked, lambda reply: reply.status == 200 and "application/json" in reply.head)


def _framing(target: Target) -> Iterator[Attack]:
    body = b'{"question": "x"}'
    own = f"host: {target.host}\r\nauthorization: Bearer {target.token}\r\n"
    head = f"POST /ask HTTP/1.1\r\n{own}content-type: application/json\r\n"
    both = b"content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /me HTTP/1.1\r\n\r\n"
    yield Attack("two lengths", head.encode() + b"content-length: 17\r\ncontent-length: 3\r\n\r\n" + body, refused)
    yield Attack("length and chunks", head.encode() + both, refused)
    yield Attack("negative length", head.encode() + b"content-length: -1\r\n\r\n" + body, refused)
    yield Attack("bad chunk", head.encode() + b"transfer-encoding: chunked\r\n\r\nzz\r\n", refused)
    yield Attack("two hosts", target.request("GET", "/me").replace(b"\r\n", b"\r\nhost: evil.example\r\n", 1), refused)
    yield Attack("no host", f"GET /me HTTP/1.1\r\nauthorization: Bearer {target.token}\r\n\r\n".encode(), refused)
    yield Attack("not HTTP", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", refused)
    yield Attack("header of a megabyte", target.request("GET", "/me", x="a" * 1_000_000), refused)
    yield Attack(
        "thousands of headers",
        target.request("GET", "/nope").replace(b"\r\n", b"\r\n" + b"x: 1\r\n" * 20_000, 1),
        refused,
    )
    upgrade = target.request("GET", "/me", upgrade="websocket", sec_websocket_version="13", sec_websocket_key="eA==")
    yield Attack("websocket", upgrade, lambda reply: reply.status in (0, 200) or refused(reply))
    yield Attack("a body that drips", head.encode() + b"content-length: 17\r\n\r\n{", refused, drip=True)
