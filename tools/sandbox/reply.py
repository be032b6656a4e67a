"""Reading a worker's reply, which the code that it ran may have written: everything is checked, and bounded again."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from typing import Any, cast

from ..database.table import Cell, Table
from .protocol import ERROR_CHARS, MOST_COLUMNS, TOO_WIDE, dropped
from .terms import SandboxLimits, SandboxResult

_TYPE_NAMES: Mapping[type, str] = {int: "integer", float: "real", str: "text", bytes: "blob"}
# As a database bounds them.
_CELL_BYTES = 1_000_000
# No text is longer.
_MOST_DROPPED = 2**63


def read_reply(reply: bytes, limits: SandboxLimits, elapsed: float) -> SandboxResult:
    """The reply checked and typed.

    Raises:
        ValueError: It is no reply, or one that the worker would not have sent; the same goes for TypeError, KeyError,
            OverflowError and RecursionError.
    """
    content = json.loads(reply)
    if not isinstance(content, dict):
        raise TypeError("a reply is an object")
    content = cast(dict[str, Any], content)
    output = _text(content.get("output", ""))[: limits.output_chars + len(dropped(_MOST_DROPPED))]
    if (error := content.get("error")) is not None:
        return SandboxResult(None, output, _text(error)[:ERROR_CHARS], elapsed)
    if len(content["columns"]) > MOST_COLUMNS:
        return SandboxResult(None, output, TOO_WIDE, elapsed)
    table = _table(content, limits, elapsed)
    if _holds_large_value(table):
        problem = f"a value of the result has more than {_CELL_BYTES:,} characters or bytes"
        return SandboxResult(None, output, problem, elapsed)
    index_columns = min(max(0, int(content.get("index_columns", 0))), len(table.columns))
    return SandboxResult(table, output, None, elapsed, False, index_columns, bool(content.get("labelled")))


def _table(content: dict[str, Any], limits: SandboxLimits, elapsed: float) -> Table:
    names, lines = content["columns"], content["rows"]
    if not isinstance(names, list) or not isinstance(lines, list) or len(lines) > limits.rows:
        raise ValueError("no lists, or more rows than asked for")
    columns = tuple(_text(column) for column in names)
    if any(len(line) != len(columns) for line in lines):
        raise ValueError("rows and columns differ")
    rows = tuple(tuple(_cell(cell) for cell in line) for line in lines)
    types = tuple(_type([row[position] for row in rows]) for position in range(len(columns)))
    return Table(columns, types, rows, bool(content["truncated"]), elapsed)


def _holds_large_value(table: Table) -> bool:
    """Whether a value or a name is larger than a database would give."""
    cells = (cell for row in (table.columns, *table.rows) for cell in row)
    return any(isinstance(cell, str | bytes) and len(cell) > _CELL_BYTES for cell in cells)


def _cell(cell: Any) -> Cell:
    """A value that SQLite could hold."""
    if isinstance(cell, str):
        return _text(cell)
    if isinstance(cell, float):
        return None if math.isnan(cell) else cell
    if isinstance(cell, int):
        # Not a truth value: SQLite has none.
        return int(cell) if -(2**63) <= cell < 2**63 else float(cell)
    return None if cell is None else base64.b64decode(cell["b64"], validate=True)


def _type(column: list[Cell]) -> str:
    """As `Table.types` names it."""
    seen = {type(cell) for cell in column} - {type(None)}
    if len(seen) > 1:
        return "mixed"
    return _TYPE_NAMES[seen.pop()] if seen else "null"


def _text(text: object) -> str:
    """Text without lone surrogates, which nothing else could encode."""
    return str(text).encode("utf-8", "replace").decode()
