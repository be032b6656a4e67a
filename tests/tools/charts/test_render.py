"""Pictures of charts, and what a hostile database cannot do in them."""

from __future__ import annotations

from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from tableturn.tools.charts import choose, make_spec
from tableturn.tools.charts.chart import render_chart_image

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\x00\u2028"


class Tags(HTMLParser):
    """The tags of a page, and what stands in its last script."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.script = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        if self.tags[-1:] == ["script"] and data.strip():
            self.script = data


def hostile() -> dict[str, object]:
    chart = choose([HOSTILE, "datum['x']"], [(HOSTILE, 1), ("b", 2), ("c\ud800", 3)], title=HOSTILE)
    assert chart is not None
    return make_spec(chart)


def test_a_page_holds_no_tag_of_the_database() -> None:
    page = Tags()
    page.feed(render_chart_image(hostile(), "html").decode())
    assert page.tags == ["html", "head", "meta", "title", "meta", "script", "body", "div", "script"]
    assert "vegaEmbed" in page.script
    assert "\\u003c/script\\u003e" in page.script


def test_a_picture_holds_no_tag_of_the_database() -> None:
    tree = ElementTree.fromstring(render_chart_image(hostile(), "svg"))
    assert {element.tag.rpartition("}")[2] for element in tree.iter()} <= {
        *("svg", "g", "path", "text", "rect", "line", "title")
    }


def test_a_picture_is_drawn_in_dots() -> None:
    assert render_chart_image(hostile(), "png").startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("dates", "labels"),
    [
        (["2024-01", "2024-02", "2024-03"], ["Jan 2024", "Feb 2024", "Mar 2024"]),
        (["2024-01", "2024-03", "2024-04"], ["Jan 2024", "Feb 2024", "Mar 2024", "Apr 2024"]),
        (["2024-01-01", "2024-01-02", "2024-01-03"], ["1 Jan 2024", "2 Jan 2024", "3 Jan 2024"]),
    ],
)
def test_no_label_of_a_time_stands_twice(dates: list[str], labels: list[str]) -> None:
    chart = choose(["day", "fees"], [(date, number) for number, date in enumerate(dates, 1)], title="Fees")
    assert chart is not None
    tree = ElementTree.fromstring(render_chart_image(make_spec(chart), "svg"))
    texts = [element.text or "" for element in tree.iter() if element.tag.endswith("text")]
    assert [text for text in texts if "2024" in text] == labels


def test_a_long_time_has_few_labels() -> None:
    dates = [f"{year}-{month:02}" for year in range(2014, 2025) for month in range(1, 13)]
    chart = choose(["month", "fees"], [(date, number) for number, date in enumerate(dates)], title="Fees")
    assert chart is not None
    texts = [each.text or "" for each in ElementTree.fromstring(render_chart_image(make_spec(chart), "svg")).iter()]
    labels = [text for text in texts if "20" in text and text.startswith("Jan")]
    assert 4 <= len(labels) <= 15
