"""Writing the one page of runs, trials and experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from jinja2 import Environment, PackageLoader, StrictUndefined

from ...prompts.judge import Kind
from ...tools.errors import SettingsError
from ...tools.whole_files import write_whole
from ..datasets.plain import SUFFIXES
from ..runner.results import evaluation_of, hide_passwords, read_results
from .figures import Section, compare_runs, run_sections, trial_sections


def write_report(folders: Sequence[Path], out: Path, *, adjudicate: bool = False) -> list[str]:
    """Write one page about finished runs and trials.

    What a person decides on it is downloaded as a file that `tableturn judge accept` reads.

    Args:
        folders: Folders of `tableturn eval` or `tableturn trial`.
        out: The HTML file.
        adjudicate: Whether it begins with the answers that somebody has to decide on, instead of with scores.

    Returns:
        What comparing each further run with the first comes to, a sentence each.

    Raises:
        SettingsError: A folder holds no finished run, or the page cannot be written.
    """
    names = [folder.resolve().name for folder in folders]
    if len(set(names)) < len(names):
        names = list(map(str, folders))
    results = {name: read_results(folder) for name, folder in zip(names, folders, strict=True)}
    try:
        runs = {name: evaluation_of(found) for name, found in results.items()}
        for run in runs.values():
            hide_passwords(run)
        (first, base), *others = runs.items()
        compared = [(name, compare_runs(base, run)) for name, run in others]
        trials = [section for found in results.values() if "trial" in found for section in trial_sections(found)]
        write_page(
            out,
            list(runs),
            [*trials, *run_sections(runs)],
            runs=[{"baseline": None, **run["run"]} for run in runs.values()],
            comparisons=compared,
            adjudicate=adjudicate,
            questions=[
                {
                    "name": name,
                    "dataset": _dataset_name(run["run"]["dataset"]),
                    "questions": _questions(run, results[name]),
                }
                for name, run in runs.items()
            ],
        )
    except KeyError as error:
        raise SettingsError(f"the results of a run lack {error}: finish it again with `tableturn eval`") from error
    except (TypeError, AttributeError) as error:
        raise SettingsError(f"the results of a run are damaged ({error}): finish it again") from error
    return [
        found.told(first, name) if found.n else f"{name} is not compared with {first}: no question is judged in both."
        for name, found in compared
    ]


def write_page(out: Path, names: Sequence[str], sections: Sequence[Section], **parts: Any) -> None:
    """Write a page, which asks for nothing from anywhere: style, script and data are in it, and it forbids the rest.

    Args:
        out: The HTML file.
        names: What it is about.
        sections: Tables and pictures.
        parts: Other variables of the template: `lead` (a paragraph), `remarks` (a list at the end), and of
            `write_report` the runs, comparisons and questions.

    Raises:
        SettingsError: It cannot be written.
    """
    environment = Environment(
        loader=PackageLoader("tableturn.evals.report", "templates"), autoescape=True, undefined=StrictUndefined
    )
    environment.policies["json.dumps_kwargs"] = {}  # keys stay in their order
    absent = {"lead": "", "remarks": (), "runs": (), "comparisons": (), "questions": (), "adjudicate": False}
    variables = {**absent, **parts, "names": names, "sections": sections, "kinds": get_args(Kind)}
    page = environment.get_template("page.html.j2").render(variables)
    try:
        write_whole(out, page)
    except OSError as error:
        raise SettingsError(f"{out} cannot be written: {error}") from error


def _dataset_name(given: str) -> str:
    """Return what verdict files call a run's dataset: a benchmark's name, or that of a file of one's own questions."""
    path = Path(given)
    return "trial" if given.startswith("trial ") else path.stem if path.suffix in SUFFIXES else given


def _questions(run: Mapping[str, Any], found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the records of a run's questions; of a trial, those that fail first, with what each accepts."""
    if "trial" not in found:
        return run["questions"]
    told = {question["id"]: question for question in found["by_question"]}
    records: list[dict[str, Any]] = []
    for record in sorted(run["questions"], key=lambda record: record["ex"] is True):
        about = told[record["interaction"].rpartition("~")[0]]
        records.append({**record, "accepted": about["accepted"][record["turn"] - 1], "note": about["note"]})
    return records
