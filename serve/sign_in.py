"""Sign-in: who asks, by the token, a browser session, or a reverse proxy."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakSet

from starlette.requests import HTTPConnection

from ..agent import SQLAgent
from ..agent.advice import call_with_fallback
from ..tools.database import Identity
from ..tools.errors import NothingReadable, SettingsError, TableturnError
from ..tools.examples import database_identity
from .store import Owner

if TYPE_CHECKING:
    from ..agent.resources.resources import EnrichedSchemaCache
    from .config import ServeSettings

_log = logging.getLogger(__name__)

R = TypeVar("R")

COOKIE = "tableturn_session"
_SESSION_SECONDS = 12 * 3600
_PEOPLE = 64  # people whose agents are kept at hand; the one that asked longest ago is let go of first
_POOL_SIZE = 2  # people who are let in, and whose schemas are read, at once: it keeps Python from everything else

_LONGEST_NAME = 200


class Unauthorized(TableturnError):
    """The request has no valid token, browser session or proxy header.

    What to do: send the token (`--token`), or go through the proxy that sets the header of `--user-header`.
    """


class Forbidden(TableturnError):
    """This person, or the web page that sent the request, may not use the server.

    What to do: add the person to the permissions file; for a page, use `--origin` and `--allow-host`.
    """


@dataclass(frozen=True)
class BrowserSession:
    """A browser session that was opened with the token; `until` in Unix seconds."""

    id: str
    until: int


class SignIn:
    """The authentication of people, with a cache of the agent of each person."""

    def __init__(self, agent: SQLAgent, settings: ServeSettings) -> None:
        self.agent = agent  # of whoever is not named
        self._settings = settings
        self._agents: OrderedDict[Identity, asyncio.Future[SQLAgent]] = OrderedDict()
        self._ready_schemas: WeakSet[EnrichedSchemaCache] = WeakSet()
        self._open_pool = ThreadPoolExecutor(_POOL_SIZE, "tableturn-open")
        self._read_pool = ThreadPoolExecutor(_POOL_SIZE, "tableturn-read")
        self._database = database_identity(agent.resources.database)
        self.default_identity = agent.resources.database.session.identity  # whose agent that is

    def identify_person(self, request: HTTPConnection) -> Identity:
        """Return the identity of the person who sends a request."""
        if not self.has_valid_token(request) and self.read_browser_session(request) is None:
            wrong = "wrong token: " if "authorization" in request.headers else ""
            raise Unauthorized(f"{wrong}give the server's token: Authorization: Bearer TOKEN")
        header = self._settings.user_header
        if header is None:
            return self.default_identity
        if not self._settings.is_proxy(request.client.host if request.client else ""):
            raise Unauthorized(f"requests must come through the reverse proxy, which says in {header} who asks")
        names = request.headers.getlist(header)
        if len(names) != 1 or not names[0].strip() or len(names[0]) > _LONGEST_NAME:
            raise Unauthorized(f"the reverse proxy must name one person in {header}")
        return Identity(names[0].strip(" \t"))  # other blanks are a part of a name, and make it another one

    async def get_agent(self, identity: Identity) -> SQLAgent:
        """Return the agent of a person, opened on first use.

        Raises:
            Forbidden: The permissions let that person read nothing.
        """
        if identity == self.default_identity:
            return self.agent
        future = self._agents.pop(identity, None)
        if future is None:
            future = asyncio.get_running_loop().run_in_executor(self._open_pool, self.agent.for_user, identity)
        self._agents[identity] = future
        while len(self._agents) > _PEOPLE:
            self._agents.popitem(last=False)
        try:
            return await asyncio.shield(future)
        except BaseException as error:
            if future.done() and self._agents.get(identity) is future:
                del self._agents[identity]
            if isinstance(error, SettingsError | NothingReadable):
                # Why would tell of the rules, of others' names and of the database's place.
                _log.warning("%r may not ask: %s", identity.name, error)
                raise Forbidden(
                    f"the permissions let {identity.name!r} read nothing here: ask whoever runs this server"
                ) from None
            raise

    async def prepare_indexes(self, agent: SQLAgent) -> None:
        """Build the schema linker and the value index, once for people with equal rights.

        On a large database it takes seconds, in which the threads of everybody's turns would be taken.
        """
        resources = agent.resources

        def build_indexes() -> None:
            call_with_fallback("linking", lambda: resources.schemas.read(agent.settings.annotate).linker, None)
            call_with_fallback("values", lambda: resources.values.find(""), None)

        if resources.schemas not in self._ready_schemas:
            with suppress(TableturnError):  # the question itself will tell
                await self.run_in_thread(build_indexes)
                self._ready_schemas.add(resources.schemas)

    def run_in_thread(self, function: Callable[[], R]) -> asyncio.Future[R]:
        """Run a CPU-bound function in a thread, only a few at a time."""
        return asyncio.get_running_loop().run_in_executor(self._read_pool, function)

    def close(self) -> None:
        """Stop opening agents and reading schemas."""
        for pool in (self._open_pool, self._read_pool):
            pool.shutdown(cancel_futures=True)

    def make_owner(self, identity: Identity) -> Owner:
        """Return the owner of a person's threads."""
        return Owner(identity.name, self._database)

    def make_cookie(self) -> str:
        """Return a signed cookie for a new browser session, with the session's end and id."""
        session = f"{int(time.time()) + _SESSION_SECONDS}-{secrets.token_hex(8)}"
        return f"{session}.{self._sign_session(session)}"

    def read_browser_session(self, request: HTTPConnection) -> BrowserSession | None:
        """Return the browser session of a request, or None if there is no valid session."""
        # A server at a shorter path has a cookie of the same name, which comes as well: one of ours is enough.
        for pair in ";".join(request.headers.getlist("cookie")).split(";"):
            name, _, value = pair.strip().partition("=")
            session, _, signature = value.partition(".")
            expiry, _, id_ = session.partition("-")
            valid = hmac.compare_digest(signature.encode(), self._sign_session(session).encode()) and expiry.isdecimal()
            if name == COOKIE and valid and int(expiry) > time.time():
                return BrowserSession(id_, int(expiry))
        return None

    def is_server_token(self, text: str) -> bool:
        """Whether a text is the server's token, compared in constant time."""
        token = self._settings.token
        return token is not None and hmac.compare_digest(text.encode(), token.encode())

    def has_valid_token(self, request: HTTPConnection) -> bool:
        """Whether a request has the server's token, or the server needs no token."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        return self._settings.token is None or (scheme.lower() == "bearer" and self.is_server_token(token.strip()))

    def _sign_session(self, text: str) -> str:
        key = (self._settings.token or "").encode()
        return hmac.new(key, f"tableturn session {text}".encode(), hashlib.sha256).hexdigest()
