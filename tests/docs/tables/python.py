"""The Python reference: what names take and give, from their signatures and docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any, get_args

from docstring_parser import parse

from .source import described

_WIDTH = 88


def python(name: str, level: int = 2, members: Sequence[str] | None = None) -> str:
    """Return a class with its members, a function, or a `Literal`, under a heading.

    Args:
        name: Its full name.
        level: That of the heading; members stand one below.
        members: The only members to show; None for all public ones.
    """
    module, _, short = name.rpartition(".")
    value = getattr(import_module(module), short)
    parts = [f"{'#' * level} `{short}`"]
    if get_args(value):
        parts += _paragraphs(described(module, short)[1])
    else:
        parts += _described(value, short)
    if inspect.isclass(value):
        for key, member in _members(value).items():
            if members is None or key in members:
                parts += [f"{'#' * (level + 1)} `{short}.{key}`", *_described(member, key)]
    return "\n" + "\n\n".join(parts) + "\n"


def _members(kind: type[Any]) -> dict[str, Any]:
    """Return the public methods and properties that say what they do, in the order of the source."""
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        for key, member in vars(base).items() if base.__module__.startswith("tableturn") else ():
            inner = getattr(member, "__func__", member)
            is_member = inspect.isfunction(inner) or isinstance(member, property | cached_property)
            if is_member and not key.startswith("_") and inner.__doc__:
                found[key] = inner
    return found


def _described(value: Any, name: str) -> Iterator[str]:
    """Yield the signature of what can be called, and the parts of the docstring."""
    told = parse(inspect.cleandoc(value.__doc__ or ""))
    own = getattr(value, "__dict__", ())
    takes = any(each.args[0] == "param" for each in told.params) or "__dataclass_fields__" in own
    if inspect.isfunction(value) or (inspect.isclass(value) and takes):
        yield f"```text\n{_signature(value, name)}\n```"
    yield from _paragraphs("\n\n".join(filter(None, (told.short_description, told.long_description))))
    yield from _list("", [(each.arg_name, each.description) for each in told.params])
    if told.returns and told.returns.description:
        yield f"{'Yields' if told.returns.is_generator else 'Returns'}: {_line(told.returns.description)}"
    yield from _list("Raises:\n\n", [(str(each.type_name), each.description) for each in told.raises])


def _list(heading: str, rows: Sequence[tuple[str, str | None]]) -> Iterator[str]:
    if rows:
        yield heading + "\n".join(f"- `{name}`: {_line(text or '')}" for name, text in rows)


def _paragraphs(text: str) -> Iterator[str]:
    yield from (_line(part) for part in re.split(r"\n\s*\n", text) if part.strip())


def _line(text: str) -> str:
    return " ".join(text.split())


def _signature(function: Any, name: str) -> str:
    """Return a signature on one line, or with a parameter a line where that is long."""
    signature = inspect.signature(function)
    parts: list[str] = []
    for each in signature.parameters.values():
        if each.kind is each.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        if each.name not in ("self", "cls"):
            parts.append(str(each.replace(annotation=_Plain(each.annotation))))
    gives = "" if signature.return_annotation in (None, "None", signature.empty) else signature.return_annotation
    end = f") -> {_Plain(gives)!r}" if gives else ")"
    whole = f"{name}({', '.join(parts)}{end}"
    return whole if len(whole) <= _WIDTH else "\n".join((f"{name}(", *(f"    {part}," for part in parts), end))


class _Plain:
    """An annotation, shown as it is written."""

    def __init__(self, annotation: Any) -> None:
        self._annotation = annotation

    def __repr__(self) -> str:
        return self._annotation if isinstance(self._annotation, str) else inspect.formatannotation(self._annotation)
