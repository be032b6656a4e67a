"""A look at the code before it runs, for good messages only: the kernel keeps the boundary, not this."""

from __future__ import annotations

import ast
import re

ALLOWED_MODULES = (
    "bisect",
    "calendar",
    "collections",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "fractions",
    "functools",
    "heapq",
    "itertools",
    "json",
    "math",
    "numpy",
    "operator",
    "pandas",
    "random",
    "re",
    "statistics",
    "string",
    "textwrap",
    "time",
    "typing",
    "unicodedata",
)
"""What the code may import; loaded before it runs."""

_FORBIDDEN_NAMES = frozenset(
    {"__import__", "breakpoint", "compile", "delattr", "eval", "exec", "exit", "globals", "help", "input", "locals"}
    | {"memoryview", "open", "quit", "setattr", "vars"}
)
_FILE_READERS = re.compile(r"read_[a-z_]+|ExcelFile|ExcelWriter|HDFStore")


def refuse(code: str) -> str | None:
    """What in the code is not allowed, with its line, for its author; None if nothing is seen."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f" (line {error.lineno})" if isinstance(error, SyntaxError) else ""
        return f"{type(error).__name__}: {getattr(error, 'msg', error)}{line}"
    for node in ast.walk(tree):
        if problem := _problem(node):
            return f"not allowed: {problem} (line {getattr(node, 'lineno', 0)})"
    return None


def _problem(node: ast.AST) -> str | None:
    match node:
        case ast.Import(names):
            return next((problem for name in names if (problem := _import_problem(name.name))), None)
        case ast.ImportFrom(module=module):
            return _import_problem(module or ".")
        case ast.Name(id=name) if name in _FORBIDDEN_NAMES:
            return f"`{name}`; compute with `db_dict`, `pd` and `np`"
        case ast.Name(id=name) | ast.Attribute(attr=name) if name.startswith("__") and name.endswith("__"):
            return f"`{name}`"
        case ast.Attribute(attr=name) if _FILE_READERS.fullmatch(name):
            return f"`{name}`; the tables are in `db_dict`, no file can be opened"
        case _:
            return None


def _import_problem(name: str) -> str | None:
    if name.partition(".")[0] in ALLOWED_MODULES:
        return None
    return f"importing {name!r}; pandas, numpy and parts of the standard library are available"
