"""The words for a result, made from the result alone."""

from __future__ import annotations

from typing import Any

import pytest
from tableturn.agent.answers.phrasing import ColumnDisplay, build_display, phrase_result
from tableturn.agent.records import PlainResult
from tableturn.tools.database.schema import ColumnSchema, Schema, TableSchema
from tableturn.tools.formats import choose_column_formats
from tableturn.tools.sql import ColumnHeading, Query

from tests.support.queries import read

MONTHS = tuple((f"2023-{month:02d}", 1000.5 + month, month) for month in range(1, 13))
CITIES = (("Lyon", 30), ("Paris", 20), ("Metz", 20), ("Nice", 5))


def words(
    names: str, *rows: tuple[Any, ...], ordered: bool = False, truncated: bool = False, locale: str = "", **heading: Any
) -> str:
    columns = tuple(names.split(", "))
    formats = choose_column_formats(None, columns, rows, locale=locale)
    looks = ColumnDisplay(tuple(ColumnHeading(name, **heading) for name in columns), formats, ordered, locale)
    return phrase_result(PlainResult(columns, rows, truncated), looks)


def test_a_list_of_rows_names_its_columns_in_order() -> None:
    columns, rows = ("ride_id", "status", "fee_eur"), ((1, "done", 2.5), (2, "open", 3.5))
    query = Query.of("SELECT ride_id, status, fee_eur FROM rides", "sqlite")
    grouped = Query.of("SELECT ride_id, status, sum(fee_eur) AS fee_eur FROM rides GROUP BY 1, 2", "sqlite")
    for parsed, locale, text in (
        (query, "", "2 rows: ride id, status and fee (EUR)."),
        (query, "de", "2 Zeilen: ride id, status und fee (EUR)."),
        (grouped, "", "Fee by ride id and status, 2 rows."),
    ):
        result = PlainResult(columns, rows)
        assert phrase_result(result, build_display(parsed, result, locale)) == text
    cut = PlainResult(columns, rows, truncated=True)
    assert phrase_result(cut, build_display(query, cut)) == "Ride id, status and fee.", "no fee by ride"


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (words("name"), "No rows match."),
        # A number; its noun only where it is certain, and never made from a table's name.
        (words("revenue", (497598.4200000017,)), "Revenue: 497,598.42."),
        (words("n", (1234,), counted="orders", counts_all=True), "There are 1,234 orders."),
        (words("n", (1234,), counted="orders"), "Orders: 1,234."),
        (words("n", (1,), counted="orders", counts_all=True), "Orders: 1."),
        (words("n", (2,), counted="kunden", counts_all=True), "Kunden: 2."),
        (words("n", (38,), counted="kunden 2024", counts_all=True), "Kunden 2024: 38."),
        (words("n", (3,), counted="status", counts_all=True), "Status: 3."),
        (words("revenue", (None,)), "Revenue: no value."),
        # A row and a list.
        (words("name, city, born", ("Ada", None, "1815-12-10")), "Name: Ada; city: no value; born: 10 Dec 1815."),
        (words("name", ("Ada",), ("Bo",)), "Name: Ada, Bo."),
        (words("name", ("Lovelace, Ada",), ("Bo",)), "Name: Lovelace, Ada; Bo."),
        (words("name", *[("Ada",)] * 1200), "Name: 1,200 values."),
        (words("name", *[("Ada",)] * 1000, truncated=True), "Name: Ada, Ada, Ada, Ada, Ada, …"),
        # A series, if every row is a point of its own.
        (words("month, revenue", *[row[:2] for row in MONTHS]),
         "Revenue for 12 months, January 2023 to December 2023."),
        (words("month, revenue, orders", *MONTHS[::-1]),
         "Revenue and orders for 12 months, January 2023 to December 2023."),
        (words("year, revenue", (2022, 5), (2024, 6)), "Revenue for 2 years, 2022 to 2024."),
        (words("year, revenue", ("2022", 5), ("2024", 6)), "Revenue for 2 years, 2022 to 2024."),
        (words("plz, customers", ("1010", 5), ("1020", 6)), "Customers by plz, 2 rows."),
        (words("q, revenue", ("2022-Q3", 5), ("2022-Q4", 6)), "Revenue for 2 quarters, 2022-Q3 to 2022-Q4."),
        (words("day, revenue", ("2023-01-05", 5), ("2023-01-07", 6), truncated=True),
         "Revenue for the first 2 dates, 5 Jan 2023 to 7 Jan 2023."),
        (words("month, revenue", ("2023-01", 5), ("2023-01", 6)), "Revenue by month, 2 rows."),
        (words("month, revenue", ("2023-01", 5), (None, 6)), "Revenue by month, 2 rows."),
        (words("month, city, revenue", ("2023-01", "Lyon", 5), ("2023-02", "Metz", 6)),
         "Revenue by month and city, 2 rows."),
        (words("month, city, revenue", ("2023-01", "Lyon", 5), ("2023-02", "Metz", 6), truncated=True),
         "Revenue by month and city."),
        (words("name, city", ("Ada", "Lyon"), ("Bo", "Metz")), "Name and city, 2 rows."),
        (words("a, b", (1, 2), (3, 4)), "2 rows."),
        (words("a, b, c, d", *[("x",) * 4] * 2), "2 rows."),
        (words("a, b, c, d", *[("x",) * 4] * 2, truncated=True), "A, b, c and 1 more column."),
        # A ranking, if the query orders and the numbers do.
        (words("city, customers", *CITIES, ordered=True), "First of 4 by customers: Lyon, 30."),
        (words("customers, city", *[row[::-1] for row in CITIES[::-1]], ordered=True),
         "First of 4 by customers, lowest first: Nice, 5."),
        (words("city, customers", ("Lyon", 5), ("Metz", 5), ("Nice", 4), ordered=True),
         "First of 3 by customers: Lyon and Metz, 5."),
        (words("city, customers", *CITIES, ordered=True, truncated=True),
         "First by customers: Lyon, 30."),
        (words("city, customers", *CITIES), "Customers by city, 4 rows."),
        (words("city, customers", *CITIES, CITIES[0], ordered=True), "Customers by city, 5 rows."),
        (words("city, customers", CITIES[3], *CITIES[:3], ordered=True), "Customers by city, 4 rows."),
        (words("city, customers", ("Lyon", 5), ("Metz", None), ordered=True), "Customers by city, 2 rows."),
        (words("city, customers", ("Lyon", 5), ("Metz", 5), ordered=True), "Customers by city, 2 rows."),
    ],
)  # fmt: skip
def test_a_result_is_said_in_plain_words(said: str, text: str) -> None:
    assert said == text


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (words("name", locale="de"), "Keine Zeile passt."),
        (words("n", (1234,), counted="orders", counts_all=True, locale="de"), "Orders: 1.234."),
        (words("umsatz", (None,), locale="de"), "Umsatz: kein Wert."),
        (words("monat, umsatz, anzahl", *MONTHS, locale="de_AT"),
         "Umsatz und anzahl: 12 Monate, Jänner 2023 bis Dezember 2023."),
        (words("stadt, kunden", *CITIES, ordered=True, truncated=True, locale="de"),
         "Platz 1 (kunden): Lyon, 30."),
        (words("stadt, kunden", *CITIES, locale="de"), "4 Zeilen: stadt und kunden."),
        (words("minutes, member_id", (5, 1), (6, 2), locale="de"), "2 Zeilen: minutes und member_id."),
        (words("stadt, kunden", *CITIES, locale="fr"), "Kunden by stadt, 4 rows."),
    ],
)  # fmt: skip
def test_a_result_is_said_in_the_language_of_the_answer(said: str, text: str) -> None:
    assert said == text


@pytest.mark.parametrize(
    ("column", "cell", "locale", "text", "heading"),
    [
        ("revenue_eur", 937259.1, "de", "Revenue: 937.259,10\N{NO-BREAK SPACE}€.", "revenue"),
        ("weight_kg", 12, "", "Weight: 12\N{NO-BREAK SPACE}kg.", "weight"),
        ("Umsatz in EUR", 5, "de", "Umsatz in EUR: 5\N{NO-BREAK SPACE}€.", "Umsatz in EUR"),
        ("revenue_eur", None, "", "Revenue eur: no value.", "revenue eur"),
    ],
)
def test_a_unit_is_said_once_at_the_number(
    column: str, cell: float | None, locale: str, text: str, heading: str
) -> None:
    result = PlainResult((column,), ((cell,),))
    looks = build_display(None, result, locale)
    assert (phrase_result(result, looks), looks.words) == (text, (heading,))
    both = build_display(None, PlainResult(("margin", "margin_percent"), ((2.5, 10),)), locale)
    assert both.words == ("margin", "margin percent"), "one name for each column"


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("COUNT(*) AS visitors", "Visitors: 202."),
        ("COUNT(*) AS visitor_count", "Kunden 2024: 202."),
        ("COUNT(*) AS n", "Kunden 2024: 202."),
        ("COUNT(*)", "Kunden 2024: 202."),
    ],
)
def test_what_is_counted_is_called_as_the_query_calls_it(output: str, text: str) -> None:
    schema = Schema("shop", (TableSchema("kunden_2024", (ColumnSchema("ort", "TEXT", "text"),)),))
    result = PlainResult((output.split(" AS ")[-1],), ((202,),))
    for where, said in ((" WHERE ort = 'Kiel'", text), ("", text.replace("Visitors: 202", "There are 202 visitors"))):
        query = read(f"SELECT {output} FROM kunden_2024{where}", schema)
        assert phrase_result(result, build_display(query, result)) == said


def test_an_average_without_a_name_is_said_without_its_unit() -> None:
    schema = Schema("shop", (TableSchema("tickets", (ColumnSchema("price_eur", "REAL", "number"),)),))
    result = PlainResult(("avg(price_eur)",), ((127.02,),))
    assert phrase_result(result, build_display(read("SELECT avg(price_eur) FROM tickets", schema), result)) == (
        "Average price: €127.02."
    )


@pytest.mark.parametrize(
    ("sql", "rows", "english", "german"),
    [
        ("avg(price_eur) AS p", ((None,),), "Average price: no value.", "P: kein Wert."),
        ("kind AS kind, COUNT(*) AS n", (("a", 78), ("b", 9)), "First of 2 by count: a, 78.",
         "Platz 1 von 2 (Anzahl): a, 78."),
        ("kind AS k", (("a",), ("b",)), "K: a, b.", "K: a, b."),
        ("avg(price_eur) AS avg, max(price_eur) AS max", ((1, 2),), "Average price: €1; largest price: €2.",
         "Avg: 1\xa0€; max: 2\xa0€."),
    ],
)  # fmt: skip
def test_a_sentence_says_what_one_letter_or_function_stands_for(sql: str, rows: Any, english: str, german: str) -> None:
    kind, price = ColumnSchema("kind", "TEXT", "text"), ColumnSchema("price_eur", "REAL", "number")
    query = read(f"SELECT {sql} FROM tickets ORDER BY 1", Schema("shop", (TableSchema("tickets", (kind, price)),)))
    result = PlainResult(tuple(item.alias for item in query.tree.expressions), rows)
    shown = {locale: build_display(query, result, locale) for locale in ("", "de")}
    assert [phrase_result(result, looks) for looks in shown.values()] == [english, german]
    assert shown[""].words == result.columns


@pytest.mark.parametrize(("limit", "of"), [(2, ""), (9, " of 2")])
def test_the_first_of_the_rows_that_a_limit_lets_through_is_the_first_of_more(limit: int, of: str) -> None:
    query = Query.of(f"SELECT city, trips FROM rides ORDER BY trips DESC LIMIT {limit}", "sqlite")
    result = PlainResult(("city", "trips"), (("Lyon", 3), ("Metz", 2)))
    assert phrase_result(result, build_display(query, result)) == f"First{of} by trips: Lyon, 3."


@pytest.mark.parametrize(
    ("output", "english", "german"),
    [
        ("AVG(price)", "average price", "Durchschnitt von price"),
        ("MAX(day)", "latest day", "spätester Wert von day"),
        ("SUM(price * 2)", "total of price times 2", "sum(price * 2)"),
        ("EXISTS(SELECT 1 FROM rides)", "there is a row of rides", "exists(select 1 from rides)"),
    ],
)
def test_a_heading_has_no_english_meaning_in_a_german_answer(output: str, english: str, german: str) -> None:
    day, price = ColumnSchema("day", "DATE", "time"), ColumnSchema("price", "REAL", "number")
    query = read(f"SELECT {output} FROM rides", Schema("shop", (TableSchema("rides", (day, price)),)))
    result = PlainResult((output,), ((1,),))
    assert [build_display(query, result, locale).words[0].lower() for locale in ("", "de")] == [english, german.lower()]
