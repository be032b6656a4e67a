"""The page that an experiment ends in: the paper's numbers beside ours, a picture, and what was run on what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import quantiles
from typing import Any

from ..report import page as report
from ..report.charts import draw_bars, draw_boxes, draw_lines
from ..report.figures import Row, Section
from .experiment import Experiment
from .measure import Measured, Setup, plumbing_only

PAGE_FILE = "page.html"


def remarks(experiment: Experiment, setup: Setup, rows: Sequence[Measured]) -> list[str]:
    """What has to be known to read the numbers: what differs from the paper's run, and what they can't tell."""
    ran = [row for row in rows if row.runs]
    told = [f"The paper ran {experiment.model}; here: {setup.model or 'the model of the environment'}."]
    told = told if experiment.model else [f"Here: {setup.model or 'the model of the environment'}."]
    if ran:
        sets = ", ".join(dict.fromkeys(f"{row.questions} questions of {row.dataset}" for row in ran))
        first = f", the first {setup.limit} interactions alone" if setup.limit else ""
        mix = ", drawn with the paper's shares of the levels of difficulty" if experiment.levels else ""
        told.append(f"On {sets}{mix or first}.")
    told += [f"{row}: {model}." for row, model in setup.models.items()]
    if setup.annotator:
        told.append(f"Schemas described by {setup.annotator}.")
    if experiment.needs != "nothing" and setup.examples is not None and not setup.replayed:
        told.append(f"Examples from {setup.examples}, found by the embedding {setup.embedding}.")
    if setup.without:
        told.append(f"Without {', '.join(setup.without)}.")
    if setup.repeats > 1:
        told.append(f"Means of {setup.repeats} runs with other seeds, with their standard deviation.")
    told += [
        f"{row.name}: {row.short} of {row.runs * row.questions} questions had no room for all their examples."
        for row in ran
        if row.short
    ]
    if any(row.replayed for row in ran):
        told.append("Replayed: recorded predictions stand for the model's replies.")
        if plumbing_only(ran):
            told.append("All rows share their predictions: this shows the plumbing only, and compares nothing.")
    if test := _mann_whitney(experiment, ran):
        told.append(test)
    return told


def reported(percent: float) -> str:
    """A paper's number, with the decimals that it gives, one at least."""
    return max(f"{percent:.1f}", f"{percent:g}", key=len)


def shown_figure(figure: str, value: float) -> str:
    """A measured number, by its name: in percent, or in seconds."""
    return f"{value:.4g}" if figure.endswith("_seconds") else f"{value:.1f}"


def _mann_whitney(experiment: Experiment, rows: Sequence[Measured]) -> str:
    """SQL-CRAFT A.2's test between the first two rows with parts; empty where there are not two."""
    if experiment.chart != "box":
        return ""
    parts = [row for row in rows if row.parts]
    if len(parts) < 2:
        return ""
    from scipy.stats import mannwhitneyu

    p = float(mannwhitneyu(parts[0].parts, parts[1].parts, alternative="two-sided").pvalue)
    return f"Mann-Whitney U test between {parts[0].name} and {parts[1].name}: p = {p:.4f}."


def write_page(name: str, experiment: Experiment, setup: Setup, rows: Sequence[Measured], out: Path) -> Path:
    """Write the page of an experiment: the paper's numbers beside ours, a picture, and what was run on what.

    Args:
        name: The experiment's.
        experiment: What was run.
        setup: What with.
        rows: What came of it.
        out: The folder of the runs.

    Returns:
        The file.

    Raises:
        SettingsError: It cannot be written.
    """
    shown = experiment.shown
    table = [
        Row(row_name(row), (*(compare_figure(row, figure) for figure in shown), str(row.questions or "-")))
        for row in rows
    ]
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
    paper = reported(row.paper[figure]) if figure in row.paper else "-"
    ours = shown_figure(figure, row.ours[figure]) if figure in row.ours else "-"
    spread = f" ± {shown_figure(figure, row.deviations[figure])}" if figure in row.deviations else ""
    return f"{paper:>{width}} / {ours}{spread}"


def _pictures(experiment: Experiment, rows: Sequence[Measured]) -> list[Section]:
    """Draw what the paper has a picture of; nothing where it has a table."""
    if experiment.chart == "lines":
        return [
            Section(figure, ("x", "here", "paper"), [_point_row(point) for point in points], picture)
            for figure, points in _curves(experiment, rows).items()
            if points
            for picture in (draw_lines(figure, experiment.axis, points),)
        ]
    if experiment.chart == "box":
        parts = [row for row in rows if row.parts]
        values = [{"name": row.name, "value": part} for row in parts for part in row.parts]
        five = [Row(row.name, (" / ".join(f"{value:.1f}" for value in _five(row.parts)),)) for row in parts]
        return [Section("EX of ten parts", ("minimum / quartiles / maximum",), five, draw_boxes("parts", values))]
    if experiment.chart == "none":
        return []
    bars: list[dict[str, Any]] = [
        {"name": f"{row.name}, {figure}" if len(experiment.shown) > 1 else row.name, "ours": row.ours[figure]}
        | {"paper": row.paper.get(figure), "spread": row.deviations.get(figure)}
        for figure in experiment.shown
        for row in rows
        if figure in row.ours
    ]
    drawn = [Row(bar["name"], (f"{bar['ours']:.1f}", _percent(bar["paper"]))) for bar in bars]
    return [Section(", ".join(experiment.shown), ("here", "paper"), drawn, draw_bars(experiment.title, bars))]


def _five(parts: Sequence[float]) -> tuple[float, ...]:
    return min(parts), *quantiles(parts, n=4, method="inclusive"), max(parts)


def _point_row(point: Mapping[str, Any]) -> Row:
    low_high = f"{point['low']:.1f} to {point['high']:.1f}"
    here = low_high if point["y"] is None else f"{point['y']:.1f}"
    return Row(point["curve"], (f"{point['x']:g}", here, _percent(point["paper"])))


def _percent(value: float | None) -> str:
    return "-" if value is None else reported(value)


def _curves(experiment: Experiment, rows: Sequence[Measured]) -> dict[str, list[dict[str, Any]]]:
    """Return the points of each chart: one a figure, or one of EX by attempt (revision chain, figure 3)."""
    measured = {row.name: row for row in rows}
    placed = [(row.point, row.combine, measured[row.name]) for row in experiment.rows if row.point is not None]
    if not placed:
        return {"ex": [point for row in rows for point in _by_attempt(row)]}
    charts: dict[str, list[dict[str, Any]]] = {}
    for figure in experiment.shown:
        found: dict[tuple[str, float], dict[str, Any]] = {}
        for place, combine, row in placed:
            if (ours := row.ours.get(figure)) is None:
                continue
            key = (place.curve, place.x)
            if combine is not None and combine.how in ("min", "max"):
                band = found.get(key, {"low": ours, "high": ours})
                found[key] = _point(*key, None, min(band["low"], ours), max(band["high"], ours))
            else:
                found[key] = _spread_point(*key, row, figure)
        charts[figure] = list(found.values())
    return charts


def _by_attempt(row: Measured) -> list[dict[str, Any]]:
    return [
        _spread_point(row.name, int(name[7 : -len("_ex")]), row, name)
        for name in row.ours
        if name.startswith("attempt")
    ]


def _spread_point(curve: str, x: float, row: Measured, figure: str) -> dict[str, Any]:
    ours, spread = row.ours[figure], row.deviations.get(figure, 0.0)
    return _point(curve, x, ours, ours - spread, ours + spread, row.paper.get(figure))


def _point(
    curve: str, x: float, y: float | None, low: float, high: float, paper: float | None = None
) -> dict[str, Any]:
    return {"curve": curve, "x": x, "y": y, "low": low, "high": high, "paper": paper}
