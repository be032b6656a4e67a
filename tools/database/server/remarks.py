"""The comment that statements carry, so that the server's own logs tell who asked, and in which conversation.

It has the form that sqlcommenter and OpenTelemetry read: keys in order, values in quotes and percent-encoded, so that
no value can end the comment or the quotes. It stands before the statement, for servers cut long ones short in what they
list.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from urllib.parse import quote

from ..session import Identity

_THREAD: ContextVar[str] = ContextVar("tableturn_thread", default="")
_LONGEST = 64


@contextmanager
def asked_in(thread: str) -> Generator[None]:
    """Statements that are sent meanwhile, in this context, say that they are of that conversation."""
    before = _THREAD.set(thread)
    try:
        yield
    finally:
        _THREAD.reset(before)


def remark(identity: Identity) -> str:
    """The comment for a statement that is sent now; a blank follows it."""
    told = {"application": "tableturn", "thread": _THREAD.get(), "user": identity.name}
    pairs = (f"{name}='{quote(value[:_LONGEST], safe='', errors='replace')}'" for name, value in told.items() if value)
    return f"/*{','.join(pairs)}*/ "
