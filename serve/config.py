"""The settings of a server: who may ask, from where, and how much."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field

from ..agent import verbs
from ..tools.errors import SettingsError

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
"""Names that a browser on this machine knows a loopback server by."""

_SHORTEST_TOKEN = 16
_HEADER = re.compile(r"[A-Za-z0-9-]+")
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/?#@A-Z]+")  # as browsers send it
_HOST = re.compile(r"\*|\[[0-9a-f:.]+\]|[^\s:/?#@A-Z]+")  # without a port


@dataclass(frozen=True)
class ServerLimits:
    """Limits on the requests, turns, results and costs of a server.

    Attributes:
        body_bytes: Longest request body.
        body_seconds: Time in which a request body must arrive.
        requests_a_minute: Requests per minute from one person, or from one address if people are not named. A burst may
            be a sixth of it.
        at_once: Turns at once in one worker.
        at_once_a_person: Turns at once of one named person in one worker.
        queries_at_once: Queries at once in one worker that people run outside turns: rows, exports, their own SQL. A
            named person may run as many of them as turns at once; up to 32 more per person wait.
        dollars_a_day: The most that all turns of a day (UTC) may cost, over all workers; None for no limit.
        dollars_a_million: Price of a million prompt tokens and of a million completion tokens.
        retention_days: Conversations that have not been used for this many days are deleted; None keeps them.
        result_bytes: Total size of the results that are stored in temporary files for paging.
        result_rows: Most rows of one such result.
        dollars_a_person: The most that one person's turns of a day (UTC) may cost, over all workers; None for no limit.
    """

    body_bytes: int = 100_000
    body_seconds: float = 10.0
    requests_a_minute: int = 600
    at_once: int = 300
    at_once_a_person: int = 4
    queries_at_once: int = 8
    dollars_a_day: float | None = None
    dollars_a_million: tuple[float, float] | None = None
    retention_days: float | None = None
    result_bytes: int = 500_000_000
    result_rows: int = 1_000_000
    dollars_a_person: float | None = None

    def __post_init__(self) -> None:
        if (self.dollars_a_day, self.dollars_a_person) != (None, None) and self.dollars_a_million is None:
            raise SettingsError("a daily limit in dollars needs a price per million tokens, such as --price 0.25,2")

    def dollars(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return the cost in dollars of prompt and completion tokens."""
        return verbs.compute_token_cost(prompt_tokens, completion_tokens, self.dollars_a_million or (0.0, 0.0))


@dataclass(frozen=True)
class ServeSettings:
    """The settings of a server: token, proxies, hosts, origins and limits.

    Attributes:
        token: The token that every request must send (`Authorization: Bearer`), unless it belongs to a session that was
            opened with it.
        user_header: The header in which a reverse proxy names the person. It is accepted only in requests from
            `proxies`.
        proxies: Addresses or networks of reverse proxies.
        hosts: Host names by which browsers may reach the server, in addition to those of loopback; `*` for any.
        origins: Origins of other pages that may call the server.
        limits: How much may be asked.
    """

    token: str | None = None
    user_header: str | None = None
    proxies: tuple[str, ...] = ("127.0.0.1", "::1")
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    limits: ServerLimits = field(default_factory=ServerLimits)

    def __post_init__(self) -> None:
        if self.token is not None and len(self.token) < _SHORTEST_TOKEN:
            raise SettingsError(f"the token is too short: use at least {_SHORTEST_TOKEN} random characters")
        if self.user_header is not None and not _HEADER.fullmatch(self.user_header):
            raise SettingsError(f"invalid header name {self.user_header!r} (expected something like X-Forwarded-User)")
        if "*" in self.origins:
            raise SettingsError("'*' is not allowed as an origin: any page could ask as its visitor; name each origin")
        for origin in self.origins:
            if not _ORIGIN.fullmatch(origin):
                raise SettingsError(f"invalid origin {origin!r} (expected something like https://intranet.example)")
        for host in self.hosts:
            if not _HOST.fullmatch(host):
                raise SettingsError(f"invalid host name {host!r} (expected something like intranet.example)")
        for proxy in self.proxies:
            try:
                ipaddress.ip_network(proxy, strict=False)
            except ValueError:
                raise SettingsError(
                    f"invalid proxy address {proxy!r} (expected something like 10.0.0.7 or 10.0.0.0/8)"
                ) from None

    def is_proxy(self, address: str) -> bool:
        """Whether an address belongs to a trusted reverse proxy."""
        try:
            ip = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(ip in ipaddress.ip_network(proxy, strict=False) for proxy in self.proxies)

    def check_host(self, host: str) -> None:
        """Raise `SettingsError` if a server on this host would accept anybody on the network."""
        if not is_loopback_host(host) and self.token is None and self.user_header is None:
            raise SettingsError(
                f"--host {host} opens the server to the network: give --token (or TABLETURN_TOKEN), or --user-header "
                "behind a reverse proxy that says who is asking"
            )


def is_loopback_host(host: str) -> bool:
    """Whether a host can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
