"""What a statement for DuckDB may be made of, and how what could fill the memory at one step is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.generator import Generator

from ...errors import ResultTooLarge
from ..server.lists import read_lists
from ..server.reading import Grammar
from .failures import TOO_LONG

# The texts and lists that a single step makes are in nobody's books: DuckDB's limit on memory doesn't count them. A
# step works on 2,048 rows.
_TEXT = 20_000
_LIST = 100_000
_LISTS = read_lists(__package__ or "")


def _repeat(writer: Generator, node: exp.Repeat) -> str:
    length = f"{writer.normalize_func('STRLEN')}(CAST({writer.sql(node.this)} AS TEXT))"
    return writer.func("REPEAT", node.this, _bounded(writer, node.args["times"], lambda times: f"{length} * ({times})"))


def _pad(writer: Generator, node: exp.Pad) -> str:
    filler = node.args.get("fill_pattern") or exp.Literal.string(" ")
    name = "LPAD" if node.args.get("is_left") else "RPAD"
    return writer.func(name, node.this, _bounded(writer, node.expression, lambda length: f"({length})"), filler)


def _bounded(writer: Generator, value: exp.Expr, size: Callable[[str], str]) -> str:
    """A number, or an error where it makes a text too long. What was written so is written the same again."""
    inner = value.args.get("default") if isinstance(value, exp.Case) else None
    if isinstance(inner, exp.Expr) and _guarded(writer, inner, size) == writer.sql(value):
        value = inner
    return _guarded(writer, value, size)


def _guarded(writer: Generator, value: exp.Expr, size: Callable[[str], str]) -> str:
    number, error = writer.sql(value), writer.normalize_func("ERROR")
    return f"CASE WHEN {size(number)} > {_TEXT} THEN CAST({error}('{TOO_LONG}') AS INT) ELSE {number} END"


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
    _LISTS.functions,
    fold=str.lower,
    writes=((exp.Repeat, _repeat), (exp.Pad, _pad), (exp.GenerateSeries, _series)),
    kinds=_LISTS.syntax,
)
"""DuckDB's names ignore case, with quotes too."""
