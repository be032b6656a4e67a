"""The page of a trial and the page on which disagreements are decided, in a real browser."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tableturn.evals.adjudication.judging import FinishedRun
from tableturn.evals.adjudication.ruling import Ruling, append_rulings, read_rulings
from tableturn.evals.datasets import Dataset
from tableturn.evals.trial import TrialOptions, run_trial

from tests.support.browser import Visit, started_browser
from tests.support.command_line import tableturn

from .conftest import make_database
from .test_report import HOSTILE

pytest.importorskip("playwright", reason="playwright is not installed: make test-extras")

pytestmark = [pytest.mark.extra, pytest.mark.filterwarnings("ignore::ResourceWarning")]

WIDTHS = [(1280, "light"), (390, "dark")]


@pytest.fixture
def trial(tmp_path: Path) -> Path:
    """A trial held twice: one question passes, one is declined, and one tries to become part of the page."""
    database = make_database(tmp_path / "league.sqlite")
    own = [
        {"id": "count", "question": "How many players are there?", "value": 5},
        {"id": "declined", "question": "What will the weather be like tomorrow?", "value": 3, "note": HOSTILE},
        {"id": "wrong", "question": "How many clubs are there?", "value": 99},
    ]
    path = tmp_path / "own.yaml"
    path.write_text(yaml.safe_dump(own))
    for gate in (None, 0.9):
        options = TrialOptions(str(database), path, model="offline", tries=2, gate=gate)
        run_trial(options, tmp_path / "trial", lambda record, verdict: None)
    return tmp_path / "trial" / "report.html"


@pytest.fixture
def review(league: Dataset, tmp_path: Path) -> Path:
    """A run of which two answers run and are not what gold says."""
    golds = [question.golds[0] for question in league.questions]
    drafts = tmp_path / "drafts.json"
    drafts.write_text(json.dumps([golds[0], golds[1], "SELECT town FROM club ORDER BY town", "SELECT 1"]))
    data = ["--data", str(league.root)]
    run = ["--dataset", "spider", "--model", f"replay:{drafts}", "--out", str(tmp_path / "run")]
    assert tableturn("eval", *run, *data).returncode == 0
    page = tmp_path / "review.html"
    assert tableturn("report", str(tmp_path / "run"), "--out", str(page)).returncode == 0
    return page


@pytest.fixture
def browser(request: pytest.FixtureRequest) -> Generator[Any]:
    """A browser, begun after the runs: playwright keeps an event loop, beside which none can be run."""
    for name in ("trial", "review"):
        if name in request.fixturenames:
            request.getfixturevalue(name)
    with started_browser() as browser:
        yield browser


@pytest.mark.parametrize(("width", "scheme"), WIDTHS)
def test_a_trial_shows_what_failed_and_why(width: int, scheme: str, browser: Any, trial: Path) -> None:
    visit = Visit(browser, trial, width, scheme)
    page = visit.page
    page.get_by_text("2 tries each").wait_for()
    page.get_by_text("at least 90 %").wait_for()
    page.get_by_text("3 questions", exact=True).wait_for()
    failed = page.locator("details.q").filter(has_text="How many clubs are there?").first
    failed.get_by_text("it must be 99, not 3").first.wait_for()
    assert failed.locator("pre").count() == 0
    failed.locator("summary").click()
    failed.locator("pre").first.wait_for()
    assert "How many players are there?" in page.locator("details.q summary").last.inner_text()
    hostile = page.locator("details.q").filter(has_text="weather").first
    hostile.locator("summary").click()
    hostile.get_by_text("onerror=alert(2)").wait_for()
    assert page.locator("img, script[src], iframe, link").count() == 0
    visit.ends_well(width)


@pytest.mark.parametrize(("width", "scheme"), WIDTHS)
def test_decisions_are_taken_on_a_page_and_counted(
    width: int, scheme: str, browser: Any, review: Path, league: Dataset, tmp_path: Path
) -> None:
    visit = Visit(browser, review, width, scheme)
    page = visit.page
    page.locator("#outcome").select_option("open")
    page.get_by_text("2 of 4 questions").wait_for()
    towns = page.locator("details.q").filter(has_text="Towns of clubs?")
    towns.locator("summary").click()
    answer = towns.locator(".decide").filter(has_text="Answer")
    answer.get_by_role("button", name="right").click()
    answer.get_by_label("Answer: why").fill("each town once or not, both are fair")
    answer.get_by_label("Answer: why").press("Tab")
    other = page.locator("details.q").filter(has_text="Clubs with many players?")
    other.locator("summary").click()
    wrong = other.locator(".decide").filter(has_text="Answer")
    wrong.get_by_label("Answer: what is wrong").select_option("logic")
    wrong.get_by_role("button", name="wrong").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download 2 decisions").click()
    decisions = tmp_path / "decisions.jsonl"
    waiting.value.save_as(decisions)
    visit.ends_well(width)

    told = tableturn(
        "judge", "accept", str(decisions), "--run", str(tmp_path / "run"), "--by", "Ann", "--data", str(league.root)
    )
    assert told.returncode == 0, told.stderr
    assert "EX by gold 50.0, by verdict 75.0: 3 right, 1 wrong, 0 unclear" in told.stdout
    kept = [json.loads(line) for line in (tmp_path / "run" / "verdicts.jsonl").read_text().splitlines()]
    assert [(line["verdict"], line["kind"], line["by"]) for line in kept] == [
        ("right", "", "Ann"),
        ("wrong", "logic", "Ann"),
    ]
    assert kept[0]["why"] == "each town once or not, both are fair"


def test_a_proposal_is_signed_only_where_it_is_taken_over(
    browser: Any, review: Path, league: Dataset, tmp_path: Path
) -> None:
    question = league.questions[2]
    town = "SELECT town FROM club ORDER BY town"
    fields: dict[str, Any] = {"dataset": "spider", "id": question.id, "question": question.text, "by": "model m"}
    proposals = [
        Ruling(**fields, sql=town, verdict="wrong", kind="logic", why="Twice Bath.", accepted=False),
        Ruling(**fields, sql=question.golds[0], verdict="right", why="Each once.", accepted=False),
    ]
    append_rulings(tmp_path / "run" / "verdicts.jsonl", proposals)
    FinishedRun.read(tmp_path / "run", league.root, None).update_verdict_scores()
    assert tableturn("report", str(tmp_path / "run"), "--out", str(review)).returncode == 0
    visit = Visit(browser, review, 1280, "light")
    page = visit.page
    towns = page.locator("details.q").filter(has_text=question.text)
    towns.locator("summary").click()
    towns.get_by_text("model m proposes: wrong (logic). Twice Bath.").wait_for()
    towns.get_by_text("model m proposes of the gold: right. Each once.").wait_for()
    answer, gold = (towns.locator(".decide").filter(has_text=name) for name in ("Answer", "Gold"))
    for side in (answer, gold):
        side.get_by_role("button", name="as proposed").click()
    assert answer.get_by_label("Answer: why").input_value() == "Twice Bath."
    answer.get_by_role("button", name="right").click()
    assert answer.get_by_label("Answer: why").input_value() == ""
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download 2 decisions").click()
    waiting.value.save_as(tmp_path / "decisions.jsonl")
    visit.ends_well(1280)
    taken = [(ruling.verdict, ruling.kind, ruling.why) for ruling in read_rulings(tmp_path / "decisions.jsonl")]
    assert taken == [("right", "", ""), ("right", "", "Each once.")]
