"""Each kind of chart is known wherever one can be asked for or drawn."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest
from rich.console import Console
from tableturn.tools.charts import choose, make_spec, parse_request
from tableturn.tools.charts.chart import Kind
from tableturn.tools.charts.draw import draw_chart
from tableturn.tools.charts.wish import ChartRequest
from tableturn.tools.labels import read_catalogue

ROOT = Path(__file__).parents[3]
KINDS = [kind for kind in get_args(Kind) if kind != "number"]  # that one nobody asks for
NAMES: dict[Kind, str] = {"point": "scatter chart", "histogram": "histogram"}  # of those not called "KIND chart"
MONTHS: list[tuple[Any, ...]] = [
    (f"2024-{month:02}-01", part, 10.0 * month + len(part)) for month in range(1, 13) for part in ("a", "bb")
]
NUMBERS: list[tuple[Any, ...]] = [(float(number), float(number % 7)) for number in range(30)]
ROWS: dict[str, tuple[list[str], list[tuple[Any, ...]]]] = {
    "histogram": (["price"], [(price,) for price, _ in NUMBERS]),
    "point": (["price", "weight"], NUMBERS),
}
ROWS["pie"] = (["part", "sales"], [("a", 3.0), ("b", 5.0), ("c", 4.0)])
OTHERS = (["month", "part", "sales"], MONTHS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_can_be_asked_for_chosen_and_drawn(kind: Kind) -> None:
    wish = parse_request(f"draw a {NAMES.get(kind, f'{kind} chart')} of sales by month")
    assert wish is not None
    assert wish.kind == kind
    columns, rows = ROWS.get(kind, OTHERS)
    chart = choose(columns, rows, ChartRequest(kind, ""))
    assert chart is not None
    assert chart.kind in (kind, "stacked" if kind == "bar" else kind)
    assert make_spec(chart)["data"]["values"]
    console = Console(width=80, force_terminal=False)
    with console.capture() as printed:
        console.print(draw_chart(chart, console))
    assert printed.get().strip()


def test_the_page_and_the_manual_name_each_kind() -> None:
    listed = re.search(
        r"const KINDS = \{(.*?)\};", (ROOT / "serve" / "page" / "chart.js").read_text("utf-8"), re.DOTALL
    )
    assert listed is not None
    labels = dict(re.findall(r"(\w+): \"(\w+)\"", listed[1]))
    assert labels.keys() == set(KINDS)
    assert read_catalogue().keys() >= set(labels.values())
    manual = re.search(r"The kinds are ([^.]*)\.", (ROOT / "docs" / "ask.md").read_text("utf-8"))
    assert manual is not None
    assert set(re.findall(r"\w+", manual[1])) - {"and"} == set(KINDS)


def test_a_chosen_column_alone_is_measured() -> None:
    columns = ["month", "visits", "buyers", "sales"]
    rows = [(f"2024-{month:02}-01", 30 + month, 20 - month, 9_000 * month) for month in range(1, 13)]
    for place, number in ((1, 31), (2, 19), (3, 9_000)):
        chart = choose(columns, rows, ChartRequest(None, "", measure=place))
        assert chart is not None
        assert (chart.kind, chart.y.title, chart.marks[0].y, len(chart.marks)) == ("line", columns[place], number, 12)
    assert choose(columns, rows, ChartRequest(None, "", measure=0)) is None
    assert choose(columns, rows, ChartRequest(None, "", measure=4)) is None


def test_points_measure_a_chosen_column_against_another() -> None:
    rows = [(float(number % 7), float(number), float(number * 2)) for number in range(30)]
    chart = choose(["weight", "price", "cost"], rows, ChartRequest("point", "", measure=0))
    assert chart is not None
    assert chart.x is not None
    assert (chart.y.title, chart.x.title) == ("weight", "cost")
