"""Which chart is chosen for a result, and that what is chosen can be drawn, whatever the result holds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import altair
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console
from tableturn.tools.charts import Chart, ChartRequest, Kind, choose, make_spec, parse_request
from tableturn.tools.charts.chart import render_chart_image
from tableturn.tools.charts.draw import draw_chart
from tableturn.tools.database import Database
from tableturn.tools.formats import PLAIN, ColumnFormat, format_cell
from tableturn.tools.sample import build_sample

from ...corpus.gallery import PIECES, Piece


@pytest.fixture(scope="module")
def kestrel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    with Database.open(build_sample(tmp_path_factory.mktemp("gallery") / "kestrel.sqlite")) as database:
        yield database


def valid(chart: Chart) -> dict[str, Any]:
    """The specification, after Vega-Lite's own schema and strict JSON have accepted it."""
    spec = make_spec(chart)
    altair.Chart.from_dict(json.loads(json.dumps(spec, allow_nan=False)), validate=True)
    return spec


def printed(chart: Chart, **console: Any) -> str:
    screen = Console(width=80, **console)
    with screen.capture() as captured:
        screen.print(draw_chart(chart, screen))
    return captured.get()


def test_the_gallery_is_large_enough() -> None:
    assert len({piece.question for piece in PIECES}) >= 30
    assert {piece.kind for piece in PIECES} == {*get_args(Kind), None}


@pytest.mark.parametrize("piece", PIECES, ids=lambda piece: piece.question)
def test_each_result_of_the_gallery_has_its_chart(piece: Piece, kestrel: Database) -> None:
    chart = piece.chart(kestrel)
    assert (chart and chart.kind) == piece.kind
    if chart:
        assert valid(chart)["title"]["text"] == piece.question
        assert printed(chart).strip()


cells = st.one_of(
    st.none(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.binary(max_size=4),
    st.sampled_from(
        [10**400, -(10**400), "2024-01-31", "2024-02-30", "2024-13", "2024-Q4", "NaN", "0", "1e9", "x'00'"]
    ),
    st.dates().map(str),
    st.datetimes().map(str),
)
columns = st.one_of(
    st.just(cells),
    st.just(st.integers(-3, 12)),
    st.just(st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False))),
    st.just(st.sampled_from(["Paris", "Lyon", None])),
    st.just(st.dates().map(lambda day: f"{day:%Y-%m}")),
    st.just(st.integers(1900, 2100)),
)
names = st.one_of(
    st.text(max_size=12), st.sampled_from(["year", "share %", "id", "COUNT(*)", "first_name", "last_name"])
)
wishes = st.one_of(
    st.none(), st.builds(ChartRequest, st.sampled_from(get_args(Kind)), st.just(""), names, st.tuples(names))
)


@st.composite
def results(draw: st.DrawFn) -> tuple[list[str], list[tuple[Any, ...]]]:
    kinds = draw(st.lists(columns, min_size=0, max_size=4))
    rows = draw(st.lists(st.tuples(*kinds), max_size=14))
    return draw(st.lists(names, min_size=len(kinds), max_size=len(kinds))), rows


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(results(), wishes)
def test_any_result_has_a_chart_that_can_be_drawn_or_none(
    result: tuple[list[str], list[tuple[Any, ...]]], wish: ChartRequest | None
) -> None:
    titles, rows = result
    chart = choose(titles, rows, wish)
    if chart is not None:
        valid(chart)
        assert printed(chart) is not None
        assert printed(chart, legacy_windows=True, force_terminal=False) is not None


def kind(titles: list[str], rows: list[tuple[Any, ...]], question: str = "") -> str | None:
    chart = choose(titles, rows, parse_request(question))
    return chart and chart.kind


def test_identifiers_and_prose_are_not_drawn() -> None:
    assert kind(["customer_id", "order_id"], [(n, n * 2) for n in range(20)]) is None
    assert kind(["comment", "rating"], [("word " * 30 + str(n), n % 5) for n in range(9)]) is None
    assert kind(["photo", "size"], [(b"\x89PNG", n) for n in range(9)]) is None


def test_measures_of_other_sizes_do_not_share_an_axis() -> None:
    rows = [(f"store {n}", n, n * 1e6) for n in range(1, 6)]
    chart = choose(["store", "orders", "revenue"], rows)
    assert chart is not None
    assert (chart.kind, chart.y.title, len(chart.marks)) == ("bar", "orders", 5)


def test_averages_are_not_stacked() -> None:
    rows = [(country, tier, 3.5) for country in "ABC" for tier in "xyz"]
    assert kind(["country", "tier", "customers"], rows) == "stacked"
    assert kind(["country", "tier", "average age"], rows) == "bar"


def test_rows_are_not_drawn_over_one_another() -> None:
    assert kind(["city", "total"], [("Paris", 1), ("Paris", 2), ("Lyon", 3)]) is None


def test_axes_follow_the_question() -> None:
    rows = [(2020 + n // 3, "abc"[n % 3], n, 10 - n) for n in range(9)]
    chart = choose(
        ["year", "region", "sales", "returns"], rows, parse_request("Plot returns by region and year as stacked bars")
    )
    assert chart is not None
    assert chart.x is not None
    assert (chart.kind, chart.x.title, chart.y.title, chart.groups) == ("stacked", "region", "returns", "year")


def test_a_wish_that_does_not_fit_gives_what_fits() -> None:
    rows = [("a", -1), ("b", 2), ("c", 3)]
    assert kind(["name", "change"], rows, "Plot the change by name as a pie chart") == "bar"


RANKED = [("Sea", 2010, 40), ("Garden", 2005, 30), ("Loft", 1985, 22)]  # whose years fall with their stays by chance


@pytest.mark.parametrize(
    ("titles", "rows", "kind"),
    [
        ("room, built_year, stays", RANKED, "bar"),
        ("room, built_year, stays", sorted(RANKED), "bar"),
        ("month, revenue", [("2024-02", 9), ("2024-03", 7), ("2024-01", 5)], "bar"),
        ("month, revenue", [("2024-02", 7), ("2024-03", 9), ("2024-01", 5)], "line"),
        ("month, revenue", [("2024-01", 5), ("2024-02", 7), ("2024-03", 9)], "line"),
        ("month, month_name, revenue", [("2024-01", "Jan", 5), ("2024-02", "Feb", 9), ("2024-03", "Mar", 7)], "line"),
        ("region, year, sold", [(name, year, year % 7) for name in "NS" for year in range(2020, 2024)], "line"),
    ],
)
def test_a_ranking_has_bars_and_a_series_a_line(titles: str, rows: list[tuple[Any, ...]], kind: Kind) -> None:
    chart = choose(titles.split(", "), rows)
    assert chart is not None
    assert chart.kind == kind
    wished = choose(titles.split(", "), rows, ChartRequest("line", ""))
    assert wished is not None
    assert wished.kind == "line"


START = datetime(2024, 1, 1)
MOMENTS = [str(START + timedelta(seconds=97 * number**2)) for number in range(1_000)]
HOURS = [str(START + timedelta(hours=number)) for number in range(1_000)]
DAYS = [str((START + timedelta(days=2 * number + number * number % 3)).date()) for number in range(300)]


@pytest.mark.parametrize(
    ("titles", "rows"),
    [
        ("id, price", [(number + 7, number * 37 % 101) for number in range(1_000)]),
        ("order_id, ordered_at, total", [(place, moment, place * 37 % 101) for place, moment in enumerate(MOMENTS)]),
        ("ordered_at, method, total", [(moment, "ab"[place % 2], place) for place, moment in enumerate(MOMENTS)]),
        ("paid_at, amount", [(MOMENTS[place // 3], place * 37 % 101) for place in range(1_000)]),
        ("line, quantity", [(place % 5, place * 37 % 4) for place in range(1_000)]),
    ],
)
def test_a_list_is_a_table_unless_a_chart_is_asked_for(titles: str, rows: list[tuple[Any, ...]]) -> None:
    names = titles.split(", ")
    assert choose(names, rows) is None
    asked = choose(names, rows, ChartRequest("histogram", ""))
    assert asked is not None
    assert asked.kind == "histogram"
    if "_at" in titles:
        assert choose(names, rows, ChartRequest(None, "")) is not None


@pytest.mark.parametrize("times", [HOURS, DAYS])
def test_a_long_series_has_a_line_though_some_days_are_missing(times: list[str]) -> None:
    assert kind(["read_at", "level"], [(time, place * 37 % 101) for place, time in enumerate(times)]) == "line"
    keyed = [(place, time, place * 37 % 101) for place, time in enumerate(times)]
    assert kind(["reading_id", "read_at", "level"], keyed) == "line"


def test_keys_and_truth_values_of_the_schema_are_not_measured() -> None:
    rows = [(number * 13, number % 2, f"name {number}", number * 37 % 101) for number in range(20)]
    formats = (ColumnFormat("key"), ColumnFormat("boolean"), ColumnFormat(), ColumnFormat("number"))
    chart = choose(["nr", "active", "name", "visits"], rows, formats=formats)
    assert chart is not None
    assert (chart.kind, chart.y.title, len(chart.marks)) == ("bar", "visits", 20)


EUR, KG = ColumnFormat("money", 2, "EUR"), ColumnFormat("number", 1, unit="kg")


@pytest.mark.parametrize(
    ("form", "currency"),
    [
        (EUR, ["€", ""]),
        (replace(EUR, currency="CHF"), ["CHF\xa0", ""]),
        (replace(EUR, locale="de"), ["", "\xa0€"]),
        (KG, ["", "\xa0kg"]),
        (ColumnFormat("percent", 1), ["", "%"]),
        (ColumnFormat("number", locale="de"), ["", ""]),
    ],
)
@pytest.mark.parametrize("asked", [kind for kind in get_args(Kind) if kind != "number"])
def test_numbers_on_axes_have_the_unit_of_the_table(form: ColumnFormat, currency: list[str], asked: Kind) -> None:
    rows = [(f"2024-{month:02}-01", "ab"[month % 2], 1_500.5 * month) for month in range(1, 13)]
    chart = choose(["month", "part", "cost"], rows, ChartRequest(asked, ""), formats=(PLAIN, PLAIN, form))
    assert chart is not None
    spec = valid(chart)
    marks = spec["config"]["locale"]["number"]
    assert (marks["currency"], marks["thousands"]) == (currency, "." if form.locale else ",")
    drawn = render_chart_image(spec, "svg").decode()
    assert asked == "pie" or re.search(rf">{re.escape(currency[0])}[\d.,]+{re.escape(currency[1])}<", drawn)
    assert format_cell(1_500.5, form).startswith(currency[0])


def test_of_two_units_money_stands_at_the_numbers_and_the_other_in_the_title() -> None:
    rows = [(float(number), float(number % 7)) for number in range(30)]
    chart = choose(["price", "weight"], rows, ChartRequest("point", ""), formats=(EUR, KG))
    assert chart is not None
    encoding = valid(chart)["encoding"]
    assert [encoding[axis]["axis"]["format"][0] for axis in "xy"] == ["$", ","]
    assert [encoding[axis]["title"] for axis in "xy"] == ["price", "weight (kg)"]


def test_a_terminal_has_the_currency_too() -> None:
    rows = [(f"2024-{month:02}-01", 15_000.5 * month) for month in range(1, 13)]
    for asked in ("line", "bar", "histogram"):
        chart = choose(["month", "cost"], rows, ChartRequest(asked, ""), formats=(PLAIN, EUR))
        assert chart is not None
        assert re.search(r"€\d{2,3},\d{3}", printed(chart))


def test_a_large_result_has_none() -> None:
    assert kind(["day", "n"], [(f"{1000 + n // 365:04d}-01-01", n) for n in range(5_001)]) is None


def test_nothing_in_a_cell_steers_the_terminal() -> None:
    chart = choose(["na\x1b[31mme", "n"], [("a\x1b]0;owned\x07", 1), ("b\u202e", 2), ("c", 3)])
    assert chart is not None
    assert "\x1b" not in printed(chart)


def test_a_terminal_of_ascii_gets_ascii() -> None:
    chart = choose(["name", "n"], [("a", 1), ("b", 2)])
    assert chart is not None
    assert printed(chart, legacy_windows=True).isascii()


def test_the_title_says_that_a_result_was_cut(tmp_path: Path) -> None:
    chart = choose(["name", "n"], [("a", 1), ("b", 2)], title="Names", partial=True)
    assert chart is not None
    assert valid(chart)["title"]["subtitle"] == "the first 2 only"
