"""The main way through the page in Firefox; needs the extra `browser`, and a Firefox on the machine."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.serve import pages
from tests.serve.pages import Visit, ask, cells, last
from tests.support.browser import started_firefox
from tests.support.openai_server import sql

pytest.importorskip("playwright", reason="playwright is not installed: make test-extras")

pytestmark = [pytest.mark.extra, pytest.mark.filterwarnings("ignore::ResourceWarning")]
visit, width = pages.visit, pages.width


@pytest.fixture(scope="module")
def browser() -> Generator[Any]:
    with started_firefox() as browser:
        yield browser


def test_a_question_is_asked_and_its_answer_read_and_corrected(visit: Visit, shop: Path) -> None:
    ranking = "SELECT name, id * 10 AS points FROM customers ORDER BY 2 DESC"
    page = visit(shop, [sql(ranking), sql("SELECT count(*) AS customers FROM customers")], examples="none")
    ask(page, "Who has the most points?")
    assert last(page).locator(".lead").inner_text() == "First of 3 by points: Cy, 30."
    last(page).locator("svg.marks").wait_for()
    last(page).get_by_role("tab", name="Table").click()
    last(page).locator("table").wait_for()
    assert (cells(page), cells(page, 2)) == (["Cy", "Bo", "Ada"], ["30", "20", "10"])
    last(page).get_by_role("button", name="Wrong").click()
    last(page).get_by_label("What is wrong?").fill("just how many there are")
    last(page).get_by_role("button", name="Answer again").click()
    page.locator(".turn").nth(1).locator(".figure").wait_for()
    assert last(page).locator(".lead").inner_text() == "There are 3 customers."
    last(page).get_by_role("button", name="Save", exact=True).click()
    last(page).get_by_text("Saved as right.").wait_for()
