"""`python -m tableturn.evals.lab train`: fitting what the package carries on training databases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ....tools.terminal import say
from ...commands.options import DataOption, LimitOption

FileArgument = Annotated[Path, typer.Argument(help="The JSON file to write.")]

app = typer.Typer(
    help="Fit the weights in the package, all except `evidence` on training databases.", no_args_is_help=True
)


@app.command()
def evidence(out: FileArgument, data: DataOption = None, limit: LimitOption = None) -> None:
    """Fit the weights of evidence on published drafts; in the repository: agent/attempts/data/evidence.json."""
    from ....tools.errors import SettingsError
    from ..training.fit_evidence import train

    if data is None:
        raise SettingsError("published drafts are needed: pass --data, or set TABLETURN_DATA")
    say(f"{out}: {train(out, data, limit)}")


@app.command()
def expectation(out: FileArgument, data: DataOption = None) -> None:
    """Fit what to expect of a query from its question; in the repository: tools/expectation/data/expectation.json."""
    from ..training.fit_expectation import train

    say(f"{out}: {train(out, data)} questions")


@app.command()
def linker(
    out: Annotated[Path, typer.Argument(help="The folder to write to; in the repository: tools/linking/data.")],
    data: DataOption = None,
    limit: LimitOption = None,
) -> None:
    """Fit the schema linker, in stages; needs the extra `sft`."""
    import logging

    from ..training.fit_linker import train

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    say(f"{out}: {json.dumps(train(out, data, limit))}")
