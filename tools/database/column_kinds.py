"""Kinds of columns, and forms of their texts, by declared types and values."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Literal

from ..words import MONTHS, split_name_into_words
from .schema import ColumnKind, ColumnSchema
from .table import Cell

_BY_TYPE: tuple[tuple[re.Pattern[str], ColumnKind], ...] = (
    (re.compile(r"BOOL|^BIT$|^BIT\(1\)"), "boolean"),
    (re.compile(r"DATE|TIME|INTERVAL"), "time"),
    (re.compile(r"CHAR|TEXT|CLOB|STRING|UUID|JSON|ENUM|GUID"), "text"),
    (re.compile(r"BLOB|BINARY|BYTE|IMAGE"), "binary"),
    (re.compile(r"INT(?!.*POINT)|REAL|FLOA|DOUB|NUM|DEC|MONEY|CURRENCY|SERIAL|YEAR"), "number"),
)
# Their names begin, or end, as those of numbers and times do.
_COMPOUND = re.compile(r"RANGE$|^(MULTI)?POINT$|\]$")
_MONTH = rf"(?:{'|'.join(month[:3] for month in MONTHS)})[a-z]*"
_TIME_LIKE = re.compile(
    rf"""\d{{4}}-(?:0?\d|1[0-2])-[0-3]?\d(?:[T\ ]\d{{1,2}}:\d{{2}}(?::\d{{2}}(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?
    |(?:\d{{4}}(?P<a>[/.])\d{{1,2}}(?P=a)\d{{1,2}}|\d{{1,2}}(?P<b>[/.])\d{{1,2}}(?P=b)(?:\d{{4}}|\d{{2}}))
     (?:\ \d{{1,2}}:\d{{2}}(?::\d{{2}})?)?
    |\d{{1,2}}:\d{{2}}(?::\d{{2}}(?:\.\d+)?)?
    |\d{{1,2}}[ -]{_MONTH}[ -]\d{{2,4}}
    |{_MONTH}\ \d{{1,2}},?\ \d{{4}}""",
    re.VERBOSE | re.IGNORECASE,
)

_YES_OR_NO = frozenset(["t", "f", "true", "false", "y", "n", "yes", "no", "0", "1", "on", "off"])
_LABEL = re.compile(r"'((?:[^']|'')*)'")
_LABELS = 20


def parse_enum_labels(declaration: str) -> tuple[str, ...]:
    """Return the first labels of an enum type from its declaration."""
    return tuple(label.replace("''", "'") for label in _LABEL.findall(declaration)[:_LABELS])


def is_date_or_time_text(text: str) -> bool:
    """Whether a text is a date, a time of day or both, in a common written form."""
    return _TIME_LIKE.fullmatch(text) is not None


def infer_column_kind(declared_type: str, values: Collection[Cell]) -> ColumnKind:
    """Return a column's kind by its declared type, unless all values contradict that type.

    SQLite lets any column hold anything, and has no type for dates, which stand in text columns.
    """
    types = set(map(type, values))
    guess: ColumnKind | None = "number" if types and types <= {int, float} else "binary" if types == {bytes} else None
    if types == {str}:
        guess = "time" if all(map(_TIME_LIKE.fullmatch, map(str, values))) else "text"
    upper = declared_type.upper()
    if _COMPOUND.search(upper):
        return guess or "other"
    kinds: list[ColumnKind] = [kind for pattern, kind in _BY_TYPE if pattern.search(upper)]
    kind = kinds[0] if kinds else guess or "other"
    if kind == "boolean" and all(str(value).lower() in _YES_OR_NO for value in values):
        return kind
    is_wrong = guess in ("text", "time") and kind in ("boolean", "number")
    return guess if guess is not None and (is_wrong or (kind == "text" and guess == "time")) else kind


_DATE_WORDS = frozenset({"date", "dt", "day", "ts", "time", "timestamp", "at"})
_LEAST_DATE = 100_000  # 240131; what is smaller is a count of days, or a part of a date


def is_numeric_date_column(column: ColumnSchema) -> bool:
    """Whether a column of numbers holds dates, such as 20240131, or Unix seconds."""
    values = [sample for sample in column.samples if isinstance(sample, int)]
    has_date_name = column.kind == "number" and bool(_DATE_WORDS & {*split_name_into_words(column.name)})
    return has_date_name and bool(values) and max(values) >= _LEAST_DATE


_DIGIT, _LETTERS = re.compile(r"\d"), re.compile(r"[A-Za-z]+")
_PLAIN = re.compile(r"[-+]?\d+(\.\d+)?")
_SIGNED = re.compile(r"[-+(]?\s*[$€£¥]?\s*[-+]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?\s*[%$€£¥]?\)?")
_SORTABLE_TIME = re.compile(r"\d{4}-\d{2}-\d{2}.*|\d{2}:\d{2}.*|\d{4}/\d{2}/\d{2}.*|\d{8}")
# Samples at the end that give way to values of other forms.
_EXTRA_FORMS = 3

STAND_INS = frozenset({"n/a", "na", "-", "--", "none", "null", "nil", "nan", "?", "unknown", "n.a.", "#n/a"})
"""Texts that stand for a missing value among numbers or dates."""

TextForm = Literal["numbers", "signed", "dates", "mixed_dates", ""]
"""Numbers of several lengths; numbers with separators or signs; dates that do not sort; dates of several forms."""


def classify_text_form(column: ColumnSchema) -> TextForm:
    """Return the form of a column's texts if they sort wrongly as text; else empty."""
    texts = [text for text in list_nonblank_texts(column.samples) if text.lower() not in STAND_INS]
    if not texts or "INTERVAL" in column.type.upper():
        return ""
    if all(map(_PLAIN.fullmatch, texts)):
        # Numbers of one length sort as they are: postal codes and years are left alone.
        return "numbers" if len({len(text.partition(".")[0]) for text in texts}) > 1 else ""
    if all(map(_SIGNED.fullmatch, texts)):
        return "signed"
    if column.kind == "time" or all(map(is_date_or_time_text, texts)):
        if not all(map(_SORTABLE_TIME.fullmatch, texts)):
            return "dates"
        return "mixed_dates" if len({_mask_letters_and_digits(text)[:10] for text in texts}) > 1 else ""
    return ""


def find_missing_value_text(column: ColumnSchema) -> str | None:
    """Return the sample text that stands for a missing value; None if there is no such text."""
    texts = [value for value in column.samples if isinstance(value, str)]
    if any(not text.strip() for text in texts):
        return ""
    # A word for nothing among words may be one of them; among numbers or dates it is none.
    stand_in = next((text for text in texts if text.strip().lower() in STAND_INS), None)
    return stand_in if stand_in is not None and classify_text_form(column) else None


def list_nonblank_texts(values: Iterable[Cell]) -> list[str]:
    """Return the non-blank texts among values, stripped of surrounding whitespace."""
    return [text for value in values if isinstance(value, str) and (text := value.strip())]


def choose_sample_values(values: Iterable[Cell], limit: int) -> tuple[Cell, ...]:
    """Return sample values: the first ones, and a few that are written in other forms."""
    # What is rare may be what a query fails on.
    every = list(values)
    first, rest = every[:limit], every[limit:]
    texts = list_nonblank_texts(first)
    if not rest or not any(isinstance(value, str) for value in first):
        return tuple(first)
    other_forms: dict[str, Cell] = {}
    first_forms = {_classify_value_form(value) for value in first}
    if texts and any(_PLAIN.fullmatch(text) or _SIGNED.fullmatch(text) or is_date_or_time_text(text) for text in texts):
        for value in rest:
            if (form := _classify_value_form(value)) not in first_forms:
                other_forms.setdefault(form, value)
    elif "" in rest and "" not in first_forms:
        other_forms[""] = ""
    extras = list(other_forms.values())[:_EXTRA_FORMS]
    return (*first[: limit - len(extras)], *extras)


def _classify_value_form(value: Cell) -> str:
    text = value.strip() if isinstance(value, str) else None
    if not text:
        return "" if text == "" else type(value).__name__
    if _PLAIN.fullmatch(text):
        return f"number{len(text.partition('.')[0])}"
    if _SIGNED.fullmatch(text):
        return "signed"
    return _mask_letters_and_digits(text) if is_date_or_time_text(text) else "text"


def _mask_letters_and_digits(text: str) -> str:
    return _LETTERS.sub("a", _DIGIT.sub("0", text))
