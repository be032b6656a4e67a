"""Guesses about files, and the words that turn them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tableturn.tools.database import Database
from tableturn.tools.errors import DatabaseUnavailable, SettingsError

from tests.support.command_line import tableturn

duckdb = pytest.importorskip("duckdb")


@pytest.mark.parametrize(
    ("text", "guess", "sql", "before", "after"),
    [
        ("a,n\nx,1\ny,2\nTotal,3\n", "totals", "sum(n)", 3, 6),
        ("a,n\nx,10\ny,20\nRazem,30\n", "totals", "sum(n)", 30, 60),
        ("a,n\nx,10\ny,21\nAverage,15.5\nTotal,31\n", "totals", "count(*)", 2, 4),
        ("a;n;m\nx;10;1,5\ny;20;2,6\nMittelwert;15;2,05\n", "totals", "count(*)", 2, 3),
        ("a,n\nx,812\ny,634\nz,951\nw,702\nMedian,757\nStd dev,138.5\n", "totals", "sum(n)", 3099, 3994.5),
        ("a;n\nx;1\ny;2\nz;4\nVarianz;2,33\n", "totals", "count(*)", 3, 4),
        ("a,n\nx,10\ny,20\nz,45\nStd dev,9\n", "totals", "count(*)", 4, 3),
        ("a,m,n\nx,10,5\ny,20,6\nz,45,8\n% of total,79.8,20.2\n", "totals", "count(*)", 4, 3),
        ("a,n\nx,10\ny,20\nz,40\nTotal,70\nCount,3\nMin,10\nMax,40\nMean,23.3\n", "totals", "count(*)", 3, 8),
        ("a,n\nx,10\ny,20\nOgólnie,30\nz,40\nTotal,70\n", "totals", "sum(n)", 70, 170),
        ("a,n,m\nx,120,11\ny,80,9\nz,200,20\nw,30,4\nTotal,430,44\n", "totals", "sum(n)", 430, 860),
        ("a,b,n\nA,x,10\nA,y,20\nA,,30\nB,x,5\nB,y,6\nB,,11\nTotal,,41\n", "totals", "sum(n)", 41, 123),
        ("a;2021;2022\nx;1,5;2,5\ny;1,1;2,1\nTotal;2,6;4,6\n", "totals", 'sum("2021")', 2.6, 5.2),
        ("a,2021,2022\nx,10,20\ny,30,40\nTotal,40,60\n", "totals", 'sum("2021")', 40, 80),
        ("a,n\nx,1\ny,2\nTotal,4\n", "totals", "sum(n)", 7, 3),
        ("a,n\nx,10\ny,20\nOgólnie,30\n", "totals", "sum(n)", 60, 30),
        ("a,n\nx,10\ny,20\nOgólnie,30\nz,5\nw,6\nOgólnie,11\n", "totals", "sum(n)", 82, 41),
        ("a,b,n\nA,x,10\nA,y,20\nA,,30\nB,x,5\nB,y,6\nB,,11\n,,41\n", "totals", "sum(n)", 123, 41),
        ("a,n\nAlle,30\nx,10\ny,20\n", "totals", "sum(n)", 60, 30),
        ("a,n\nN,31\nx,10\ny,21\nS,33\nz,33\nΌλα,64\n", "totals", "sum(n)", 192, 64),
        ("a,n\nx,10\ny,21\nSummering N,31\nz,33\nSummering S,33\nTotal,64\n", "totals", "sum(n)", 64, 192),
        (
            "a,n\nx,10\ny,21\nTotal N,31\nz,33\nTotal S,33\nw,5\nv,8\nTotal O,13\nTotal,77\n",
            "totals",
            "sum(n)",
            77,
            231,
        ),
        ("a,n\nx,10\ny,21\nN Ergebnis,31\nz,33\nS Ergebnis,33\nGesamtergebnis,64\n", "totals", "sum(n)", 64, 192),
        ("day,n\n1/5/2024 8:30 PM,1\n", "dates", "month(max(day))", 1, 5),
        ("a,n\nx,1\na,n\ny,2\n", "headers", "count(*)", 2, 3),
        ("a,n\nx,1\ny,2\nSource: us\n", "footnotes", "count(*)", 2, 3),
        ("a,n\nx,1\ny,2\nz,3\nProvisional,\n", "footnotes", "count(*)", 4, 3),
        ("day,n\n01/02/2024,1\n", "dates", "CAST(max(day) AS VARCHAR)", "2024-02-01", "2024-01-02"),
        ("a,day\nx,03.04.58\n", "dates", "year(max(day))", 1958, 2058),
        ("a,n\nx,1.500\ny,2.250\n", "numbers", "sum(n)", 3.75, 3750),
        ('a,n\nx,"1,500"\ny,"2,250"\n', "numbers", "sum(n)", 3750, 3.75),
        ("a;n\nx;1.500\ny;2.500\n", "numbers", "sum(n)", 4000, 4),
        ("a;n\nx;1,500\ny;2,500\n", "numbers", "sum(n)", 4, 4000),
        ("a,v\nx,1.1\ny,1.10\n", "numbers", "count(DISTINCT v)", 2, 1),
        ("a,v\nx,2.90\ny,2.100\nz,2.10\n", "numbers", "max(v)", "2.90", 2.9),
        ("a,price\nx,9.5\ny,9.10\nz,12.25\nw,10.4\n", "numbers", "max(price)", 12.25, "9.5"),
        ("song,length\nx,3:45\ny,4:10\n", "times", "CAST(max(length) AS VARCHAR)", "04:10:00", "00:04:10"),
        ("a,version\nx,3.10\ny,3.11\n", "numbers", "min(version)", "3.10", 3.1),
        ("a;v\nx;2024.1\ny;2024.2\nz;2024.10\n", "numbers", "count(DISTINCT v)", 3, 2),
        ('a,n,v\nx,"1,737","3,6"\ny,"2,914","1,8"\n', "numbers", "sum(n)", 4.651, 4651),
        ("a;pos;n\nx;47.737,8.361;1.859\ny;48.467,7.914;2.807\n", "numbers", "max(pos)", *["48.467,7.914"] * 2),
        ("a,n\nx,10\ny,20\nTotal,30\nVAT 20%,6\nTo pay total,36\n", "totals", "sum(n)", 30, 102),
        ("a;n\nx;10\ny;20\nSumme netto;30\nzzgl. 19 % MwSt.;5,7\n", "totals", "sum(n)", 30, 65.7),
        ("a,n\nx,1\ny,-\n", "missing", "count(n)", 1, 2),
        ("a,n\nx,1.5\ny,NaN\nz,2.5\nw,nan\n", "missing", "count(*) FILTER (n > 2)", 1, 3),
        ("1,x\n2,y\n", "header", "count(*)", 2, 1),
        ("Ann,Smith,Rome\n", "header", "count(*)", 0, 1),
        ("ann@x.ch,Bern\nbob@y.ch,Basel\n", "header", "count(*)", 1, 2),
    ],
)
def test_a_guess_is_turned_by_a_word(
    tmp_path: Path, text: str, guess: str, sql: str, before: object, after: object
) -> None:
    (tmp_path / "t.csv").write_text(text)
    query = f"SELECT {sql} FROM t"
    with Database.open(tmp_path / "t.csv") as database:
        assert any(guess.endswith(notice.turned_by) for notice in database.notices if notice.turned_by)
        for answer in (before, after, before):
            assert database.execute(query).rows == ((answer,),)
            database.turn_guess(guess)
    with Database.open(tmp_path / "t.csv", otherwise=[guess]) as database:
        assert database.execute(query).rows == ((after,),)


@pytest.mark.parametrize("title", ["Report of sales\n\n", "# of sales\n"])
def test_a_header_below_a_title_is_turned(tmp_path: Path, title: str) -> None:
    (tmp_path / "t.csv").write_text(f"{title}id,qty\n1,5\n2,6\n")
    with Database.open(tmp_path / "t.csv") as database:
        for rows in (2, 3, 2):
            assert database.execute("SELECT count(*) FROM t").rows == ((rows,),)
            database.turn_guess("header")


def test_a_guess_that_cannot_be_turned_leaves_the_session_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t.csv").write_text("a,n\nx,1\ny,2\nTotal,3\n")

    def fail(*_: object, **__: object) -> None:
        raise DatabaseUnavailable("no")

    with Database.open(tmp_path / "t.csv") as database:
        with monkeypatch.context() as patched:
            patched.setattr("tableturn.tools.database.duckdb.engine.find_database_or_tables", fail)
            with pytest.raises(DatabaseUnavailable):
                database.turn_guess("totals")
        assert database.execute("SELECT sum(n) FROM t").rows == ((3,),)


@pytest.mark.parametrize("guess", ["other.totals", "numbers", "t.missing"])
def test_a_guess_that_there_is_not_is_said_so(tmp_path: Path, guess: str) -> None:
    (tmp_path / "t.csv").write_text("a,n\nx,1\ny,2\nTotal,3\n")
    with Database.open(tmp_path / "t.csv", otherwise=[guess]) as database:
        assert [guess in each.text for each in database.notices if each.kind == "turned"] == [True]
    with Database.open(tmp_path / "t.csv") as database:
        with pytest.raises(SettingsError, match="in these files there is no guess"):
            database.turn_guess(guess)
        assert {each.kind for each in database.notices} == {"totals"}
        assert database.execute("SELECT sum(n) FROM t").rows == ((3,),)


def test_nan_in_columns_of_numbers_is_an_empty_cell(tmp_path: Path) -> None:
    (tmp_path / "j.json").write_text('[{"n": 1.5}, {"n": NaN}]')
    sql = "FROM (VALUES (1.5::FLOAT, 1.5::DOUBLE), ('nan', 'inf')) rows (n, m)"
    duckdb.sql(sql).write_parquet(str(tmp_path / "p.parquet"))
    with Database.open(tmp_path) as database:
        assert [str(notice) for notice in database.notices] == [
            f"{table}.n: NaN read as empty cells; otherwise: missing" for table in ("j", "p")
        ]
        assert database.execute("SELECT sum(j.n), sum(p.n) FROM j FULL JOIN p ON p.n > 2").rows == ((1.5, 1.5),)
        assert database.execute("SELECT count(*) FROM p WHERE m > 2").rows == ((1,),)


def test_what_can_be_turned(tmp_path: Path) -> None:
    shop = tmp_path / "shop.db"
    with closing(sqlite3.connect(shop)) as connection:
        connection.execute("CREATE TABLE orders (id)")
    (tmp_path / "t.csv").write_text("a,n\nx,1\n")
    with Database.open(tmp_path / "t.csv") as database, pytest.raises(SettingsError, match="write one of totals, "):
        database.turn_guess("nothing")
    with Database.open(shop) as database:
        assert database.notices == ()
        with pytest.raises(SettingsError, match="only files of tables"):
            database.turn_guess("totals")
    with pytest.raises(SettingsError, match="only files of tables"):
        Database.open(shop, otherwise=["totals"])


def test_a_chat_lists_notices_and_turns_a_guess(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("city,n\nRome,1\nOslo,2\nTotal,3\n")
    ran = tableturn(
        "chat", "--db", str(tmp_path / "sales.csv"), "--model", "offline", "--json", given="/tables\n/tables totals\n"
    )
    told = " ".join(ran.stderr.split())
    # When it is opened, and in the list.
    assert told.count("equals the sum of rows above: left out; otherwise: totals") == 2
    assert told.index("sales 2 rows") < told.index("sales 3 rows") < told.index("kept, as you said")
    asked = ("ask", "--db", str(tmp_path / "sales.csv"), "--model", "offline", "How many sales are there?")
    assert "2" in tableturn(*asked).stdout
    assert "3" in tableturn(*asked, "--otherwise", "totals").stdout
