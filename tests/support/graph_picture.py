"""The agent's graph as a picture for the documentation, as `make pictures` draws it, without a network or a browser:

    python -m tests.support.graph_picture docs

Nodes and edges are those of the compiled graph. Where each one lies is written down here, as no computed layout of so
many edges reads as well. An edge without a place, and a place without an edge, is an error.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Literal, get_args

from tableturn.agent import SQLAgent
from tableturn.tools.sample import build_sample

Theme = Literal["light", "dark"]
Point = tuple[float, float]
Edge = tuple[str, str]

WIDTH, HEIGHT = 760, 780
_COLOURS: dict[str, dict[str, str]] = {
    "light": {"box": "#f3f7f7", "edge": "#8fa09f", "main": "#0b6b63", "again": "#b4541a", "text": "#172021"}
    | {"quiet": "#52605f"},
    "dark": {"box": "#1f2a2e", "edge": "#71828a", "main": "#5ed6c6", "again": "#f0a35e", "text": "#e7ecee"}
    | {"quiet": "#a5b2b8"},
}
_ROUND = 9.0


@dataclass(frozen=True)
class Box:
    """A node's place: its centre and size, and the words below its name."""

    x: float
    y: float
    words: tuple[str, ...] = ()
    width: float = 140
    height: float = 46


BOXES = {
    "__start__": Box(390, 32, width=90, height=28),
    "rephrase": Box(390, 110, ("what is asked?",)),
    "link": Box(390, 195, ("which tables, values?",), 150),
    "retrieve": Box(390, 285, ("similar questions",)),
    "generate": Box(390, 390, ("write SQL",)),
    "execute": Box(390, 500, ("run it, read-only",)),
    "critique": Box(390, 615, ("what speaks against it?",), 150),
    "candidate": Box(200, 285, ("drafts side by side",), 130),
    "select": Box(200, 435, ("vote, merge",), 130),
    "reason": Box(555, 390, ("pandas and SQL",), 120),
    "revise": Box(555, 560, ("write it anew",), 120),
    "clarify": Box(60, 395, ("ask back",), 90, 630),
    "respond": Box(695, 395, ("the answer, and", "what it rests on"), 104, 630),
    "__end__": Box(695, 750, width=84, height=28),
}
_NAMES = {"__start__": "question", "__end__": "answer"}

_MAIN: dict[Edge, list[Point]] = {
    ("__start__", "rephrase"): [(390, 46), (390, 87)],
    ("rephrase", "link"): [(390, 133), (390, 172)],
    ("link", "retrieve"): [(390, 218), (390, 262)],
    ("retrieve", "generate"): [(390, 308), (390, 367)],
    ("generate", "execute"): [(390, 413), (390, 477)],
    ("execute", "critique"): [(390, 523), (390, 592)],
    ("critique", "respond"): [(465, 625), (643, 625)],
    ("respond", "__end__"): [(695, 710), (695, 736)],
}
"""The way of a turn whose first query stands."""

_AGAIN: dict[Edge, list[Point]] = {
    ("critique", "revise"): [(465, 605), (555, 605), (555, 583)],
    ("revise", "execute"): [(555, 537), (555, 510), (460, 510)],
    ("critique", "retrieve"): [(315, 622), (303, 622), (303, 292), (320, 292)],
    ("critique", "generate"): [(315, 622), (303, 622), (303, 397), (320, 397)],
    ("critique", "candidate"): [(315, 622), (303, 622), (303, 275), (265, 275)],
    ("retrieve", "revise"): [(460, 292), (627, 292), (627, 560), (615, 560)],
}
"""Another attempt, on evidence against the last one."""

_SIDE: dict[Edge, list[Point]] = {
    ("rephrase", "clarify"): [(320, 102), (105, 102)],
    ("clarify", "rephrase"): [(105, 118), (320, 118)],
    ("link", "clarify"): [(315, 185), (105, 185)],
    ("generate", "clarify"): [(345, 367), (345, 338), (105, 338)],
    ("reason", "clarify"): [(530, 367), (530, 338), (105, 338)],
    ("select", "clarify"): [(135, 445), (105, 445)],
    ("respond", "clarify"): [(643, 692), (105, 692)],
    ("rephrase", "respond"): [(460, 102), (643, 102)],
    ("generate", "respond"): [(435, 413), (435, 446), (643, 446)],
    ("reason", "respond"): [(615, 390), (643, 390)],
    ("execute", "respond"): [(460, 520), (643, 520)],
    ("revise", "respond"): [(615, 572), (643, 572)],
    ("select", "respond"): [(200, 458), (200, 664), (643, 664)],
    ("rephrase", "execute"): [(460, 118), (480, 118), (480, 484), (460, 484)],
    ("link", "execute"): [(465, 195), (480, 195), (480, 484), (460, 484)],
    ("select", "execute"): [(265, 442), (287, 442), (287, 500), (320, 500)],
    ("reason", "execute"): [(555, 413), (555, 496), (460, 496)],
    ("link", "candidate"): [(315, 205), (200, 205), (200, 262)],
    ("candidate", "select"): [(200, 308), (200, 412)],
    ("select", "candidate"): [(135, 425), (121, 425), (121, 285), (135, 285)],
    ("select", "retrieve"): [(265, 428), (287, 428), (287, 282), (320, 282)],
    ("select", "critique"): [(265, 442), (287, 442), (287, 608), (315, 608)],
    ("retrieve", "reason"): [(460, 280), (565, 280), (565, 367)],
    ("reason", "generate"): [(495, 390), (460, 390)],
}
"""Early ends, questions back, and several drafts."""

_KINDS = {"edge": (_SIDE, 1.3), "again": (_AGAIN, 1.7), "main": (_MAIN, 2.4)}
"""Ways by the colour that they have, with the width of the line; the last are drawn on top."""


def edges_of(agent: SQLAgent) -> frozenset[Edge]:
    """The edges of an agent's compiled graph."""
    return frozenset((edge.source, edge.target) for edge in agent.graph.get_graph().edges)


def draw(edges: frozenset[Edge], theme: Theme) -> str:
    """The picture as SVG.

    Raises:
        ValueError: An edge has no place in the picture, or a place no edge.
    """
    placed = frozenset(edge for ways, _ in _KINDS.values() for edge in ways)
    if edges != placed:
        raise ValueError(f"no place for {sorted(edges - placed)}; no longer there: {sorted(placed - edges)}")
    colours = _COLOURS[theme]
    lines = [
        _line(edge, points, kind, colours[kind], width)
        for kind, (ways, width) in _KINDS.items()
        for edge, points in ways.items()
    ]
    boxes = [_box(name, box, colours) for name, box in BOXES.items()]
    heads = "".join(
        f'<marker id="{kind}" viewBox="0 0 10 10" refX="8.5" refY="5" markerWidth="9" markerHeight="9" '
        f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 1L9 5L0 9z" fill="{colours[kind]}"/></marker>'
        for kind in _KINDS
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
            'font-family="system-ui, -apple-system, Segoe UI, Roboto, sans-serif" text-anchor="middle">',
            "<title>The way of a turn through the graph</title>",
            f"<defs>{heads}</defs>",
            *lines,
            *boxes,
            "</svg>\n",
        ]
    )


def _line(edge: Edge, points: Sequence[Point], kind: str, colour: str, width: float) -> str:
    return (
        f'<g data-from="{edge[0]}" data-to="{edge[1]}"><title>{edge[0].strip("_")} → {edge[1].strip("_")}</title>'
        f'<path d="{_path(points)}" fill="none" stroke="{colour}" stroke-width="{width}" '
        f'marker-end="url(#{kind})"/></g>'
    )


def _path(points: Sequence[Point]) -> str:
    """A line through points, horizontal and vertical, with round corners."""
    parts = [f"M{points[0][0]:g} {points[0][1]:g}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        start, end = _towards(corner, before), _towards(corner, after)
        parts.append(f"L{start[0]:g} {start[1]:g}Q{corner[0]:g} {corner[1]:g} {end[0]:g} {end[1]:g}")
    return "".join([*parts, f"L{points[-1][0]:g} {points[-1][1]:g}"])


def _towards(corner: Point, other: Point) -> Point:
    """Where the round part of a corner ends in the direction of another point."""
    length = abs(other[0] - corner[0]) + abs(other[1] - corner[1])
    share = min(_ROUND, length / 2) / length
    return corner[0] + (other[0] - corner[0]) * share, corner[1] + (other[1] - corner[1]) * share


def _box(name: str, box: Box, colours: dict[str, str]) -> str:
    end = name in _NAMES
    on_main = any(name in edge for edge in _MAIN)
    stroke = colours["main"] if on_main else colours["edge"]
    first = box.y + (5 if end else -3 - 7 * (len(box.words) - 1))
    words = "".join(
        f'<text x="{box.x:g}" y="{first + 16 + 14 * number:g}" font-size="11.5" '
        f'fill="{colours["quiet"]}">{escape(each)}</text>'
        for number, each in enumerate(box.words)
    )
    return (
        f'<g data-node="{name}"><rect x="{box.x - box.width / 2:g}" y="{box.y - box.height / 2:g}" '
        f'width="{box.width:g}" height="{box.height:g}" rx="{14 if end else 8}" fill="{colours["box"]}" '
        f'stroke="{stroke}" stroke-width="{1.6 if on_main else 1.2}"/>'
        f'<text x="{box.x:g}" y="{first:g}" font-size="15" font-weight="600" fill="{colours["text"]}">'
        f"{_NAMES.get(name, name)}</text>{words}</g>"
    )


def main(folder: Path) -> None:
    """Writes `graph-light.svg` and `graph-dark.svg`."""
    with tempfile.TemporaryDirectory() as own, SQLAgent(build_sample(Path(own, "k.sqlite")), model="offline") as agent:
        edges = edges_of(agent)
    for theme in get_args(Theme):
        (folder / f"graph-{theme}.svg").write_text(draw(edges, theme), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
