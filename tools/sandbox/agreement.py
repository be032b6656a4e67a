"""Whether a code's result and a query's result are the same answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..database.table import Cell, Table
from ..results import same_result
from .terms import SandboxResult

_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(:\d\d)?(\.\d+)?$", re.ASCII)


@dataclass(frozen=True)
class Comparison:
    """How two results compare.

    Attributes:
        agree: Whether they are the same answer.
        conclusive: Whether a difference means anything: not where rows were left out on either side.
        reason: One sentence for a person or a model; empty where they agree.
    """

    agree: bool
    conclusive: bool = True
    reason: str = ""

    def __bool__(self) -> bool:
        return self.agree


def results_agree(
    code: SandboxResult | Table, sql: Table, *, ordered: bool, sampled: tuple[str, ...] = ()
) -> Comparison:
    """Compare the result of pandas code with that of SQL as an evaluator would, but for how the two spell things.

    A time at midnight equals its date, and a text of digits its number: pandas has one type where SQLite has text. Keys
    that a group-by left in the index may be shown or not.

    Args:
        code: What the code gave.
        sql: What the query gave.
        ordered: Whether the query's outermost level orders its rows.
        sampled: Names of tables of which the code saw only a sample.
    """
    table = code.table if isinstance(code, SandboxResult) else code
    if table is None:
        return Comparison(False, False, "The code gave no result.")
    index_columns = code.index_columns if isinstance(code, SandboxResult) else 0
    expected = _plain(sql)
    if any(same_result(expected, _plain(shown), ordered) for shown in _readings(table, index_columns)):
        return Comparison(True, not (table.truncated or sql.truncated))
    if sampled:
        return Comparison(False, False, f"The code saw only a sample of {', '.join(sampled)}.")
    if table.truncated or sql.truncated:
        return Comparison(False, False, "A result was cut at its limit of rows.")
    return Comparison(False, True, _difference(table, sql, ordered))


def _readings(table: Table, index_columns: int) -> Iterator[Table]:
    yield table
    if 0 < index_columns < len(table.columns):
        rows = tuple(row[index_columns:] for row in table.rows)
        yield replace(table, columns=table.columns[index_columns:], types=table.types[index_columns:], rows=rows)


def _plain(table: Table) -> Table:
    return replace(table, rows=tuple(tuple(map(_plain_cell, row)) for row in table.rows))


def _plain_cell(cell: Cell) -> Cell:
    if not isinstance(cell, str):
        return cell
    if cell.isascii() and cell.isdigit() and len(cell) <= 15:
        return int(cell)
    if found := _TIME.match(cell):
        day, minutes, seconds, fraction = found.groups(default="")
        clock = minutes + (seconds or ":00") + fraction.rstrip("0").rstrip(".")
        return day if clock == "00:00:00" else f"{day} {clock}"
    return cell


def _difference(code: Table, sql: Table, ordered: bool) -> str:
    if len(code.columns) != len(sql.columns):
        return f"The code gives {_count(len(code.columns), 'column')}, the SQL {len(sql.columns)}."
    if len(code.rows) != len(sql.rows):
        return f"The code gives {_count(len(code.rows), 'row')}, the SQL {len(sql.rows)}."
    if ordered and same_result(_plain(sql), _plain(code)):
        return "The code and the SQL give the same rows in another order."
    return "The code and the SQL give as many rows and columns, with other values."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
