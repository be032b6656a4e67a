"""Numbers and dates that are held as text: which of them a column holds, as far as its sample values show."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from .column_kinds import is_time_like
from .schema import ColumnSchema
from .table import Cell

_PLAIN = re.compile(r"[-+]?\d+(\.\d+)?")
_SIGNED = re.compile(r"[-+(]?\s*[$€£¥]?\s*[-+]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?\s*[%$€£¥]?\)?")
_SORTS = re.compile(r"\d{4}-\d{2}-\d{2}.*|\d{2}:\d{2}.*|\d{4}/\d{2}/\d{2}.*|\d{8}")

_STAND_INS = frozenset({"n/a", "na", "-", "--", "none", "null", "nil", "nan", "?", "unknown", "n.a.", "#n/a"})
"""Texts that stand for a missing value among numbers or dates."""

_OTHER_FORMS = 3
"""Samples at the end that give way to values of other forms."""

TextForm = Literal["numbers", "signed", "dates", "mixed_dates", ""]
"""Numbers of several lengths; numbers with separators or signs; dates that do not sort; dates of several forms."""


def text_form(column: ColumnSchema) -> TextForm:
    """What of a column's texts is put in another order than what they mean; empty for none of it.

    Numbers of one length sort as they are: postal codes and years are left alone.
    """
    texts = [text for text in filled_texts(column.samples) if text.lower() not in _STAND_INS]
    if not texts or "INTERVAL" in column.type.upper():
        return ""
    if all(map(_PLAIN.fullmatch, texts)):
        return "numbers" if len({len(text.partition(".")[0]) for text in texts}) > 1 else ""
    if all(map(_SIGNED.fullmatch, texts)):
        return "signed"
    if column.kind == "time" or all(map(is_time_like, texts)):
        if not all(map(_SORTS.fullmatch, texts)):
            return "dates"
        return "mixed_dates" if len({_shape(text)[:10] for text in texts}) > 1 else ""
    return ""


def stand_in(column: ColumnSchema) -> str | None:
    """The text that a column has where others have NULL, among its samples; None where it has none of the kind."""
    texts = [value for value in column.samples if isinstance(value, str)]
    if any(not text.strip() for text in texts):
        return ""
    # A word for nothing among words may be one of them; among numbers or dates it is none.
    meant = next((text for text in texts if text.strip().lower() in _STAND_INS), None)
    return meant if meant is not None and text_form(column) else None


def filled_texts(values: Iterable[Cell]) -> list[str]:
    """The texts among values that are not blank, without the blanks around them."""
    return [text for value in values if isinstance(value, str) and (text := value.strip())]


def telling(values: Iterable[Cell], most: int) -> tuple[Cell, ...]:
    """The first values, of which the last give way to values of other forms: what is rare may be what bites.

    Args:
        values: Distinct values, most frequent first.
        most: How many.
    """
    held = list(values)
    first, others = held[:most], held[most:]
    texts = filled_texts(first)
    if not others or not any(isinstance(value, str) for value in first):
        return tuple(first)
    found: dict[str, Cell] = {}
    shown = {_form(value) for value in first}
    if texts and any(_PLAIN.fullmatch(text) or _SIGNED.fullmatch(text) or is_time_like(text) for text in texts):
        for value in others:
            if (form := _form(value)) not in shown:
                found.setdefault(form, value)
    elif "" in others and "" not in shown:
        found[""] = ""
    added = list(found.values())[:_OTHER_FORMS]
    return (*first[: most - len(added)], *added)


def _form(value: Cell) -> str:
    text = value.strip() if isinstance(value, str) else None
    if not text:
        return "" if text == "" else type(value).__name__
    if _PLAIN.fullmatch(text):
        return f"number{len(text.partition('.')[0])}"
    if _SIGNED.fullmatch(text):
        return "signed"
    return _shape(text) if is_time_like(text) else "text"


def _shape(text: str) -> str:
    return re.sub(r"[A-Za-z]+", "a", re.sub(r"\d", "0", text))
