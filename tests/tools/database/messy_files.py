"""Files as people in several countries write them, with what is noticed in each."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any, NamedTuple

import pandas
import pytest

pytest.importorskip("duckdb")
openpyxl = pytest.importorskip("openpyxl")


class Messy(NamedTuple):
    """A messy file: what is noticed in it, as `column kind`, and a query with its right answer."""

    name: str
    content: Any  # a text; rows of sheets by name for .xlsx; records for .json and .parquet
    noticed: tuple[str, ...]
    sql: str
    answer: tuple[Any, ...]
    encoding: str = "utf-8"


_DAY = datetime.datetime
FILES = (
    # United States
    Messy(
        "us_total.csv",
        'Region,Units,Revenue\nNorth,10,"$1,200.50"\nSouth,5,"$300.00"\nTotal,15,"$1,500.50"\n',
        ("totals", "Revenue numbers as text"),
        "SELECT sum(Units), count(*) FROM us_total",
        (15, 2),
    ),
    Messy(
        "us_subtotals.csv",
        "State,City,n\nTX,Waco,10\nTX,Dallas,20\nTX Total,,30\nCA,Fresno,5\nCA,Napa,7\nCA Total,,12\nGrand Total,,42\n",
        ("totals",),
        "SELECT sum(n), count(*) FROM us_subtotals",
        (42, 4),
    ),
    Messy(
        "us_wrong_total.csv",
        "item,cost\npen,3\nink,4\nTotal,8\n",
        ("kept totals",),
        "SELECT sum(cost), count(*) FROM us_wrong_total",
        (15, 3),
    ),
    Messy(
        "us_rounded.csv",
        "item,share\na,33.33\nb,33.33\nc,33.33\nTotal,100.00\n",
        ("totals",),
        "SELECT sum(share) FROM us_rounded",
        (99.99,),
    ),
    Messy(
        "us_zip.csv",
        "zip,n\n01234,1\n99501,2\n",
        ("zip numbers as text",),
        "SELECT min(zip), sum(n) FROM us_zip",
        ("01234", 3),
    ),
    Messy(
        "us_barcodes.csv",
        "id,barcode\n1,5.01235E+12\n2,5.01236E+12\n",
        ("barcode codes", "id key"),
        "SELECT count(*) FROM us_barcodes",
        (2,),
    ),
    Messy("us_codes.csv", "sku,n\n1E5,1\n2E7,2\n", ("sku codes",), "SELECT max(sku), sum(n) FROM us_codes", ("2E7", 3)),
    Messy(
        "us_dates.csv",
        "day,n\n01/02/2024,1\n03/04/2024,2\n",
        ("day dates",),
        "SELECT CAST(min(day) AS VARCHAR) FROM us_dates",
        ("2024-02-01",),
    ),
    Messy(
        "us_mixed_dates.csv",
        "day,n\n2024-01-31,1\n02/15/2024,2\n2024-03-01,4\n",
        ("day mixed dates",),
        "SELECT sum(n) FROM us_mixed_dates",
        (7,),
    ),
    Messy(
        "us_years.csv",
        "state,2022,2023\nTX,5,6\nCA,7,8\n",
        ("header",),
        'SELECT sum("2022"), sum("2023") FROM us_years',
        (12, 14),
    ),
    Messy(
        "us_missing.csv",
        "id,age,city\n1,34,Rome\n2,NA,Oslo\n3,40,Bern\n",
        ("missing", "id key"),
        "SELECT avg(age), count(age) FROM us_missing",
        (37, 2),
    ),
    Messy(
        "us_late_dates.csv",
        "day,n\n" + "2024-01-31,1\n" * 120 + "15.02.2024,2\n" * 30,
        ("copies", "day mixed dates"),
        "SELECT max(day), sum(n) FROM us_late_dates",
        ("2024-01-31", 180),
    ),
    Messy(
        "us_numbered_days.csv",
        "day,n\n20240131,1\n20240201,2\n",
        ("day mixed dates",),
        "SELECT sum(n) FROM us_numbered_days",
        (3,),
    ),
    Messy(
        "us_groups.csv",
        "region,city,n\nNorth,A,1\n,B,2\n,C,3\nSouth,D,4\n,E,5\n",
        ("region merged",),
        "SELECT sum(n) FROM us_groups WHERE region IS NULL",
        (10,),
    ),
    Messy(
        "us_films.csv",
        "title,note\nJaws,\nAliens,\nOnce upon a Time in the West,\n",
        (),
        "SELECT count(*) FROM us_films",
        (3,),
    ),
    Messy(
        "us_brands.csv",
        "station,year,n\nShell,2020,5\nTotal,2020,5\nShell,2021,7\nTotal,2021,3\n",
        ("kept totals",),
        "SELECT sum(n), count(*) FROM us_brands",
        (20, 4),
    ),
    # United Kingdom
    Messy(
        "uk_header_again.csv",
        "name,amount\nAnn,5\nBob,6\nname,amount\nCy,7\n",
        ("headers",),
        "SELECT sum(amount), count(*) FROM uk_header_again",
        (18, 3),
    ),
    Messy(
        "uk_footnote.csv",
        "area,people\nKent,10\nEssex,20\n\nSource: Census, 2021\n* provisional\n",
        ("footnotes",),
        "SELECT sum(people), count(*) FROM uk_footnote",
        (30, 2),
    ),
    Messy(
        "uk_units.csv",
        "parcel,weight\na,12 kg\nb,7.5 kg\nc,1.2 kg\n",
        ("weight units",),
        "SELECT count(*) FROM uk_units",
        (3,),
    ),
    Messy(
        "uk_case.csv",
        "team,goals\nLeeds,1\nleeds,2\nLEEDS ,3\nYork,4\nYork,5\nYork,6\n",
        ("team spellings",),
        "SELECT sum(goals) FROM uk_case",
        (21,),
    ),
    Messy(
        "uk_copies.csv",
        "at,what,n\n2024-01-01,tea,1\n2024-01-01,tea,1\n2024-01-02,tea,2\n",
        ("copies",),
        "SELECT sum(n) FROM uk_copies",
        (4,),
    ),
    Messy(
        "uk_pounds.csv",
        "item,price\na,£3.50\nb,(£1.00)\nc,£2.00\n",
        ("encoding", "price numbers as text"),
        "SELECT count(*) FROM uk_pounds",
        (3,),
        "cp1252",
    ),
    # Germany
    Messy(
        "de_summe.csv",
        "Kunde;Betrag\nMüller;1.234,50\nÖzil;2,50\nSumme;1.237,00\n",
        ("encoding", "totals"),
        "SELECT sum(Betrag), count(*) FROM de_summe",
        (1237, 2),
        "cp1252",
    ),
    Messy(
        "de_tausend.csv",
        "Ort;Einwohner\nUlm;126.329\nHof;45.930\nJena;110.502\n",
        ("Einwohner numbers",),
        "SELECT sum(Einwohner) FROM de_tausend",
        (282761,),
    ),
    Messy(
        "de_keine.csv", "Ort;Wert\nUlm;1,5\nHof;k.A.\nJena;2,5\n", ("missing",), "SELECT sum(Wert) FROM de_keine", (4,)
    ),
    Messy(
        "de_gemischt.csv",
        "Ort;Wert;Preis\nUlm;1,5;2,50\nHof;2.5;3,50\nJena;1,25;4,00\n",
        ("Wert numbers as text",),
        "SELECT sum(Preis) FROM de_gemischt",
        (10,),
    ),
    Messy(
        "de_datum.csv",
        "Datum;n\n31.12.2024;1\n01.02.2024;2\n",
        (),
        "SELECT CAST(max(Datum) AS VARCHAR) FROM de_datum",
        ("2024-12-31",),
    ),
    Messy(
        "de_monate.csv",
        "Datum;n\n1. Januar 2024;1\n15. März 2024;2\n",
        ("Datum mixed dates",),
        "SELECT sum(n) FROM de_monate",
        (3,),
    ),
    Messy("de_ohne.csv", "1;Ulm;3,5\n2;Hof;4,5\n", ("header",), "SELECT sum(column2), count(*) FROM de_ohne", (8, 2)),
    Messy(
        "de_komma.csv",
        "Ort,Einwohner\nUlm,1.000\nHof,500\nJena,12.500\n",
        ("Einwohner numbers",),
        "SELECT sum(Einwohner) FROM de_komma",
        (14000,),
    ),
    Messy(
        "de_drei_stellen.csv",
        "Ort,Einwohner\nKiel,246.243\nBonn,331.885\n",
        ("Einwohner numbers",),
        "SELECT max(Einwohner) FROM de_drei_stellen",
        (331.885,),
    ),
    Messy(
        "de_geboren.csv",
        "Name;Geboren\nAnna;03.04.58\nBert;17.11.99\n",
        ("Geboren dates",),
        "SELECT CAST(min(Geboren) AS VARCHAR), CAST(max(Geboren) AS VARCHAR) FROM de_geboren",
        ("1958-04-03", "1999-11-17"),
    ),
    Messy(
        "de_geliefert.csv",
        "Datum;n\n03.04.24;1\n17.11.99;2\n",
        ("Datum dates",),
        "SELECT CAST(max(Datum) AS VARCHAR) FROM de_geliefert",
        ("2024-04-03",),
    ),
    Messy(
        "de_minus.csv",
        "Konto;Betrag\nA;1.250,00-\nB;300,50\nC;12,00-\n",
        ("Betrag numbers as text",),
        "SELECT count(*) FROM de_minus",
        (3,),
    ),
    Messy(
        "de_wochen.csv",
        "Woche;Monat;n\n2024-W01;2024-01;1\n2024-W06;2024-02;2\n",
        ("Woche mixed dates", "Monat mixed dates"),
        "SELECT sum(n) FROM de_wochen",
        (3,),
    ),
    Messy(
        "de_messung.csv",
        "Zeit;Temperatur\n0,1;20,1\n0,2;\u22122,5\n",
        (),
        "SELECT sum(Zeit), sum(Temperatur) FROM de_messung",
        (0.30000000000000004, 17.6),
    ),
    Messy("de_ohne_namen.csv", "1;2,5\n2;3,5\n", ("header",), "SELECT sum(column1) FROM de_ohne_namen", (6,)),
    Messy(
        "de_spannung.tsv",
        "Zeit\tSpannung\n0,1\t20,1\n0,2\t21,5\n",
        (),
        "SELECT sum(Spannung) FROM de_spannung",
        (41.6,),
    ),
    Messy(
        "de_strom.csv",
        "Zeit, s|Strom, A\n0,1|1,5\n0,2|1,25\n",
        (),
        'SELECT sum("Strom, A") FROM de_strom',
        (2.75,),
    ),
    Messy(
        "de_tausend_euro.csv",
        "Ort;Erlös, T€\nUlm;1234,5\nHof;98,7\nGesamt;1333,2\n",
        ("totals",),
        'SELECT sum("Erlös, T€") FROM de_tausend_euro',
        (1333.2,),
    ),
    Messy("de_eine.csv", "Wert\n1,5\n2,25\n", ("lines",), "SELECT sum(Wert) FROM de_eine", (3.75,)),
    Messy(
        "de_leere_spalten.csv",
        "Name;Betrag;;Betrag;\nJan;1,50;;2,50;\nUwe;3,25;;4,00;\n",
        ("header", "names"),
        "SELECT sum(Betrag), sum(Betrag_1) FROM de_leere_spalten",
        (4.75, 6.5),
    ),
    Messy(
        "de_einheiten.csv",
        "Werke;;;\nOrt;Umsatz;;Menge\n;2023;2024;2023\n;T€;T€;Stk\nUlm;1.204,5;1.310,0;120\nHof;845,3;799,9;85\n"
        "Gesamtsumme;2.049,8;2.109,9;205\n",
        ("headers", "totals"),
        'SELECT sum("Umsatz 2024 T€"), sum("Menge 2023 Stk"), count(*) FROM de_einheiten',
        (2109.9, 205, 2),
    ),
    Messy(
        "de_mengen.csv",
        "Artikel;Preis;Menge\nA;1.50;1.000\nB;2.25;12.500\nC;10.00;500\n",
        ("Menge numbers",),
        "SELECT sum(Preis) FROM de_mengen",
        (13.75,),
    ),
    Messy(
        "de_notizen.csv",
        'Kunde;Notiz;Betrag\r\nHuber;"ruft an;\nmorgen ""früh""";1,50\r\nMaier;"ok\n\nfertig";2,50\r\n',
        (),
        "SELECT sum(Betrag), count(*) FROM de_notizen",
        (4, 2),
    ),
    Messy(
        "de_dauer.csv",
        "Lauf;Dauer\nA;36:15\nB;101:05\nSumme;137:20\n",
        ("Dauer mixed dates", "kept totals"),
        "SELECT count(*) FROM de_dauer",
        (3,),
    ),
    # India
    Messy(
        "in_lakh.csv",
        'State,Sales\nKerala,"12,34,567.50"\nGoa,"1,00,000"\nकुल योग,"13,34,567.50"\n',
        ("totals",),
        "SELECT sum(Sales), count(*) FROM in_lakh",
        (1334567.5, 2),
    ),
    # France
    Messy(
        "fr_notes.csv",
        "Nom,Note\nAnna,12,5\nLuc,14,0\n",
        ("lines",),
        "SELECT count(*) FROM fr_notes",
        (2,),
    ),
    Messy(
        "fr_milliers.csv",
        "Ville;Budget\nLyon;1 234,50\nNice;10 000,00\nTotal général;11 234,50\n",
        ("totals",),
        "SELECT sum(Budget) FROM fr_milliers",
        (11234.5,),
    ),
    Messy(
        "fr_insecables.csv",
        "Ville;Budget\nLyon;1\u202f234,50\nNice;10\u00a0000,00\n",
        (),
        "SELECT sum(Budget) FROM fr_insecables",
        (11234.5,),
    ),
    Messy(
        "fr_euros.csv",
        "Ville;Prix\nLyon;12,50 €\nNice;3,00 €\n",
        ("Prix units",),
        "SELECT count(*) FROM fr_euros",
        (2,),
    ),
    Messy(
        "fr_sous_total.csv",
        "Rayon;Ventes\nFruits;10\nLégumes;5\nSous-total;15\nPain;3\nSous-total;3\nTotal;18\nSource : caisse\n",
        ("totals", "footnotes"),
        "SELECT sum(Ventes) FROM fr_sous_total",
        (18,),
    ),
    Messy(
        "fr_ensemble.csv",
        "Ville;n;kg\nParis;10;1,5\nLyon;20;2,25\nEnsemble des villes de la région entière;30;3,75\n",
        ("kept totals",),
        "SELECT sum(n) FROM fr_ensemble",
        (60,),
    ),
    Messy(
        "fr_virgules.csv",
        'Ville,Prix\nParis,"1,25"\nLyon,"2,5"\n',
        (),
        "SELECT sum(Prix) FROM fr_virgules",
        (3.75,),
    ),
    # Switzerland
    Messy(
        "ch_apostroph.csv",
        "Kanton;Betrag\nBern;1'234.50\nUri;2'000.00\nTotal;3'234.50\n",
        ("totals",),
        "SELECT sum(Betrag) FROM ch_apostroph",
        (3234.5,),
    ),
    Messy(
        "ch_typographisch.csv",
        "Kanton;Betrag\nBern;1’234.50\nUri;2’000.00\n",
        (),
        "SELECT sum(Betrag) FROM ch_typographisch",
        (3234.5,),
    ),
    Messy(
        "ch_titel.csv",
        "Bericht 2024;;\n;;\nKanton;2023;2024\nBern;1;2\nUri;3;4\nTotal;4;6\n",
        ("totals",),
        'SELECT sum("2023"), sum("2024") FROM ch_titel',
        (4, 6),
    ),
    # Japan
    Messy(
        "jp_goukei.csv",
        "都市,売上\n東京,100\n大阪,50\n合計,150\n注：速報値\n",
        ("encoding", "totals", "footnotes"),
        "SELECT sum(売上) FROM jp_goukei",
        (150,),
        "cp932",
    ),
    Messy(
        "jp_hizuke.csv",
        "日付,数\n2024年1月2日,1\n2024年1月3日,2\n",
        ("日付 mixed dates",),
        "SELECT sum(数) FROM jp_hizuke",
        (3,),
    ),
    Messy(
        "jp_nengo.csv",
        "日付,数\n令和5年4月1日,1\n令和元年4月2日,2\n",
        ("日付 mixed dates",),
        "SELECT sum(数) FROM jp_nengo",
        (3,),
    ),
    Messy(
        "jp_rieki.csv",
        "部門,売上,利益\n営業,１２３４,▲50\n開発,２０００,300\n小計,３２３４,250\n総務,１００,△20\n総合計,３３３４,230\n",
        ("totals", "売上 numbers as text", "利益 numbers as text"),
        "SELECT count(*) FROM jp_rieki",
        (3,),
    ),
    # Brazil
    Messy(
        "br_vendas.csv",
        "Loja;Valor\nRecife;R$ 1.234,56\nNatal;R$ 10,00-\nTotal Geral;R$ 1.224,56\n",
        ("totals", "Valor numbers as text"),
        "SELECT count(*) FROM br_vendas",
        (2,),
    ),
    Messy(
        "br_reais.csv",
        "Cidade;Valor\nRecife;R$ 1.234,50\nNatal;R$ 10,00\n",
        ("Valor numbers as text",),
        "SELECT count(*) FROM br_reais",
        (2,),
    ),
    Messy(
        "br_semana.csv",
        "Dia;Venda\n01/02/2024;1.000,00\n13/02/2024;2,00\nTotal;1.002,00\n",
        ("totals",),
        "SELECT CAST(min(Dia) AS VARCHAR), sum(Venda) FROM br_semana",
        ("2024-02-01", 1002),
    ),
    # Workbooks
    Messy(
        "book.xlsx",
        {
            "Sales": [["Report"], [], ["Region", "Sum"], ["North", 3.1], ["South", 4.2], ["Total", 7.3]],
            "Notes": [["Figures are in thousands of euros."], ["Source: SAP"]],
            "Empty": [],
        },
        ("totals", "Notes sheets", "Empty empty"),
        "SELECT round(sum(Sum), 1), count(*) FROM Sales",
        (7.3, 2),
    ),
    Messy(
        "texts.xlsx",
        {
            "texts": [
                ["id", "n", "day"],
                [1, 5, _DAY(2024, 1, 2)],
                [2, "6", "03.01.2024"],
                [3, "#N/A", _DAY(2024, 1, 4)],
            ]
        },
        ("n numbers as text", "day mixed dates", "id key"),
        "SELECT count(*) FROM texts",
        (3,),
    ),
    Messy(
        "plan.xlsx",
        {"Plan": [[None, "Q1", None, "Q2"], ["Team", "Ist", "Plan", "Ist"], ["A", 10, 12, 14], ["B", 20, 22, 24]]},
        ("headers",),
        'SELECT sum("Q1 Plan"), count(Team) FROM Plan',
        (34, 2),
    ),
    Messy(
        "beside.xlsx",
        {"beside": [["a", "n", None, "day", "m"], ["x", 1, None, 45292, 5], ["y", 2, None, 45293, 7]]},
        ("tables", "day mixed dates"),
        "SELECT sum(n) FROM beside",
        (3,),
    ),
    Messy(
        "errors.xlsx",
        {"errors": [["name", "n"], ["x", 5], ["y", "#DIV/0!"], ["z", 7]]},
        ("n missing",),
        "SELECT sum(n) FROM errors",
        (12,),
    ),
    # JSON and Parquet
    Messy(
        "rows.json",
        [{"city": "Rome", "n": 1}, {"city": "Oslo", "n": 2}, {"city": "Total", "n": 3}],
        ("totals",),
        "SELECT sum(n), count(*) FROM rows",
        (3, 2),
    ),
    Messy(
        "texts.json",
        [{"name": "A", "v": 1}, {"name": "B", "v": 2}, {"name": "C", "v": "3"}, {"name": "Total", "v": 6}],
        ("v mixed types", "totals"),
        "SELECT count(*) FROM texts",
        (3,),
    ),
    Messy(
        "cases.json",
        [{"Amount": 1}, {"amount": 2}],
        ("keys",),
        "SELECT sum(Amount), sum(amount_1) FROM cases",
        (1, 2),
    ),
    Messy(
        "wrapped.json",
        {"total": 2, "data": [{"city": "Rome", "n": 1}, {"city": "Oslo", "n": 2}]},
        ("data nested",),
        "SELECT count(*) FROM wrapped",
        (1,),
    ),
    Messy(
        "tr_satis.parquet",
        {"il": ["Ege", "Marmara", "Ara Toplam", "Akdeniz", "Genel Toplam"], "n": [120.5, 300.25, 420.75, 80, 500.75]},
        ("totals",),
        "SELECT sum(n), count(*) FROM tr_satis",
        (500.75, 3),
    ),
    Messy(
        "months.xlsx",
        {
            "Umsatz": [
                ["Umsatz Januar"],
                ["Region", "Menge", "Betrag"],
                ["Nord", 1, 100],
                ["Süd", 2, 200],
                ["Summe", 3, 300],
                [],
                ["Umsatz Februar"],
                ["Region", "Menge", "Betrag"],
                ["Nord", 4, 400],
                ["Süd", 5, 500],
                ["Summe", 9, 900],
            ]
        },
        ("totals", "headers", "headers"),
        "SELECT sum(Menge), count(*) FROM Umsatz",
        (12, 4),
    ),
    Messy(
        "days.json",
        [{"day": "01-02-2024", "kg": "12 kg"}, {"day": "02-02-2024", "kg": "5 kg"}],
        ("day mixed dates", "kg units"),
        "SELECT count(*) FROM days",
        (2,),
    ),
    Messy(
        "sums.parquet",
        {"city": ["Rome", "rome", "Total"], "n": [1.5, 2.5, 4.0], "price": ["1,5", "2,5", None]},
        ("totals", "city spellings", "price numbers as text"),
        "SELECT sum(n) FROM sums",
        (4,),
    ),
)


def write(folder: Path, file: Messy) -> Path:
    """Write a messy file into a folder and return its path."""
    path = folder / file.name
    match path.suffix:
        case ".xlsx":
            book = openpyxl.Workbook()
            book.remove(book.active)
            for name, rows in file.content.items():
                sheet = book.create_sheet(name)
                for row in rows:
                    sheet.append(row)
            book.save(path)
        case ".json":
            path.write_text(json.dumps(file.content))
        case ".parquet":
            pandas.DataFrame(file.content).to_parquet(path)
        case _:
            path.write_bytes(file.content.encode(file.encoding))
    return path
