"""The commands of evaluations: pyproject's entry-point group `tableturn.commands` names `app`.

One module a command or group of commands; what a command needs is imported when it runs.
"""

from __future__ import annotations

import typer

from . import evaluate, judge, trial
from .options import LABORATORY, add_removed, in_laboratory

EVALUATE = "Evaluate"
"""Heading of `tableturn --help`."""

app = typer.Typer()
app.add_typer(evaluate.app, name="eval", rich_help_panel=EVALUATE)
for command in (evaluate.score, evaluate.report, evaluate.impact, evaluate.models, evaluate.experiment):
    app.command(rich_help_panel=EVALUATE)(command)
app.add_typer(judge.app, name="judge", rich_help_panel=EVALUATE)
app.add_typer(trial.app, name="trial", rich_help_panel=EVALUATE)
app.add_typer(trial.trust_app, name="trust", rich_help_panel=EVALUATE)
app.add_typer(evaluate.data_app, name="data")
for old, new in LABORATORY.items():
    add_removed(app, old, in_laboratory(new))
