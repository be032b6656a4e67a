"""Names of files, sheets and headers, made names of tables and columns."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from ..quoting import naming

_LONGEST = 60


def table_name(text: str) -> str:
    """A file's or sheet's name as an identifier that needs no quotes: `Sales 2024 (EU)` is `Sales_2024_EU`."""
    plain = unicodedata.normalize("NFKC", text)
    name = re.sub(r"\W+", "_", plain).strip("_")[:_LONGEST] or "data"
    return f"t_{name}" if name[0].isdigit() or name.lower() in naming("duckdb").reserved else name


def column_names(headers: Iterable[object]) -> list[str]:
    """Headers without line breaks and outer blanks; what is empty is numbered, what comes twice told apart."""
    cleaned = [" ".join(str("" if header is None else header).replace("\0", " ").split()) for header in headers]
    return told_apart([name or f"column{place}" for place, name in enumerate(cleaned, start=1)])


def told_apart(names: Sequence[str]) -> list[str]:
    """The names, in whichever case each only once: a number is added to those that come again."""
    taken: set[str] = set()
    given = {name.lower() for name in names}
    result: list[str] = []
    for name in names:
        chosen, number = name, 2
        while chosen.lower() in taken or (chosen != name and chosen.lower() in given):
            chosen, number = f"{name}_{number}", number + 1
        taken.add(chosen.lower())
        result.append(chosen)
    return result
