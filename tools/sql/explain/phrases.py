"""Words for names and literals, and English lists."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..keywords import fold

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|_+")


def plain_name(name: str) -> str:
    """`birthYear` and `birth_year` as `birth year`."""
    return " ".join(fold(_HUMP.sub(" ", name)).split()) or name


def listed(items: Sequence[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"


def bracketed(text: str) -> str:
    """In parentheses, where the text is more than a word or two."""
    return f"({text})" if " " in text else text
