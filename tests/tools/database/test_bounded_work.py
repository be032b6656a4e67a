"""How long a value may be in a statement, and which statements are refused before they run."""

from __future__ import annotations

from math import isqrt

import pytest
from tableturn.tools.database.sqlite.bounded_work import STATEMENT_LENGTH, compute_value_limit
from tableturn.tools.errors import QueryRejected, ResultTooLarge

_LONG = 10**12
_WINDOW = "rank() OVER (ORDER BY id)"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT printf('%d', 1)",
        "SELECT printf('plain')",
        "SELECT format('%9999d', 1)",
        "SELECT \"printf\" ('%5.2f', 1)",
        "SELECT printf, 'format *' FROM t",
    ],
)
def test_a_format_that_is_written_out_may_run(sql: str) -> None:
    assert compute_value_limit(sql, 1_000) == 1_000


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT printf('%*d', 1)",
        "SELECT printf('%10000d', 1)",
        "SELECT \"FORMAT\"('%.*c', 1, 'x')",
        "SELECT printf(x)",
        'SELECT printf("%d", 1) FROM (SELECT \'%1000000000d\' AS "%d")',
        "SELECT printf('%d' || x, 1)",
        "SELECT printf(",
        "SELECT printf('%d'",
    ],
)
def test_a_format_that_may_count_to_any_number_is_refused(sql: str) -> None:
    with pytest.raises(QueryRejected, match="written as a text in single quotes"):
        compute_value_limit(sql, 1_000)


def test_so_many_window_functions_may_be_written_and_no_more() -> None:
    assert compute_value_limit("SELECT " + ", ".join([_WINDOW] * 100), 1_000) == 1_000
    with pytest.raises(ResultTooLarge, match="the limit is 100"):
        compute_value_limit("SELECT " + ", ".join([_WINDOW] * 101), 1_000)


def test_window_functions_of_common_table_expressions_count_at_every_mention() -> None:
    def mentioned(times: int) -> str:
        return f"WITH a AS (SELECT {', '.join([_WINDOW] * 50)}) SELECT 1 FROM {', '.join(['a'] * times)}"

    assert compute_value_limit(mentioned(19), 1_000) == 1_000
    with pytest.raises(ResultTooLarge):
        compute_value_limit(mentioned(20), 1_000)


def test_a_statement_may_be_so_long() -> None:
    assert compute_value_limit("SELECT 1".ljust(STATEMENT_LENGTH), 1_000) == 1_000
    with pytest.raises(ResultTooLarge, match="100,001 characters"):
        compute_value_limit("SELECT 1".ljust(STATEMENT_LENGTH + 1), 1_000)


def test_the_longer_a_statement_the_shorter_its_values() -> None:
    assert compute_value_limit("SELECT 1".ljust(1_000), _LONG) == 4_000_000
    assert compute_value_limit("SELECT 1".ljust(100_000), _LONG) == 40_000


@pytest.mark.parametrize(
    ("sql", "calls"),
    [
        ("SELECT instr(a, b)", 1),
        ("SELECT instr(a, 'x')", 0),
        ("SELECT instr('x', a)", 1),
        ("SELECT trim(a)", 0),
        ("SELECT trim(a, b), \"ltrim\" (a, b)", 2),
        ("SELECT replace(a, b, c)", 1),
        ("SELECT replace(a, 'x', c)", 0),
        ("SELECT replace(a, 'x' || b, c)", 1),
        ("SELECT instr(replace(a, b, ''), 'x')", 1),
        ("SELECT instr(abs(a, b), instr(c, d))", 2),
        ("SELECT coalesce(a, b), instr(a, 'x')", 0),
    ],
)  # fmt: skip
def test_values_are_the_shorter_the_more_of_them_are_compared(sql: str, calls: int) -> None:
    unbounded = 4_000_000_000 // len(sql)
    assert compute_value_limit(sql, _LONG) == (isqrt(1_500_000_000 // calls) if calls else unbounded)


@pytest.mark.parametrize(("sql", "patterns"), [("a LIKE '%x'", 0), ("a LIKE b", 1), ("a GLOB b OR like(a, b)", 2)])
def test_values_are_the_shorter_the_more_patterns_are_computed(sql: str, patterns: int) -> None:
    sql = f"SELECT {sql}"
    unbounded = 4_000_000_000 // len(sql)
    assert compute_value_limit(sql, _LONG) == (1_500_000 // patterns if patterns else unbounded)
