"""What of a column's values bites a writer of SQL, as far as its sample values show."""

from __future__ import annotations

from ...derived import derived
from ..column_kinds import TextForm, stand_in, text_form
from ..schema import ColumnSchema
from .text import literal

_SAID: dict[TextForm, str] = {
    "numbers": "numbers as text",
    "signed": "numbers as text, with signs",
    "dates": "does not sort by date",
    "mixed_dates": "dates of several forms",
}


@derived
def pitfalls(column: ColumnSchema) -> tuple[str, ...]:
    """A few words on each: spaces around texts, numbers as text, dates that do not sort, '' where NULL is meant."""
    texts = [value for value in column.samples if isinstance(value, str)]
    if not texts:
        return ()
    found: list[str] = []
    if any(text.strip() and text != text.strip() for text in texts):
        found.append("padded with spaces")
    if form := text_form(column):
        found.append(_SAID[form])
    if (missing := stand_in(column)) is not None:
        found.append(f"{literal(missing)} for none")
    return tuple(found)
