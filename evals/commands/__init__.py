"""The commands of evaluations: pyproject's entry-point group `tableturn.commands` names `app`.

One module a command or group of commands; what a command needs is imported when it runs.
"""

from __future__ import annotations

import typer

from . import data, evaluate, judge, suite, train, trial, trust
from .bench import bench
from .experiment import experiment
from .impact import impact
from .models import models
from .report import report
from .score import score

EVALUATE = "Evaluate"
"""Heading of `tableturn --help`."""

app = typer.Typer()
app.add_typer(evaluate.app, name="eval", rich_help_panel=EVALUATE)
for command in (score, report, impact, models, experiment, bench):
    app.command(rich_help_panel=EVALUATE)(command)
app.add_typer(judge.app, name="judge", rich_help_panel=EVALUATE)
app.add_typer(trial.app, name="trial", rich_help_panel=EVALUATE)
app.add_typer(trust.app, name="trust", rich_help_panel=EVALUATE)
app.add_typer(data.app, name="data", rich_help_panel=EVALUATE)
app.add_typer(suite.app, name="suite", rich_help_panel=EVALUATE)
app.add_typer(train.app, name="train", rich_help_panel=EVALUATE)
