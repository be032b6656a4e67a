"""What a statement for DuckDB may be made of, and how what could fill the memory at one step is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.generator import Generator

from ...errors import ResultTooLarge
from ..server.reading import Grammar
from .failures import TOO_LONG
from .functions import FUNCTIONS

# The texts and lists that a single step makes are in nobody's books: DuckDB's limit on memory doesn't count them. A
# step works on 2,048 rows.
_TEXT = 20_000
_LIST = 100_000
_KINDS = frozenset(
    {"Qualify", "PropertyEQ", "Lambda", "Comprehension", "Columns", "Transform", "Struct", "ToMap", "ArrayFilter"}
)


def _repeat(writer: Generator, node: exp.Repeat) -> str:
    text = writer.sql(node.this)
    return writer.func(
        "REPEAT",
        node.this,
        _bounded(writer, node.args["times"], lambda times: f"STRLEN(CAST({text} AS TEXT)) * ({times})"),
    )


def _pad(writer: Generator, node: exp.Pad) -> str:
    filler = node.args.get("fill_pattern") or exp.Literal.string(" ")
    name = "LPAD" if node.args.get("is_left") else "RPAD"
    return writer.func(name, node.this, _bounded(writer, node.expression, lambda length: f"({length})"), filler)


def _bounded(writer: Generator, value: exp.Expr, size: Callable[[str], str]) -> str:
    """A number, or an error where it makes a text too long. What was written so is written the same again."""
    inner = value.args.get("default") if isinstance(value, exp.Case) else None
    if isinstance(inner, exp.Expr) and _guarded(writer.sql(inner), size) == writer.sql(value):
        value = inner
    return _guarded(writer.sql(value), size)


def _guarded(value: str, size: Callable[[str], str]) -> str:
    return f"CASE WHEN {size(value)} > {_TEXT} THEN CAST(ERROR('{TOO_LONG}') AS INT) ELSE {value} END"


def _series(writer: Generator, node: exp.GenerateSeries) -> str:
    if not (isinstance(node.parent, exp.Table) or _is_short(node)):
        raise ResultTooLarge("generate_series and range belong in FROM: SELECT x FROM range(100) AS series(x)")
    return writer.function_fallback_sql(node) if not node.args.get("is_end_exclusive") else _range(writer, node)


def _range(writer: Generator, node: exp.GenerateSeries) -> str:
    return writer.func("RANGE", *(node.args.get(name) for name in ("start", "end", "step")))


def _is_short(node: exp.GenerateSeries) -> bool:
    """Whether it is written out with numbers that are not far from each other."""
    bounds = [_number(node.args.get(name)) for name in ("start", "end")]
    step = _number(node.args["step"]) if node.args.get("step") else 1
    if bounds[0] is None or bounds[1] is None or not step:
        return False
    return abs(bounds[1] - bounds[0]) <= _LIST


def _number(node: Any) -> int | None:
    sign = 1
    if isinstance(node, exp.Neg):
        sign, node = -1, node.this
    return sign * int(node.this) if isinstance(node, exp.Literal) and node.is_int else None


GRAMMAR = Grammar(
    DuckDB(),
    FUNCTIONS,
    fold=str.lower,
    writes=((exp.Repeat, _repeat), (exp.Pad, _pad), (exp.GenerateSeries, _series)),
    kinds=_KINDS,
)
"""DuckDB's names ignore case, with quotes too."""
