"""The page by keyboard alone and by its semantics, in each browser; needs the extra `browser`, and the browsers."""

from __future__ import annotations

import re
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tests.serve import pages
from tests.serve.pages import NAMES, Visit, ask, cells, last, pane
from tests.support.browser import started_browser, started_firefox
from tests.support.openai_server import fails, says, sql

pytest.importorskip("playwright", reason="playwright is not installed: make test-extras")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed: make test-extras")

pytestmark = [pytest.mark.extra, pytest.mark.filterwarnings("ignore::ResourceWarning")]
visit, width = pages.visit, pages.width
wide = pytest.mark.parametrize("width", [1280], indirect=True)

BROWSERS = {"chromium": started_browser, "firefox": started_firefox}

RANKING = "SELECT name, id * 10 AS points FROM customers ORDER BY 2 DESC"
MANY = "WITH RECURSIVE t(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM t LIMIT 70) SELECT value, value % 7 FROM t"
NAMED = "document.activeElement.getAttribute('aria-label') || document.activeElement.innerText"
STOP = """() => {
  const element = document.activeElement, style = getComputedStyle(element), box = element.getBoundingClientRect();
  const grown = parseFloat(style.outlineOffset) + parseFloat(style.outlineWidth);
  const hides = (each) => {
    const clip = each.getBoundingClientRect(), at = getComputedStyle(each);
    return (at.overflowX !== "visible" && box.left - grown < clip.left - .5 && each.scrollLeft === 0)
      || (at.overflowY !== "visible" && box.top - grown < clip.top - .5 && each.scrollTop === 0);
  };
  let cut = false;
  for (let each = element.parentElement; each !== document.body; each = each.parentElement) cut ||= hides(each);
  return {
    seen: !cut && element.matches(":focus-visible") && style.outlineStyle === "solid",
    colour: style.outlineColor, id: [...document.querySelectorAll("*")].indexOf(element),
    html: element.outerHTML.slice(0, 90),
  };
}"""


@pytest.fixture(scope="module", params=sorted(BROWSERS))
def browser(request: pytest.FixtureRequest) -> Generator[Any]:
    with BROWSERS[request.param]() as browser:
        yield browser


def press_to(page: Any, name: str, *, key: str = "Tab") -> None:
    """Press a key until what is so named has the focus."""
    for _ in range(80):
        page.keyboard.press(key)
        if str(page.evaluate(NAMED)).strip().startswith(name):
            return
    raise AssertionError(f"no key leads to {name}")


def holds(page: Any, selector: str) -> bool:
    """Whether what has the focus is, or is within, such an element."""
    return page.evaluate("selector => document.activeElement.closest(selector) !== null", selector)


@wide
def test_an_answer_is_looked_at_and_judged_with_keys_alone(visit: Visit, shop: Path) -> None:
    page = visit(shop, [sql(RANKING), sql(NAMES)], examples="none")
    ask(page, "Who has the most points?")
    last(page).locator("svg.marks").wait_for()
    press_to(page, "Chart", key="Shift+Tab")
    page.keyboard.press("Shift+Tab")
    press_to(page, "Chart")
    page.keyboard.press("ArrowRight")
    last(page).locator("table").wait_for()
    assert page.evaluate(NAMED) == "Table"
    press_to(page, "points")
    page.keyboard.press("Enter")
    last(page).locator("th[aria-sort=ascending]").wait_for()
    assert page.evaluate(NAMED) == "points", "it can be pressed again"
    last(page).locator("section tbody tr:first-child td", has_text="Ada").wait_for()
    assert cells(page) == ["Ada", "Bo", "Cy"]
    press_to(page, "What it rests on")
    page.keyboard.press("Enter")
    last(page).get_by_text("How sure, from 0 to 1").wait_for()
    press_to(page, "SQL")
    page.keyboard.press("Enter")
    press_to(page, "Edit and run")
    page.keyboard.press("Enter")
    page.locator(".editor textarea:focus").wait_for()
    page.keyboard.press("Escape")
    page.locator(".editor").wait_for(state="detached")
    press_to(page, "Edit and run")
    page.keyboard.press("Enter")
    page.locator(".editor textarea:focus").fill("SELECT city FROM customers WHERE id = 2")
    page.keyboard.press("Control+Enter")
    page.locator(".turn").nth(1).locator(".figure").wait_for()
    assert holds(page, ".turn:first-child"), "the keys go on from where they were"
    press_to(page, "CSV", key="Shift+Tab")
    with page.expect_request(re.compile(r"/export\?format=csv")):
        page.keyboard.press("Enter")


@wide
def test_an_answer_is_corrected_with_keys_alone_and_a_panel_that_closes_gives_the_focus_back(
    visit: Visit, shop: Path
) -> None:
    page = visit(shop, [sql(RANKING), sql(NAMES)], examples="none")
    ask(page, "Who has the most points?")
    press_to(page, "Wrong", key="Shift+Tab")
    page.keyboard.press("Enter")
    last(page).locator(".panel input:focus").wait_for()
    page.keyboard.press("Escape")
    last(page).locator(".panel").wait_for(state="detached")
    assert page.evaluate(NAMED) == "Wrong"
    press_to(page, "Note a definition")
    page.keyboard.press("Enter")
    last(page).locator(".panel input:focus").fill("local customer means city = 'Lyon'")
    page.keyboard.press("Enter")
    last(page).get_by_text("Noted.").wait_for()
    assert page.evaluate(NAMED) == "Note a definition"
    press_to(page, "Wrong", key="Shift+Tab")
    page.keyboard.press("Enter")
    last(page).locator(".panel input:focus").fill("just their names")
    press_to(page, "Answer again")
    page.keyboard.press("Enter")
    page.locator(".turn").nth(1).locator("table").wait_for()
    assert page.evaluate("document.activeElement === document.querySelectorAll('.turn')[1]"), "it is the one to judge"


@wide
def test_a_turn_is_stopped_and_asked_again_with_keys_alone(visit: Visit, shop: Path) -> None:
    more = threading.Event()
    try:
        page = visit(shop, [sql(NAMES, held=more)], rephrase="never", examples="none")
        ask(page, "Who are the customers?", wait=False)
        last(page).locator(".sql.writing").wait_for()
        press_to(page, "Stop")
        page.keyboard.press("Enter")
        last(page).get_by_text("Stopped.").wait_for()
        assert page.evaluate(NAMED) == "Ask", "its button is where the other was"
        more.set()
        press_to(page, "Ask again", key="Shift+Tab")
        page.keyboard.press("Enter")
        page.locator(".turn").nth(1).locator("table").wait_for()
        assert holds(page, ".turn:first-child")
        page.keyboard.press("j")
        assert holds(page, ".turn:nth-child(2)")
    finally:
        more.set()


@wide
def test_a_query_that_waits_is_edited_and_approved_with_keys_alone(visit: Visit, shop: Path) -> None:
    page = visit(shop, [says("Ask back: Which ones?\n1. in Paris\n2. all of them"), sql(NAMES)], examples="none")
    page.get_by_label("Your question").focus()
    page.keyboard.press("Tab")  # by the button that asks: it waits for words, and says so
    assert page.evaluate("document.activeElement.getAttribute('aria-disabled')") == "true"
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    ask(page, "Who are they?")
    press_to(page, "all of them", key="Shift+Tab")
    page.keyboard.press("Enter")
    last(page).get_by_role("button", name="Run it", exact=True).wait_for()
    assert holds(page, ".turn:first-child")
    press_to(page, "Edit")
    page.keyboard.press("Enter")
    last(page).locator(".editor textarea:focus").wait_for()
    page.keyboard.press("Escape")
    last(page).locator(".editor").wait_for(state="detached")
    assert holds(page, ".turn:nth-child(2)")
    press_to(page, "Run it")
    page.keyboard.press("Enter")
    last(page).locator("table").wait_for()
    assert holds(page, ".turn:nth-child(2)")


@wide
def test_pages_of_rows_are_turned_and_filtered_with_keys_alone(visit: Visit, shop: Path) -> None:
    page = visit(shop, [sql(MANY)], examples="none")
    ask(page, "Which values are there?")
    press_to(page, "Last page", key="Shift+Tab")
    page.keyboard.press("Enter")
    last(page).get_by_text("51–70 of 70").wait_for()
    assert page.evaluate(NAMED) == "Last page", "a button that can do no more keeps the focus"
    press_to(page, "Next", key="Shift+Tab")
    page.keyboard.press("Enter")
    press_to(page, "Previous", key="Shift+Tab")
    page.keyboard.press("Enter")
    last(page).get_by_text("26–50 of 70").wait_for()
    press_to(page, "Filter rows", key="Shift+Tab")
    page.keyboard.type("69")
    last(page).get_by_text("1 row", exact=True).wait_for()
    assert page.evaluate(NAMED) == "Filter rows"


@wide
def test_conversations_and_what_was_saved_are_kept_with_keys_alone(visit: Visit, shop: Path) -> None:
    page = visit(shop, [sql(RANKING)])
    ask(page, "Who has the most points?")
    press_to(page, "Right", key="Shift+Tab")
    page.keyboard.press("Enter")
    last(page).get_by_text("Saved as right.").wait_for()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()
    page.keyboard.press("Escape")
    assert page.evaluate(NAMED) == "Right"
    press_to(page, "Find conversations", key="Shift+Tab")
    page.keyboard.type("points")
    press_to(page, "Rename")
    page.keyboard.press("Enter")
    page.locator("dialog input:focus").fill("Points")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Points", exact=True).wait_for()
    assert page.evaluate(NAMED) == "Rename Points"
    press_to(page, "What was saved", key="Shift+Tab")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="What was saved")
    dialog.get_by_role("region").wait_for()
    press_to(page, "Edit question")
    page.keyboard.press("Enter")
    dialog.locator("input:focus").fill("Who leads?")
    page.keyboard.press("Enter")
    dialog.get_by_role("region", name="Who leads?").wait_for()
    press_to(page, "Remove")
    page.keyboard.press("Enter")
    dialog.get_by_text("Nothing").wait_for()
    assert holds(page, "dialog"), "the keys stay within"
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    assert page.evaluate(NAMED) == "What was saved"
    press_to(page, "Delete Points")
    page.keyboard.press("Enter")
    press_to(page, "Delete")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Points", exact=True).wait_for(state="detached")
    page.locator(".welcome").wait_for()
    assert not page.evaluate("document.activeElement === document.body"), "what had it is gone"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_stop_of_the_keys_has_a_ring_that_is_seen_and_lets_go(visit: Visit, shop: Path, scheme: str) -> None:
    page = visit(shop, [sql(NAMES)], examples="none")
    take_scheme(page, scheme)
    ask(page, "Who are the customers?")
    page.reload()
    last(page).locator("table").wait_for()
    page.evaluate("(document.body.tabIndex = -1, document.body.focus())")  # as where no question is to be typed
    stops: list[dict[str, Any]] = []
    while not stops or stops[-1]["id"] != page.evaluate("[...document.querySelectorAll('*')].indexOf(question)"):
        page.keyboard.press("Tab")
        stops.append(page.evaluate(STOP))
    assert len({stop["id"] for stop in stops}) == len(stops) > 15, "nothing holds the keys"
    assert [stop["html"] for stop in stops if not stop["seen"]] == []
    assert {stop["colour"] for stop in stops} == {"rgb(94, 214, 198)" if scheme == "dark" else "rgb(11, 107, 99)"}


def take_scheme(page: Any, scheme: str) -> None:
    page.get_by_role("textbox", name="Your").wait_for()
    if scheme == "dark":
        page.get_by_role("button", name="Dark").click()


@pytest.mark.parametrize("width", [1280, 390], indirect=True)
def test_letters_typed_at_once_on_a_wide_page_are_a_question(visit: Visit, shop: Path, width: int) -> None:
    page = visit(shop, [], examples="none")
    page.get_by_role("textbox", name="Your").wait_for()
    if width == 1280:
        page.locator("#question:focus").wait_for()
    page.keyboard.type("Total of s")
    assert page.locator("#question").input_value() == ("Total of s" if width == 1280 else "")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_used_without_seeing_it(visit: Visit, shop: Path, scheme: str) -> None:
    replies = [says("Ask back: Which ones?\n1. in Paris\n2. all"), sql(NAMES), fails(401, "no such key")]
    page = visit(shop, replies, examples="none")
    take_scheme(page, scheme)
    finds_nothing_moderate(page, "empty")
    ask(page, "Who are they?")
    finds_nothing_moderate(page, "asked back")
    last(page).get_by_role("button", name="all").click()
    last(page).locator(".feedback").wait_for()
    for summary in last(page).locator("summary").all():
        summary.click()
    last(page).get_by_role("button", name="Wrong").click()
    finds_nothing_moderate(page, "answer")
    ask(page, "And now?")
    finds_nothing_moderate(page, "error")
    pane(page, "Schema").locator("summary").first.click()
    finds_nothing_moderate(page, "schema")
    page.get_by_role("banner").get_by_role("button", name="Keys").click()
    finds_nothing_moderate(page, "keys")
    page.keyboard.press("Escape")
    pane(page, "Conversations")
    finds_nothing_moderate(page, "conversations")
    heard = page.locator("div.unseen[role=status]").inner_text()
    assert "no such key" in heard


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_answers_of_all_shapes_can_be_used_without_seeing_them(visit: Visit, shop: Path, scheme: str) -> None:
    bars = "SELECT name, id * 10 AS visits, id * 12 AS buyers FROM customers"
    four = "SELECT name, city FROM customers UNION ALL SELECT 'Di', 'Rome'"
    replies = [sql("SELECT 1234.5 AS spent"), sql(bars), sql("SELECT id, name FROM customers WHERE 1 = 0"), sql(four)]
    page = visit(shop, replies, examples="none")
    take_scheme(page, scheme)
    ask(page, "How much was spent?")
    finds_nothing_moderate(page, "number")
    ask(page, "Visits and buyers by name as a bar chart")
    last(page).locator("svg.marks").wait_for()
    last(page).get_by_role("combobox", name="Measure").select_option("buyers")
    finds_nothing_moderate(page, "drawn chart")
    ask(page, "Who is nobody?")
    finds_nothing_moderate(page, "no rows")
    page.get_by_label("Show me each query before it runs").check()
    ask(page, "Who are the customers?")
    finds_nothing_moderate(page, "waiting")
    last(page).get_by_role("button", name="Edit").click()
    finds_nothing_moderate(page, "editing")
    page.get_by_role("button", name="Run this instead").click()
    last(page).locator("table").wait_for()
    last(page).get_by_label("Filter rows").fill("no such text")
    last(page).get_by_text("No row has that text.").wait_for()
    last(page).get_by_role("button", name="Note a definition").click()
    finds_nothing_moderate(page, "filtered")
    last(page).get_by_role("button", name="See and change").click()
    page.get_by_role("dialog", name="What was saved").wait_for()
    finds_nothing_moderate(page, "what was saved")


def finds_nothing_moderate(page: Any, where: str) -> None:
    found = axe.Axe().run(page).response["violations"]
    grave = [each for each in found if each["impact"] in ("moderate", "serious", "critical")]
    assert [(each["id"], each["nodes"][0]["html"]) for each in grave] == [], where
