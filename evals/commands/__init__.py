"""The commands of evaluations, `app` for pyproject's entry points; what one needs is imported when it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

import typer

from ...tools.errors import SettingsError
from . import evaluate, judge, trial

EVALUATE = "Evaluate"  # heading of `tableturn --help`

_LABORATORY = {
    "bench": "bench NAME",
    "train": "train",
    "suite": "suite build",
    "data disputes": "disputes DATASET",
    "eval export-sft": "sft export",
    "eval train-lora": "sft lora",
}
_REMOVED = {
    **{old: f"run `python -m tableturn.evals.lab {new}` in a clone" for old, new in _LABORATORY.items()},
    "data check": "`tableturn score` names what cannot be judged, and databases without rows",
    "judge review": "`tableturn report RUN` writes a page on which the answers to decide are decided",
    "trial init": "write `- question: ...` and `sql: ...`, with a query of your own, for each question",
}
"""What to do, for one release, instead of a command of 0.2, whatever its arguments."""

app = typer.Typer()
for command in (evaluate.score, evaluate.report, evaluate.impact, evaluate.models, evaluate.experiment):
    app.command(rich_help_panel=EVALUATE)(command)
_groups = {"eval": evaluate.app, "judge": judge.app, "trial": trial.app, "trust": trial.trust_app}
for name, group in _groups.items():
    app.add_typer(group, name=name, rich_help_panel=EVALUATE)
_groups |= {"": app, "data": typer.Typer(hidden=True)}
app.add_typer(_groups["data"], name="data")


def _refusal(old: str) -> Callable[[typer.Context], NoReturn]:
    def refuse(context: typer.Context) -> NoReturn:
        if old == "train" and context.args[:1] == ["confidence"]:
            raise SettingsError("`tableturn train confidence` is gone: the confidence that it fitted is frozen")
        raise SettingsError(f"`tableturn {old}` is no longer installed: {_REMOVED[old]}")

    return refuse


for name in _REMOVED:
    group, _, last = name.rpartition(" ")
    any_arguments = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
    _groups[group].command(last, hidden=True, context_settings=any_arguments)(_refusal(name))
