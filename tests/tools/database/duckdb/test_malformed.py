"""Malformed files and bombs: each ends in one line that says what is wrong, within limits, and none in a traceback."""

from __future__ import annotations

import gzip
import io
import os
import random
import re
import resource
import zipfile
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import duckdb
import pytest
from tableturn.tools.database import Database, Limits
from tableturn.tools.database.duckdb.files import FileReader
from tableturn.tools.database.duckdb.sources import TableFile
from tableturn.tools.errors import DatabaseUnavailable, ResultTooLarge, TableturnError

pytest.importorskip("duckdb")
openpyxl = pytest.importorskip("openpyxl")

_SHEET = "xl/worksheets/sheet1.xml"
_MAIN = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">{}</worksheet>'
_CELL = '<sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>{}</t></is></c></row></sheetData>'
_FAR = '<dimension ref="A1:XFD1048576"/><sheetData><row r="1"><c r="{}1"><v>1</v></c></row></sheetData>'


def _book(**parts: bytes | str | None) -> bytes:
    """A workbook with some parts replaced, or left out."""
    book, plain, changed = openpyxl.Workbook(), io.BytesIO(), io.BytesIO()
    for row in (["id", "name"], [1, "a"], [2, "b"]):
        book.active.append(row)
    book.save(plain)
    names = {"sheet": _SHEET, "strings": "xl/sharedStrings.xml", "styles": "xl/styles.xml", "book": "xl/workbook.xml"}
    given = {names[name]: content for name, content in parts.items()}
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = given.get(name, old.read(name))
            if content is not None:
                new.writestr(name, content)
    return changed.getvalue()


def _lying(said: int) -> bytes:
    """A workbook whose sheet has another size than its archive says."""
    packed = _book(sheet=_MAIN.format("<sheetData>" + "<row><c><v>1</v></c></row>" * 5_000 + "</sheetData>"))
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        size = archive.getinfo(_SHEET).file_size.to_bytes(4, "little")
    return packed.replace(size, said.to_bytes(4, "little"))


def _entities() -> str:
    declared = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    return f'<!DOCTYPE d [<!ENTITY e0 "ha">{declared}]>' + _MAIN.format(_CELL.format("&e9;"))


_WORKBOOKS: dict[str, Callable[[], bytes]] = {
    "cut": lambda: _book()[:2_000],
    "empty": bytes,
    "old": lambda: bytes.fromhex("d0cf11e0a1b11ae1") + bytes(3_000),
    "no-book": lambda: _book(book=None),
    "bad-xml": lambda: _book(sheet="<worksheet><<<"),
    "no-xml": lambda: _book(sheet=""),
    "entities": lambda: _book(sheet=_entities()),
    "strings": lambda: _book(sheet=_MAIN.format('<sheetData><row><c t="s"><v>99</v></c></row></sheetData>')),
    "larger-than-said": lambda: _lying(99),
    "larger-than-read": lambda: _lying(600_000_000),
}


@pytest.mark.parametrize("kind", _WORKBOOKS)
def test_a_malformed_workbook_is_said_in_one_line(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "book.xlsx"
    path.write_bytes(_WORKBOOKS[kind]())
    with pytest.raises(DatabaseUnavailable, match=r"book\.xlsx .*: save (it again|its sheets) as") as caught:
        Database.open(path)
    assert "\n" not in str(caught.value)


def test_a_workbook_of_too_many_sheets_is_refused(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for _ in range(500):
        book.create_sheet()
    book.save(tmp_path / "book.xlsx")
    with pytest.raises(DatabaseUnavailable, match="it has 501 sheets, and at most 500 are read"):
        Database.open(tmp_path / "book.xlsx")


def test_no_cell_of_a_file_with_too_many_columns_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = ", ".join(f"{number} AS c{number}" for number in range(4_001))
    duckdb.sql(f"COPY (SELECT {listed}) TO '{tmp_path}/wide.parquet'")
    reader = FileReader(tmp_path, thorough=False)
    monkeypatch.setattr(reader, "_add_notices", pytest.fail)
    with closing(reader), pytest.raises(DatabaseUnavailable, match="4,001 columns, and at most 4,000"):
        reader.entries(TableFile(tmp_path / "wide.parquet", "parquet", "wide"))


@pytest.mark.parametrize("corner", ["A", "XFD"])
def test_what_a_sheet_says_of_its_size_takes_no_memory(tmp_path: Path, corner: str) -> None:
    path = tmp_path / "book.xlsx"
    path.write_bytes(_book(sheet=_MAIN.format(_FAR.format(corner))))
    with Database.open(path) as database:
        assert [len(table.columns) for table in database.schema().tables] == [1]


def test_a_bomb_ends_within_the_limits_of_its_process(tmp_path: Path) -> None:
    text = b"<si><t>" + b"A" * 1_000 + b"</t></si>"
    start = b'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    (tmp_path / "book.xlsx").write_bytes(_book(strings=start + text * 490_000 + b"</sst>"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with suppress(DatabaseUnavailable):
        Database.open(tmp_path / "book.xlsx").close()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000, "it is no part of this process"


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        (
            "t.csv",
            ",".join(f"c{n}" for n in range(10_000)).encode() + b"\n",
            "it has 10,000 columns, and at most 4,000",
        ),
        ("t.csv", b"a,b\n" + b"x" * 3_000_000 + b",1\n", "it has a line of more than 2,000,000 characters"),
        (
            "t.csv.gz",
            gzip.compress(b"a,b\n" + b"x" * 3_000_000, mtime=0),
            "it has a line of more than 2,000,000 characters",
        ),
        ("t.csv.gz", gzip.compress(b"a,b\n1,2\n" * 9_000, mtime=0)[:60], "ended before"),
        ("t.csv.gz", b"a,b\n1,2\n", "Not a gzipped file"),
        ("t.json", b"[" * 10_000 + b"]" * 10_000, "recursion depth"),
        ("t.json", b'{"a": 1, "b": ', "unexpected end of data: check that it is an array of objects"),
        ("t.csv", b"", "t.csv is empty: it has no columns and no rows"),
        ("t.csv", b"\xef\xbb\xbf \n\n", "t.csv is empty: it has no columns and no rows"),
        ("t.csv.gz", gzip.compress(b"", mtime=0), "t.csv.gz is empty: it has no columns and no rows"),
        ("t.jsonl", b"", "t.jsonl is empty: it has no columns and no rows"),
        ("t.parquet", b"PAR1PAR1", "'t.parquet' too small to be a Parquet file: write the file again"),
    ],
    ids=lambda value: None if isinstance(value, str) else "",
)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, name: str, content: bytes, says: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DatabaseUnavailable) as caught:
        Database.open(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def _takes_too_much(path: Path, column: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with Database.open(path) as database:
        for _ in range(2):
            with pytest.raises(ResultTooLarge):
                database.execute(f'SELECT max(hash("{column}")), list("{column}") FROM bomb', Limits(seconds=60))
            assert database.execute("SELECT 1 FROM bomb LIMIT 1").rows == ((1,),)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000, "it is no part of this process"


def test_a_text_that_parquet_repeats_ends_the_query(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    for name, length, read in (("bomb", 1_000_000, False), ("long", 1_000, True)):
        repeated = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 300_000), pyarrow.array(["A" * length]))
        path = tmp_path / f"{name}.parquet"
        parquet.write_table(pyarrow.table({"x": repeated}), path, compression="zstd", dictionary_pagesize_limit=1 << 30)
        assert path.stat().st_size < 50_000
        if read:
            assert Database.open(path).execute("SELECT count(DISTINCT x) FROM long").rows == ((1,),)
        else:
            _takes_too_much(path, "x")


@pytest.mark.parametrize("shape", ["struct", "list", "map", "structs", "fixed"])
def test_a_nested_text_that_parquet_repeats_ends_the_query(tmp_path: Path, shape: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows, path = 6_000, tmp_path / "bomb.parquet"
    places = pyarrow.array([0] * rows, pyarrow.int32())
    texts = pyarrow.DictionaryArray.from_arrays(places, pyarrow.array(["y" * 1_000_000]))
    fixed = pyarrow.array([b"y" * 1_000_000], pyarrow.binary(1_000_000))
    ends = pyarrow.array(range(rows + 1), pyarrow.int32())
    struct = pyarrow.StructArray.from_arrays([texts], names=["x, 'y"])
    nested = {
        "struct": lambda: struct,
        "list": lambda: pyarrow.ListArray.from_arrays(ends, texts),
        "map": lambda: pyarrow.MapArray.from_arrays(ends, pyarrow.array(map(str, range(rows))), texts),
        "structs": lambda: pyarrow.ListArray.from_arrays(ends, struct),
        "fixed": lambda: pyarrow.DictionaryArray.from_arrays(places, fixed),
    }[shape]()
    parquet.write_table(pyarrow.table({"a, b": nested, "i": pyarrow.array(range(rows))}), path, compression="zstd")
    assert path.stat().st_size < 50_000
    _takes_too_much(path, "a, b")


def test_nested_texts_of_parquet_are_read(tmp_path: Path) -> None:
    path = tmp_path / "nested.parquet"
    rows = "SELECT {'s': 'x', 'l': ['a', NULL], 'm': MAP {'k': 'z'::BLOB}} AS a, [[NULL], ['b']] AS b FROM range(9)"
    duckdb.execute(f"COPY ({rows}) TO '{path}'")
    with Database.open(path) as database:
        assert database.execute("SELECT count(a.s), count(b[2][1]) FROM nested").rows == ((9, 9),)


def test_what_is_no_file_is_said(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "t.csv")
    (tmp_path / "t.xlsx").symlink_to("/dev/zero")
    for name in ("t.csv", "t.xlsx"):
        with pytest.raises(DatabaseUnavailable, match="it is neither a file nor a folder"):
            Database.open(tmp_path / name)


def _mutated(content: bytes, chance: random.Random) -> bytes:
    """The content with some bytes changed, moved, doubled or cut."""
    changed = bytearray(content)
    for _ in range(chance.choice((1, 3, 20))):
        at = chance.randrange(len(changed))
        match chance.randrange(4):
            case 0:
                changed[at] = chance.randrange(256)
            case 1:
                del changed[at : at + chance.choice((1, 50))]
            case 2:
                changed[at:at] = changed[chance.randrange(len(changed)) :][: chance.choice((1, 100))]
            case _:
                changed[at : at + 4] = chance.choice((b"\xff\xff\xff\x7f", b"\0\0\0\0", b'"\n",'))
        changed = changed or bytearray(b"\0")
    return bytes(changed)


def _valid(tmp_path: Path) -> dict[str, bytes]:
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame({"id": range(50), "name": [f"n{n}" for n in range(50)]}).to_parquet(tmp_path / "valid.parquet")
    return {
        "t.csv": b"id;name;on\n" + b"".join(b'%d;"M\xc3\xbcl, %d";31.12.2024\n' % (n, n) for n in range(50)),
        "t.csv.gz": gzip.compress(b"id,name\n" + b"1,a\n" * 50, mtime=0),
        "t.json": b"[" + b",".join(b'{"id": %d, "of": {"x": [1, "y"]}}' % n for n in range(50)) + b"]",
        "t.parquet": (tmp_path / "valid.parquet").read_bytes(),
        "t.xlsx": _book(),
    }


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.json", "t.parquet", "t.xlsx"])
def test_mutated_files_are_read_or_refused(tmp_path: Path, name: str) -> None:
    chance, valid = random.Random(29), _valid(tmp_path)[name]
    path = tmp_path / name
    path.write_bytes(valid)
    with Database.open(path) as database:
        assert database.schema().tables, "as it is, it can be read"
    said: list[str] = []
    for _ in range(8 if name == "t.xlsx" else 25):
        path.write_bytes(_mutated(valid, chance))
        try:
            with Database.open(path) as database:
                for table in database.schema().tables:
                    database.execute(f'SELECT * FROM "{table.name}"', Limits(seconds=5))
        except TableturnError as error:
            said.append(str(error))
    assert [text for text in said if re.search("tableturn://|Stack Trace|site-packages", text)] == []
