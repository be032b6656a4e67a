"""Rows as files: every form holds the same rows, whole or not at all, and no text becomes a formula."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import sys
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tableturn.tools.database import Database, Limits
from tableturn.tools.errors import ExportError, QueryFailed, QueryTimeout, ResultTooLarge
from tableturn.tools.export import FORMATS, Format, export_query, export_rows, infer_export_format, make_file_name
from tableturn.tools.formats import ColumnFormat

from tests.support.command_line import tableturn

LIMITS = Limits(seconds=60, rows=1_000_000)
COUNT = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t LIMIT {}) SELECT n, 'row ' || n AS name FROM t"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT, price, photo BLOB)")
        connection.executemany(
            "INSERT INTO things VALUES (?, ?, ?, ?)",
            [(1, "=1+1", 2.5, b"\x00\xff"), (2, None, 3, None), (3, "a,b\n|<b>", "cheap", None)],
        )
    return path


def records(path: Path) -> list[dict[Any, Any]]:
    """The rows of a file, by its form, NULL as None and everything else as text."""
    match infer_export_format(path):
        case "csv":
            with path.open(newline="") as file:
                rows = list(csv.DictReader(file))
        case "json":
            rows = json.loads(path.read_text())
        case "jsonl":
            rows = [json.loads(line) for line in path.read_text().splitlines()]
        case "xlsx":
            header, *cells = openpyxl.load_workbook(path).active.iter_rows(values_only=True)  # pyright: ignore[reportOptionalMemberAccess]
            rows = [dict(zip(map(str, header), row, strict=True)) for row in cells]
        case "parquet":
            rows = pd.read_parquet(path).astype(object).to_dict("records")
        case "md":
            lines = [line.strip("| ").split(" | ") for line in path.read_text().splitlines()]
            rows = [dict(zip(lines[0], line, strict=True)) for line in lines[2:]]
    return [
        {key: None if cell in (None, "") or cell != cell else str(cell) for key, cell in row.items()} for row in rows
    ]


@pytest.mark.parametrize("form", FORMATS)
def test_every_form_holds_every_row(shop: Path, tmp_path: Path, form: Format) -> None:
    target = tmp_path / f"rows.{form}"
    with Database.open(shop) as database:
        done = export_query(database, COUNT.format(5_001), target, form, LIMITS)
    assert (done.rows, done.truncated, done.form) == (5_001, False, form)
    found = records(target)
    assert [row["name"] for row in found] == [f"row {n}" for n in range(1, 5_002)]
    assert found[-1]["n"] == "5001"
    assert not list(tmp_path.glob(".*.part"))


@pytest.mark.parametrize("form", ["json", "jsonl", "xlsx", "parquet"])
def test_cells_keep_what_they_hold(shop: Path, tmp_path: Path, form: Format) -> None:
    target = tmp_path / f"rows.{form}"
    with Database.open(shop) as database:
        export_query(database, "SELECT name, price FROM things ORDER BY id", target, form, LIMITS)
    assert records(target) == [
        {"name": "=1+1", "price": "2.5"},
        {"name": None, "price": "3"},
        {"name": "a,b\n|<b>", "price": "cheap"},
    ]


def test_a_query_without_rows_has_its_header(shop: Path, tmp_path: Path) -> None:
    with Database.open(shop) as database:
        for form in FORMATS:
            target = tmp_path / f"none.{form}"
            assert export_query(database, "SELECT id, name FROM things WHERE 0", target, form, LIMITS).rows == 0
            assert target.stat().st_size > 0 or form == "jsonl"
            assert records(target) == []


def test_the_limit_is_kept_and_told(shop: Path, tmp_path: Path) -> None:
    with Database.open(shop) as database:
        done = export_query(database, COUNT.format(50), tmp_path / "some.csv", "csv", replace(LIMITS, rows=10))
    assert (done.rows, done.truncated) == (10, True)
    assert len(records(tmp_path / "some.csv")) == 10


ENDLESS = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT n FROM t"
LARGE = f"SELECT n, zeroblob(CASE n WHEN 9000 THEN 2000000 ELSE 1 END) FROM ({COUNT.format(9_100)})"


@pytest.mark.parametrize(
    ("sql", "limits", "error"),
    [
        ("SELECT nothing FROM things", LIMITS, QueryFailed),
        (ENDLESS, replace(LIMITS, seconds=0.5, rows=10**9), QueryTimeout),
        (LARGE, LIMITS, ResultTooLarge),
    ],
)
def test_what_fails_leaves_what_was_there(
    shop: Path, tmp_path: Path, sql: str, limits: Limits, error: type[Exception]
) -> None:
    target, stream = tmp_path / "kept.csv", io.BytesIO()
    target.write_text("as it was")
    with Database.open(shop) as database:
        for to in (target, stream):
            with pytest.raises(error):
                export_query(database, sql, to, "csv", limits)
        assert database.execute("SELECT 1").rows == ((1,),), "the database is asked on"
    assert target.read_text() == "as it was"
    assert stream.getvalue() == b""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.csv", "shop.db"]


def test_what_is_hidden_is_not_in_a_file(shop: Path, tmp_path: Path) -> None:
    with Database.open(shop, deny=["things.price"]) as database:
        export_query(database, "SELECT * FROM things", tmp_path / "seen.csv", "csv", LIMITS)
        with pytest.raises(QueryFailed):
            export_query(database, "SELECT price FROM things", tmp_path / "unseen.csv", "csv", LIMITS)
    assert list(records(tmp_path / "seen.csv")[0]) == ["id", "name", "photo"]


def test_the_database_is_not_written_over(shop: Path, tmp_path: Path) -> None:
    before = shop.read_bytes()
    (tmp_path / "link.csv").symlink_to(shop)
    with Database.open(shop) as database:
        for target in (shop, tmp_path / "link.csv"):
            with pytest.raises(ExportError, match="is the database itself"):
                export_query(database, "SELECT 1", target, "csv", LIMITS)
    assert shop.read_bytes() == before


@pytest.mark.parametrize("target", ["no/such/folder/x.csv", "folder"])
def test_where_no_file_can_be_is_said(tmp_path: Path, target: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(ExportError, match="cannot write"):
        export_rows(["a"], [(1,)], tmp_path / target, "csv")


@contextmanager
def a_disk_of(size: int) -> Generator[None]:
    """Lets no file grow beyond some bytes."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.skipif(sys.platform != "linux", reason="its limits of files are Linux's")
@pytest.mark.parametrize("form", FORMATS)
def test_a_full_disk_is_said_and_leaves_nothing(tmp_path: Path, form: Format) -> None:
    # A sheet is written to a temporary file, whose generator would be left behind.
    with (
        a_disk_of(4_000 if form == "xlsx" else 1),
        pytest.raises(ExportError, match=r"^cannot write .*: File too large$"),
    ):
        export_rows(["a"], [(1,)], tmp_path / f"rows.{form}", form)
    assert list(tmp_path.iterdir()) == []
    with open("/dev/full", "wb") as target:
        with pytest.raises(ExportError, match="cannot write the rows: No space left"):
            export_rows(["a"], [(1,)], target, form)
        with suppress(OSError):
            target.close()


@pytest.mark.skipif(sys.platform != "linux", reason="its limits of files are Linux's")
def test_a_chat_says_what_it_could_not_write_and_goes_on(shop: Path, tmp_path: Path) -> None:
    said = tableturn("chat", "--db", str(shop), "--model", "offline", given="how many things?\n/export a/b.csv\nexit\n")
    assert "tableturn: cannot write a/b.csv: there is no folder" in said.stderr
    assert said.returncode == 1


def test_a_form_that_no_ending_names_is_said() -> None:
    assert infer_export_format("A.CSV") == "csv"
    with pytest.raises(ExportError, match=r"\.csv"):
        infer_export_format("rows.txt")


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+cmd|' /C calc'!A0",
        "-2+3",
        "@SUM(A1)",
        "\t1",
        "\r=1",
        "\n=1",
        " =1",
        "\xa0=1",
        "\ufeff@A1",
        "\uff1d1+1",
    ],
)
def test_csv_holds_no_formula(text: str) -> None:
    written = io.BytesIO()
    export_rows([text], [(text,), ("-5",), ("+4.5 %",), (-5,), (" -5",), ("a=b",)], written, "csv")
    header, first, *rest = csv.reader(io.StringIO(written.getvalue().decode(), newline=""))
    assert header == first == [f"'{text}"]
    assert rest == [["-5"], ["'+4.5 %"], ["-5"], [" -5"], ["a=b"]]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a;=1+1", "a;'=1+1"),
        ("a\n=1+1\r\n@b\n-3", "a\n'=1+1\r\n'@b\n-3"),
        ("\t=1", "'\t'=1"),
        ("a; @SUM(A1);-1 + 1", "a;' @SUM(A1);'-1 + 1"),
        ("3;-2;+1.5%", "3;-2;+1.5%"),
        ("a;b=1", "a;b=1"),
        ("\t" * 100_000, "'" + "\t" * 100_000),  # minutes, if the time were squared
    ],
)
def test_csv_holds_no_formula_for_those_who_divide_it_elsewhere(text: str, written: str) -> None:
    export_rows([text], [(text,)], stream := io.BytesIO(), "csv")
    assert [*csv.reader(io.StringIO(stream.getvalue().decode(), newline=""))] == [[written], [written]]


def test_excel_holds_no_formula_and_changes_no_text(tmp_path: Path) -> None:
    texts = ["=1+1", "#N/A", "+1", "2024-01-01", "0012", "x" * 40_000, "a\x00b", 10**17]
    export_rows(["=SUM(A2)"], [(text,) for text in texts], tmp_path / "x.xlsx", "xlsx")
    (sheet,) = openpyxl.load_workbook(tmp_path / "x.xlsx").worksheets
    found = [cell for (cell,) in sheet.iter_rows()]
    assert {cell.data_type for cell in found} == {"s"}
    values = [str(cell.value) for cell in found]
    assert values[:6] == ["=SUM(A2)", "=1+1", "#N/A", "+1", "2024-01-01", "0012"]
    assert (len(values[6]), values[7:]) == (32_767, ["a\ufffdb", str(10**17)])


cells = st.one_of(st.none(), st.integers(), st.floats(), st.text(max_size=6), st.binary(max_size=4))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(cells, cells), max_size=6), st.lists(st.text(max_size=5), min_size=2, max_size=2))
@example([(None, 9_007_199_254_740_993), (None, 0.0)], ["a", "b"])
def test_any_rows_can_be_written(rows: list[tuple[Any, ...]], names: list[str]) -> None:
    for form in FORMATS:
        written = io.BytesIO()
        assert export_rows(names, rows, written, form).rows == len(rows)
        if form == "json":
            assert len(json.loads(written.getvalue())) == len(rows)
        if form == "parquet":
            assert len(pd.read_parquet(io.BytesIO(written.getvalue()))) == len(rows)


def test_excel_shows_numbers_and_dates_as_they_are_meant(tmp_path: Path) -> None:
    names = ("id", "day", "revenue", "share", "weight", "note")
    rows = [(12345, "2024-01-05", 1234.5, 12.5, 7, "=1+1"), (2, "1850-01-05", -3.0, None, 2**60, "x" * 300)]
    formats = (
        ColumnFormat("key"),
        ColumnFormat("date"),
        ColumnFormat("money", 2, "EUR"),
        ColumnFormat("percent", 1),
        ColumnFormat("number", unit="kg"),
        ColumnFormat(),
    )
    export_rows(names, rows, tmp_path / "shop.xlsx", "xlsx", formats)
    (sheet,) = openpyxl.load_workbook(tmp_path / "shop.xlsx").worksheets
    assert sheet.freeze_panes == "A2"
    assert [cell.value for cell in sheet[1]] == list(names)
    first, second = ([(cell.value, cell.number_format) for cell in sheet[place]] for place in (2, 3))
    assert first[0] == (12345, "General")
    assert first[1] == (datetime(2024, 1, 5), "d mmm yyyy")
    assert first[2:5] == [(1234.5, "[$EUR] #,##0.00"), (12.5, '#,##0.0"%"'), (7, '#,##0" kg"')]
    assert first[5] == ("=1+1", "General")
    assert sheet["F2"].data_type == "s"
    assert [value for value, _ in second] == [2, "1850-01-05", -3, None, str(2**60), "x" * 300]
    assert sheet.column_dimensions["F"].width < 70 < 100
    assert sheet.column_dimensions["C"].width > len("EUR 1,234.50")


def test_excel_has_a_header_if_there_are_no_rows(tmp_path: Path) -> None:
    export_rows(("a", "b"), [], tmp_path / "empty.xlsx", "xlsx")
    (sheet,) = openpyxl.load_workbook(tmp_path / "empty.xlsx").worksheets
    assert list(sheet.values) == [("a", "b")]


def test_markdown_is_for_people_and_csv_is_exact() -> None:
    rows, formats = [("Lyon", 1234.5000000001)], (ColumnFormat(), ColumnFormat("money", 2, "EUR"))
    texts: list[str] = []
    for form in ("md", "csv", "json"):
        export_rows(("city", "revenue"), rows, stream := io.BytesIO(), form, formats)
        texts.append(stream.getvalue().decode())
    assert texts[0].splitlines() == ["| city | revenue |", "| --- | ---: |", "| Lyon | €1,234.50 |"]
    assert all("1234.5000000001" in text for text in texts[1:])


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("Revenue by month?", "Revenue by month"),
        ("../../etc/passwd", "etc passwd"),
        ("Umsatz für Köln", "Umsatz für Köln"),
        ("?!", "result"),
        ("word " * 40, "word " * 11 + "word"),
    ],
)
def test_a_file_is_called_by_the_words_of_its_question(words: str, name: str) -> None:
    assert make_file_name(words) == name
