"""Untrusted texts in messages: one short line each."""

from __future__ import annotations

import reprlib

_QUOTED = 80
_REASON = 240


def one_line(text: object, most: int = _REASON) -> str:
    """A text on one line of printable characters, cut where it is long."""
    line = " ".join(str(text).split())
    cut = line if len(line) <= most else f"{line[: most - 1]}…"
    return "".join(character if character.isprintable() else "?" for character in cut)


def quoted(value: object) -> str:
    """A value as Python writes it, cut where it is long or deep."""
    return repr(one_line(value, _QUOTED)) if isinstance(value, str) else one_line(reprlib.repr(value), _QUOTED)
