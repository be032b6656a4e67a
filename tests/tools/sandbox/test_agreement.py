"""Results of code and SQL, compared."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tableturn.tools.database.table import Cell, Table
from tableturn.tools.sandbox import SandboxResult, compare_code_and_sql_results


def table(*rows: tuple[Cell, ...], truncated: bool = False) -> Table:
    width = len(rows[0]) if rows else 1
    return Table(("c",) * width, ("mixed",) * width, rows, truncated, 0.0)


def ran(*rows: tuple[Cell, ...], index_columns: int = 0, truncated: bool = False) -> SandboxResult:
    return SandboxResult(table(*rows, truncated=truncated), "", None, 0.0, False, index_columns)


class TestAgreement:
    @pytest.mark.parametrize(
        ("code", "sql"),
        [
            ("2020-01-01", "2020-01-01 00:00:00"),
            ("2020-01-01 10:00:00", "2020-01-01T10:00"),
            ("2020-01-01 10:00:00.500000", "2020-01-01 10:00:00.5"),
            (1.0, 1),
            ("07500", "07500"),
        ],
    )
    def test_spellings(self, code: Cell, sql: Cell) -> None:
        assert compare_code_and_sql_results(ran((code,)), table((sql,)), ordered=False)

    @pytest.mark.parametrize(
        ("code", "sql"),
        [
            ("2020-01-01 10:00", "2020-01-01"),
            ("a", "A"),
            (None, ""),
            ("1.5", 1.5),
            (1, "²"),
            ("7500", "07500"),
            ("7", 7),
        ],
    )
    def test_differences(self, code: Cell, sql: Cell) -> None:
        compared = compare_code_and_sql_results(ran((code,)), table((sql,)), ordered=False)
        assert not compared
        assert compared.conclusive
        assert compared.reason == "The code and the SQL give as many rows and columns, with other values."

    @pytest.mark.parametrize(("code", "sql"), [(2020, "2020"), (5, "05"), (7, "007")])
    def test_numbers_for_texts_are_no_agreement_and_no_error(self, code: Cell, sql: Cell) -> None:
        compared = compare_code_and_sql_results(ran((code, "12")), table((sql, "12")), ordered=False)
        assert not compared
        assert not compared.conclusive
        assert compared.reason == "The code gives numbers where the SQL gives the same as text."

    def test_labelled_values_may_be_rows_or_one_row(self) -> None:
        rows = SandboxResult(table(("a", 1), ("b", 2)), "", None, 0.0, index_columns=1, labelled=True)
        row = SandboxResult(replace(table((1, 2)), columns=("a", "b")), "", None, 0.0, labelled=True)
        for code in (rows, row):
            assert compare_code_and_sql_results(code, table(("a", 1), ("b", 2)), ordered=True)
            assert compare_code_and_sql_results(code, table((1, 2)), ordered=True)
            assert compare_code_and_sql_results(code, table((1, 3)), ordered=True).conclusive

    def test_results_too_intricate_end_soon_and_decide_nothing(self) -> None:
        def cycles(length: int) -> Table:
            """0/1 rows of 100 columns, each with two ones: the edges of rings of so many columns."""
            rings = [(i, i - i % length + (i + 1) % length) for i in range(100)]
            return table(*(tuple(int(j in ring) for j in range(100)) for ring in rings))

        compared = compare_code_and_sql_results(ran(*cycles(100).rows), cycles(50), ordered=False)
        assert not compared
        assert not compared.conclusive
        assert compared.reason == "The results are too intricate to be compared in time."

    def test_keys_of_groups_may_be_left_out(self) -> None:
        code = ran(("a", 1), ("b", 2), index_columns=1)
        assert compare_code_and_sql_results(code, table((1,), (2,)), ordered=True)
        assert compare_code_and_sql_results(code, table(("a", 1), ("b", 2)), ordered=True)

    def test_order(self) -> None:
        compared = compare_code_and_sql_results(ran((2,), (1,)), table((1,), (2,)), ordered=True)
        assert compared.reason == "The code and the SQL give the same rows in another order."
        assert compare_code_and_sql_results(ran((2,), (1,)), table((1,), (2,)), ordered=False)

    def test_shapes_are_named(self) -> None:
        assert (
            compare_code_and_sql_results(ran((1,)), table((1, 2)), ordered=False).reason
            == "The code gives 1 column, the SQL 2."
        )
        assert (
            compare_code_and_sql_results(ran((1,)), table((1,), (1,)), ordered=False).reason
            == "The code gives 1 row, the SQL 2."
        )

    def test_nothing_follows_from_a_sample(self) -> None:
        compared = compare_code_and_sql_results(ran((1,)), table((2,)), ordered=False, sampled=("orders",))
        assert not compared.agree
        assert not compared.conclusive
        assert compared.reason == "The code saw only a sample of orders."

    def test_nothing_follows_from_the_values_of_a_cut_result(self) -> None:
        assert not compare_code_and_sql_results(ran((1,), (3,)), table((2,), truncated=True), ordered=False).conclusive
        assert not compare_code_and_sql_results(
            ran((1,), truncated=True), table((2,), truncated=True), ordered=False
        ).conclusive

    def test_a_cut_result_has_more_rows_than_a_whole_one_that_is_no_longer(self) -> None:
        for code, sql in ((ran((1,)), table((1,), truncated=True)), (ran((1,), (2,), truncated=True), table((1,)))):
            differs = compare_code_and_sql_results(code, sql, ordered=False)
            assert (differs.agree, differs.conclusive) == (False, True)
            assert "more than" in differs.reason

    def test_a_cut_result_still_has_its_columns(self) -> None:
        assert compare_code_and_sql_results(ran((1,), (3,)), table((1, 2), truncated=True), ordered=False).conclusive

    def test_no_result(self) -> None:
        failed = SandboxResult(None, "", "KeyError", 0.0)
        assert compare_code_and_sql_results(failed, table((1,)), ordered=False).reason == "The code gave no result."
