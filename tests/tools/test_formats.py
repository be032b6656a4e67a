"""How cells are written for people: by the query, the schema, the values and the locale."""

from __future__ import annotations

import math
from typing import Any

import pytest
from tableturn.tools.database.schema import ColumnSchema, ForeignKey, Schema, TableSchema
from tableturn.tools.errors import SettingsError
from tableturn.tools.formats import ColumnFormat, choose_column_formats, format_cell, format_rows, parse_date_text
from tableturn.tools.measures import find_unit_in_comment

from tests.support.queries import read


def number(name: str, comment: str = "", **more: Any) -> ColumnSchema:
    return ColumnSchema(name, "REAL", "number", comment=comment, **more)


ORDERS = TableSchema(
    "orders",
    (
        number("id", primary_key=1),
        number("customer_id"),
        number("amount_eur"),
        number("price", "unit price, in EUR"),
        number("fee", "EUR cents"),
        number("tax_rate", "in EUR"),
        number("fx_rate"),
        number("discount", "in percent"),
        number("discount_pct"),
        number("delay_minutes"),
        number("length_mm"),
        number("quantity"),
        number("founded"),
        number("latitude"),
        number("weight_kg"),
        number("plot_no"),
        number("length_m"),
        number("revenue_m"),
        number("depth", "in metres"),
        number("price_per_kg"),
        number("cost"),
        ColumnSchema("paid", "BOOLEAN", "boolean"),
        ColumnSchema("day", "TEXT", "time"),
        ColumnSchema("phone", "INTEGER", "number"),
        number("year"),
        number("upc", samples=(12345678905, 42345678901, 52345678907)),
        number("revenue", samples=(12345678905, 42345678901, 52345678907)),
        number("crowd", samples=(12345678, 4234567, 52345678)),
    ),
)

SHOP = Schema("shop", (ORDERS,), (ForeignKey("orders", ("customer_id",), "customers", ("id",)),))


def written(sql: str, cell: Any) -> str:
    """The only cell of a query's result as people read it."""
    name = sql.removeprefix("SELECT ").split(" FROM")[0].split(" AS ")[-1]
    (form,) = choose_column_formats(read(sql, SHOP), [name], [(cell,)])
    return format_cell(cell, form)


@pytest.mark.parametrize(
    ("sql", "cell", "text"),
    [
        # Keys, years and codes stay as they are.
        ("SELECT id FROM orders", 12345, "12345"),
        ("SELECT customer_id FROM orders", 12345, "12345"),
        ("SELECT MAX(customer_id) AS last FROM orders", 12345, "12345"),
        ("SELECT phone FROM orders", 4930123456, "4930123456"),
        ("SELECT 40210 AS zip_code FROM orders", 40210, "40210"),
        ("SELECT plot_no FROM orders", 1000, "1000"),
        ("SELECT 40210 AS Kundennummer FROM orders", 40210, "40210"),
        ("SELECT 40210 AS ArtikelNr FROM orders", 40210, "40210"),
        ("SELECT 40210 AS barcode FROM orders", 40210, "40210"),
        ("SELECT 40210 AS codigo_cliente FROM orders", 40210, "40210"),
        ("SELECT 40210 AS numero_clientes FROM orders", 40210, "40,210"),
        ("SELECT 40210 AS visits_number FROM orders", 40210, "40,210"),
        # Numbers that are all of many digits are codes, if no name says that they are money.
        ("SELECT upc FROM orders", 12345678905, "12345678905"),
        ("SELECT COUNT(upc) AS n FROM orders", 12345, "12,345"),
        ("SELECT revenue FROM orders", 12345678905, "12,345,678,905"),
        ("SELECT crowd FROM orders", 12345678, "12,345,678"),
        ("SELECT MAX(plot_no) AS last FROM orders", 1000, "1000"),
        ("SELECT COUNT(plot_no) AS plot_no FROM orders", 1000, "1,000"),
        ("SELECT SUM(quantity) AS ordered_no FROM orders", 1000, "1,000"),
        ("SELECT quantity AS no FROM orders", 1000, "1,000"),
        ("SELECT year FROM orders", 2024, "2024"),
        # Zero keeps its unit.
        ("SELECT MIN(discount_pct) AS lowest FROM orders", 0.0, "0%"),
        ("SELECT MIN(discount) FROM orders", 0, "0%"),
        ("SELECT discount_pct FROM orders", 0.5, "0.5"),
        ("SELECT MIN(amount_eur) AS lowest FROM orders", 0.0, "€0"),
        ("SELECT MIN(delay_minutes) AS delay FROM orders", 0, "0\N{NO-BREAK SPACE}min"),
        ("SELECT MIN(weight_kg) AS weight FROM orders", 0.0, "0\N{NO-BREAK SPACE}kg"),
        ("SELECT founded FROM orders", 1999, "1999"),
        ("SELECT AVG(year) AS founded FROM orders", 1904.33, "1904"),
        ("SELECT AVG(year) AS founded FROM orders", 1904.0, "1904"),
        ("SELECT ROUND(AVG(year), 1) AS founded FROM orders", 1904.3, "1904.3"),
        ("SELECT SUM(year) AS founded FROM orders", 3809, "3,809"),
        ("SELECT CAST(strftime('%Y', day) AS INTEGER) AS y FROM orders", 2024, "2024"),
        ("SELECT CAST(strftime('%Y', day) AS INTEGER) AS year FROM orders", 2024, "2024"),
        # Counts are numbers whatever they are called, and what they count.
        ("SELECT COUNT(DISTINCT customer_id) AS customer_id FROM orders", 2024, "2,024"),
        ("SELECT COUNT(*) AS orders_in_eur FROM orders", 5, "5"),
        ("SELECT SUM(quantity) AS year FROM orders", 2024, "2,024"),
        # Money where a name or a comment says so, of one currency, and not in parts of it.
        ("SELECT SUM(amount_eur) AS revenue FROM orders", 497598.4200000017, "€497,598.42"),
        ("SELECT AVG(price) AS a FROM orders", 12.3456, "€12.35"),
        ("SELECT SUM(price * quantity) AS a FROM orders", 12.5, "€12.50"),
        ("SELECT SUM(price) / COUNT(*) AS a FROM orders", 12.5, "€12.50"),
        ("SELECT SUM(amount_eur) / SUM(price) AS a FROM orders", 12.5, "12.5"),
        ("SELECT price * fx_rate AS a FROM orders", 12.5, "12.5"),
        ("SELECT price * fx_rate AS amount_usd FROM orders", 12.5, "$12.50"),
        ("SELECT price + weight_kg AS a FROM orders", 12.5, "12.5"),
        ("SELECT SUM(weight_kg * price_per_kg) AS a FROM orders", 12.5, "12.5"),
        ("SELECT SUM(weight_kg * cost) AS a FROM orders", 12.5, "12.5"),
        ("SELECT fee FROM orders", 1250, "1,250"),
        ("SELECT tax_rate FROM orders", 12.5, "12.5"),
        ("SELECT total FROM (SELECT SUM(amount_eur) AS total FROM orders)", -1234.5, "-€1,234.50"),
        ("SELECT CASE WHEN paid THEN price ELSE 0 END AS a FROM orders", 12.5, "€12.50"),
        ("SELECT COALESCE(SUM(price), 0) AS a FROM orders", 12, "€12"),
        # Per cent where it is said, or a ratio times 100 is called a share; a fraction stays one.
        ("SELECT discount FROM orders", 12.5, "12.5%"),
        ("SELECT discount FROM orders", 0.125, "0.125"),
        ("SELECT 100.0 * SUM(paid) / COUNT(*) AS paid_share FROM orders", 0.5, "0.5%"),
        ("SELECT ROUND(SUM(paid) * 1.0 / COUNT(*) * 100, 1) AS paid_share FROM orders", 12.5, "12.5%"),
        ("SELECT 100.0 * SUM(price) / SUM(quantity) AS per_100 FROM orders", 12.5, "12.5"),
        ("SELECT AVG(paid) AS share FROM orders", 0.12345, "0.123"),
        # Decimals: of what is stored all, of what is computed a few, and never a zero that is none.
        ("SELECT latitude FROM orders", 52.520008, "52.520008"),
        ("SELECT weight_kg FROM orders", 100.485183, "100.485\N{NO-BREAK SPACE}kg"),
        ("SELECT weight_kg FROM orders", 0.00485183, "0.00485\N{NO-BREAK SPACE}kg"),
        ("SELECT AVG(latitude) AS a FROM orders", 52.520008, "52.52"),
        ("SELECT AVG(latitude) AS a FROM orders", 0.00012345, "0.000123"),
        ("SELECT ROUND(AVG(latitude), 4) AS a FROM orders", 52.5201, "52.5201"),
        ("SELECT SUM(quantity) AS a FROM orders", 1234.0, "1,234"),
        ("SELECT SUM(quantity) AS a FROM orders", 1e300, "1e+300"),
        ("SELECT SUM(quantity) AS a FROM orders", 10**18, "1,000,000,000,000,000,000"),
        ("SELECT MAX(weight_kg) AS a FROM orders", 1200.5, "1,200.5\N{NO-BREAK SPACE}kg"),
        # Metres where lengths are measured: an m may be a million.
        ("SELECT AVG(length_m) AS a FROM orders", 12.5, "12.5\N{NO-BREAK SPACE}m"),
        ("SELECT length_mm / 1000 AS length_m FROM orders", 12.5, "12.5\N{NO-BREAK SPACE}m"),
        ("SELECT depth FROM orders", 12.5, "12.5\N{NO-BREAK SPACE}m"),
        ("SELECT revenue_m FROM orders", 12.5, "12.5"),
        ("SELECT amount_eur / 1e6 AS revenue_m_eur FROM orders", 12.5, "12.5"),
        # Truth values, dates, and texts that only look like one.
        ("SELECT paid FROM orders", 1, "yes"),
        ("SELECT price > 5 AS dear FROM orders", 0, "no"),
        ("SELECT SUM(paid) AS a FROM orders", 1, "1"),
        ("SELECT day FROM orders", "2024-01-05", "5 Jan 2024"),
        ("SELECT day FROM orders", "2024-01-05 00:00:00", "5 Jan 2024"),
        ("SELECT day FROM orders", "2024-01-05T14:30:00", "5 Jan 2024 14:30"),
        ("SELECT day FROM orders", "2024-01-05 14:30:09+00:00", "5 Jan 2024 14:30:09"),
        ("SELECT day FROM orders", "2024-01-05 14:30:00+02:00", "2024-01-05 14:30:00+02:00"),
        ("SELECT day FROM orders", "2024-02-31", "2024-02-31"),
        ("SELECT strftime('%Y-%m', day) AS month FROM orders", "2024-01", "January 2024"),
        ("SELECT DATE(day, 'start of month') AS month FROM orders", "2024-01-01", "January 2024"),
        ("SELECT day AS a FROM orders", "0123456", "0123456"),
        ("SELECT day FROM orders", float("nan"), "NaN"),
        ("SELECT day FROM orders", b"\x01", "x'01'"),
    ],
)  # fmt: skip
def test_a_cell_is_written_as_people_read_it(sql: str, cell: Any, text: str) -> None:
    assert written(sql, cell) == text


@pytest.mark.parametrize(
    ("output", "text"),
    [
        # Thousands, cents and other units are not in the unit of what they are made of.
        ("ROUND(SUM(amount_eur) / 1000, 1) AS revenue_k", "40.4"),
        ("SUM(amount_eur) / 1000", "40.4"),
        ("SUM(amount_eur / 1000000.0) AS revenue_millions", "40.4"),
        ("SUM(amount_eur) * 1e-6 AS revenue", "40.4"),
        ("SUM(amount_eur) / (1000 * 1000) AS revenue", "40.4"),
        ("SUM(amount_eur) / CAST(1000 AS REAL) AS revenue_k_eur", "40.4"),
        ("price * 100 AS price_cents", "40.4"),
        ("price / POWER(10, 6) AS mb", "40.4"),
        ("price * -100 AS debt", "40.4"),
        ("100.0 / COUNT(*) * SUM(price) AS per_hundred", "40.4"),
        ("60 * AVG(delay_minutes)", "40.4"),
        ("AVG(delay_minutes) / 60.0 AS avg_delay", "40.4"),
        ("AVG(delay_minutes) * 1.0 / 60 / 24 AS days", "40.4"),
        ("length_mm / 25.4 AS inches", "40.4"),
        ("length_mm / 10 + length_mm AS odd", "40.4"),
        # A name says what they are in.
        ("AVG(delay_minutes) / 60.0 AS hours", "40.4\N{NO-BREAK SPACE}h"),
        ("AVG(delay_minutes) * 60 AS delay_seconds", "40.4\N{NO-BREAK SPACE}s"),
        ("length_mm / 10 AS length_cm", "40.4\N{NO-BREAK SPACE}cm"),
        # Rates, shares and percentages leave money what it is, and so does what is undone.
        ("SUM(price * 1.2) AS gross", "€40.40"),
        ("SUM(price * (1 - discount)) AS net", "40.4"),
        ("SUM(price * (1 - 0.5 * quantity)) AS net", "€40.40"),
        ("SUM(price * discount_pct / 100) AS rebate", "€40.40"),
        ("SUM(price * (1 - discount_pct / 100.0)) AS net", "€40.40"),
        ("SUM(price * (100 - discount_pct)) / 100 AS net", "€40.40"),
        ("ROUND(SUM(price) * 100) / 100 AS total", "€40.40"),
        ("SUM(price) * 1.0 / COUNT(*) AS average", "€40.40"),
        ("AVG(delay_minutes) * 1.0 AS a", "40.4\N{NO-BREAK SPACE}min"),
    ],
)  # fmt: skip
def test_a_number_times_a_constant_has_no_unit_of_another(output: str, text: str) -> None:
    assert written(f"SELECT {output} FROM orders", 40.4) == text


def test_what_was_made_of_a_unit_is_known_of_sub_queries() -> None:
    sql = """WITH t AS (SELECT SUM(price) / 1000 AS a, SUM(price) AS b, MAX(delay_minutes) / 60 AS hours FROM orders)
        SELECT a, b, a * 1000 AS c, (SELECT b / 1000 FROM t) AS d, 0.19 * (SELECT SUM(b) FROM t) AS e, hours + 1 AS f
        FROM t"""
    columns = ("a", "b", "c", "d", "e", "f")
    formats = choose_column_formats(read(sql, SHOP), columns, [(1.5,) * len(columns)])
    assert [form.measure for form in formats] == ["", "EUR", "EUR", "", "EUR", "h"]


def test_all_columns_of_a_table_are_known_by_name() -> None:
    row = (12345, 9.5, 1999)
    formats = choose_column_formats(read("SELECT * FROM orders", SHOP), ("customer_id", "price", "founded"), [row])
    assert [form.kind for form in formats] == ["key", "money", "year"]


def test_the_branches_of_a_union_may_mean_different_things() -> None:
    sql = "SELECT SUM(amount_eur) AS total FROM orders UNION ALL SELECT COUNT(*) FROM orders"
    assert choose_column_formats(read(sql, SHOP), ("total",), [(12.5,), (3,)]) == (ColumnFormat("number", 1),)


def test_a_definition_says_what_a_measure_is_in() -> None:
    def currency(text: str) -> str:
        sql, defined = "SELECT SUM(quantity) AS net_turnover FROM orders", {"Net turnover": text}
        return choose_column_formats(read(sql, SHOP), ["net_turnover"], [(12.5,)], defined)[0].currency

    assert currency("all that was sold, in CHF") == "CHF"
    assert currency("converted from CHF, in EUR") == currency("the number of sales in EUR") == currency("") == ""


def test_a_column_is_as_wide_as_its_finest_cell() -> None:
    sql, rows = "SELECT quantity FROM orders", [(1,), (2.25,), (None,)]
    assert format_rows(rows, choose_column_formats(read(sql, SHOP), ("quantity",), rows)) == [
        ("1.00",),
        ("2.25",),
        (None,),
    ]
    days = [("2024-01-01",), ("2024-01-02 10:30",)]
    assert format_rows(days, choose_column_formats(None, ("day",), days)) == [
        ("1 Jan 2024 00:00",),
        ("2 Jan 2024 10:30",),
    ]


@pytest.mark.parametrize(
    ("cell", "form", "texts"),
    [
        (1234.5, ColumnFormat("number", 2), ("1,234.50", "1.234,50", "1\N{NARROW NO-BREAK SPACE}234,50")),
        (-5, ColumnFormat("money", 0, "EUR"), ("-€5", "-5\N{NO-BREAK SPACE}€", "-5\N{NO-BREAK SPACE}€")),
        (12.5, ColumnFormat("percent", 1), ("12.5%", "12,5\N{NO-BREAK SPACE}%", "12,5\N{NO-BREAK SPACE}%")),
        ("2024-03", ColumnFormat("month"), ("March 2024", "März 2024", "mars 2024")),
        ("2024-03-05 09:30", ColumnFormat("minute"), ("5 Mar 2024 09:30", "05.03.2024 09:30", "5 mars 2024 09:30")),
        (2024, ColumnFormat("year"), ("2024", "2024", "2024")),
        (None, ColumnFormat("number"), ("NULL", "NULL", "NULL")),
        (math.inf, ColumnFormat("number", 2), ("Infinity", "Infinity", "Infinity")),
    ],
)
def test_other_languages_write_otherwise(cell: Any, form: ColumnFormat, texts: tuple[str, str, str]) -> None:
    assert tuple(format_cell(cell, form, locale) for locale in ("", "de", "fr-FR")) == texts


def test_a_locale_that_is_not_known_is_told() -> None:
    with pytest.raises(SettingsError, match="no locale 'xx_YY'"):
        format_cell(1.5, ColumnFormat("number", 1), "xx_YY")


def test_a_text_that_is_no_date_is_no_time() -> None:
    assert [parse_date_text(text) for text in ("12:30", "2024", "2024-13-01", "2024-02-30", "")] == [None] * 5


@pytest.mark.parametrize(
    ("comment", "unit"),
    [
        ("gross, in EUR", "EUR"),
        ("US dollars", "USD"),
        ("in USD per bottle", "USD"),
        ("Euro", "EUR"),
        ("EUR, net of VAT", "EUR"),
        ("Prozent", "%"),
        ("metres above sea level", "m"),
        ("kg", "kg"),
        ("Dauer in Minuten", "min"),
        ("not in EUR", ""),
        ("other than EUR", ""),
        ("in 1000 EUR", ""),
        ("speed in km/h", "km/h"),
        ("nicht in EUR", ""),
        ("1 = 100 EUR", ""),
        ("EUR per 100 kg", ""),
        ("EUR per thousand", ""),
        ("euro zone member", ""),
        ("minutes of the meeting", ""),
        ("whether in EUR", ""),
    ],
)
def test_a_comment_gives_a_unit_if_it_says_so_plainly(comment: str, unit: str) -> None:
    assert find_unit_in_comment(comment) == unit
