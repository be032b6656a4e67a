"""Who asks: nobody in particular on one's own machine, whoever has the token, or whom a reverse proxy names."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import HTTPConnection

from ..agent import SQLAgent
from ..tools.database import Identity
from ..tools.errors import SettingsError, TableturnError
from ..tools.examples import database_identity
from .store import Owner

if TYPE_CHECKING:
    from .config import ServeSettings

COOKIE = "tableturn_session"
_SESSION_SECONDS = 12 * 3600
_PEOPLE = 64
"""People whose agents are kept at hand; the one that asked longest ago is let go of first."""
_LONGEST_NAME = 200


class Unauthorized(TableturnError):
    """Nobody has said who asks, or not in a way that counts.

    What to do: send the token (`--token`), or go through the proxy that sets the header of `--user-header`.
    """


class Forbidden(TableturnError):
    """This person, or the page that this request comes from, may not ask here.

    What to do: add the person to the permissions file; for a page, use `--origin` and `--allow-host`.
    """


@dataclass(frozen=True)
class Session:
    """A browser's, which the token was shown for; `until` in Unix seconds."""

    id: str
    until: int


class People:
    """Tells who a request is from, and has the agent for each.

    Args:
        agent: Of whoever is not named.
        settings: How people are told.

    Attributes:
        agent: As given.
        nobody: Whose agent that is.
    """

    def __init__(self, agent: SQLAgent, settings: ServeSettings) -> None:
        self.agent = agent
        self._settings = settings
        self._agents: OrderedDict[Identity, SQLAgent] = OrderedDict()
        self._lock = threading.Lock()
        self._database = database_identity(agent.resources.database)
        self.nobody = agent.resources.database.session.identity

    def identify(self, request: HTTPConnection) -> Identity:
        """Who asks; whether a session was ended, the store knows.

        Raises:
            Unauthorized: Neither token nor session is right, or the proxy names nobody.
        """
        if not self.bears_token(request) and self.session_of(request) is None:
            raise Unauthorized("give the server's token: Authorization: Bearer TOKEN")
        header = self._settings.user_header
        if header is None:
            return self.nobody
        if not self._settings.is_proxy(request.client.host if request.client else ""):
            raise Unauthorized(f"this server is asked through a reverse proxy, which says in {header} who asks")
        names = request.headers.getlist(header)
        if len(names) != 1 or not names[0].strip() or len(names[0]) > _LONGEST_NAME:
            raise Unauthorized(f"the reverse proxy must name one person in {header}")
        return Identity(names[0].strip())

    def agent_of(self, identity: Identity) -> SQLAgent:
        """The agent for somebody; blocks at the first time.

        Raises:
            Forbidden: The permissions say nothing of that person.
        """
        if identity == self.nobody:
            return self.agent
        with self._lock:
            try:
                found = self._agents.pop(identity, None) or self.agent.for_user(identity)
            except SettingsError as error:
                raise Forbidden(str(error)) from None
            self._agents[identity] = found
            while len(self._agents) > _PEOPLE:
                self._agents.popitem(last=False)
            return found

    def owner(self, identity: Identity) -> Owner:
        """Whose threads somebody sees."""
        return Owner(identity.name, self._database)

    def session(self) -> str:
        """A cookie's value for a browser that has shown the token; it says until when, and a name of its own."""
        said = f"{int(time.time()) + _SESSION_SECONDS}-{secrets.token_hex(8)}"
        return f"{said}.{self._signed(said)}"

    def session_of(self, request: HTTPConnection) -> Session | None:
        """The session that a request bears; None where it bears none, or one that is over."""
        said, _, signed = request.cookies.get(COOKIE, "").partition(".")
        until, _, id_ = said.partition("-")
        if not hmac.compare_digest(signed.encode(), self._signed(said).encode()) or not until.isdecimal():
            return None
        return Session(id_, int(until)) if int(until) > time.time() else None

    def token_is(self, given: str) -> bool:
        """Whether this is the token, told in a time that does not say how much of it is right."""
        token = self._settings.token
        return token is not None and hmac.compare_digest(given.encode(), token.encode())

    def bears_token(self, request: HTTPConnection) -> bool:
        """Whether a request bears the token, or the server has none."""
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        return self._settings.token is None or (scheme.lower() == "bearer" and self.token_is(given.strip()))

    def _signed(self, said: str) -> str:
        key = (self._settings.token or "").encode()
        return hmac.new(key, f"tableturn session {said}".encode(), hashlib.sha256).hexdigest()
