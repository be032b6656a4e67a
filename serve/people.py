"""Who asks: nobody in particular on one's own machine, whoever has the token, or whom a reverse proxy names."""

from __future__ import annotations

import hashlib
import hmac
import threading
import time
from collections import OrderedDict
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
    """Nobody has said who asks, or not in a way that counts."""


class Forbidden(TableturnError):
    """This person, or the page that this request comes from, may not ask here."""


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
        """Who asks.

        Raises:
            Unauthorized: Neither token nor session is right, or the proxy names nobody.
        """
        self._check_token(request)
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
        """A cookie's value for a browser that has shown the token; it says nothing but until when."""
        until = str(int(time.time()) + _SESSION_SECONDS)
        return f"{until}.{self._signed(until)}"

    def token_is(self, given: str) -> bool:
        """Whether this is the token, told in a time that does not say how much of it is right."""
        token = self._settings.token
        return token is not None and hmac.compare_digest(given.encode(), token.encode())

    def _check_token(self, request: HTTPConnection) -> None:
        if self._settings.token is None:
            return
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self.token_is(given.strip()):
            return
        until, _, signed = request.cookies.get(COOKIE, "").partition(".")
        good = (
            until.isdecimal() and len(until) < 12 and hmac.compare_digest(signed.encode(), self._signed(until).encode())
        )
        if not good or int(until) < time.time():
            raise Unauthorized("give the server's token: Authorization: Bearer TOKEN")

    def _signed(self, until: str) -> str:
        key = (self._settings.token or "").encode()
        return hmac.new(key, f"tableturn session {until}".encode(), hashlib.sha256).hexdigest()
