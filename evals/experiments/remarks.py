"""What an experiment ends in: the paper's numbers beside ours, and what was run on what."""

from __future__ import annotations

from collections.abc import Sequence

from ...agent import make_settings
from ..runner.model import is_replay
from .experiment import Experiment
from .measure import Measured, Setup


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
    if len(parts) > 1:
        # SQL-CRAFT A.2, between the first two rows.
        from scipy.stats import mannwhitneyu

        p = float(mannwhitneyu(parts[0].parts, parts[1].parts, alternative="two-sided").pvalue)
        told.append(f"Mann-Whitney U test between {parts[0].name} and {parts[1].name}: p = {p:.4f}.")
    return told


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
