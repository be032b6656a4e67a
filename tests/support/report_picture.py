"""Pictures of an evaluation's report for the documentation, as `make pictures` takes them:

    python -m tests.support.report_picture docs

The run is of the built-in translator, over questions about the sample database: it needs no model
and no data of others.
"""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from pathlib import Path

import yaml
from tableturn.tools.sample import build_sample

from .browser import started_browser
from .command_line import tableturn

_QUESTIONS = Path(__file__).parent / "sample_questions.yaml"


def report(folder: Path) -> Path:
    """The report of a run, made in an empty folder."""
    build_sample(folder / "kestrel.sqlite")
    questions = [
        {"question": each["question"], "sql": each["sql"], "database": "kestrel.sqlite"}
        for each in yaml.safe_load(_QUESTIONS.read_text("utf-8"))
    ]
    (folder / "questions.json").write_text(json.dumps(questions), "utf-8")
    with contextlib.chdir(folder):  # the report names files as the command does
        for command in (
            ["eval", "--dataset", "questions.json", "--model", "offline", "--out", "offline", "--record", "off"],
            ["report", "offline", "--out", "report.html"],
        ):
            done = tableturn(*command)
            if done.returncode:
                raise SystemExit(done.stderr)
    return folder / "report.html"


def main(folder: Path) -> None:
    """Writes `report-light.png` and `report-dark.png`."""
    with tempfile.TemporaryDirectory() as own:
        made = report(Path(own))
        with started_browser() as browser:
            for scheme in ("light", "dark"):
                page = browser.new_page(viewport={"width": 1280, "height": 940}, color_scheme=scheme)
                page.goto(made.as_uri())
                page.screenshot(path=folder / f"report-{scheme}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
