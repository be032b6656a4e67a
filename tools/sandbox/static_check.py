"""A check of the code before it runs, for better messages; the kernel keeps the boundary."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Set

ALLOWED_MODULES = (
    "__future__", "abc", "array", "bisect", "calendar", "cmath", "collections", "contextlib", "copy", "dataclasses",
    "datetime", "dateutil", "decimal", "difflib", "enum", "fractions", "functools", "heapq", "io", "itertools",
    "json", "math", "numbers", "numpy", "operator", "pandas", "pprint", "random", "re", "statistics", "string",
    "textwrap", "time", "types", "typing", "unicodedata", "warnings", "zoneinfo",
)  # fmt: skip
"""What the code may import; loaded before it runs."""

_FORBIDDEN_NAMES = frozenset(
    {"__import__", "breakpoint", "compile", "delattr", "eval", "exec", "exit", "globals", "help", "input", "locals"}
    | {"memoryview", "open", "quit", "setattr", "vars"}
)
_PANDAS_FILES = frozenset(
    {"read_clipboard", "read_csv", "read_excel", "read_feather", "read_fwf", "read_gbq", "read_hdf", "read_html"}
    | {"read_iceberg", "read_json", "read_orc", "read_parquet", "read_pickle", "read_sas", "read_spss", "read_sql"}
    | {"read_sql_query", "read_sql_table", "read_stata", "read_table", "read_xml", "ExcelFile", "ExcelWriter"}
    | {"HDFStore"}
)
_DUNDER = re.compile(r"(?!__(?:name|doc)__$)__.*__|___?", re.DOTALL)
# The longest code that is looked at: parsing takes some tenths of a second then.
CODE_BYTES = 100_000


def find_size_problem(code: str, limit: int = CODE_BYTES) -> str | None:
    """Return an error message if the code has more than `limit` bytes; else None."""
    size = len(code.encode("utf-8", "surrogatepass"))
    return f"the code has {size:,} bytes, and {limit:,} may be passed: write less" if size > limit else None


def find_code_problem(code: str, limit: int = CODE_BYTES) -> str | None:
    """Return why the code is not allowed, with the line number; None if it is allowed."""
    if problem := find_size_problem(code, limit):
        return problem
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f" (line {error.lineno})" if isinstance(error, SyntaxError) else ""
        return f"{type(error).__name__}: {getattr(error, 'msg', error)}{line}"
    nodes = list(ast.walk(tree))
    bound_names = {name for node in nodes for name in _find_bound_names(node)}
    for node in nodes:
        if problem := _find_node_problem(node, bound_names):
            return f"not allowed: {problem} (line {getattr(node, 'lineno', 0)})"
    return None


def _find_bound_names(node: ast.AST) -> Iterator[str]:
    """Yield the names that a syntax node binds."""
    match node:
        case ast.Name(name, ast.Store()) | ast.arg(name) | ast.FunctionDef(name) | ast.alias(asname=str(name)):
            yield name
        case _:
            pass


def _find_node_problem(node: ast.AST, bound_names: Set[str]) -> str | None:
    match node:
        case ast.Import(names):
            return next((problem for name in names if (problem := _find_import_problem(name.name))), None)
        case ast.ImportFrom(module=module):
            return _find_import_problem(module or ".")
        case ast.Name(id=name) if name in _FORBIDDEN_NAMES - bound_names:
            return f"`{name}`; compute with `db_dict`, `pd` and `np`"
        case ast.Name(id=name) | ast.Attribute(attr=name) if _DUNDER.fullmatch(name):
            return f"`{name}`"
        case ast.Attribute(value=ast.Name(id="pd" | "pandas"), attr=name) if name in _PANDAS_FILES:
            return f"`{name}`; the tables are in `db_dict`, no file can be opened"
        case _:
            return None


def _find_import_problem(name: str) -> str | None:
    if name.partition(".")[0] in ALLOWED_MODULES:
        return None
    return f"importing {name!r}; pandas, numpy and parts of the standard library are available"
