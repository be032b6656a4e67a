"""Handlers that may take a fault of ours for something else: what they catch, and around what."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from io import IOBase
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("agent", "tools", "prompts", "serve", "evals")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BROAD = {"Exception", "BaseException"}
_OFTEN_OURS = {
    *("TypeError", "ValueError", "KeyError", "IndexError", "LookupError", "AttributeError", "NameError"),
    *("RuntimeError", "AssertionError", "ArithmeticError", "ZeroDivisionError", "OverflowError"),
}


@dataclass(frozen=True)
class Handler:
    """A handler of errors that faults of ours raise too.

    Attributes:
        place: The file and the function, as `tools/sql/parse.py:_read`.
        line: Where it stands.
        caught: What it catches.
    """

    place: str
    line: int
    caught: str


def handlers() -> Iterator[Handler]:
    """Yield every handler of all errors, and of errors that faults raise where it stands around code of ours.

    One that only cleans up and raises the same error again is none.
    """
    for name, tree in _trees().items():
        yield from _in_node(tree, name, "", _own_names(tree))


@cache
def _trees() -> dict[str, ast.Module]:
    paths = (path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")))
    return {str(path.relative_to(ROOT)): ast.parse(path.read_text("utf-8")) for path in paths}


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what a node is made of, but for expressions, which hold no handlers, functions or imports."""
    return (child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr))


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = [tree]
    while waiting:
        yield (node := waiting.pop())
        waiting += _parts(node)


def _in_node(node: ast.AST, file: str, function: str, own: set[str]) -> Iterator[Handler]:
    for child in _parts(node):
        inside = function
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inside = f"{function}.{child.name}" if function else child.name
        place = f"{file}:{inside}" if inside else file
        if isinstance(child, ast.Try | ast.TryStar):
            for handler in child.handlers:
                names = _names(handler.type)
                doubtful = names & _BROAD or (names & _OFTEN_OURS and _calls(child.body, own))
                if doubtful and not _raises_again(handler):
                    yield Handler(place, handler.lineno, ", ".join(sorted(names)))
        elif isinstance(child, ast.With | ast.AsyncWith):
            for item in child.items:
                call = item.context_expr
                if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("suppress"):
                    names = {name for given in call.args for name in _names(given)}
                    if names & _BROAD or (names & _OFTEN_OURS and _calls(child.body, own)):
                        yield Handler(place, child.lineno, ", ".join(sorted(names)))
        yield from _in_node(child, file, inside, own)


def _names(caught: ast.expr | None) -> set[str]:
    if caught is None:
        return {"BaseException"}
    parts = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return {ast.unparse(part).rpartition(".")[2] for part in parts}


def _own_names(tree: ast.Module) -> set[str]:
    """Return the names in a module that are code of ours: what it defines, and what it imports from its package."""
    found: set[str] = set()
    for node in _statements(tree):
        if isinstance(node, _FUNCTIONS):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom) and node.level:
            found.update(alias.asname or alias.name for alias in node.names)
    return found


@cache
def _methods() -> set[str]:
    """Return the names of methods that are ours alone: none that objects of the standard library have, too."""
    classes = (node for tree in _trees().values() for node in _statements(tree) if isinstance(node, ast.ClassDef))
    defined = (part.name for each in classes for part in each.body if isinstance(part, _FUNCTIONS))
    usual = (str, bytes, dict, list, set, tuple, int, float, Path, IOBase, re.Pattern, re.Match, datetime)
    return set(defined) - {name for kind in usual for name in dir(kind)}


def _calls(body: list[ast.stmt], own: set[str]) -> bool:
    """Whether statements call code of ours, by its own name or on an object of ours."""
    calls = (node.func for part in body for node in ast.walk(part) if isinstance(node, ast.Call))
    for called in calls:
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if name in own and (isinstance(called, ast.Name) or ast.unparse(called).startswith(("self.", "cls."))):
            return True
        if isinstance(called, ast.Attribute) and (ast.unparse(called.value) in own or name in _methods()):
            return True
    return False


def _raises_again(handler: ast.ExceptHandler) -> bool:
    """Whether a handler always ends by raising what it caught."""
    last = handler.body[-1]
    return (
        isinstance(last, ast.Raise)
        and (last.exc is None or ast.unparse(last.exc) == handler.name)
        and last.cause is None
    )
