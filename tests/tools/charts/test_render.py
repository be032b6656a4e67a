"""Pictures of charts, and what a hostile database cannot do in them."""

from __future__ import annotations

from html.parser import HTMLParser
from xml.etree import ElementTree

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
