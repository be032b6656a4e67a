"""Files of tables: what they are called, how they are read, and that they stay as they are."""

from __future__ import annotations

import datetime
import gzip
import json
import os
from pathlib import Path

import pandas
import pytest
from tableturn.tools.database import Database, Limits
from tableturn.tools.database.duckdb.text_files import FIRST_ROWS, MOST_COLUMNS, WHOLE_BYTES
from tableturn.tools.errors import DatabaseUnavailable

from tests.support.command_line import tableturn

pytest.importorskip("duckdb")

_GERMAN = "Kunde;Betrag;Datum;;Betrag; Preis \nMüller;1.234,50;31.12.2024;x;5;1,5\nÖzil;2,50;01.02.2023;y;6;2,5\n"
_EURO = _GERMAN.replace("Müller", "Müller €")


def _rows(source: str | Path, table: str) -> tuple[tuple[object, ...], ...]:
    with Database.open(source) as database:
        return database.execute(f"SELECT * FROM {table}").rows


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-16-le", "utf-16-be"])
def test_separators_commas_dates_and_encodings(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "sales.csv"
    path.write_text(_GERMAN, encoding=encoding)
    with Database.open(path) as database:
        table = database.schema().table("sales")
        assert table is not None
        assert [column.name for column in table.columns] == ["Kunde", "Betrag", "Datum", "column3", "Betrag_1", "Preis"]
        assert [column.kind for column in table.columns] == ["text", "number", "time", "text", "number", "number"]
        assert database.execute("SELECT * FROM sales").rows == (
            ("Müller", 1234.5, "2024-12-31", "x", 5, 1.5),
            ("Özil", 2.5, "2023-02-01", "y", 6, 2.5),
        )


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
def test_signs_that_latin_1_lacks(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "sales.csv"
    path.write_text(_EURO, encoding=encoding)
    assert _rows(path, "sales")[0][0] == "Müller €"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "a,b\n1,x\n2,y\n"),
        ("t.csv", "a;b\n1;x\n2;y\n"),
        ("t.tsv", "a\tb\n1\tx\n2\ty\n"),
        ("t.psv", "a|b\n1|x\n2|y\n"),
        ("t.jsonl", '{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n'),
        ("t.json", '[{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]'),
    ],
)
def test_kinds_of_text(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert _rows(tmp_path / name, "t") == ((1, "x"), (2, "y"))


def test_packed_text(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "t.csv.gz", "wt", encoding="latin-1") as file:
        file.write("a;b\n1;é\n")
    assert _rows(tmp_path / "t.csv.gz", "t") == ((1, "é"),)


def test_parquet(tmp_path: Path) -> None:
    pandas.DataFrame({"x": [1, 2], "y": ["a", None]}).to_parquet(tmp_path / "t.parquet")
    with Database.open(tmp_path / "t.parquet") as database:
        table = database.schema().table("t")
        assert table is not None
        assert table.row_count == 2
        assert database.execute("SELECT * FROM t").rows == ((1, "a"), (2, None))


def test_sheets_are_tables(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    path = tmp_path / "book.xlsx"
    day = datetime.datetime(2024, 1, 2)
    with pandas.ExcelWriter(path) as writer:
        dated = pandas.DataFrame({"id": [1, 2], "when": [day, None], "n": [1.5, 2.0]})
        dated.to_excel(writer, sheet_name="My Sheet", index=False, startrow=2)
        pandas.DataFrame({"id": [1, 2], "m": [1, "x"]}).to_excel(writer, sheet_name="Order", index=False)
    assert _rows(path, "My_Sheet") == ((1, "2024-01-02", 1.5), (2, None, 2.0))
    assert _rows(path, "t_Order") == ((1, "1"), (2, "x"))


def test_a_folder_and_a_pattern(tmp_path: Path) -> None:
    for name in ("Sales 2024 (EU).csv", "sales-2024-eu.csv", "1.csv", "w[1].csv"):
        (tmp_path / name).write_text("a,b\n1,2\n")
    (tmp_path / "notes.txt").write_text("nothing")
    with Database.open(tmp_path) as database:
        assert {table.name for table in database.schema().tables} == {"Sales_2024_EU", "sales_2024_eu_2", "t_1", "w_1"}
        for table in database.schema().tables:
            assert database.execute(f"SELECT a, b FROM {table.name}").rows == ((1, 2),)
    with Database.open(f"{tmp_path}/[sS]ales*.csv") as database:
        assert len(database.schema().tables) == 2
        assert database.name == table_name_of(tmp_path)


def table_name_of(folder: Path) -> str:
    return folder.name.strip("_")


def test_links_out_of_an_opened_folder_are_not_followed(tmp_path: Path) -> None:
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    for made in (folder / "own", outside):
        made.mkdir(parents=True)
        (made / "a.csv").write_text("a,b\n1,2\n")
    (folder / "within.csv").symlink_to(folder / "own" / "a.csv")
    (folder / "out.csv").symlink_to(outside / "a.csv")
    (folder / "deep").symlink_to(outside)
    for source in (folder, f"{folder}/*.csv"):
        with Database.open(source) as database:
            assert [table.name for table in database.schema().tables] == ["within"]
    with Database.open(f"{folder}/**/*.csv") as database:
        assert {table.name for table in database.schema().tables} == {"a", "within"}
    with Database.open(folder / "out.csv") as database:  # which a person names
        assert [table.name for table in database.schema().tables] == ["out"]
    (folder / "within.csv").unlink()
    with pytest.raises(DatabaseUnavailable, match="or only links out of it"):
        Database.open(folder)


def test_json_with_more_keys_than_columns_is_one_column(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps([{f"k{n}": n if n % 2 else "x" for n in range(MOST_COLUMNS + 1)}]))
    with Database.open(tmp_path / "t.json") as database:
        assert database.execute("SELECT json->>'k1' FROM t").rows == (("1",),)


def test_short_rows_and_later_quotes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('name,age\n"Bo, jr",3\n"Al ""x""",4\nragged\n')
    assert _rows(path, "t") == (("Bo, jr", 3), ('Al "x"', 4), ("ragged", None))


def test_quotes_in_names(tmp_path: Path) -> None:
    path = tmp_path / "it's.csv"
    path.write_text('"say ""hi""",\'b\',"  two\nlines "\n1,2,3\n')
    with Database.open(path) as database:
        (table,) = database.schema().tables
        assert [column.name for column in table.columns][-1] == "two lines"
        assert database.execute(f"SELECT * FROM {table.name}").rows == ((1, 2, 3),)


def test_changes_are_seen(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")
    with Database.open(path) as database:
        before = database.engine.state()
        path.write_text("a\n1\n2\n")
        assert database.execute("SELECT count(*) FROM t").rows == ((2,),)
        assert database.engine.state() != before
        path.unlink()
        with pytest.raises(DatabaseUnavailable):
            database.execute("SELECT count(*) FROM t")


def test_late_rows_of_another_type(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    row = "1," + "x" * 160 + "\n"
    path.write_text("a,b\n" + row * (WHOLE_BYTES // len(row) + FIRST_ROWS // 100) + "none,x\n")
    with Database.open(path) as database:
        assert database.execute("SELECT max(a) FROM t").rows == (("none",),)


def test_what_cannot_be_read(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    (tmp_path / "broken.parquet").write_bytes(b"nothing of the kind")
    (tmp_path / "broken.xlsx").write_bytes(b"nothing of the kind")
    (tmp_path / "x.duckdb").write_bytes(b"nothing of the kind")
    for path in (
        empty,
        tmp_path / "missing.csv",
        tmp_path / "broken.parquet",
        tmp_path / "broken.xlsx",
        tmp_path / "x.duckdb",
        "duckdb://",
        "duckdb:///:memory:",
        f"{tmp_path}/*.nothing",
    ):
        with pytest.raises(DatabaseUnavailable) as caught:
            Database.open(path)
        assert "\n" not in str(caught.value)


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "tmp").mkdir()
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1;€\n", encoding="cp1252")
    before = path.read_bytes()
    with Database.open(path) as database:
        database.execute("SELECT * FROM t", Limits(rows=1))
    assert path.read_bytes() == before
    assert os.listdir(tmp_path / "tmp") == []


def test_permissions_leave_no_trace(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("id,name,pay\n1,Ann,987654321\n2,Bo,800\n")
    (tmp_path / "secrets.csv").write_text("word\nswordfish\n")
    with Database.open(tmp_path, deny=["secrets", "people.pay"]) as database:
        assert [table.name for table in database.schema().tables] == ["people"]
        assert database.execute("SELECT * FROM people").rows == ((1, "Ann"), (2, "Bo"))
        assert "987654321" not in repr(database.schema())


def test_times_with_a_zone(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_text("id,at\n1,2021-01-05T10:00:00Z\n2,2021-01-05T12:30:00Z\n", encoding="utf-8")
    with Database.open(path) as database:
        (first,), (second,) = database.execute("SELECT at FROM events ORDER BY id").rows
        assert [datetime.datetime.fromisoformat(str(at)).astimezone(datetime.UTC) for at in (first, second)] == [
            datetime.datetime(2021, 1, 5, 10, tzinfo=datetime.UTC),
            datetime.datetime(2021, 1, 5, 12, 30, tzinfo=datetime.UTC),
        ]


def test_commas_that_part_no_thousands(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    lines = ["id,price,total,ratio", '1,"1,50","1,234.50",0.5', '2,"12,5","1,234",0.25', "3,7,99,1", ""]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert _rows(path, "prices") == ((1, "1,50", 1234.5, 0.5), (2, "12,5", 1234, 0.25), (3, "7", 99, 1))


def test_commas_that_part_no_thousands_beside_dates(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text('day,price\n03/02/2024,"1,50"\n14/02/2024,"1,234.50"\n', encoding="utf-8")
    assert _rows(path, "prices") == (("2024-02-03", "1,50"), ("2024-02-14", "1,234.50"))


def test_points_that_part_no_thousands(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text("price;weight;total\n1.50;2,5;1.234,5\n12.5;3,25;2,5\n", encoding="utf-8")
    assert _rows(path, "prices") == (("1.50", 2.5, 1234.5), ("12.5", 3.25, 2.5))


_PEOPLE = "id;{}\n" + "".join(f"{number};{{}}\n" for number in range(1, 4))


@pytest.mark.parametrize(
    ("encoding", "header", "cells"),
    [
        ("cp1251", "имя", ("Иван Петров", "Мария Соколова", "Казань")),
        ("cp1250", "imię", ("Łukasz Żółkiewski", "Świętosława", "Kraków")),
        ("shift_jis", "名前", ("田中太郎", "東京都渋谷区", "コーヒー")),
        ("gb18030", "姓名", ("王小明", "北京市海淀区", "李雷")),
        ("cp1253", "όνομα", ("Γιώργος Παπαδόπουλος", "Αθήνα", "Μαρία")),
        ("cp1252", "nombre", ("José Muñoz", "Begoña Ibáñez", "Málaga")),
    ],
)
def test_encodings_are_guessed_and_told(tmp_path: Path, encoding: str, header: str, cells: tuple[str, ...]) -> None:
    path = tmp_path / "people.csv"
    path.write_text(_PEOPLE.format(header, *cells), encoding=encoding)
    with Database.open(path) as database:
        assert database.execute("SELECT * FROM people").rows == tuple(enumerate(cells, 1))
        (table,) = database.schema().tables
        assert table.columns[1].name == header
        (told,) = database.warnings
        assert told.startswith("people: not UTF-8, read as ")
        assert "save the file as UTF-8" in told
        assert "a guess" in table.comment


def test_nothing_is_told_of_what_the_file_says(tmp_path: Path) -> None:
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        path = tmp_path / f"{encoding}.csv"
        path.write_text("name;day\nÖzil;2024-01-02\n", encoding=encoding)
    with Database.open(tmp_path) as database:
        assert database.warnings == ()
        assert {table.comment for table in database.schema().tables} == {""}


@pytest.mark.parametrize(
    ("text", "first", "told"),
    [
        ("day,n\n01/02/2024,1\n03/04/2024,2\n", "2024-02-01", True),
        ("day,n\n01/02/24,1\n03/04/24,2\n", "2024-02-01", True),
        ("day;n\n01-02-2024 10:00;1\n03-04-2024 11:30;2\n", "2024-02-01 10:00:00", True),
        ("day,n\n1/2/2024,1\n13/2/2024,2\n", "2024-02-01", False),
        ("day,n\n1/2/2024,1\n2/13/2024,2\n", "2024-01-02", False),
        ("day,paid\n01/02/2024,12/25/2024\n03/04/2024,01/01/2024\n", "2024-01-02", False),
        ("day;n\n01.02.2024;1\n03.04.2024;2\n", "2024-02-01", False),
        ("day,n\n2024-02-01,1\n2024-04-03,2\n", "2024-02-01", False),
    ],
)
def test_dates_that_could_be_read_in_either_order(tmp_path: Path, text: str, first: str, told: bool) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with Database.open(path) as database:
        assert database.execute("SELECT day FROM t").rows[0] == (first,)
        (table,) = database.schema().tables
        assert table.columns[0].kind == "time"
        assert bool(table.columns[0].comment) == told
        assert sum("read as day/month/year" in warning for warning in database.warnings) == told


def test_what_is_hidden_is_not_told_of(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("day,n\n01/02/2024,1\n")
    (tmp_path / "u.csv").write_text("a;b\n1;é\n", encoding="latin-1")
    with Database.open(tmp_path, deny=["t.day", "u"]) as database:
        assert database.warnings == ()


@pytest.mark.parametrize(
    "text",
    ["sep=;\na;b\n1;2,5\n", '"sep=;"\na;b\n1;2,5\n', "sep=|\r\na|b\r\n1|2.5\r\n", "\ufeffsep=\t\na\tb\n1\t2.5\n"],
)
def test_a_separator_that_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    with Database.open(path) as database:
        table = database.execute("SELECT * FROM t")
        assert (table.columns, table.rows) == (("a", "b"), ((1, 2.5),))


@pytest.mark.parametrize("gap", ["", "\n", ";;\n"])
def test_titles_above_a_header(tmp_path: Path, gap: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"Sales report;;\n{gap}Region;2023;2024\nNorth;1;2\nSouth;3;4\n")
    with Database.open(path) as database:
        table = database.execute("SELECT * FROM t")
        assert (table.columns, table.rows) == (("Region", "2023", "2024"), (("North", 1, 2), ("South", 3, 4)))
        assert database.schema().tables[0].comment == "Sales report"


def test_sheets_as_people_lay_them_out(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    sheets: dict[str, list[list[object]]] = {
        "titled": [
            ["Report 2024"],
            ["all in EUR"],
            [],
            [None, "Region", "Units", None, "Year"],
            [None, "North", 3, None, 2023],
            [],
            [None, "South", 4, None, 2024],
        ],
        "unnamed": [[None, "v"], ["x", 1], ["y", 2]],
        "ended": [["name", None], ["x", 1], ["y", 2]],
        "alone": [["word"], ["x"]],
    }
    book = openpyxl.Workbook()
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(tmp_path / "book.xlsx")
    with Database.open(tmp_path / "book.xlsx") as database:
        held = {table.name: table for table in database.schema().tables}
        assert {name: tuple(column.name for column in table.columns) for name, table in held.items()} == {
            "titled": ("Region", "Units", "Year"),
            "unnamed": ("column1", "v"),
            "ended": ("name", "column2"),
            "alone": ("word",),
        }
        assert held["titled"].comment == "Report 2024 all in EUR"
        assert database.execute("SELECT * FROM titled").rows == (("North", 3, 2023), ("South", 4, 2024))
        assert database.execute("SELECT * FROM ended").rows == (("x", 1), ("y", 2))


@pytest.mark.parametrize("name", ["pipe.txt", "data.dat", "data"])
def test_other_endings_are_read_where_columns_are_separated(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("a|b\n1|x\n2|y\n")
    assert _rows(path, path.stem) == ((1, "x"), (2, "y"))


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("notes.txt", b"Dear Ada\nall is well\n", "name it .csv"),
        ("old.xls", b"\xd0\xcf\x11\xe0" + bytes(600), "save it as one of these"),
    ],
)
def test_other_files_are_told_what_is_read(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DatabaseUnavailable, match=says):
        Database.open(tmp_path / name)


def test_dates_in_json_that_are_not_iso_stay_text(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text('[{"a": "01-02-2024", "b": "2024-02-01", "c": "2024-02-01T10:00:00Z"}]')
    with Database.open(tmp_path / "t.json") as database:
        assert database.execute("SELECT a, b FROM t").rows == (("01-02-2024", "2024-02-01"),)
        assert database.execute("SELECT hour(c AT TIME ZONE 'UTC') FROM t").rows == ((10,),)


def test_a_person_who_asks_is_told_of_guesses(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("id,day\n1,01/02/2024\n2,03/04/2024\n")
    ran = tableturn("ask", "--db", str(tmp_path / "sales.csv"), "--model", "offline", "How many sales are there?")
    assert (ran.returncode, "2" in ran.stdout) == (0, True), ran.stderr
    assert "tableturn: sales.day: read as day/month/year" in ran.stderr
