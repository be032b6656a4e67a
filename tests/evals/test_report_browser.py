"""The report in a real browser; needs the extra `browser`, and a Chromium on the machine."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tableturn.evals.datasets import Dataset
from tableturn.evals.report.page import write_report

from tests.support.browser import started_browser

from .conftest import QUESTIONS
from .test_report import HOSTILE, finished_run

pytest.importorskip("playwright", reason="playwright is not installed: make test-extras")

pytestmark = [pytest.mark.extra, pytest.mark.filterwarnings("ignore::ResourceWarning")]


@pytest.fixture
def browser(report: Path) -> Generator[Any]:
    """A browser, begun after the runs: playwright keeps an event loop, beside which none can be run."""
    with started_browser() as browser:
        yield browser


@pytest.fixture
def report(league: Dataset, tmp_path: Path) -> Path:
    """Two runs; a question, a prediction and a cell of the database try to become part of the page."""
    for path in league.databases[0].rglob("*.sqlite"):
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE club SET town = ? WHERE id = 3", (HOSTILE,))
        connection.close()
    hostile = replace(league, questions=(replace(league.questions[0], text=HOSTILE), *league.questions[1:]))
    golds = [sql for _, sql in QUESTIONS]
    runs = {"good": golds, "bad": [*golds[:2], f"SELECT town , '{HOSTILE}' FROM club", "SELECT nothing FROM club"]}
    folders = [finished_run(hostile, tmp_path / name, drafts) for name, drafts in runs.items()]
    write_report(folders, tmp_path / "report.html")
    return tmp_path / "report.html"


@pytest.mark.parametrize("width", [1280, 390])
def test_a_person_can_read_filter_and_open(browser: Any, report: Path, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    asked: list[str] = []
    complaints: list[str] = []

    def asks(request: Any) -> None:
        asked.append(request.url)

    def complains(about: Any) -> None:
        complaints.append(str(about))

    page.on("request", asks)
    for event in ("console", "pageerror", "dialog"):
        page.on(event, complains)
    page.goto(report.as_uri())

    shown = page.locator("body").inner_text()
    assert "EX, strict" in shown
    assert "100.0" in shown
    assert "bad against good" in shown
    assert page.evaluate("document.documentElement.scrollWidth") <= width

    assert page.locator("details.q").count() == 4
    page.locator("#run").select_option(label="bad")
    page.locator("#outcome").select_option("wrong")
    assert page.locator("#count").inner_text() == "2 of 4 questions"
    page.locator("#class").select_option("does not run")
    assert page.locator("details.q summary").all_inner_texts()[0].split()[0] == "3"
    page.locator("#class").select_option("")
    page.locator("#text").fill("towns of clubs")
    question = page.locator("details.q")
    assert question.count() == 1
    question.locator("summary").click()
    question.get_by_text("Prediction").first.wait_for()  # drawn when it opens, which the page is told of afterwards
    trace = question.inner_text()
    for part in (
        "Prediction",
        "Gold",
        "Attempt 1: 3 rows",
        "In good:",
        "SELECT DISTINCT town FROM club",
        "Bath",
        "confidence",
    ):
        assert part in trace
    assert HOSTILE.replace("\u2028", "") in trace.replace("\u2028", "")

    page.locator("#text").fill("")
    page.locator("#outcome").select_option("differs")
    assert page.locator("#count").inner_text() == "2 of 4 questions"
    page.locator("#outcome").select_option("")
    for place in range(4):
        page.locator("details.q > summary").nth(place).click()
    assert page.locator("img, script[src], iframe, link").count() == 0
    assert page.locator("script").count() == 2
    assert complaints == []
    assert asked == [report.as_uri()]
    page.close()
