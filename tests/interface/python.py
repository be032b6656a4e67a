"""The public Python names as a text of stubs: what pages and programs import or describe, with its members."""

from __future__ import annotations

import ast
import inspect
import json
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import griffe
import tableturn
from docstring_parser import parse
from pydantic import BaseModel
from pydantic_core import PydanticUndefined
from tableturn import agent
from tableturn.tools import errors

from tests.support.installed_layout import ROOT

_IMPORT = re.compile(r"\bfrom (tableturn[\w.]*) import (\([\w\s,]+\)|[\w, ]+)")
_SHOWN = re.compile(r"tables\.python\(\"(tableturn[\w.]*)\"")


def documented_names() -> set[str]:
    """The names that pages and examples import or describe, those of the package's face, and the errors."""
    texts = [path.read_text("utf-8") for path in _pages()]
    names = {name for text in texts for name in _SHOWN.findall(text)}
    for text in texts:
        for module, imported in _IMPORT.findall(text):
            names |= {f"{module}.{name}" for name in re.findall(r"\w+", imported)}
    names |= {f"tableturn.{name}" for name in tableturn.__all__}
    names |= {f"tableturn.agent.{name}" for name in agent.__all__}
    return names | {
        f"tableturn.tools.errors.{name}"
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.TableturnError)
    }


def _pages() -> Iterator[Any]:
    yield from (ROOT / "docs").rglob("*.md")
    yield ROOT / "README.md"
    for ending in ("py", "md"):
        yield from (ROOT / "examples").rglob(f"*.{ending}")


def sections(text: str) -> dict[str, str]:
    """The stub of each name."""
    parts = re.split(r"^# (\S+)\n", text, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def breakages(old: str, new: str) -> list[str]:
    """What a program that relies on the old stubs would miss in the new ones."""
    before, now = sections(old), sections(new)
    gone = [name for name in before if name not in now]
    for name in before.keys() & now.keys():
        module = name.rpartition(".")[0]
        trees = [griffe.visit(module, Path("stubs.py"), code) for code in (before[name], now[name])]
        gone += [
            f"{each.obj.path}: {each.kind.value} ({_told(each.as_dict())})"
            for each in griffe.find_breaking_changes(*trees)
        ]
        gone += _changed_values(*trees)
    return sorted(gone)


def _changed_values(old: griffe.Object | griffe.Alias, new: griffe.Object | griffe.Alias) -> Iterator[str]:
    """Attributes that had another value before, such as a setting's default; griffe passes them over."""
    for name in old.members.keys() & new.members.keys():
        before, now = old.members[name], new.members[name]
        if not (isinstance(before, griffe.Attribute) and isinstance(now, griffe.Attribute)):
            yield from _changed_values(before, now)
        elif str(before.value) != str(now.value) and not isinstance(before.value, griffe.ExprAttribute):
            yield f"{before.path}: Attribute value was changed ({before.value} -> {now.value})"


def _told(breakage: dict[str, Any]) -> str:
    return f"{breakage['old_value']} -> {breakage['new_value']}"


def stubs(names: Iterable[str]) -> str:
    """The stubs of these names, those that are not there left out."""
    lines: list[str] = []
    written: dict[int, str] = {}
    for name in sorted(names):
        value = _at(name)
        if value is _MISSING:
            continue
        own, short = written.setdefault(id(value), name), name.rpartition(".")[2]
        lines.append(f"# {name}")
        lines += _stub(short, value) if own == name else [f"{short} = {own}"]
    return "\n".join(lines) + "\n"


_MISSING = object()


def _at(name: str) -> Any:
    module, _, last = name.rpartition(".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # an old name is still there
        try:
            return getattr(import_module(module), last, _MISSING)
        except ImportError:
            return _MISSING


def _stub(name: str, value: Any) -> list[str]:
    if inspect.isclass(value):
        errors = f"({value.__base__.__name__})" if value.__base__ and issubclass(value, Exception) else ""
        return [f"class {name}{errors}:", *(f"    {line}" for line in _members(value) or ["..."])]
    if get_origin(value) is Literal:  # a word more is none less
        return [f"class {name}:", *(f"    {word} = ..." for word in sorted(get_args(value)))]
    return [_function(name, value) if callable(value) else f"{name} = ..."]


def _members(kind: type[Any]) -> list[str]:
    """A class's public members, also those that classes of ours give it."""
    members: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if not base.__module__.startswith("tableturn"):
            continue
        told = [one.arg_name for one in parse(base.__doc__ or "").params if one.args[0] == "attribute"]
        members |= {name: f"{name} = ..." for name in told}
        if issubclass(base, BaseModel):
            for name, field in base.model_fields.items():
                default = "" if field.default is PydanticUndefined else f" = {_literal(field.default)}"
                members[name] = f"{name}{default or ' = ...'}"
        else:
            members |= {name: f"{name} = ..." for name in inspect.get_annotations(base) if not name.startswith("_")}
        for name, member in vars(base).items():
            own_init = name == "__init__" and not issubclass(base, BaseModel)
            if own_init or not (name.startswith("_") or name in members or name == "model_config"):
                members[name] = _member(name, member)
    if is_dataclass(kind):
        members["__init__"] = _function("__init__", kind.__init__)
    return [members[name] for name in sorted(members)]


def _member(name: str, member: Any) -> str:
    if isinstance(member, classmethod | staticmethod):
        kind = "classmethod" if isinstance(member, classmethod) else "staticmethod"
        return f"@{kind}\n    {_function(name, member.__func__)}"
    return _function(name, member) if inspect.isfunction(member) else f"{name} = ..."


def _function(name: str, function: Any) -> str:
    signature = inspect.signature(function)
    bare = [
        one.replace(annotation=one.empty, default=one.default if one.default is one.empty else _Default(one.default))
        for one in signature.parameters.values()
    ]
    form = "async def" if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function) else "def"
    return f"{form} {name}{signature.replace(parameters=bare, return_annotation=signature.empty)}: ..."


class _Default:
    """A default, shown as it would be written."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __repr__(self) -> str:
        return _literal(self._value)


def _literal(value: Any) -> str:
    try:
        ast.literal_eval(repr(value))
    except (ValueError, SyntaxError):
        return "..."
    return repr(value) if not isinstance(value, str) else json.dumps(value, ensure_ascii=False)
