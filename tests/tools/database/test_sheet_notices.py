"""Notices on workbooks: sheets of notes, merged and hidden cells, formulas."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from tableturn.tools.database import Database

from tests.tools.database.messy_files import Messy, write

pytest.importorskip("duckdb")
openpyxl = pytest.importorskip("openpyxl")


def test_sheets_of_notes_are_not_told_of_under_permissions(tmp_path: Path) -> None:
    sheets = {"Data": [["a", "n"], ["x", 1]], "Notes": [["All of it is swordfish business."]]}
    path = write(tmp_path, Messy("book.xlsx", sheets, (), "", ()))
    with Database.open(path) as database:
        assert "swordfish" in repr(database.notices)
    with Database.open(path, allow=["Data"]) as database:
        assert database.notices == ()
    path = write(tmp_path, Messy("words.xlsx", {"Notes": sheets["Notes"]}, (), "", ()))
    with Database.open(path) as database:
        assert [table.name for table in database.schema().tables] == ["Notes"]


def test_cells_merged_over_rows_are_told_and_those_of_a_header_are_not(tmp_path: Path) -> None:
    for merged, told in (("A2:A3", {"merged"}), ("A1:B1", set[str]())):
        book = openpyxl.Workbook()
        for row in (["group", "item", "n"], ["fruit", "apple", 1], [None, "pear", 2], ["veg", "leek", 3]):
            book.active.append(row)
        book.active.merge_cells(merged)
        book.save(tmp_path / "stock.xlsx")
        with Database.open(tmp_path / "stock.xlsx") as database:
            assert {each.kind for each in database.notices} == told


@pytest.mark.parametrize("what", ["a hidden sheet", "hidden rows or columns"])
def test_what_a_workbook_hides_is_told(tmp_path: Path, what: str) -> None:
    book = openpyxl.Workbook()
    sheets = [book.active, book.create_sheet("More")]
    for sheet in sheets:
        for row in (["a", "n"], ["x", 1], ["y", 2]):
            sheet.append(row)
    if what == "a hidden sheet":
        sheets[1].sheet_state = "hidden"
    else:
        sheets[0].row_dimensions[3].hidden = True
    book.save(tmp_path / "book.xlsx")
    with Database.open(tmp_path / "book.xlsx") as database:
        (notice,) = (each for each in database.notices if each.kind != "key")
        assert (notice.kind, what in notice.text) == ("hidden", True)
        assert [len(database.execute(f"SELECT * FROM {table.name}").rows) for table in database.schema().tables] == [
            2,
            2,
        ]


def test_formulas_without_results_are_told(tmp_path: Path) -> None:
    sheets = {"t": [["a", "b"], ["x", 1]], "u": [["a", "b", "n"], ["x", 1, "=B2*2"], ["y", 2, "=B3*2"]]}
    with Database.open(write(tmp_path, Messy("book.xlsx", sheets, (), "", ()))) as database:
        told = [(notice.table, notice.kind) for notice in database.notices if notice.kind != "key"]
        assert told == [("u", "formulas")]


def test_a_second_table_below_an_empty_row_of_a_sheet_is_told(tmp_path: Path) -> None:
    rows = [["Pay 2024"], [], ["name", "pay"], ["Ann", 5], ["Bob", 4], [], ["team", "boss"], ["IT", "Ann"]]
    with Database.open(write(tmp_path, Messy("book.xlsx", {"t": rows}, (), "", ()))) as database:
        assert [each.kind for each in database.notices] == ["tables", "numbers as text"]
        assert database.schema().tables[0].comment == "Pay 2024"
        assert database.execute("SELECT count(*) FROM t").rows == ((4,),)


def test_keys_and_values_above_a_table_are_no_header(tmp_path: Path) -> None:
    above = [["Created by", "Ann Smith"], ["Year", 2024]]
    rows = [*above, ["Store", "Product", "Units"], ["Bern", "pen", 5], ["Zug", "ink", 7]]
    sheets = {"t": rows, "u": [["name", "team"], ["Ann", "IT"], ["Bob", "HR", "left"], ["Cid", "HR"]]}
    with Database.open(write(tmp_path, Messy("book.xlsx", sheets, (), "", ()))) as database:
        assert database.schema().tables[0].comment == "Created by Ann Smith Year 2024"
        assert database.execute('SELECT sum("Units") FROM t').rows == ((12,),)
        assert database.execute("SELECT count(*) FROM u WHERE team = 'HR'").rows == ((2,),)


@pytest.mark.parametrize(
    ("first", "rows", "told"),
    [
        ([1, "Ann", 10], 3, True),
        ([1, "Ann", 10.5], 3, True),
        ([4, "id", 2024], 3, True),
        (["id", "name", "n"], 2, False),
        (["id", "name", 2024], 2, False),
        ([None, "name", 10], 2, False),
        ([5, 6, 7], 2, False),
        (["id", "name", datetime(2024, 1, 5)], 2, False),
    ],
)
def test_a_first_row_that_is_no_header_is_read_and_told(
    tmp_path: Path, first: list[Any], rows: int, told: bool
) -> None:
    book = write(tmp_path, Messy("book.xlsx", {"t": [first, [2, "Bob", 21], [3, "Cy", 36]]}, (), "", ()))
    for turned in ([], ["header"]):
        with Database.open(book, otherwise=turned) as database:
            count = rows if not turned else 5 - rows
            assert database.execute("SELECT count(*) FROM t").rows == ((count,),)
            assert ("header" in [each.kind for each in database.notices]) == (told or bool(turned))


def test_numbers_shown_with_leading_zeros_are_codes(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["zip", "phone", "n"], [1067, 5551234, 10], [12345, 15559876, 20], ["Total", None, 30]):
        book.active.append(row)
    for row in book.active.iter_rows(min_row=2):
        for cell, form in zip(row, ("00000", r"000\-0000", "00"), strict=True):
            cell.number_format = form
    book.save(tmp_path / "t.xlsx")
    read = {(): (("01067", "555-1234", 10), ("12345", "1555-9876", 20)), ("numbers",): ((1067, 5551234, 10),)}
    for turned, rows in read.items():
        with Database.open(tmp_path / "t.xlsx", otherwise=turned) as database:
            assert [each.column for each in database.notices if each.turned_by == "numbers"] == ["zip", "phone"]
            assert database.execute("SELECT * FROM Sheet").rows[: len(rows)] == rows
