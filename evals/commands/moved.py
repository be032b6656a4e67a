"""Commands of 0.2 that the laboratory holds now: for one release, each names what to use instead."""

from __future__ import annotations

from typing import NoReturn

import typer

from ...tools.errors import SettingsError

MOVED = {"bench": "bench NAME", "train": "train", "suite": "suite build"}
"""The old command under `tableturn`, and the new one under `python -m tableturn.evals.lab`."""

_ANY_ARGUMENTS = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def add_moved(app: typer.Typer, old: str, new: str) -> None:
    """Add a hidden command that says where an old one went, whatever its arguments."""

    def moved(context: typer.Context) -> NoReturn:
        if old == "train" and context.args[:1] == ["confidence"]:
            raise SettingsError("`tableturn train confidence` is gone: the confidence that it fitted is frozen")
        where = f"run `python -m tableturn.evals.lab {new}` in a clone"
        raise SettingsError(f"`tableturn {old}` is no longer installed: {where}")

    app.command(old.split()[-1], hidden=True, context_settings=_ANY_ARGUMENTS)(moved)
