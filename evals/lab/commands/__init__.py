"""The laboratory's commands: one module per command, what a command needs is imported when it runs."""

from __future__ import annotations

import typer

from ....agent.cli.root import Root
from . import sft, suite, train
from .bench import bench
from .disputes import disputes


class _Laboratory(Root):
    _complete = True  # plug-ins add their commands to `tableturn` alone


app = typer.Typer(
    name="tableturn.evals.lab",
    cls=_Laboratory,
    help="Measure tableturn, and fit what it carries.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(bench)
app.command()(disputes)
app.add_typer(train.app, name="train")
app.add_typer(suite.app, name="suite")
app.add_typer(sft.app, name="sft")
