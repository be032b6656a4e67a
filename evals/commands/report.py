"""`tableturn report`: finished runs side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...tools.terminal import say


def report(
    folders: Annotated[
        list[Path], typer.Argument(help="Folders of finished runs; the others are compared with the first.")
    ],
    out: Annotated[Path, typer.Option("--out", help="The page to write.")] = Path("report.html"),
) -> None:
    """Write one self-contained page about finished runs, side by side, with every question.

    Says in a sentence each whether the runs differ from the first.
    """
    from ..report import write_report

    conclusions = write_report(folders, out)
    say(str(out))
    for conclusion in conclusions:
        say(conclusion)
