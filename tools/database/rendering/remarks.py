"""What of a column's values bites a writer of SQL, as far as its sample values show."""

from __future__ import annotations

import re

from ..schema import ColumnSchema

_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")
_SORTS = re.compile(r"\d{4}-\d{2}-\d{2}.*|\d{2}:\d{2}.*|\d{4}/\d{2}/\d{2}.*|\d{8}")


def pitfalls(column: ColumnSchema) -> tuple[str, ...]:
    """A few words on each: spaces around texts, numbers held as text, dates that do not sort, '' where NULL is meant.

    A number held as text sorts wrong only where numbers differ in length: postal codes are left alone.
    """
    texts = [value for value in column.samples if isinstance(value, str)]
    filled = [text for text in texts if text.strip()]
    if not texts:
        return ()
    found: list[str] = []
    if any(text != text.strip() for text in filled):
        found.append("padded with spaces")
    numbers = [match for text in filled if (match := _NUMBER.fullmatch(text.strip()))]
    if filled and len(numbers) == len(filled) and len({len(number[0].partition(".")[0]) for number in numbers}) > 1:
        found.append("numbers as text")
    if column.kind == "time" and not all(_SORTS.fullmatch(text.strip()) for text in filled):
        found.append("does not sort by date")
    if len(filled) < len(texts):
        found.append("'' for none")
    return tuple(found)
