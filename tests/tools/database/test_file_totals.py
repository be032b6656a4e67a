"""Rows of totals in files: left out, kept, and told."""

from __future__ import annotations

from pathlib import Path

import pytest
from tableturn.tools.database import Database

pytest.importorskip("duckdb")


@pytest.mark.parametrize(
    "text",
    [
        "a,n\nx,1\ny,2\nTotal,3\nz,5\nTotal 2,9\n",
        "a,n\nx,10\ny,20\nz,31\nTotal,61\nPrevious year total,52\n",
    ],
)
def test_all_rows_are_kept_where_totals_are_turned(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    with Database.open(tmp_path / "t.csv", otherwise=["totals"]) as database:
        assert database.execute("SELECT count(*) FROM t").rows == ((text.count("\n") - 1,),)
        assert "kept totals" in [notice.kind for notice in database.notices]


def test_rows_below_the_only_total_are_told(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,n\nx,10\ny,20\nz,40\nTotal,70\nYear before,60\nDifference,10\n")
    with Database.open(tmp_path / "t.csv") as database:
        told = [notice.example for notice in database.notices if "below the total" in notice.text]
        assert told == ["Year before", "Difference"]
        assert database.execute("SELECT count(*) FROM t").rows == ((5,),)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("policy,loss,flag\nP1,Partial,1\nP2,Total,1\nP3,Partial,1\n", 3),
        ("policy,loss,flag\nP1,Partial,0\nP2,Partial,0\nP3,Total,0\nP4,Total,0\n", 4),
        ("surname,points\nLee,5\nSum,5\nKim,8\n", 3),
        ("surname,points\nLee,5\nSum,5\nKim,8\nSum,18\n", 3),
        ("brand,n\nShell,5\nTotal,9\nAral,4\nTotal,7\nEsso,6\nBP,5\nTotal,11\n", 7),
        ("brand,n\nShell,5\nTotal,9\nAral,4\nTotal,7\nEsso,6\nBP,5\nGrand Total,36\n", 6),
        ("cost,n\nRent,10\nPay,20\nTax,5\nTotal,35\n", 3),  # tax is a cost here
        ("place,n\nA,10\nB,20\nSubtotal,30\nTaxi,6\nTotal,36\n", 3),
        ("state,city,n\nTX,Waco,4\nTX,Paris,5\nTX Total,,9\nNV,Reno,3\nNV Total,,3\nTotal,,12\n", 3),
    ],
)
def test_words_of_totals_among_data_leave_no_row_out(tmp_path: Path, text: str, rows: int) -> None:
    (tmp_path / "t.csv").write_text(text)
    with Database.open(tmp_path / "t.csv") as database:
        assert database.execute("SELECT count(*) FROM t").rows == ((rows,),)


def test_totals_are_known_in_many_languages(tmp_path: Path) -> None:
    labels = """
        Totalt|Delsumma|Ara Toplam|Genel Toplam|Celkem|Razem|Összesen|Yhteensä|Välisumma|Σύνολο|Всего|Итого|Разом
        合计|小计|總計|合計金額|합계|소계|รวม|รวมทั้งสิ้น|المجموع|مجموع|סך הכל|סה"כ|कुल योग|மொத்தம்|Tổng số|Samtals|Kokku
        Iš viso|I alt|Gesamttotal|Zwischensumme|Sous-total des ventes|Total general|Subtotaal|TOTAL:|Ukupno|Общо
    """
    known = labels.strip().replace("\n        ", "|").split("|")
    for place, label in enumerate(known):
        (tmp_path / f"f{place}.csv").write_text(f"a;n\nx;1250\ny;2000\n{label};3250\n", encoding="utf-8")
    with Database.open(tmp_path) as database:
        sums = {label: database.execute(f"SELECT sum(n) FROM f{place}").rows for place, label in enumerate(known)}
    assert {label for label, rows in sums.items() if rows != ((3250,),)} == set()


@pytest.mark.parametrize("unit", ["zł", "Kč", "руб.", "₽", "kr", "Mio. €", "μg/m3", "m²", "km/h"])
def test_units_are_noticed_and_totals_with_them_are_compared(tmp_path: Path, unit: str) -> None:
    (tmp_path / "t.csv").write_text(f"a;n\nx;1,2 {unit}\ny;12,5 {unit}\nSuma;13,7 {unit}\n", encoding="utf-8")
    with Database.open(tmp_path / "t.csv") as database:
        assert [notice.kind for notice in database.notices if notice.kind != "key"] == ["totals", "units"]
        assert database.execute("SELECT count(*) FROM t").rows == ((2,),)


@pytest.mark.parametrize(("columns", "compared"), [(3, True), (200, False)])
def test_totals_are_compared_as_far_as_that_is_little_work(tmp_path: Path, columns: int, compared: bool) -> None:
    rows = [",".join(["name", *(f"c{n}" for n in range(columns))]), ",".join(["x", *["1"] * columns])]
    rows += [",".join(["Total", *["2"] * columns])] * 300
    (tmp_path / "t.csv").write_text("\n".join(rows))
    with Database.open(tmp_path / "t.csv") as database:
        (totals,) = [notice.text for notice in database.notices if notice.kind == "kept totals"]
    assert ("not the sum of several rows above" in totals, "too many to compare" in totals) == (compared, not compared)


@pytest.mark.parametrize("turned", [(), ("totals",)])
def test_totals_of_a_large_file(tmp_path: Path, turned: tuple[str, ...]) -> None:
    rows = [f"r{at % 7},{at},{'x' * 2_000}" for at in range(4_200)]
    total = sum(range(4_200))
    (tmp_path / "t.csv").write_text("\n".join(["region,n,note", *rows, f"Total,{total},"]))
    with Database.open(tmp_path / "t.csv", otherwise=turned) as database:
        told = [str(notice) for notice in database.notices if notice.kind != "key"]
        assert ["repeated headers" in told[0], "is labelled as a total" in told[1]] == [True, True]
        assert ("kept, as you said" if turned else ": left out;") in told[1]
        assert database.execute("SELECT sum(n), count(*) FROM t").rows == (
            (total + bool(turned) * total, 4_200 + bool(turned)),
        )
