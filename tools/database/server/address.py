"""URLs of servers: tableturn's parameters removed, passwords hidden from messages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, urlencode

from ...errors import DatabaseUnavailable, SettingsError
from ..session import Identity

# A password may hold any sign, also those that should have been escaped: it ends at the last `@`.
_PASSWORD = re.compile(r"(?P<before>://[^/?#:]*:).*(?=@)", re.DOTALL)
_PARAMETERS = re.compile(
    r"(?P<before>[?&;](?:token|password|passwd|sslpassword|ssl_key_password|pwd)=)[^&]*", re.IGNORECASE
)


def hide_url_secrets(url: str) -> str:
    """Return a URL with `***` in place of passwords and tokens."""
    return _PARAMETERS.sub(r"\g<before>***", _PASSWORD.sub(r"\g<before>***", url))


@dataclass(frozen=True)
class ServerAddress:
    """A database URL split into the driver's URL, the schemas and the role.

    Attributes:
        url: Without our own parameters.
        schemas: Those that names are looked up in, and the only ones that are shown; empty for the server's choice.
        role: The role that a session's person has on the server; `{user}` in it stands for the person's name.
    """

    url: str
    schemas: tuple[str, ...] = ()
    role: str = ""

    def resolve_person_role(self, identity: Identity) -> str:
        """Return the server role of a person; empty if the URL names no role.

        Raises:
            SettingsError: There is no person to take the role of, or the name is that of no role.
        """
        if not self.role:
            return ""
        if "{user}" in self.role and not identity.name:
            raise SettingsError(
                "the database's URL switches to each person's role, but no person is named: give an identity"
            )
        role = self.role.replace("{user}", identity.name)
        # To the server, this name means the login itself.
        if role.lower() in ("none", "") or "\0" in role:
            raise SettingsError(f"the role {role!r} is not allowed for a person: choose another name")
        return role


def parse_server_url(url: str, *, roles: bool = True) -> ServerAddress:
    """Parse a database URL, and split off the parameters `schema` and `role`.

    Raises:
        DatabaseUnavailable: Its password holds an `@`: drivers would take the rest of it for the server's name.
        SettingsError: It takes on a role, where there are no `roles`.
    """
    base, _, query = url.partition("?")
    if base.partition("://")[2].partition("/")[0].partition(":")[2].count("@") > 1:
        raise DatabaseUnavailable(f"not a database URL: {hide_url_secrets(url)}; write %40 for an @ in the password")
    pairs = parse_qsl(query, keep_blank_values=True)
    other_pairs = [(name, value) for name, value in pairs if name not in ("schema", "role")]
    options = dict(pairs)
    if options.get("role") and not roles:
        raise SettingsError("switching to a person's role works only on PostgreSQL: leave `role` out of the URL")
    suffix = f"?{urlencode(other_pairs, quote_via=quote)}" if other_pairs else ""
    schemas = (name.strip() for name in options.get("schema", "").split(","))
    return ServerAddress(base + suffix, tuple(filter(None, schemas)), options.get("role", ""))


def add_schemas_to_url(url: str, schemas: str) -> str:
    """Return the URL of a database with a parameter that names the schemas to read."""
    if "://" not in url or url.partition("://")[0].partition("+")[0].lower() in ("sqlite", "duckdb"):
        raise SettingsError("schemas can be chosen only on servers: give a URL such as postgresql://user@host/database")
    if parse_server_url(url).schemas:
        raise SettingsError("the database's URL already names schemas: leave out one of the two")
    return f"{url}{'&' if '?' in url else '?'}{urlencode({'schema': schemas}, quote_via=quote)}"


def redact_message(text: object, secrets: Sequence[str] = ()) -> str:
    """Return a driver's message on one line, with secrets replaced by `***`."""
    message = str(text)
    for secret in filter(None, secrets):
        message = message.replace(secret, "***")
    return " ".join(message.split())[:300]


def make_connection_error(location: str, text: object, password: str | None) -> DatabaseUnavailable:
    """Return the error for a server that cannot be reached or refuses the login."""
    message = redact_message(text, [password or ""]).removeprefix("connection failed: ")
    message = message.partition(" Is the server running")[0].rstrip(". ")  # libpq asks that of servers that are not
    advice = "check the address, the login and the database's name, and that the server runs"
    return DatabaseUnavailable(f"{location} cannot be reached: {message}: {advice}")
