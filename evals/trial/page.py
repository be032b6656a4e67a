"""The page of a trial: one file, nothing asked of anywhere, light and dark, for a desk and for a phone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from ...tools.errors import SettingsError
from ..runner.files import write_whole
from .results import HISTORY_FILE

PAGE_FILE = "report.html"


def write_page(results: dict[str, Any], out: Path) -> None:
    """Writes the page into the trial's folder.

    Raises:
        SettingsError: It cannot be written.
    """
    environment = Environment(
        loader=PackageLoader("tableturn.evals.trial", "templates"), autoescape=True, undefined=StrictUndefined
    )
    environment.filters["percent"] = _percent
    lines = (out / HISTORY_FILE).read_text(encoding="utf-8").splitlines()
    page = environment.get_template("trial.html.j2").render(
        results=results, history=[json.loads(line) for line in lines[-10:]]
    )
    try:
        write_whole(out / PAGE_FILE, page)
    except OSError as error:
        raise SettingsError(f"{out / PAGE_FILE} cannot be written: {error}") from error


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %".replace(".0 %", " %")
