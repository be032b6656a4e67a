"""Comparison of the results of pandas code and of SQL."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..database.table import Cell, Table
from ..results import WorkLimit, compare_results
from ..words import match_time
from .terms import SandboxResult

# So many digits are exact as a float too.
_DIGITS = re.compile(r"[0-9]{1,15}")
# Seconds, for results made to be hard; others take a few hundred thousand at most.
_WORK_CELLS = 600_000


@dataclass(frozen=True)
class ResultComparison:
    """The outcome of comparing the result of code with the result of SQL."""

    agree: bool
    conclusive: bool = True  # whether a difference means anything: not where rows were left out on either side
    reason: str = ""  # one sentence for a person or a model; empty where they agree

    def __bool__(self) -> bool:
        return self.agree


def compare_code_and_sql_results(
    code: SandboxResult | Table, sql: Table, *, ordered: bool, sampled: tuple[str, ...] = ()
) -> ResultComparison:
    """Compare the results of pandas code and of SQL by the same rules as in evaluations.

    A time at midnight equals its date, however either is written: pandas has one type where SQLite has texts. Truth
    values are numbers already, and integers equal floats by the evaluator's rules. Keys that a group-by left in the
    index may be shown or not, and labelled values may be a row each or one row. Where numbers stand for texts of the
    same digits (a year taken from a date is text in SQLite, a number in pandas), the results are not the same, but
    that is no sign of an error on either side: the comparison is inconclusive. Order counts if the query's outermost
    level orders its rows, and `sampled` names tables of which the code saw only a sample.
    """
    result = code if isinstance(code, SandboxResult) else SandboxResult(code, "", None, 0.0)
    if result.table is None:
        return ResultComparison(False, False, "The code gave no result.")
    work = WorkLimit(_WORK_CELLS)
    tables = list(_yield_possible_tables(result, result.table))
    truncated = result.table.truncated or sql.truncated
    if truncated and not sampled and all(_are_certainly_different(table, sql) for table in tables):
        return ResultComparison(False, True, _describe_result_difference(result.table, sql, ordered, work))
    verdict = _is_any_table_equal(tables, sql, ordered, work)
    if verdict:
        return ResultComparison(True, not truncated)
    if sampled:
        return ResultComparison(False, False, f"The code saw only a sample of {', '.join(sampled)}.")
    if truncated:
        return ResultComparison(False, False, "A result was cut at its limit of rows.")
    if verdict is None:
        return ResultComparison(False, False, "The results are too intricate to be compared in time.")
    if any(_is_any_table_equal([table], _convert_digits(sql, table), ordered, work) for table in tables):
        return ResultComparison(False, False, "The code gives numbers where the SQL gives the same as text.")
    return ResultComparison(False, True, _describe_result_difference(result.table, sql, ordered, work))


def _yield_possible_tables(result: SandboxResult, table: Table) -> Iterator[Table]:
    """Yield each table that the result of the code may represent."""
    yield table
    if 0 < result.index_columns < len(table.columns):
        yield _replace_table_rows(table, [row[result.index_columns :] for row in table.rows])
    if result.labelled and result.index_columns:
        yield _replace_table_rows(table, [[row[-1] for row in table.rows]])
    elif result.labelled:
        yield _replace_table_rows(table, [pair for row in table.rows for pair in zip(table.columns, row, strict=True)])


def _are_certainly_different(code: Table, sql: Table) -> bool:
    """Whether two results certainly differ, although at least one of them is truncated."""
    cut_table, other = (code, sql) if code.truncated else (sql, code)
    return len(code.columns) != len(sql.columns) or (not other.truncated and len(other.rows) <= len(cut_table.rows))


def _replace_table_rows(table: Table, rows: Sequence[Sequence[Cell]]) -> Table:
    width = len(rows[0]) if rows else 1
    return replace(table, columns=("",) * width, types=("mixed",) * width, rows=tuple(map(tuple, rows)))


def _is_any_table_equal(tables: Sequence[Table], sql: Table, ordered: bool, work: WorkLimit) -> bool | None:
    """Whether any of the tables equals the SQL's result; None if the work limit is reached."""
    reference = _normalize_table_times(sql)
    verdicts = [compare_results(reference, _normalize_table_times(table), ordered, work=work) for table in tables]
    return True if True in verdicts else None if None in verdicts else False


def _normalize_table_times(table: Table) -> Table:
    return replace(table, rows=tuple(tuple(map(_normalize_time_cell, row)) for row in table.rows))


def _normalize_time_cell(cell: Cell) -> Cell:
    """Write a date or time in one standard form; return any other value unchanged."""
    if isinstance(cell, str) and (match := match_time(cell, "clock")) and not match["zone"]:
        clock = match["clock"].rstrip("0").rstrip(".") if match["fraction"] else f"{match['clock']}:00"[:8]
        return cell[:10] if clock == "00:00:00" else f"{cell[:10]} {clock}"
    return cell


def _convert_digits(sql: Table, code: Table) -> Table:
    """Return `sql` with digit texts as numbers, except in columns that `code` also has."""
    code_columns = {frozenset(Counter(column).items()) for column in zip(*code.rows, strict=True)}
    columns = [
        column
        if frozenset(Counter(column).items()) in code_columns
        else tuple(int(cell) if isinstance(cell, str) and _DIGITS.fullmatch(cell) else cell for cell in column)
        for column in zip(*sql.rows, strict=True)
    ]
    return replace(sql, rows=tuple(zip(*columns, strict=True)))


def _describe_result_difference(code: Table, sql: Table, ordered: bool, work: WorkLimit) -> str:
    columns, rows = len(code.columns), len(code.rows)
    if columns != len(sql.columns):
        return f"The code gives {columns} column{'s' if columns != 1 else ''}, the SQL {len(sql.columns)}."
    if code.truncated or sql.truncated or rows != len(sql.rows):
        code_more, sql_more = ("more than " if table.truncated else "" for table in (code, sql))
        return f"The code gives {code_more}{rows} row{'s' if rows != 1 else ''}, the SQL {sql_more}{len(sql.rows)}."
    if ordered and _is_any_table_equal([code], sql, False, work):
        return "The code and the SQL give the same rows in another order."
    return "The code and the SQL give as many rows and columns, with other values."
