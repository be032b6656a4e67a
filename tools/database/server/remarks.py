"""The comment that statements carry, so that the server's own logs tell who asked."""

from __future__ import annotations

import re

from ..session import Identity

_UNSAFE = re.compile(r"[^\w.@+-]")
_LONGEST = 64


def remark(identity: Identity) -> str:
    """A comment with the person's name, of letters, digits and `.@+-_` only; a blank follows it."""
    name = _UNSAFE.sub("_", identity.name)[:_LONGEST]
    return f"/* tableturn user={name} */ " if name else "/* tableturn */ "
