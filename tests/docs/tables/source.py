"""The product's own source, parsed once: where its classes, constants and names of variables are found."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.docs.pages import ROOT

ROOMS = ("agent", "tools", "prompts", "serve", "evals")


@functools.cache
def modules() -> dict[str, ast.Module]:
    """The syntax trees of all modules, by the names that they have once installed."""
    paths = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
    return {_name(path): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def classes() -> Iterator[tuple[str, ast.ClassDef]]:
    """Every class of a module, with the module's name."""
    for module, tree in modules().items():
        yield from ((module, node) for node in tree.body if isinstance(node, ast.ClassDef))


def described(module: str, name: str) -> tuple[Any, str]:
    """A name's value, and the text that stands below its definition."""
    tree = modules()[module]
    for node, after in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name:
            return getattr(import_module(module), name), str(ast.literal_eval(ast.unparse(after)))
    raise LookupError(f"{module} defines no {name}")


def _name(path: Path) -> str:
    return ".".join(("tableturn", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
