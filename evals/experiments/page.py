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
        Row(_row_name(row), (*(_both(row, figure) for figure in shown), str(row.questions or "-"))) for row in rows
    ]
    report.write_page(
        out / PAGE_FILE,
        [f"{name}: {experiment.title}"],
        [Section("paper / here", (*shown, "questions"), table), *_pictures(experiment, rows)],
        lead="Percent, but for what is called seconds, hours or gb: the paper's number / ours, judged as papers do.",
        remarks=[*remarks(experiment, setup, rows), "What of the paper's method is done otherwise: docs/papers.md."],
    )
    return out / PAGE_FILE


def _row_name(row: Measured) -> str:
    return f"{row.name}{' (replayed)' if row.replayed else ''}{f' (not run: {row.failed})' if row.failed else ''}"


def _both(row: Measured, figure: str) -> str:
    paper = reported(row.paper[figure]) if figure in row.paper else "-"
    ours = shown_figure(figure, row.ours[figure]) if figure in row.ours else "-"
    return f"{paper} / {ours}{f' ± {shown_figure(figure, row.deviations[figure])}' if figure in row.deviations else ''}"


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
    """The points of each chart: one a figure, or one of EX by attempt (revision chain, figure 3)."""
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
                other = found.get(key, {"low": ours, "high": ours})
                point = _point(*key, None, min(other["low"], ours), max(other["high"], ours))
            else:
                spread = row.deviations.get(figure, 0.0)
                point = _point(*key, ours, ours - spread, ours + spread, row.paper.get(figure))
            found[key] = point
        charts[figure] = list(found.values())
    return charts


def _by_attempt(row: Measured) -> list[dict[str, Any]]:
    return [
        _point(row.name, int(name[7 : -len("_ex")]), ours, ours - spread, ours + spread)
        for name, ours in row.ours.items()
        if name.startswith("attempt")
        for spread in (row.deviations.get(name, 0.0),)
    ]


def _point(
    curve: str, x: float, y: float | None, low: float, high: float, paper: float | None = None
) -> dict[str, Any]:
    return {"curve": curve, "x": x, "y": y, "low": low, "high": high, "paper": paper}
