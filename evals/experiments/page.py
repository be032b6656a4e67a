"""What an experiment ends in: the paper's numbers beside ours, a picture, and what was run on what."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...agent import make_settings
from ..report import page as report
from ..report.page import Row, Section, draw_boxes, draw_lines
from ..runner.model import is_replay
from .experiment import Experiment
from .measure import Measured, Setup

PAGE_FILE = "page.html"


def remarks(experiment: Experiment, setup: Setup, rows: Sequence[Measured]) -> list[str]:
    """Return what has to be known to read the numbers: what differs from the paper's run, and what they can't tell."""
    ran, options = [row for row in rows if row.runs], setup.options
    replayed = [row for row in ran if row.replayed]
    paper = f"The paper ran {experiment.model}; here" if experiment.model else "Here"
    told = [f"{paper}: {options.model or 'the model of the environment'}."]
    told += [f"{row}: {model}." for row, model in setup.models.items()]
    if options.annotator:
        told.append(f"Schemas described by {options.annotator}.")
    elif any(
        setup.model_of(row) == "offline" or is_replay(setup.model_of(row))
        for row in experiment.rows
        if make_settings(row.settings, preset=row.preset).annotate
    ):
        told.append("Schemas are not described: --annotator names a model for it.")
    if experiment.levels:
        told.append("Questions are drawn with the paper's shares of the levels of difficulty.")
    if experiment.needs != "nothing" and options.examples is not None and len(replayed) < len(ran):
        told.append(f"Examples from {options.examples}, found by the embedding {options.embedding}.")
    repeats = setup.repeats if setup.repeats > 1 else None
    given = {"limit": options.limit, "without": ", ".join(options.without), "repeats": repeats}
    told += [f"With --{name} {value}." for name, value in given.items() if value]
    told += [
        f"{row.name}: {row.short} of {row.runs * row.questions} questions had no room for all their examples."
        for row in ran
        if row.short
    ]
    if replayed:
        told.append("Replayed: recorded predictions stand for the model's replies.")
        said = [(row.dataset, sorted(row.predictions.items())) for row in ran if row.predictions]
        others = [one for place, one in enumerate(said) if one in said[:place]]
        if others and len(said) - len(others) == len({dataset for dataset, _ in said}):
            told.append("All rows share their predictions: of EX, EM and TS this shows the plumbing only.")
    parts = [row for row in ran if row.parts]
    if experiment.chart == "box" and len(parts) > 1:
        # SQL-CRAFT A.2, between the first two rows.
        from scipy.stats import mannwhitneyu

        p = float(mannwhitneyu(parts[0].parts, parts[1].parts, alternative="two-sided").pvalue)
        told.append(f"Mann-Whitney U test between {parts[0].name} and {parts[1].name}: p = {p:.4f}.")
    return told


def write_page(name: str, experiment: Experiment, setup: Setup, rows: Sequence[Measured], out: Path) -> Path:
    """Write the page of an experiment into the folder of its runs, and return the file.

    Raises:
        SettingsError: It cannot be written.
    """
    shown = experiment.shown
    table: list[Row] = []
    for row in rows:
        bars = [None if figure.endswith("_seconds") else row.ours.get(figure) for figure in shown]
        cells = (*(compare_figure(row, figure) for figure in shown), str(row.questions or "-"))
        table.append(Row(row_name(row), cells, (*(bar if bar is None else bar / 100 for bar in bars), None)))
    report.write_page(
        out / PAGE_FILE,
        [f"{name}: {experiment.title}"],
        [Section("paper / here", (*shown, "questions"), table), *_pictures(experiment, rows)],
        lead="Percent, but for what is called seconds, hours or gb: the paper's number / ours, judged as papers do.",
        remarks=[*remarks(experiment, setup, rows), "What of the paper's method is done otherwise: docs/papers.md."],
    )
    return out / PAGE_FILE


def row_name(row: Measured) -> str:
    """Return a row's name, and whether it was replayed or not run."""
    return f"{row.name}{' (replayed)' if row.replayed else ''}{f' (not run: {row.failed})' if row.failed else ''}"


def compare_figure(row: Measured, figure: str, width: int = 0) -> str:
    """Return the paper's number, so wide, and ours."""
    form = ".4g" if figure.endswith("_seconds") else ".1f"
    paper = reported(row.paper[figure]) if figure in row.paper else "-"
    ours = format(row.ours[figure], form) if figure in row.ours else "-"
    spread = f" ± {row.deviations[figure]:{form}}" if figure in row.deviations else ""
    return f"{paper:>{width}} / {ours}{spread}"


def reported(percent: float) -> str:
    """Return a paper's number with the decimals that it gives, one at least."""
    return max(f"{percent:.1f}", f"{percent:g}", key=len)


def _pictures(experiment: Experiment, rows: Sequence[Measured]) -> list[Section]:
    """Draw the paper's curves, or its box plot, each over a table of its numbers."""
    if experiment.chart == "box":
        values: list[dict[str, Any]] = []
        lines: list[Row] = []
        for name, parts in ((row.name, row.parts) for row in rows if row.parts):
            values += [{"name": name, "value": part} for part in parts]
            five = np.quantile(parts, (0, 0.25, 0.5, 0.75, 1)).tolist()
            lines.append(Row(name, (" / ".join(f"{value:.1f}" for value in five),)))
        return [Section("EX of ten parts", ("minimum / quartiles / maximum",), lines, draw_boxes("parts", values))]
    sections: list[Section] = []
    for figure, points in _curves(experiment, rows).items() if experiment.chart == "lines" else ():
        lines = []
        for point in points:
            here = f"{point['low']:.1f} to {point['high']:.1f}" if point["y"] is None else f"{point['y']:.1f}"
            paper = "-" if point["paper"] is None else reported(point["paper"])
            lines.append(Row(point["curve"], (f"{point['x']:g}", here, paper)))
        sections.append(Section(figure, ("x", "here", "paper"), lines, draw_lines(figure, experiment.axis, points)))
    return sections


def _curves(experiment: Experiment, rows: Sequence[Measured]) -> dict[str, list[dict[str, Any]]]:
    """Return the points of each chart: one per figure, or one of EX by attempt (revision chain, figure 3)."""

    def point(curve: str, x: float, row: Measured, figure: str) -> dict[str, Any]:
        ours, spread = row.ours[figure], row.deviations.get(figure, 0.0)
        about = {"y": ours, "low": ours - spread, "high": ours + spread, "paper": row.paper.get(figure)}
        return {"curve": curve, "x": x, **about}

    measured = {row.name: row for row in rows}
    placed = [(row.point, row.combine, measured[row.name]) for row in experiment.rows if row.point is not None]
    if not placed:
        attempts = [(row, name) for row in rows for name in row.ours if name.startswith("attempt")]
        return {"ex": [point(row.name, int(name[7 : -len("_ex")]), row, name) for row, name in attempts]}
    charts: dict[str, list[dict[str, Any]]] = {}
    for figure in experiment.shown:
        found: dict[tuple[str, float], dict[str, Any]] = {}
        for place, combine, row in placed:
            if figure not in row.ours:
                continue
            key, end = (place.curve, place.x), row.ours[figure]
            now = point(*key, row, figure)
            if combine is not None and combine.how in ("min", "max"):
                # Both ends of a band are at the same place.
                band = found.get(key, {"low": end, "high": end})
                now |= {"y": None, "low": min(band["low"], end), "high": max(band["high"], end), "paper": None}
            found[key] = now
        charts[figure] = list(found.values())
    return charts
