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
from .egress import Egress, has_match


@dataclass(frozen=True)
class Permissions:
    """Allow and deny lists of tables and columns; without entries all may be read.

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
        """Return permissions from two lists: `allow=None` allows everything, `allow=()` nothing."""
        allow_entries = None if allow is None else _normalize_entries(allow)
        return cls((), ("*",)) if allow_entries == () else cls(allow_entries or (), _normalize_entries(deny))

    def __bool__(self) -> bool:
        return any(layer.allow or layer.deny for layer in self.list_permission_layers())

    def list_permission_layers(self) -> Iterator[Permissions]:
        """Yield these permissions, and all permissions that they narrow."""
        layer: Permissions | None = self
        while layer is not None:
            yield layer
            layer = layer.within

    def narrow(self, by: Permissions) -> Permissions:
        """Return permissions that allow only what these and `by` both allow."""
        if by.within is not None:
            return replace(by, within=self.narrow(by.within))
        if not by or by in self.list_permission_layers():
            return self
        return replace(by, within=self) if self else by

    def shows(self, table: str, column: str) -> bool:
        """Whether these permissions allow reading a column."""
        names = (table.lower(), f"{table}.{column}".lower())
        return all(
            (not layer.allow or has_match(layer.allow, names)) and not has_match(layer.deny, names)
            for layer in self.list_permission_layers()
        )

    def check(self, names: Container[str]) -> None:
        """Raise `SettingsError` if an entry without `*` names an unknown table or column."""
        for entry in (entry for layer in self.list_permission_layers() for entry in (*layer.allow, *layer.deny)):
            if "*" not in entry and entry not in names:
                raise SettingsError(
                    f"the allow or deny list names {entry!r}, but the database has no such table or column: "
                    "`tableturn schema` lists them"
                )

    def covers(self, other: Permissions) -> bool:
        """Whether these permissions surely allow everything that `other` allows.

        Only the lists are compared: hiding a table covers nothing of hiding one of its columns, since `a.b` can also be
        the name of a table. In doubt the answer is no.
        """
        # An entry's own `*` is a character that only a `*` of another one matches.
        deny_entries = [entry for layer in other.list_permission_layers() for entry in layer.deny]
        allows = [layer.allow for layer in other.list_permission_layers() if layer.allow]
        return all(
            all(has_match(deny_entries, (entry,)) for entry in layer.deny)
            and (not layer.allow or any(all(has_match(layer.allow, (entry,)) for entry in allow) for allow in allows))
            for layer in self.list_permission_layers()
        )


def _normalize_entries(entries: Iterable[str]) -> tuple[str, ...]:
    if isinstance(entries, str):
        raise SettingsError(f"allow and deny take lists of names: write [{entries!r}]")
    return tuple(sorted({entry.strip().lower() for entry in entries}))


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
                f"the name {self.name!a} has characters that are not valid text (NUL or a lone surrogate): remove them"
            )


@dataclass(frozen=True)
class Policy:
    """The rules for what may be read and what may be sent to a model."""

    permissions: Permissions = Permissions()
    egress: Egress = field(default_factory=Egress)

    def covers(self, other: Policy) -> bool:
        """Whether this policy allows everything that the other policy allows."""
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
        """A storage key that separates people with different rights; empty if unrestricted."""
        permissions = self.policy.permissions
        return compute_digest(self.person, permissions) if self.person or permissions else ""

    def can_read_all_of(self, required: Rights) -> bool:
        """Whether these rights allow reading everything that the rights `required` allow."""
        return self.person == required.person and self.policy.permissions.covers(required.policy.permissions)

    def cover(self, required: Rights | None) -> bool:
        """Whether these rights equal or exceed those of `required`, so that its results may be read.

        Rights of different people are never compared: what a person may read beside the policy is for the engine to
        know. What has no record of its rights (None) counts as made under all rights.
        """
        required = required or Rights()
        return required == self or (self.person == required.person and self.policy.covers(required.policy))


@dataclass(frozen=True)
class Session:
    """The person who asks, and the policy for that person."""

    identity: Identity = Identity()
    policy: Policy = Policy()

    @property
    def key(self) -> str:
        """A key that is equal for sessions with the same access; empty if unrestricted."""
        return "" if self == Session() else compute_digest(self.identity, self.policy)

    @cached_property
    def rights(self) -> Rights:
        """The rights that are stored with everything made in this session."""
        return Rights("" if self.identity == Identity() else compute_digest(self.identity), self.policy)

    def narrow(self, permissions: Permissions) -> Session:
        """Return this session, restricted to what the given permissions also allow."""
        return replace(self, policy=replace(self.policy, permissions=self.policy.permissions.narrow(permissions)))


def compute_digest(*parts: object) -> str:
    """Return a short hash that is the same for equal parts."""
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


_THREAD: ContextVar[str] = ContextVar("tableturn_thread", default="")
_LONGEST = 64


@contextmanager
def tag_statements_with_thread(thread: str) -> Generator[None]:
    """Add a thread's id to the SQL statements that are sent in this context."""
    before = _THREAD.set(thread)
    try:
        yield
    finally:
        _THREAD.reset(before)


def make_comment(identity: Identity) -> str:
    """Return an SQL comment that names the person who asks, for a server's log.

    It has the form that sqlcommenter and OpenTelemetry read: keys in order, values in quotes and percent-encoded, so
    that no value can end the comment. It stands first, for servers cut long statements short in what they list.
    """
    tags = {"application": "tableturn", "thread": _THREAD.get(), "user": identity.name}
    pairs = (f"{name}='{quote(value[:_LONGEST], safe='', errors='replace')}'" for name, value in tags.items() if value)
    return f"/*{','.join(pairs)}*/ "
