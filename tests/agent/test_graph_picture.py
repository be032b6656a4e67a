"""The picture of the graph shows the graph that is compiled."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tableturn.agent import SQLAgent
from tableturn.tools.sample import build_sample

from tests.support.graph_picture import BOXES, Edge, Theme, draw, edges_of

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> SQLAgent:
    return SQLAgent(build_sample(tmp_path_factory.mktemp("graph") / "kestrel.sqlite"), model="offline")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_picture_has_the_graphs_nodes_and_edges(agent: SQLAgent, theme: Theme) -> None:
    picture = (DOCS / f"graph-{theme}.svg").read_text("utf-8")
    assert set(re.findall(r'data-node="(\w+)"', picture)) == set(agent.graph.get_graph().nodes)
    shown = re.findall(r'data-from="(\w+)" data-to="(\w+)"', picture)
    assert len(shown) == len(set(shown))
    assert set(shown) == edges_of(agent)
    assert picture == draw(edges_of(agent), theme), "make pictures draws it anew"


@pytest.mark.parametrize("wrong", [{("link", "revise")}, {("__start__", "rephrase")}])
def test_an_edge_that_the_picture_does_not_know_is_an_error(agent: SQLAgent, wrong: set[Edge]) -> None:
    with pytest.raises(ValueError, match="no place for"):
        draw(edges_of(agent) ^ wrong, "light")


def test_lines_begin_and_end_at_their_boxes(agent: SQLAgent) -> None:
    line = re.compile(r'data-from="(\w+)" data-to="(\w+)">.*?d="M([\d.]+) ([\d.]+).*?L([\d.]+) ([\d.]+)" fill')
    found = line.findall(draw(edges_of(agent), "light"))
    assert len(found) == len(edges_of(agent))
    for source, target, *numbers in found:
        x, y, to_x, to_y = map(float, numbers)
        for box, at_x, at_y in ((BOXES[source], x, y), (BOXES[target], to_x, to_y)):
            across, down = abs(at_x - box.x) - box.width / 2, abs(at_y - box.y) - box.height / 2
            assert max(across, down) == pytest.approx(0), f"{source} → {target}"
