"""Notices on files, tried on 40 files as people in several countries write them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pandas
import pyarrow.parquet
import pytest
from tableturn.tools.database import Database, Limits
from tableturn.tools.database.duckdb.notices import LOOKED_AT

from tests.tools.database.messy_files import FILES, Messy, write

pytest.importorskip("duckdb")


_PARTS = ("IT,web,10\nIT,ops,25\n", "HR,pay,7\nHR,hire,12\n")


def _make_years(quarter: str, whole: str) -> str:
    """Write two years, each with four quarters and their sum."""
    numbers = {2021: (512, 634, 781, 433), 2022: (333, 401, 677, 512)}
    lines = [
        line
        for year, parts in numbers.items()
        for line in (*(quarter.format(year, at, n) for at, n in enumerate(parts, 1)), whole.format(year, sum(parts)))
    ]
    return "\n".join(lines)


@pytest.mark.parametrize("file", FILES, ids=[file.name for file in FILES])
def test_messy_files(tmp_path: Path, file: Messy) -> None:
    with Database.open(write(tmp_path, file)) as database:
        own = database.schema().tables[0].name
        places = [(each.table if each.table != own else "", each.column, each.kind) for each in database.notices]
        told = {" ".join(filter(None, place)) for place in places}
        assert told == set(file.noticed), database.notices
        assert database.execute(file.sql).rows == (file.answer,)


def test_notices_show_no_cells_that_are_withheld(tmp_path: Path) -> None:
    lines = [
        "name,code,n",
        "a\x1b[31m,12 kg,1",
        "A\x1b[31m,3 kg,2",
        "b,tbd swordfish,x",
        "Total,,3",
        "Source: swordfish",
    ]
    (tmp_path / "t.csv").write_text("\n".join(lines))

    def told(**rules: Any) -> str:
        with Database.open(tmp_path / "t.csv", **rules) as database:
            return repr([(notice.column, notice.kind, notice.example) for notice in database.notices])

    assert "swordfish" in told()
    assert "x1b" not in told()
    withheld = told(egress={"columns": {"t.code": "none"}})
    assert ("swordfish" in withheld, "footnotes" in withheld) == (False, True)
    hidden = told(deny=["t.code"])
    assert ("swordfish" in hidden, "spellings" in hidden, "footnotes" in hidden) == (False, True, False)


def test_blanks_that_part_thousands_are_read_in_any_spelling(tmp_path: Path) -> None:
    (tmp_path / "ventes.csv").write_text("ville;montant\nParis;1\u202f234,50\nLyon;2 000,00\nNice;12\u00a0500,25\n")
    with Database.open(tmp_path / "ventes.csv") as database:
        assert database.execute("SELECT sum(montant) FROM ventes").rows == ((15734.75,),)


@pytest.mark.parametrize(
    ("text", "noticed"),
    [
        ("name age\nAnn 3\nBob 4\n", ("lines",)),
        ("a,b\nx,1\ny,2,3\n", ("lines",)),
        ("a,n,m\nx,120,11\ny,80,9\nz,200,20\nw,30,4\n", ()),  # a sum by chance
        ("a,n\nx,1.2k\ny,3M\n", ("units",)),
        ("a,n\nx,5\nsmall,1\nTotal,6\nTotal Wine,7\n", ("totals", "kept totals")),
        ("a,n\nx,10\ny,20\n,30\n", ("kept totals",)),
        ("a,n\nx,1\ny,1\n,2\n", ("kept totals",)),
        ("g,k,v\nA,x,1\nA,y,2\n,,3\nB,x,5\nB,y,6\n,,11\n", ("kept totals",)),
        ("a,n\nx,1\ny,2\nz,6\nMax,6\n", ("kept totals",)),
        ("a,n\nx,1\ny,2\nz,6\nMax,7\n", ()),
        ("n,note\n1,\n2,a\n3,\n4,b\n5,c\n", ()),
        ("a,v\nx,17\ny,25\nSubtotal,42\nz,51\nu,68\nSubtotal,119\nCompany,161\n", ("totals", "kept totals")),
        ("a,v\nx,17\ny,25\nSubtotal,42\nz,51\nu,68\nSubtotal,119\nv,160\n", ("totals",)),
        ("day,event,n\nMon,open,100\nTue,,100\nWed,up,105\nThu,,105\nFri,down,99\n", ()),
        ("a,b\nx,1\ny,2\n", ()),
        ("a,b,n\nA,x,2\nA,,2\nB,x,3\nB,,3\nC,z,1\n", ()),  # small numbers, equal by chance
        ("a,n,b\nx,1,0\ny,2,1\nz,3,1\n", ()),
        ("a,day\nx,03/04/58\n", ("dates", "dates")),
        ("a,n\nTotal,1e999999999\nx,1\nTotal,1\n", ("kept totals", "codes")),
        ("a,n\n" + "Total,1\n" * 2_000, ("kept totals", "copies")),
        ("payee,kind,n\nAnn,rent,5\nTotal,fuel,9\nTotal,fuel,7\nBob,rent,4\n", ()),
        ("n,film,by\n3,Jaws,A\n5,Total Recall,B\n7,Aliens,C\n", ()),
        ("payee,kind,n\nAnn,rent,5\nBob,rent,4\nTotal,,8\n", ("kept totals",)),
        ('"kg","day"\n"1",2.5,3\n"2",3.5,4\n', ()),
        ("item,n,price\nFruit,,\napple,10,0.5\npear,20,0.6\n2024,,\nbeet,5,1.2\n", ("headings",)),
        ("item,n,price\napple,10,0.5\npear,,\nbeet,,\n", ()),  # not above fuller rows
        ("name,team\nAnn,IT\nBob,\nCid,HR\n", ()),
        ("name,team,pay\nAnn,IT,5\nBob,HR,4\n\nteam,boss,since\nIT,Ann,3\n", ("tables", "numbers as text")),
        ("name,team,pay\nAnn,IT,5\nBob,HR,4\n\nCid,HR,4\nDan,IT,3\n", ()),
        ("g,n\nAll,60\nFood,40\n bread,15\n milk,25\nDrink,20\n tea,12\n beer,8\n", ("kept totals",) * 3),
        ("Row Labels,n\nNorth,30\nOslo,10\nBergen,20\nSouth,12\nRome,12\n", ("kept totals",) * 2),
        ("Row Labels,n\nNorth,30\nOslo,10\nBergen,20\nSouth,12\nRome,12\nGrand Total,42\n", ("kept totals",) * 3),
        ("a,n\nNorth,31\n1001,10\n1002,21\nSouth,33\n1003,33\n", ("kept totals", "kept totals", "numbers as text")),
        ("n,f\n1,1\n2,1\n3,2\n4,3\n5,5\n6,8\n7,13\n8,21\n9,34\n", ()),
        (f"a,b,n\nIT,Total,35\n{_PARTS[0]}HR,Total,19\n{_PARTS[1]}", ("kept totals",) * 2),
        (f"a,b,n\nCo,Total,54\nIT,Total,35\n{_PARTS[0]}HR,Total,19\n{_PARTS[1]}", ("kept totals",) * 3),
        (f"a,b,n\nIT,Total,36\n{_PARTS[0]}HR,Total,19\n{_PARTS[1]}", ()),  # not the sum of rows below
        ("year,quarter,n\n" + _make_years("{0},Q{1},{2}", "{0},FY,{1}"), ("kept totals",)),
        ("year,quarter,n\n" + _make_years("{0},Q{1},{2}", "{0},FY,{1}") + "\nTotal,,4283\n", ("totals",)),
        ("quarter,year,n\n" + _make_years("Q{1},{0},{2}", "FY,{0},{1}"), ("kept totals",)),
        ("year,quarter,n\n" + _make_years("{0},Q{1},{2}", "{0},Total,{1}"), ("totals",)),
        ("film,year,n\nJaws,1975,5120\nAliens,1986,6340\nTotal Recall,1990,11460\n", ()),
        (
            "a,n\nRevenue,300\n  Goods,200\n  Work,100\nCosts,120\n  Pay,80\n  Rent,40\nProfit,180\n",
            ("kept totals",) * 2,
        ),
        ("a,n\nRevenue,310\n  Goods,200\n  Work,100\nCosts,121\n  Pay,80\n  Rent,40\n", ()),
        ("m,n\nJan,10\nFeb,20\nMar,30\nQ1,60\nApr,5\nMay,6\nJun,7\nQ2,18\nYear,78\n", ("kept totals",) * 3),
        ("m,n\nJan,10\nFeb,20\nMar,31\nQ1,60\nApr,5\nMay,6\nJun,7\nQ2,19\nYear,80\n", ()),
        (
            "e,y,n\n" + "".join(f"World,{y},{100 + y}\nA,{y},40\nB,{y},{60 + y}\n" for y in (2020, 2021)),
            ("kept totals",),
        ),
        ("e,y,n\nWorld,2020,100\nA,2020,40\nB,2020,60\nWorld,2021,110\nA,2021,45\nB,2021,60\n", ()),
        ("k,qty\na,12\nb,about 5\nc,n/a\nd,7\ne,1.2k\nf,12 kg\n", ("numbers as text",)),
        ("a,n\nA,10\nB,<5\nC,*\nD,12\nE,c\n", ("numbers as text",)),
        ("a,film\nA,Jaws\nB,1984\nC,Aliens\nD,300\nE,Up\nF,Heat\n", ()),
        ("s,t,p\n(s),(°C),(%)\n0,20.1,101\n1,20.5,102\n", ("headers",)),
        ("s,t\n(ab),(500)\n(cd),70\n", ("numbers as text",)),
        (
            "c,p,n\nA,x,10\nA,y,20\nA Total,,30\nA Average,,15\nB,u,5\nB,v,15\nB Total,,20\nB Average,,10\nTotal,,50\n",
            ("totals", "kept totals", "kept totals"),
        ),
        ("title,n\nThe Sum of All Fears,12\nA Mean Girl,4\nTotal War,16\n", ("kept totals",)),
        ("title,n\nTotal Recall,261\nAlien,106\nSum of Us,20\nTotal Eclipse,3\n", ()),
        ("title,n\nTotal Eclipse of the Heart,100\nAfrica,50\n", ()),
        ("title,n\nSum of Us,20\nAlien,106\nTotal,126\n", ("totals",)),
        ("store,city,n\nKroger,Bonn,10\nAldi,Ulm,20\nTotal,Reno,30\n", ("kept totals",)),
        ("part,n\nEast,\na,10\nb,25\nTotal East,35\nWest,\nc,7\nd,9\nTotal West,17\n", ("totals", "kept totals")),
        ("year,n\n2019,512\n2020,634\n2021,781\n2022,1927\n", ()),
        ("g,n\na,50\nb,50\nc,70\nd,70\ne,30\nf,30\n", ()),  # each number twice
        ("m,n\nJan-24,5\nFeb-24,6\nMar-24,5\n", ("mixed dates",)),
        ("m,n\nJan 2024,5\nFévr. 2024,6\nMärz 2024,5\n", ("mixed dates",)),
        ("m,n\n01/Mar/24 9:05 AM,5\n", ("mixed dates",)),
        ('m,n\n"Jan 1, 2024 10:01:00 AM PST",5\n', ("mixed dates",)),
        ("m,n\n01-MAR-24 10.00.00.000 AM,5\n", ("mixed dates",)),
        ('m,n\n"Fri, 01 Mar 2024 10:00:00 GMT",5\n', ("mixed dates",)),
        ("m,n\n20240301T101500Z,5\n1:30 PM,6\nQ1 2024,7\n", ("mixed dates",)),
        ("m,n\n3 de enero de 2024,5\n2024년 1월 3일,6\nKW 12/2024,7\n", ("mixed dates",)),
        ("pace,n\n4:35,5\n12:01,6\n", ("times",)),
        ("a,b,n\nx,u,10\nx,v,25\nx,Total,36\ny,u,7\ny,v,12\ny,Total,19\nTotal,,54\n", ("totals", "kept totals")),
        ("track,length\nA,3:45\nB,4:10\n", ("times",)),
        ("track,length\nA,0:03:45\nB,0:04:10\n", ()),
        ("shop,opens\nA,8:00\nB,9:30\n", ()),
        ("street,n\n12 March Street,5\nMAR 500,6\nDEC 3000,6\n", ()),
        ("dev,n\n0x0A,5\n0x0B,6\n", ("codes",)),
        ("a,n\nx,100\ny,21\nTotal,121\nTotal previous year,99\n", ("totals", "kept totals")),
        *(
            (f"a,n\nx,100\ny,21\n{label},99\n", ("kept totals",))
            for label in ("Prior year total", "PY total", "Total LY", "Total prev. year")
        ),
        ("item,n\na,2.50\nb,1.20\nc,3.70\nd,2.40\ne,6.10\nf,3.10\n", ()),  # prices that add up
        ("room,n\nRoom 12,5\nMarket 14,6\nUnit-13,5\n", ()),
        ("g,n\na,10\nb,20\nTotal in,30\nc,4\nd,7\nTotal out,11\nGain,19\n", ("totals", "kept totals")),
        ("g,n\nOslo,60\nBergen,40\nRome,15\nPisa,25\nBonn,20\n", ()),  # one sum by chance
        ("m;n\nJan;512\nFeb;634\nMar;781\nQ1;1927\nApr;333\nMay;401\n", ("kept totals",)),
        ("m,n\nJan,512\nFeb,634\nMar,781\nQ1,1927\nApr,51\nMay,62\nJun,73\nQ2,186\n", ("kept totals",) * 2),
        ("a,n,m\nx,512,3\ny,634,4\nz,781,5\nall,1927,12\nu,333,6\n", ("kept totals",)),
        ("a,n,m\nx,512,3\ny,634,4\nz,781,5\nw,1927,13\nu,333,6\n", ()),  # a sum in one column only
        ("a,n\nx,1\ny,2\nz,3\nw,6\nu,5\n", ()),  # small numbers
        ("a,n\nx,0\ny,10\nz,10\nw,50\nu,0\nv,50\n", ()),  # beside zeros, the same as another
        ('a,n,list\nx,"1,741","1,3"\ny,"2,838","2,3,4"\nz,"3,595","2"\n', ("numbers", "numbers as text")),
        ('a,n,v\nx,"1,737","3,6"\ny,"2,914","1,8"\n', ("numbers",)),
        ("a,n,v\nx,1.737,3.6\ny,2.914,1.8\n", ()),  # decimals, where commas part columns
        ("note,n\nSource: a,1\nSource: b,2\nragged\n", ("lines",)),
        ("region,n\nN,10\nS,21\n\nFebruary,\nregion,n\nN,11\nS,22\n", ("headers", "headers")),
        ("n,n,a\n1,2,x\n3,4,y\n", ("names",)),
        ("Meier,Bern,active\nKunz,Genf,left\nRoth,Zug,active\n", ("header",)),
        ("Email,Town\nann@x.ch,Bern\nbob@y.ch,Basel\n", ()),
        ("name,city\nAnn,Rome\nBob,Oslo\n", ()),
        ("s,temp\nA,-999\nA,3.5\nB,4.1\nB,-999\n", ("placeholders",)),
        ("s,price\nA,999\nA,350\nB,410\n", ()),  # not far from the others
        ("s,until\nA,2024-01-01\nA,9999-12-31\nB,2023-05-05\nB,1900-01-01\n", ("placeholders", "placeholders")),
        ("s,born\nA,1900-01-01\nA,1911-04-12\nB,1923-05-05\n", ()),
        ("s,at\nA,2024-03-30T23:30:00+01:00\nB,2024-03-31T01:30:00Z\n", ("zones",)),
    ],
)
def test_other_things_that_are_noticed(tmp_path: Path, text: str, noticed: tuple[str, ...]) -> None:
    (tmp_path / "t.csv").write_text(text)
    with Database.open(tmp_path / "t.csv") as database:
        assert tuple(notice.kind for notice in database.notices if notice.kind != "key") == noticed


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# a\nid,qty\n1,5\n2,6\n# end\n", "# a"),
        ("# a\n# b\nid,qty\n1,5\n# in between\n2,6\n", "# a # b"),
        ("Report\n# a\n\nid,qty\n1,5\n# in between\n2,6\nTotal,11\n# end\n", "Report"),
        ('id,note,qty\n1,"x\n# no comment",5\n# in between\n2,y,6\nTotal,,11\n', ""),
    ],
)
def test_comments_above_and_within_a_table_cost_no_row(tmp_path: Path, text: str, title: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    with Database.open(tmp_path / "t.csv") as database:
        assert database.schema().tables[0].comment == title
        assert database.execute("SELECT sum(qty), count(id), count(*) FROM t").rows == ((11, 2, 2),)
        assert "lines that begin with # are left out" in database.notices[0].text


def test_only_first_rows_are_looked_at(tmp_path: Path) -> None:
    pandas.DataFrame({"n": range(LOOKED_AT + 2)}).to_parquet(tmp_path / "t.parquet")
    with Database.open(tmp_path / "t.parquet") as database:
        assert [notice.kind for notice in database.notices if notice.kind != "key"] == ["scope"]


@pytest.mark.parametrize("begin", ["", "Sales of 2024\n\n", "sep=,\n"])
@pytest.mark.parametrize(
    ("place", "line", "kept", "kind"),
    [
        *((place, "2024-02-01,Rome,5,6", 0, "lines") for place in (2, 40, 60)),
        *((place, "Source: office, 2024, provisional, revised", 0, "lines") for place in (2, 40, 60)),
        *((place, "2024-02-01,Rome", 1, "lines") for place in (2, 40, 60)),
        (60, "* provisional", 0, "footnotes"),
    ],
)
def test_a_line_with_other_cells_costs_no_other_row(
    tmp_path: Path, begin: str, place: int, line: str, kept: int, kind: str
) -> None:
    lines = [f"2024-01-{day:02},Oslo,{day}" for day in range(1, 31)] * 2
    lines.insert(place, line)
    (tmp_path / "t.csv").write_text(begin + "\n".join(["day,city,amount", *lines, ""]))
    with Database.open(tmp_path / "t.csv") as database:
        (table,) = database.schema().tables
        assert [(column.name, column.type) for column in table.columns] == [
            ("day", "DATE"), ("city", "VARCHAR"), ("amount", "BIGINT"),
        ]  # fmt: skip
        assert database.execute("SELECT count(*), sum(amount) FROM t").rows == ((60 + kept, 930),)
        assert [notice.kind for notice in database.notices if notice.kind != "copies"] == [kind]


def test_a_long_line_of_a_large_file_is_left_out(tmp_path: Path) -> None:
    row = f"2024-01-05,{'x' * 100}\n"
    (tmp_path / "t.csv").write_text(f"day,text\n{row * 80_000}2024-01-06,x,3\n")  # not copied without stray rows
    with Database.open(tmp_path / "t.csv") as database:
        assert database.execute("SELECT count(*), min(day) = max(day) FROM t").rows == ((80_000, True),)
        assert "left out: 1" in database.notices[0].text


_CITIES = ("City,Pop,Area", "Lyon,520,48", "Nice,340,72", "Lille,230,35", "Metz,120,42")


@pytest.mark.parametrize(
    ("below", "kept", "is_told"),
    [
        (["Generated by ReportTool", "Confidential"], 0, True),
        (["p = provisional"], 0, True),
        (["a) without islands"], 0, True),
        (["End of report"], 0, True),
        (["Erstellt am 03.02.2024"], 0, True),
        (["* provisional", "(e) estimate"], 0, True),
        (["", "Confidential"], 0, True),
        (["Données provisoires"], 1, True),
        (["Toulon", "Generated by ReportTool"], 1, True),
        (["", "Pau,77,31", "", "Vichy"], 2, True),  # empty rows part groups
        (["Pau,77,"], 1, False),
        (["2024-01-04"], 1, False),
        (["a) Pau,77,31", "b) Vichy"], 2, True),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_short_notes_below_a_table_of_numbers(
    tmp_path: Path, below: list[str], kept: int, is_told: bool, ending: str
) -> None:
    rows = [(line + ",,").split(",")[:3] for line in (*_CITIES, *below)]
    cells = [[int(cell) if cell.isdigit() else cell or None for cell in row] for row in rows]
    content = "\n".join(map(",".join, rows)) if ending == "csv" else {"t": cells}
    with Database.open(write(tmp_path, Messy(f"t.{ending}", content, (), "", ()))) as database:
        assert database.execute('SELECT count(*), count("City") FROM t').rows == ((4 + kept, 4 + kept),)
        assert ("footnotes" in [notice.turned_by for notice in database.notices]) == is_told


@pytest.mark.parametrize(
    ("text", "left", "counted"),
    [
        ("shop,n,day\nA,10,2024-01-01\nB,25,2024-01-02\n,,\n , ,\n,,\n", 2, 3),
        ("shop,n\nA,10\nB,25\n,\nC,31\n,\nD,47\n", 4, 2),
        ("a;b\nNA;NA\n1;2\n;\n", 2, 1),
    ],
)
def test_rows_without_a_value_are_left_out(tmp_path: Path, text: str, left: int, counted: int) -> None:
    (tmp_path / "t.csv").write_text(text)
    with Database.open(tmp_path / "t.csv") as database:
        assert database.execute("SELECT count(*) FROM t").rows == ((left,),)
        (notice,) = (notice for notice in database.notices if notice.kind not in ("key", "missing"))
        assert (notice.kind, notice.text.split()[0]) == ("empty", str(counted))


@pytest.mark.parametrize("header", ["id,name,amount,note", "id,name,amount,", "id,name,amount,note,more"])
@pytest.mark.parametrize("last", ["", "25,n25,5,hello\n", "25,n25,5,hello\n26,n26,5,x\n"])
def test_lines_shorter_than_the_header_are_kept(tmp_path: Path, header: str, last: str) -> None:
    lines = "".join(f"{number},n{number},{number * 4}\n" for number in range(1, 25))
    (tmp_path / "t.csv").write_text(f"{header}\n{lines}{last}")
    with Database.open(tmp_path / "t.csv") as database:
        (count, first), *_ = database.execute('SELECT count(*), min("id") FROM t', Limits()).rows
    assert (count, first) == (24 + last.count("\n"), 1)


@pytest.mark.parametrize("page", ["Page 1 of 2", "Seite 1/2", "- Página 1 -", "p. 1"])
def test_rows_that_number_pages_are_left_out(tmp_path: Path, page: str) -> None:
    (tmp_path / "t.csv").write_text(f"day,n\n2024-01-05,1\n{page},\nday,n\n2024-01-06,2\n{page},\n", encoding="utf-8")
    with Database.open(tmp_path / "t.csv") as database:
        assert database.execute("SELECT count(*), sum(n), year(max(day)) FROM t").rows == ((2, 3, 2024),)
        assert [(each.kind, each.turned_by) for each in database.notices] == [("headers", "headers")] * 2
    with Database.open(tmp_path / "t.csv", otherwise=["headers"]) as database:
        assert database.execute("SELECT count(*) FROM t").rows == ((5,),)


@pytest.mark.parametrize(
    ("name", "cells", "kept"),
    [
        ("OS version", ["1.9", "1.10", "2.0"], True),
        ("v", ["1.1", "1.10", "12.20"], True),
        ("price", ["2.90", "2.100", "3.50"], True),
        *((name, ["2.10", "2.11", "2.12"], True) for name in ("firmware", "os_build", "API", "Softwareversion")),
        *(
            (name, ["7.10", "7.20"], True)
            for name in ("paragraph", "clause no.", "Kapitel", "versión del motor", "版本")
        ),
        *((name, ["7.10", "7.20"], False) for name in ("conversion", "version_price", "eur")),
        ("version", ["1.9", "1.10", "2"], False),
        ("v", ["1.90", "1.10", "2.00"], False),
        ("v", ["2.5", "3.50", "4.0"], False),
    ],
)
def test_numbers_of_versions_stay_apart(tmp_path: Path, name: str, cells: list[str], kept: bool) -> None:
    (tmp_path / "t.csv").write_text("\n".join([f"{name},n", *(f"{cell},x" for cell in cells)]), encoding="utf-8")
    with Database.open(tmp_path / "t.csv") as database:
        assert (database.schema().tables[0].columns[0].type == "VARCHAR") == kept
        assert ("numbers" in [each.kind for each in database.notices]) == kept


def test_json_of_several_types_is_told(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text('[{"a": 1, "b": null, "c": 1}, {"a": "1,5", "b": null, "c": 2.5}]')
    with Database.open(tmp_path / "t.json") as database:
        assert [(each.column, each.kind) for each in database.notices] == [("a", "mixed types")]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ('{"city": ["Kiel", "Ulm"], "n": [1, 2]}', [""]),
        ('{"Kiel": {"n": 1}, "Ulm": {"n": 2, "m": 3}}', [""]),
        ("{" + ", ".join(f'"k{number}": {{"n": 1}}' for number in range(300)) + "}", [""]),
        ('{"rows": [{"n": 1}, {"n": 2}]}', ["rows"]),
        ('[["city", "n"], ["Kiel", 1]]', [""]),
        ("[]", []),
        ('{"name": "Kiel", "at": {"x": 1}}', []),
        ('[{"at": {"x": 1}}, {"at": {"x": 2}}]', []),
    ],
)
def test_json_that_is_no_list_of_objects_is_told(tmp_path: Path, text: str, columns: list[str]) -> None:
    (tmp_path / "t.json").write_text(text)
    with Database.open(tmp_path / "t.json") as database:
        assert [each.column for each in database.notices if each.kind == "nested"] == columns


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("title", ["", '"Report, 2024"\n\n'])
def test_rows_are_left_out_of_a_file_as_windows_writes_it(tmp_path: Path, title: str, encoding: str) -> None:
    text = f'{title}"City, all",n\n"Kiel\nNord",10\n"City, all",n\nBonn,25\nTotal,35\n'
    (tmp_path / "t.csv").write_bytes(text.replace("\n", "\r\n").encode(encoding))
    with Database.open(tmp_path / "t.csv") as database:
        assert database.execute("SELECT count(*), sum(n) FROM t").rows == ((2, 35),)
        assert [notice.kind for notice in database.notices if notice.kind != "key"] == ["totals", "headers"]


def test_a_float_that_is_no_number_is_no_total(tmp_path: Path) -> None:
    values = [12.5, 13.25, math.nan, 14.0, math.inf, 17.5]
    table = pyarrow.table({"a": [*"abcde", "Total"], "n": values, "m": [math.nan, *values[1:]]})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    with Database.open(tmp_path / "t.parquet") as database:
        assert [notice.text for notice in database.notices if "equals" in notice.text] == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_short_line_beside_a_cell_of_several_lines(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "t.csv").write_text('"a, b",n,m\n"x\ny",1\nz,2,3\n', encoding=encoding)
    with Database.open(tmp_path / "t.csv") as database:
        assert database.execute('SELECT "a, b", n, m FROM t').rows == (("x\ny", 1, None), ("z", 2, 3))


def test_many_columns_of_decimals_are_read_within_the_memory(tmp_path: Path) -> None:
    rows = [",".join(f"{row}.{column}{row % 7}" for column in range(80)) for row in range(200)]
    text = "\n".join([",".join(f"c{column}" for column in range(80)), *rows, *rows[:9]])
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    with Database.open(tmp_path / "t.csv") as database:
        assert {column.type for column in database.schema().tables[0].columns} <= {"DOUBLE", "VARCHAR"}
