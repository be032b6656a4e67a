"""The figures of docs/figures.json, and the tables that the pages make of them by cog.

    <!-- [[[cog from tests.support.published_figures import shown; cog.out(shown("selection")) ]]] -->

A figure stands in that file alone. Intervals of shares are reckoned here, by the statistics that evaluations use.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter
from tableturn.evals.metrics.statistics import compute_wilson_interval

FILE = Path(__file__).parents[2] / "docs" / "figures.json"

Kind = Literal["model", "replay", "none"]
KINDS: dict[Kind, str] = {
    "model": "measured with a model",
    "replay": "measured with replayed answers of models",
    "none": "measured without a model",
}

Value = float | str | tuple[float, int] | tuple[float, float, float] | None
"""By the form of its measure: a number or text; a share with its number of cases; a figure with its interval."""


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Measure(_Data):
    """A column.

    Attributes:
        key: Its name in the rows.
        title: Its heading.
        form: What its values are: shares come with their number of cases, and are told in percent as `percent` is.
        aim: What was aimed at, in the unit that is shown.
        drawn: Whether the picture has it too.
    """

    key: str
    title: str
    form: Literal["number", "percent", "share", "interval", "text"] = "number"
    aim: float | None = None
    drawn: bool = True


class Row(_Data):
    """A line of the table, a bar of the picture.

    Attributes:
        label: What was measured.
        values: By the measures' keys.
        ours: Whether it stands out among what it is compared with.
    """

    label: str
    values: dict[str, Value]
    ours: bool = False


class Figure(_Data):
    """What one command printed, or one comparison with a model gave.

    Attributes:
        name: Of the picture's files, too.
        kind: What took part.
        claim: What the picture shows, as a sentence; empty where there is no picture.
        missed: What was aimed at and not reached; empty where nothing was.
        command: What prints it; empty where each row names its own.
        n: How many cases, in words.
        drawn: Whether there is a picture.
        date: When it was measured, in ISO form.
        version: On which version.
        measures: The columns.
        rows: The lines.
    """

    name: str
    kind: Kind
    claim: str = ""
    missed: str = ""
    command: str = ""
    n: str = ""
    date: str
    drawn: bool = True
    version: str = "0.2.0"
    measures: tuple[Measure, ...]
    rows: tuple[Row, ...]


@cache
def figures() -> dict[str, Figure]:
    """All of them by name, in the order of the file."""
    found = TypeAdapter(tuple[Figure, ...]).validate_json(FILE.read_text("utf-8"))
    return {figure.name: figure for figure in found}


def spread(value: Value, form: str) -> tuple[float, float | None, float | None]:
    """A value as it is shown, with the ends of its interval; those of a share are Wilson's."""
    match value:
        case (float() | int() as share, of) if form == "share":
            bounds = compute_wilson_interval(share * of, of)
            assert bounds is not None
            return 100 * share, 100 * bounds.low, 100 * bounds.high
        case (figure, low, high):
            return figure, low, high
        case float() | int():
            return float(value), None, None
        case _:
            raise ValueError(f"{value!r} is no figure of the form {form}")


def written(value: Value, form: str) -> str:
    """A value as the tables have it: `87.9 % of 972 (85.7 to 89.8)`."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    figure, low, high = spread(value, form)
    if form == "share":
        assert isinstance(value, tuple)
        return f"{figure:.1f} % of {value[1]:,} ({low:.1f} to {high:.1f})"
    if form == "percent":
        return f"{number(figure)} %"
    return number(figure) + ("" if low is None or high is None else f" ({number(low)} to {number(high)})")


def number(value: float) -> str:
    """A number as people read it: 1,882 and 0.043."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def shown(name: str) -> str:
    """The picture, the table and the source of a figure, as Markdown."""
    figure = figures()[name]
    drawn = f"{picture(figure)}\n\n" if figure.drawn else ""
    missed = f"\n\n**Missed**: {figure.missed}" if figure.missed else ""
    return f"\n{drawn}{table(name)}\n{source(figure)}{missed}\n"


def source(figure: Figure) -> str:
    """What a figure was measured with, and by which command."""
    kind = KINDS[figure.kind].capitalize()
    if not figure.command:
        return f"{kind}; each row names its command."
    command = f"command: `{figure.command}`" if figure.command.startswith("python -m ") else f"by {figure.command}"
    return f"{kind}: {figure.n} ({command}; version {figure.version}, {figure.date})."


def table(name: str) -> str:
    """The table of a figure alone."""
    figure = figures()[name]
    lines = [
        ["", *(_heading(measure) for measure in figure.measures)],
        ["---"] * (len(figure.measures) + 1),
        *(
            [row.label, *(written(row.values.get(measure.key), measure.form) for measure in figure.measures)]
            for row in figure.rows
        ),
    ]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines).replace("| --- ", "|---").replace("|  |", "| |")


def picture(figure: Figure) -> str:
    """The picture, in the colours of the reader."""
    at = f"figures/{figure.name}"
    return (
        f'<picture><source media="(prefers-color-scheme: dark)" srcset="{at}-dark.svg">'
        f'<img src="{at}-light.svg" alt="{figure.claim}"></picture>'
    )


def _heading(measure: Measure) -> str:
    interval = " (95 %)" if measure.form in ("share", "interval") else ""
    aim = "" if measure.aim is None else f", aim {measure.aim:g}"
    return f"{measure.title}{aim}{interval}"
