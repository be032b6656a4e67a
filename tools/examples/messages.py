"""Untrusted texts in messages: one short line each."""

from __future__ import annotations

import reprlib

from ..database.rendering import text as rendered

_LONGEST_VALUE = 80
_LONGEST_REASON = 240


def one_line(text: object, longest: int = _LONGEST_REASON) -> str:
    """A text on one line of printable characters, cut where it is long."""
    return rendered.one_line(" ".join(str(text).split()), longest)


def brief_repr(value: object) -> str:
    """A value as Python writes it, cut where it is long or deep."""
    return (
        repr(one_line(value, _LONGEST_VALUE))
        if isinstance(value, str)
        else one_line(reprlib.repr(value), _LONGEST_VALUE)
    )
