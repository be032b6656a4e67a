"""The page that an experiment ends in: the paper's numbers beside ours, a picture, and what was run on what."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ...tools.errors import SettingsError
from ..runner.files import write_whole
from .experiment import Experiment
from .measure import Measured, Setup, plumbing_only
from .picture import Curve, Mark, Spot, bars, boxes, lines

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
    """Writes the page; it asks for nothing from anywhere.

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
    environment = Environment(
        loader=PackageLoader("tableturn.evals.experiments", "templates"), autoescape=True, undefined=StrictUndefined
    )
    page = environment.get_template("experiment.html.j2").render(
        name=name,
        experiment=experiment,
        rows=rows,
        shown=experiment.shown,
        reported=reported,
        shown_figure=shown_figure,
        remarks=remarks(experiment, setup, rows),
        picture=_picture(experiment, rows),
    )
    path = out / PAGE_FILE
    try:
        write_whole(path, page)
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error}") from error
    return path


def _picture(experiment: Experiment, rows: Sequence[Measured]) -> str:
    """An SVG where the paper has a picture; empty where it has a table."""
    if experiment.chart == "none":
        return ""
    if experiment.chart == "box":
        return boxes([(row.name, row.parts, median(row.parts)) for row in rows if row.parts])
    if experiment.chart == "lines":
        charts = [lines(figure, experiment.axis, curves) for figure, curves in _curves(experiment, rows).items()]
        return Markup("").join(charts)
    marks = [
        Mark(f"{row.name}, {figure}" if len(experiment.shown) > 1 else row.name, ours, row.paper.get(figure), spread)
        for figure in experiment.shown
        for row in rows
        if (ours := row.ours.get(figure)) is not None
        for spread in (row.deviations.get(figure),)
    ]
    return bars(marks)


def _curves(experiment: Experiment, rows: Sequence[Measured]) -> dict[str, list[Curve]]:
    """The curves of each chart: one a figure, or one of EX by attempt (revision chain, figure 3)."""
    measured = {row.name: row for row in rows}
    points = [(row.point, row.combine, measured[row.name]) for row in experiment.rows if row.point is not None]
    if not points:
        return {"ex": [curve for row in rows if (curve := _by_attempt(row)).spots]}
    charts: dict[str, list[Curve]] = {}
    for figure in experiment.shown:
        spots: dict[str, dict[float, Spot]] = {}
        for point, combine, row in points:
            if (ours := row.ours.get(figure)) is None:
                continue
            curve = spots.setdefault(point.curve, {})
            if combine is not None and combine.how in ("min", "max"):
                other = curve.get(point.x)
                low, high = (other.low, other.high) if other else (ours, ours)
                curve[point.x] = Spot(point.x, None, min(low, ours), max(high, ours))
            else:
                spread = row.deviations.get(figure, 0.0)
                curve[point.x] = Spot(point.x, ours, ours - spread, ours + spread, row.paper.get(figure))
        charts[figure] = [Curve(name, sorted(found.values(), key=lambda spot: spot.x)) for name, found in spots.items()]
    return charts


def _by_attempt(row: Measured) -> Curve:
    found = ((name, ours) for name, ours in row.ours.items() if name.startswith("attempt"))
    spots = [
        Spot(int(name[7 : -len("_ex")]), ours, ours - spread, ours + spread)
        for name, ours in found
        for spread in (row.deviations.get(name, 0.0),)
    ]
    return Curve(row.name, sorted(spots, key=lambda spot: spot.x))
