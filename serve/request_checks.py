"""The checks of every request, and the headers of every reply.

Pages of other sites cannot ask here: their requests bear an `Origin` that is not ours, and those of a page whose name
was turned to this address (DNS rebinding) a `Host` that is not ours.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..tools.errors import TableturnError
from .config import LOOPBACK_NAMES, ServeSettings
from .errors import make_error_reply
from .sign_in import Forbidden

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The page loads what lies in the package, talks to its own server, and nothing else; no text becomes a script."""

_HEADERS = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
_OTHER_SITE = "pages of other sites may not ask here: allow a site with --origin"
_MAX_CLIENTS = 10_000  # people or addresses whose rate is remembered


class TooMany(TableturnError):
    """There were too many requests, or too much was spent.

    What to do: wait, or raise `--rate`, `--at-once`, `--dollars-a-day` or `--dollars-a-person`.
    """


class RequestCheckMiddleware:
    """Middleware that checks every request; paths in `free` have no rate limit."""

    def __init__(self, app: ASGIApp, settings: ServeSettings, free: frozenset[str] = frozenset()) -> None:
        self._app = app
        self._free = free
        self._settings = settings
        self._rates = RequestRateLimiter(settings.limits.requests_a_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            else:
                await send({"type": "websocket.close", "code": 1008})
            return
        if scope["path"].removeprefix(scope.get("root_path", "")) != "/":
            # The redirect that a slash at the end would get leads outside a proxy's prefix.
            scope = {**scope, "path": scope["path"].rstrip("/") or "/"}
        headers = Headers(scope=scope)
        elsewhere = self._read_origin_header(headers) in self._settings.origins

        async def send_with_security_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                reply = MutableHeaders(scope=message)
                if self._is_free(scope):
                    reply["cache-control"] = "no-cache"  # browsers look at each use whether a file of the page changed
                for name, value in _HEADERS.items():
                    reply.setdefault(name, value)
                if elsewhere:
                    reply["cross-origin-resource-policy"] = "cross-origin"
            await send(message)

        try:
            self._check_request(headers, scope)
        except (TableturnError, HTTPException) as error:
            await make_error_reply(Request(scope), error)(scope, receive, send_with_security_headers)
            return
        await self._app(scope, _add_timeout(receive, self._settings.limits.body_seconds), send_with_security_headers)

    def _check_request(self, headers: Headers, scope: Scope) -> None:
        self._check_host_header(headers)
        self._check_origin_header(headers)
        if not self._is_free(scope):
            # A name counts from a proxy alone: anybody could write it.
            address = scope["client"][0] if scope.get("client") else ""
            header = self._settings.user_header
            person = headers.get(header) if header and self._settings.is_proxy(address) else None
            self._rates.count_request(person or address)
        length, most = headers.get("content-length", ""), self._settings.limits.body_bytes
        if length.isdecimal() and (len(length) > 18 or int(length) > most):
            raise HTTPException(413, f"the request's body has more than {most:,} bytes")

    def _is_free(self, scope: Scope) -> bool:
        return scope["path"].removeprefix(scope.get("root_path", "")) in self._free

    def _check_host_header(self, headers: Headers) -> None:
        values = headers.getlist("host")
        hosts = self._settings.hosts
        if "*" in hosts:
            return
        host = values[0].lower() if len(values) == 1 else ""
        name, colon, port = host.rpartition(":")
        name = name if colon and port.isdecimal() else host
        if name not in LOOPBACK_NAMES and name not in hosts:
            raise Forbidden("unknown host name: add it with --allow-host")

    def _check_origin_header(self, headers: Headers) -> None:
        origin = self._read_origin_header(headers)
        if origin is None:
            if headers.get("sec-fetch-site", "none") == "cross-site" and headers.get("sec-fetch-mode") != "navigate":
                raise Forbidden(_OTHER_SITE)
            return
        is_same = urlsplit(origin).netloc.lower() == headers.get("host", "").lower() and origin != "null"
        if not is_same and origin not in self._settings.origins:
            raise Forbidden(_OTHER_SITE)

    @staticmethod
    def _read_origin_header(headers: Headers) -> str | None:
        origins = headers.getlist("origin")
        return None if not origins else origins[0] if len(origins) == 1 else "null"


class RequestRateLimiter:
    """A rate limiter with a token bucket for each person or address."""

    def __init__(self, a_minute: int) -> None:
        self._a_second = a_minute / 60
        self._most = max(a_minute / 6, 1.0)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def count_request(self, client: str, now: float | None = None) -> None:
        """Count a request of a person or address; raise `TooMany` above the rate limit."""
        now = time.monotonic() if now is None else now
        tokens, last_time = self._buckets.pop(client, (self._most, now))
        tokens = min(self._most, tokens + (now - last_time) * self._a_second)
        self._buckets[client] = (max(tokens - 1, 0.0), now) if tokens >= 1 else (tokens, now)
        while len(self._buckets) > _MAX_CLIENTS:
            self._buckets.popitem(last=False)
        if tokens < 1:
            raise TooMany(f"too many requests: try again in {math.ceil((1 - tokens) / self._a_second)} s")


def _add_timeout(receive: Receive, seconds: float) -> Receive:
    """Return a `receive` that raises an error if the request's body takes too long."""
    deadline: float | None = asyncio.get_running_loop().time() + seconds

    async def receive_within_timeout() -> Message:
        nonlocal deadline
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, f"the request's body did not arrive within {seconds:g} s") from None
        if not message.get("more_body", False):
            deadline = None  # it is complete
        return message

    return receive_within_timeout
