"""Writing the page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from jinja2 import Environment, PackageLoader, StrictUndefined

from ...prompts.judge import Kind
from ...tools.errors import SettingsError
from ..datasets.plain import SUFFIXES
from ..runner.files import write_whole
from ..runner.results import read_results, without_passwords
from . import figures


def write_report(folders: Sequence[Path], out: Path, *, adjudicate: bool = False) -> list[str]:
    """Writes one page about finished runs.

    The page asks for nothing from anywhere: style, script and data are in it, and it forbids itself the rest. What a
    person decides on it is downloaded as a file that `tableturn judge accept` takes in.

    Args:
        folders: Of `tableturn eval`.
        out: The HTML file.
        adjudicate: Whether it begins with the answers that somebody has to decide on, instead of with scores.

    Returns:
        What comparing each further run with the first comes to, a sentence each.

    Raises:
        SettingsError: A folder holds no finished run, or the page cannot be written.
    """
    results = [read_results(folder) for folder in folders]
    names = [folder.resolve().name for folder in folders]
    environment = Environment(
        loader=PackageLoader("tableturn.evals.report", "templates"), autoescape=True, undefined=StrictUndefined
    )
    try:
        runs = [without_passwords(found) for found in results]
        comparisons = list(zip(names[1:], figures.comparisons(runs), strict=True))
        tables = {
            "Scores": figures.score_rows(runs),
            "EX by difficulty": figures.group_rows(runs, "by_hardness"),
            "EX by turn": figures.group_rows(runs, "by_turn"),
            figures.ATTEMPTS: figures.attempt_rows(runs),
            "Declining and asking back": figures.outcome_rows(runs),
            "Where accuracy was lost": figures.error_rows(runs),
            "Cost": figures.cost_rows(runs),
            "EX by database": figures.group_rows(runs, "by_database"),
        }
        page = environment.get_template("page.html.j2").render(
            names=names,
            runs=[{"baseline": None, **run["run"]} for run in runs],
            tables=tables,
            chart=figures.attempt_chart(runs),
            cost_chart=figures.cost_chart(runs),
            comparisons=comparisons,
            adjudicate=adjudicate,
            kinds=get_args(Kind),
            questions=_embedded(
                [
                    {"name": name, "dataset": dataset_name(run["run"]["dataset"]), "questions": run["questions"]}
                    for name, run in zip(names, runs, strict=True)
                ]
            ),
        )
    except KeyError as error:
        raise SettingsError(f"the results of a run lack {error}: finish it again with `tableturn eval`") from error
    except (TypeError, AttributeError) as error:
        raise SettingsError(f"the results of a run are damaged ({error}): finish it again") from error
    try:
        write_whole(out, page)
    except OSError as error:
        raise SettingsError(f"{out} cannot be written: {error}") from error
    return [
        against.found.told(names[0], name)
        if against.found is not None
        else f"{name} is not compared with {names[0]}: no question is judged in both."
        for name, against in comparisons
    ]


def dataset_name(given: str) -> str:
    """What verdict files call a run's dataset: a benchmark's name, or that of the file of one's own questions."""
    path = Path(given)
    return path.stem if path.suffix in SUFFIXES else given


def _embedded(value: object) -> str:
    """JSON that cannot end the script element it stands in, whatever a database or a model gave."""
    text = json.dumps(value)
    for character in ("<", ">", "&"):
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
