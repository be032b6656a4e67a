"""The constants that queries compare columns with, and their neighbours: what small databases should hold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from sqlglot import exp

from ...tools.database.schema import Schema
from ...tools.database.table import Cell
from ...tools.errors import SQLParseError
from ...tools.sql.parse import parse


def column_constants(queries: Iterable[str], schema: Schema) -> dict[str, list[Cell]]:
    """Values by column name in lower case: each constant that a query puts beside the column, and values next to it."""
    found: dict[str, dict[Cell, None]] = defaultdict(dict)
    known = {column.name.lower() for table in schema.tables for column in table.columns}
    for sql in queries:
        try:
            tree = parse(sql).tree
        except SQLParseError:
            continue
        for node in tree.find_all(exp.Binary, exp.Between, exp.In, exp.Like):
            parts = [part for part in node.iter_expressions() if not isinstance(part, exp.Query)]
            columns = [p.name.lower() for p in parts if isinstance(p, exp.Column) and p.name.lower() in known]
            for part in parts:
                for name in columns:
                    found[name].update(dict.fromkeys(_values(part, known)))
    return {name: list(values) for name, values in found.items()}


def _values(node: exp.Expr, known: set[str]) -> list[Cell]:
    # SQLite takes a double-quoted word that is no column for a string.
    if isinstance(node, exp.Column) and node.this.quoted and node.name.lower() not in known:
        return _texts(node.name)
    if not isinstance(node, exp.Literal):
        return []
    if node.is_string:
        return _texts(node.name)
    number = float(node.name) if not node.is_int else int(node.name)
    return [number, number + 1, number - 1]


def _texts(text: str) -> list[Cell]:
    """The text, text that a slightly different pattern or case would match, and the number that it may spell."""
    bare = text.replace("%", "").replace("_", " ")
    texts: list[Cell] = [bare, f"{bare}x", f"x{bare}", bare.swapcase()]
    if bare.lstrip("-").isdigit():
        number = int(bare)
        texts += [number, number + 1, number - 1]
    return texts
