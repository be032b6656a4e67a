"""Tables of the keys of JSON that programs read, from the records behind it and their docstrings."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any

from docstring_parser import parse
from pydantic import TypeAdapter
from tableturn.agent import Answer
from tableturn.agent.answers.answer import JSON_KEYS
from tableturn.agent.records import AnswerRecord

from .markdown import table

_HEADINGS = ("key", "type", "what it is")
_SEVERAL = {"text": "texts", "number": "numbers", "object": "objects"}
_IN_JSON = {"None": "null", "True": "true", "False": "false"}


def answer_keys() -> str:
    """The keys of `tableturn ask --json`."""
    told = _told(Answer)
    types = _types(AnswerRecord) | {
        "answered": "true or false",
        "chart": "object or null",
        "note_kinds": "list of texts",
    }
    return table(_HEADINGS, [(f"`{key}`", types[key], told[key]) for key in JSON_KEYS])


def keys(module: str, name: str, without: tuple[str, ...] = ()) -> str:
    """The keys of a record that becomes JSON, without some that the page tells of in other words."""
    kind = getattr(import_module(module), name)
    told = _told(kind)
    return table(
        _HEADINGS, [(f"`{key}`", holds, told[key]) for key, holds in _types(kind).items() if key not in without]
    )


def _told(kind: type[Any]) -> dict[str, str]:
    """What the docstrings of a class and of its properties, or comments by its fields, say of each attribute."""
    told = {name: value.__doc__ or "" for name, value in vars(kind).items() if not name.startswith("_")}
    told |= _comments(kind)
    told |= {param.arg_name: param.description or "" for param in parse(kind.__doc__ or "").params}
    return {
        name: re.sub(r"\b(None|True|False)\b", lambda found: _IN_JSON[found[0]], text) for name, text in told.items()
    }


def _comments(kind: type[Any]) -> dict[str, str]:
    """What the comment above or beside each field of a class says, as sentences."""
    found: dict[str, str] = {}
    above: list[str] = []
    for line in inspect.getsource(kind).splitlines():
        code, _, comment = line.strip().partition("# ")
        field = re.match(r"(\w+): ", code)
        if field and (text := " ".join(filter(None, (*above, comment)))):
            found[field[1]] = f"{text[0].upper()}{text[1:].removesuffix('.')}."
        above = [] if code else [*above, comment]
    return found


def _types(kind: type[Any]) -> dict[str, str]:
    """What each field holds, in the words of JSON."""
    schema = TypeAdapter(kind).json_schema(mode="serialization")
    return {name: _holds(field) for name, field in schema["properties"].items()}


def _holds(field: dict[str, Any]) -> str:
    match field:
        case {"anyOf": several}:
            return " or ".join(dict.fromkeys(map(_holds, several)))
        case {"enum": _} | {"const": _} | {"type": "string"}:
            return "text"
        case {"type": "array"}:
            inner = _holds(field.get("items", {}))
            return f"list of {_SEVERAL.get(inner, 'lists' if inner.startswith('list') else 'values')}"
        case {"type": "boolean"}:
            return "true or false"
        case {"type": "integer" | "number"}:
            return "number"
        case {"type": "null"}:
            return "null"
        case {"$ref": _} | {"type": "object"}:
            return "object"
        case _:
            return "any value"
