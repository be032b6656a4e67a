"""Tables of what can go wrong, and of the words by which programs tell it apart."""

from __future__ import annotations

import ast
import re
from typing import get_args

from tableturn.serve.errors import status_of

from .markdown import table
from .source import classes, described

_ROOT = "TableturnError"
_TO_DO = "What to do:"


def errors(*rooms: str) -> str:
    """The classes of the hierarchy in these rooms: what each means, what to do, and its status over HTTP."""
    bases = {node.name: base.id for _, node in classes() for base in node.bases[:1] if isinstance(base, ast.Name)}
    rows = [
        (f"`{node.name}`", f"`{bases[node.name]}`", *_told(node), str(status_of(node.name)))
        for module, node in classes()
        if module.split(".")[1] in rooms and _is_ours(node.name, bases)
    ]
    return table(("error", "is a", "what it means", "what to do", "HTTP"), rows)


def kinds(module: str, name: str) -> str:
    """The values of a `Literal`, with what the text below it says of each: "`syntax`: it is not SQL."."""
    value, text = described(module, name)
    told: dict[str, str] = {}
    for names, meaning in re.findall(r"((?:`\w+`(?:, )?)+): (.*?)(?=\s+(?:`\w+`(?:, )?)+: |\Z)", text, re.DOTALL):
        told |= dict.fromkeys(re.findall(r"\w+", names), meaning)
    assert set(told) == set(get_args(value)), f"the text below {name} explains {sorted(told)}"
    return table(("value", "what it means"), [(f"`{one}`", _capital(told[one])) for one in get_args(value)])


def _is_ours(name: str, bases: dict[str, str]) -> bool:
    return name == _ROOT or (name in bases and _is_ours(bases[name], bases))


def _told(node: ast.ClassDef) -> tuple[str, str]:
    """The two sentences of a class's docstring: what it means, and what to do."""
    text = (ast.get_docstring(node) or "").partition("\n\nAttributes:")[0]
    meaning, _, to_do = text.partition(_TO_DO)
    assert to_do or node.name == _ROOT, f"the docstring of {node.name} says nothing after {_TO_DO!r}"
    return meaning, _capital(to_do.strip())


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
