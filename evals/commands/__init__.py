"""The evaluation commands: `app` holds pyproject's entry points and imports each lazily."""

from __future__ import annotations

import typer

from ...agent.cli import RootCommandGroup
from . import evaluate, trial

EVALUATE = "Evaluate"  # heading of `tableturn --help`

_LABORATORY = {
    "bench": "bench NAME",
    "train": "train",
    "suite": "suite build",
    "data disputes": "disputes DATASET",
    "eval export-sft": "sft export",
    "eval train-lora": "sft lora",
}
_TWO_RUNS = "hold the trial or run again with the other model, and give both to `tableturn report`"
_DOCTOR = "`tableturn doctor` says whether a bound holds now, and why not"
RootCommandGroup.removed.update(
    {
        "train confidence": "the confidence that it fitted is frozen",
        **{old: f"run `python -m tableturn.evals.lab {new}` in a clone" for old, new in _LABORATORY.items()},
        "data": "`tableturn score` names what cannot be judged, and databases without rows",
        "judge review": "`tableturn report RUN` writes a page on which the answers to decide are decided",
        "trial init": "write `- question: ...` and `sql: ...`, with a query of your own, for each question",
        "eval --repeats": "run again with another --out, and give both to `report`",
        "score --timings": "BIRD's own script computes R-VES",
        "experiment --html": "`tableturn report` writes a page about the folders of the runs",
        "impact --data": "states are databases; `tableturn report` compares two runs",
        **dict.fromkeys(
            [f"impact --{name}" for name in ("model", "base-url", "again", "preset", "settings")], _TWO_RUNS
        ),
        **dict.fromkeys(
            [f"trust show --{name}" for name in ("db", "model", "preset", "settings", "base-url")], _DOCTOR
        ),
    }
)

app = typer.Typer()
app.command("eval", rich_help_panel=EVALUATE)(evaluate.evaluate)
for command in (evaluate.score, evaluate.report, evaluate.impact, evaluate.models, evaluate.experiment):
    app.command(rich_help_panel=EVALUATE)(command)
for name, group in {"judge": trial.judge, "trial": trial.app, "trust": trial.trust_app}.items():
    app.add_typer(group, name=name, rich_help_panel=EVALUATE)
