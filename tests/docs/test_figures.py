"""The published figures: each is shown once, by a command that there is, and its picture is of now."""

from __future__ import annotations

import re
from html import unescape

import pytest
from tableturn.evals.lab.bench.registry import BENCHES

from tests.docs.pages import ROOT
from tests.support.benchmark_pictures import specification
from tests.support.published_figures import Figure, figures, source, spread, table

PAGE = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
ALL = pytest.mark.parametrize("figure", figures().values(), ids=lambda figure: figure.name)


def test_every_figure_is_shown_once() -> None:
    assert sorted(re.findall(r'shown\("([\w-]+)"\)', PAGE)) == sorted(figures())


def test_each_stands_with_what_it_was_measured_with() -> None:
    places = {kind: PAGE.index(f"\n## Measured {words}") for kind, words in SECTIONS.items()}
    for name, figure in figures().items():
        at = PAGE.index(f'shown("{name}")')
        assert max((place, kind) for kind, place in places.items() if place < at)[1] == figure.kind, name


SECTIONS = {"model": "with a model", "replay": "with replayed answers", "none": "without a model"}


@ALL
def test_its_commands_are_there(figure: Figure) -> None:
    named = re.findall(r"evals\.lab bench ([\w-]+)", figure.command)
    rows = (str(row.values["command"]) for row in figure.rows if "command" in row.values)
    named += [command.strip("`").split()[0] for command in rows]
    assert set(named) <= set(BENCHES)
    assert named or figure.kind == "model" or "`" in figure.command


@ALL
def test_its_rows_have_values_of_its_measures(figure: Figure) -> None:
    keys = {measure.key for measure in figure.measures}
    assert all(set(row.values) <= keys and row.values for row in figure.rows)
    assert len({row.label for row in figure.rows}) == len(figure.rows)
    assert table(figure.name).count("\n") == len(figure.rows) + 2
    assert source(figure).startswith("Measured ")


@ALL
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_its_picture_is_of_now(figure: Figure, theme: str) -> None:
    file = ROOT / "docs" / "figures" / f"{figure.name}-{theme}.svg"
    assert file.is_file() == figure.drawn
    if not figure.drawn:
        return
    texts = [unescape(text) for text in re.findall(r"<(?:text|tspan)[^>]*>([^<]+)<", file.read_text(encoding="utf-8"))]
    spec = specification(figure)
    values = [row for panel in spec["hconcat"] for row in panel["data"]["values"]]
    assert {row["text"] for row in values if "text" in row} <= set(texts)
    assert {row.label.strip() for row in figure.rows} <= {text.strip() for text in texts}
    assert set(spec["title"]["text"]) <= set(texts)


def test_no_picture_is_left_over() -> None:
    drawn = {
        f"{figure.name}-{theme}.svg" for figure in figures().values() if figure.drawn for theme in ("light", "dark")
    }
    assert {file.name for file in (ROOT / "docs" / "figures").iterdir()} == drawn


def test_intervals_are_wilson_s() -> None:
    assert spread((0.5, 10), "share") == pytest.approx((50.0, 23.66, 76.34), abs=0.01)
    assert spread((0.1, 0.05, 0.2), "interval") == (0.1, 0.05, 0.2)
    assert spread(7, "number") == (7.0, None, None)
