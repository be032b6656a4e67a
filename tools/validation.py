"""Plain words for what pydantic finds wrong with what a person wrote."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .errors import SettingsError

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_core import ErrorDetails

_TEXTS = {
    "missing": "is missing",
    "extra_forbidden": "is not known",
    "unexpected_keyword_argument": "is not known",
    "string_pattern_mismatch": "has a form or characters that are not allowed",
    "string_unicode": "has characters that are not valid text",
    "string_too_long": "must have at most {max_length} characters",
    "string_too_short": "must have at least {min_length} characters",
    "too_long": "must have at most {max_length} items",
    "too_short": "must have at least {min_length} items",
    "json_invalid": "is not valid JSON",
}
_KINDS = {
    "literal_error": "{expected}",
    "greater_than_equal": "at least {ge}",
    "greater_than": "more than {gt}",
    "less_than_equal": "at most {le}",
    "less_than": "less than {lt}",
    "int": "a whole number",
    "float": "a number",
    "finite_number": "a number",
    "bool": "true or false",
    "string": "text",
    "list": "a list",
    "tuple": "a list",
    "set": "a list",
    "date": "a date such as 2024-12-31",
    **dict.fromkeys(("dict", "mapping", "model", "dataclass"), "an object with named fields"),
}
"""What a value must be, by the beginning of pydantic's name for the error."""


def check_argument(name: str, value: object, wanted: str, *kinds: type) -> None:
    """Raise `SettingsError` if an argument of a program is neither None nor of these types."""
    if not isinstance(value, (*kinds, type(None))):
        raise SettingsError(f"{name} must be {wanted}, not {reprlib.repr(value)}")


def describe_fault(fault: ErrorDetails, model: type[BaseModel] | None = None, separator: str = ".") -> str:
    """Say which field is wrong and how, as in `rows must be a whole number, not 'x'`.

    Args:
        fault: One of `ValidationError.errors()`.
        model: The model whose field it is, if its bounds are to be told.
        separator: What stands between the names of nested fields.
    """
    place = "".join(filter(str.isprintable, separator.join(map(str, fault["loc"]))))[:100]
    if fault["type"] == "value_error":
        return ": ".join(filter(None, (place, fault["msg"].removeprefix("Value error, "))))
    return f"{place or 'this'} {_describe_need(fault, _describe_range(fault, model) if model else '')}"


def _describe_need(fault: ErrorDetails, number: str) -> str:
    kind, context = fault["type"], fault.get("ctx", {})
    if context.get("min_length") == 1 or context.get("pattern") == r"\S":
        return "must not be empty"
    if kind in _TEXTS:
        return _TEXTS[kind].format_map(context)
    wanted = number or next((text for start, text in _KINDS.items() if kind.startswith(start)), "")
    given = "" if isinstance(fault["input"], Mapping | list | None) else reprlib.repr(fault["input"])
    if not wanted:
        return f"is not valid{given and f': {given}'}"
    return f"must be {wanted.format_map(context)}{given and f', not {given}'}"


def _describe_range(fault: ErrorDetails, model: type[BaseModel]) -> str:
    """Return which numbers a field takes, as `a number from 1 to 20`; empty without bounds."""
    field = model.model_fields.get(str(fault["loc"][0])) if fault["loc"] else None
    signs = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
    parts = field.metadata if field else []
    bounds = {sign: getattr(part, sign) for sign in signs for part in parts if hasattr(part, sign)}
    if field is None or not bounds:
        return ""
    noun = "a whole number" if field.annotation is int else "a number"
    if bounds.keys() == {"ge", "le"}:
        return f"{noun} from {bounds['ge']:,} to {bounds['le']:,}"
    return f"{noun}, {' and '.join(f'{signs[sign]} {bound:,}' for sign, bound in bounds.items())}"
