"""How a command tells of an error."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import typer


@contextmanager
def plain_errors() -> Generator[None]:
    """Turns tableturn's own errors into one line and exit code 2."""
    from ...tools.errors import TableturnError

    try:
        yield
    except TableturnError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
