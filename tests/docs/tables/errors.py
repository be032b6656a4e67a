"""What can go wrong, and the words by which programs tell it apart."""

from __future__ import annotations

import ast
import re
from typing import get_args

from tableturn.serve.errors import find_http_status

from .markdown import table
from .source import classes, described

_ROOT = "TableturnError"
_TO_DO = "What to do:"


def errors(*rooms: str) -> str:
    """The classes of the hierarchy in these rooms, under a heading each: what it means, and what to do."""
    bases = {node.name: base.id for _, node in classes() for base in node.bases[:1] if isinstance(base, ast.Name)}
    ours = [(module, node) for module, node in classes() if _is_ours(node.name, bases)]
    found = [(module, node) for room in rooms for module, node in ours if module.split(".")[1] == room]
    return "\n" + "\n".join(_section(module, node, bases[node.name]) for module, node in found)


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


def _section(module: str, node: ast.ClassDef, base: str) -> str:
    """A class's heading, what it is a kind of and where it is, and the two parts of its docstring."""
    text = " ".join((ast.get_docstring(node) or "").partition("\n\nAttributes:")[0].split())
    meaning, _, to_do = text.partition(_TO_DO)
    assert to_do, f"the docstring of {node.name} says nothing after {_TO_DO!r}"
    kind = f", a kind of [`{base}`](#{base.lower()})" if base != "Exception" else ""
    place = f"In `{module}`{kind}. HTTP status: {find_http_status(node.name)}."
    return f"### `{node.name}`\n\n{meaning.strip()}\n\n**{_TO_DO}** {to_do.strip()}\n\n{place}\n"


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
