"""Sessions: the person who asks, and the policy that holds for them.

A *session* is a database, a person and a policy. `Database` holds the first and this module's `Session` the other two;
whatever is kept of a database (samples, value indexes, examples, threads) is kept under `Session.key`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property
from urllib.parse import quote

from ..errors import SettingsError
from .egress import Egress, any_matches


@dataclass(frozen=True)
class Permissions:
    """Allow and deny lists as given, in lower case; without entries all may be read.

    Attributes:
        allow: `table` or `table.column` entries, `*` standing for any run of characters; empty allows all.
        deny: The same; it wins over `allow`.
        within: Permissions that hold besides: only what they show too may be read. Lists that are laid over others can
            thus only narrow them.
    """

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    within: Permissions | None = None

    @classmethod
    def of(cls, allow: Iterable[str] | None = None, deny: Iterable[str] = ()) -> Permissions:
        """Return the permissions of two lists: no `allow` allows everything, an empty one nothing."""
        allowed = None if allow is None else _clean_entries(allow)
        return cls((), ("*",)) if allowed == () else cls(allowed or (), _clean_entries(deny))

    def __bool__(self) -> bool:
        return any(layer.allow or layer.deny for layer in self.list_layers())

    def list_layers(self) -> Iterator[Permissions]:
        """Yield these lists, and those that they are laid over."""
        layer: Permissions | None = self
        while layer is not None:
            yield layer
            layer = layer.within

    def narrow(self, by: Permissions) -> Permissions:
        """Return permissions that allow only what both allow."""
        if by.within is not None:
            return replace(by, within=self.narrow(by.within))
        if not by or by in self.list_layers():
            return self
        return replace(by, within=self) if self else by

    def shows(self, table: str, column: str) -> bool:
        """Whether a column may be read."""
        names = (table.lower(), f"{table}.{column}".lower())
        return all(
            (not layer.allow or any_matches(layer.allow, names)) and not any_matches(layer.deny, names)
            for layer in self.list_layers()
        )

    def check(self, names: Container[str]) -> None:
        """Raise `SettingsError` for an entry without `*` that names no known table or column."""
        for entry in (entry for layer in self.list_layers() for entry in (*layer.allow, *layer.deny)):
            if "*" not in entry and entry not in names:
                raise SettingsError(
                    f"the allow or deny list names {entry!r}, but the database has no such table or column: "
                    "`tableturn schema` lists them"
                )

    def covers(self, other: Permissions) -> bool:
        """Whether these certainly allow all that `other` allows, whatever the database holds.

        Only the lists are compared: hiding a table covers nothing of hiding one of its columns, since `a.b` can also be
        the name of a table. In doubt the answer is no.
        """
        # An entry's own `*` is a character that only a `*` of another one matches.
        denied = [entry for layer in other.list_layers() for entry in layer.deny]
        allows = [layer.allow for layer in other.list_layers() if layer.allow]
        return all(
            all(any_matches(denied, (entry,)) for entry in layer.deny)
            and (not layer.allow or any(all(any_matches(layer.allow, (entry,)) for entry in allow) for allow in allows))
            for layer in self.list_layers()
        )


def _clean_entries(given: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({entry.strip().lower() for entry in given}))


@dataclass(frozen=True)
class Identity:
    """The person or program that asks, as named by the calling program, never by a model.

    Attributes:
        name: The person's name, all of whose characters can be sent to a server; empty if unknown.
        groups: Groups or roles.
        claims: Further facts as pairs of name and value, for engines whose rules depend on them.
    """

    name: str = ""
    groups: tuple[str, ...] = ()
    claims: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        # Without them, it could be another person's.
        if any(sign == "\0" or "\ud800" <= sign <= "\udfff" for sign in self.name):
            raise SettingsError(
                f"nobody can be named {self.name!a}: it holds a NUL or half of a character; give the name as plain text"
            )


@dataclass(frozen=True)
class Policy:
    """The rules of what may be read, and of what may leave for a model."""

    permissions: Permissions = Permissions()
    egress: Egress = field(default_factory=Egress)

    def covers(self, other: Policy) -> bool:
        """Whether all that another policy lets be read or leave, this one does too."""
        return self.permissions.covers(other.permissions) and self.egress.covers(other.egress)


@dataclass(frozen=True)
class Rights:
    """The rights under which a turn, an answer or an example was made.

    Who asked is a digest, for claims can be secrets, and kept data is no place for them; empty for nobody.
    """

    person: str = ""
    policy: Policy = Policy()

    @property
    def key(self) -> str:
        """A key that separates what people with different rights store; empty if unrestricted."""
        permissions = self.policy.permissions
        return digest(self.person, permissions) if self.person or permissions else ""

    def read_all_of(self, made: Rights) -> bool:
        """Whether these rights allow reading all that could be read for `made`."""
        return self.person == made.person and self.policy.permissions.covers(made.policy.permissions)

    def cover(self, made: Rights | None) -> bool:
        """Whether these rights equal or exceed those of `made`, so that its results may be read.

        Rights of different people are never compared: what a person may read beside the policy is for the engine to
        know. What has no record of its rights (None) counts as made under all rights.
        """
        made = made or Rights()
        return made == self or (self.person == made.person and self.policy.covers(made.policy))


@dataclass(frozen=True)
class Session:
    """A person under a policy."""

    identity: Identity = Identity()
    policy: Policy = Policy()

    @property
    def key(self) -> str:
        """A key that is equal for sessions that may read the same; empty if unrestricted."""
        return "" if self == Session() else digest(self.identity, self.policy)

    @cached_property
    def rights(self) -> Rights:
        """The rights that are stored beside everything made in this session."""
        return Rights("" if self.identity == Identity() else digest(self.identity), self.policy)

    def narrow(self, permissions: Permissions) -> Session:
        """Return the same person's session, restricted to what these permissions allow too."""
        return replace(self, policy=replace(self.policy, permissions=self.policy.permissions.narrow(permissions)))


def digest(*parts: object) -> str:
    """Return a short key that is the same for equal parts."""
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


_THREAD: ContextVar[str] = ContextVar("tableturn_thread", default="")
_LONGEST = 64


@contextmanager
def name_conversation(thread: str) -> Generator[None]:
    """Name a conversation in the statements that are sent in this context."""
    before = _THREAD.set(thread)
    try:
        yield
    finally:
        _THREAD.reset(before)


def write_remark(identity: Identity) -> str:
    """Return an SQL comment, with a blank after it, that names who asks in a server's log.

    It has the form that sqlcommenter and OpenTelemetry read: keys in order, values in quotes and percent-encoded, so
    that no value can end the comment. It stands first, for servers cut long statements short in what they list.
    """
    told = {"application": "tableturn", "thread": _THREAD.get(), "user": identity.name}
    pairs = (f"{name}='{quote(value[:_LONGEST], safe='', errors='replace')}'" for name, value in told.items() if value)
    return f"/*{','.join(pairs)}*/ "
