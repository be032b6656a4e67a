"""Entries of rules: names of tables and columns in which `*` stands for any run of characters."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(maxsize=100_000)
def matches(entry: str, name: str) -> bool:
    """Whether an entry stands for a name, both in lower case."""
    return re.fullmatch(re.escape(entry).replace(r"\*", ".*"), name, re.DOTALL) is not None
