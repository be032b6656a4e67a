"""The page in a real browser, wide and narrow; needs the extra `browser`, and a Chromium on the machine."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tableturn.serve import ServeSettings
from tableturn.serve.config import ServerLimits

from tests.serve import pages
from tests.serve.pages import NAMES, Visit, ask, cells, last, pane, unfold_query
from tests.support.openai_server import fails, says, sql

pytest.importorskip("playwright", reason="playwright is not installed: make test-extras")

pytestmark = [pytest.mark.extra, pytest.mark.filterwarnings("ignore::ResourceWarning")]
browser, visit, width = pages.browser, pages.visit, pages.width

HOSTILE = "<img src=x onerror=document.title='hit'></script><script>document.title='hit'</script> ‮Ü𝔘"


def test_a_query_is_seen_as_it_is_written_and_stopped(visit: Visit, shop: Path) -> None:
    more = threading.Event()
    try:
        page = visit(shop, [sql(NAMES, held=more)], rephrase="never", examples="none")
        ask(page, "Who are the customers?", wait=False)
        turn = last(page)
        turn.locator(".sql.writing").wait_for()
        assert turn.locator(".sql").inner_text().startswith("SELECT")
        page.get_by_role("button", name="Stop").click()
        turn.get_by_text("Stopped.").wait_for()
        more.set()
        turn.get_by_role("button", name="Ask again").click()
        last(page).locator(".feedback").wait_for()
        assert cells(page) == ["Ada", "Bo", "Cy"]
    finally:
        more.set()


def test_a_turn_goes_on_while_one_is_away(visit: Visit, shop: Path) -> None:
    more = threading.Event()
    try:
        page = visit(shop, [sql(NAMES, held=more)], rephrase="never", examples="none")
        ask(page, "Who are the customers?", wait=False)
        last(page).locator(".sql.writing").wait_for()
        page.reload()
        last(page).locator(".sql.writing").wait_for()
        more.set()
        last(page).locator(".feedback").wait_for()
        assert cells(page) == ["Ada", "Bo", "Cy"]
    finally:
        more.set()


def test_a_long_name_goes_on_in_another_line_after_one_of_its_words(visit: Visit, tmp_path: Path) -> None:
    names = ("readings_of_all_environment_sensors_in_the_north", "ProductionLineSupervisorEmployeeIdentifier")
    with closing(sqlite3.connect(tmp_path / "plant.db")) as database:
        database.execute(f"CREATE TABLE {names[0]} ({names[1]} INTEGER PRIMARY KEY, kind TEXT)")
    page = visit(tmp_path / "plant.db")
    side = pane(page, "Schema")
    side.locator("summary .name").click() if page.viewport_size["width"] > 1000 else None
    lines = side.locator(".name").evaluate_all(
        """names => names.map(name => [...name.firstChild.childNodes].filter(node => node.nodeType === 3).map(node => {
            const range = document.createRange();
            range.selectNodeContents(node);
            return range.getClientRects().length }))"""
    )
    assert [set(each) for each in lines] == [{1}] * len(lines), lines
    assert max(map(len, lines)) == 8


def test_a_query_is_edited_and_run_again(visit: Visit, shop: Path) -> None:
    page = visit(shop, [sql(NAMES)])
    ask(page, "Who are the customers?")
    unfold_query(last(page))
    last(page).get_by_role("button", name="Edit and run").click()
    area = page.get_by_label("The query", exact=True)
    page.locator(".editor textarea:focus").wait_for()
    area.press("Escape")
    area.wait_for(state="detached")
    assert page.evaluate("document.activeElement.closest('.turn') !== null"), "the keys go on from where they were"
    last(page).get_by_role("button", name="Edit and run").click()
    area.fill("SELECT nothing")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("alert").wait_for()
    area.evaluate(
        """area => { area.value = "SELECT city FROM customers WHERE id = 2";
        area.dispatchEvent(new InputEvent("input", { bubbles: true }));
        area.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, bubbles: true })) }"""
    )  # faster than the page is drawn again
    last(page).get_by_text("Your query").wait_for()
    assert cells(page) == ["Lyon"]
    assert not last(page).get_by_role("button", name="Edit and run").is_visible()


def test_answers_are_judged_and_words_noted(visit: Visit, shop: Path) -> None:
    page = visit(shop, [sql(NAMES)])
    ask(page, "Who are the customers?")
    first = page.locator(".turn").first
    first.get_by_role("button", name="Right").click()
    first.get_by_text("Saved as right.").wait_for()
    first.get_by_role("button", name="Note a definition").click()
    first.get_by_label("What a word means").fill("local customer means city = 'Lyon'")
    first.get_by_role("button", name="Note", exact=True).click()
    first.get_by_text("Noted.").wait_for()
    first.get_by_role("button", name="Note a definition").click()
    first.get_by_label("What a word means").fill("far customer means nowhere = 'Lyon'")
    first.get_by_role("button", name="Note", exact=True).click()
    first.get_by_role("alert").get_by_text("not saved").wait_for()
    assert not first.get_by_text("Noted.").is_visible()
    first.get_by_role("button", name="Wrong").click()
    first.get_by_text("Or write the right query").click()
    first.get_by_label("The right query").fill("SELECT name FROM customers WHERE city = 'Lyon'")
    first.get_by_role("button", name="Save the right query").click()
    first.get_by_text("Corrected below.").wait_for()
    page.locator(".turn").nth(1).wait_for()
    assert cells(page) == ["Bo"]
    last(page).get_by_role("button", name="Wrong").click()
    last(page).get_by_label("What is wrong?").fill("all of them")
    last(page).get_by_role("button", name="Only mark as wrong").click()
    last(page).get_by_text("marked as wrong").wait_for()


def test_an_answer_is_corrected_in_words_and_the_new_one_saved_with_its_question(visit: Visit, shop: Path) -> None:
    replies = [sql("SELECT count(*) FROM orders"), sql("SELECT count(*) FROM orders WHERE total > 8"), sql(NAMES)]
    page = visit(shop, replies)
    ask(page, "How many orders are there?")
    last(page).get_by_role("button", name="Wrong").click()
    last(page).get_by_label("What is wrong?").fill("small orders should not count")
    last(page).get_by_role("button", name="Answer again").click()
    page.locator(".turn").nth(1).get_by_label("Right now? Save it as the answer to").wait_for()
    field = last(page).get_by_label("Right now? Save it as the answer to")
    assert field.input_value() == "How many orders are there?"
    last(page).get_by_role("button", name="Save", exact=True).click()
    last(page).get_by_text("Saved as right.").wait_for()
    ask(page, "Who are the customers?")
    last(page).get_by_role("button", name="Right").click()
    last(page).get_by_label("Save it as the answer to").fill("Who buys here?")
    last(page).get_by_role("button", name="Save", exact=True).click()
    last(page).get_by_text("Saved as right.").wait_for()
    last(page).get_by_role("button", name="Note a definition").click()
    last(page).get_by_role("button", name="See and change").click()
    dialog = page.get_by_role("dialog", name="What was saved")
    buyers = dialog.get_by_role("region", name="Who buys here?")
    buyers.get_by_role("button", name="Edit question").click()
    buyers.get_by_label("The new question").fill("How many orders are there?")
    buyers.get_by_role("button", name="Save").click()
    buyers.get_by_role("alert").get_by_text("not changed").wait_for()  # where it was edited, however long the list
    buyers.get_by_label("The new question").fill("Who are our buyers?")
    buyers.get_by_role("button", name="Save").click()
    dialog.get_by_role("region", name="Who are our buyers?").get_by_role("button", name="Remove").click()
    dialog.get_by_role("region", name="Who are our buyers?").wait_for(state="detached")
    assert dialog.get_by_role("region").all_inner_texts()[0].startswith("How many orders are there?")
    dialog.get_by_role("button", name="Close").click()


def test_right_saves_what_was_corrected_in_words(visit: Visit, shop: Path) -> None:
    page = visit(shop, [sql("SELECT count(*) FROM orders"), sql("SELECT count(*) FROM orders WHERE total > 8")])
    ask(page, "Number of orders")
    last(page).get_by_role("button", name="Wrong").click()
    last(page).get_by_label("What is wrong?").fill("small orders should not count")
    page.keyboard.press("Enter")
    turn = page.locator(".turn").nth(1)
    turn.get_by_label("Right now? Save it as the answer to").wait_for()
    assert turn.locator(".question").inner_text() == "Number of orders. small orders should not count"
    assert turn.evaluate("turn => turn === document.activeElement"), "not the turn that was wrong"
    turn.get_by_label("Right now?").fill("How many large orders are there?")
    turn.get_by_role("button", name="Right").click()
    turn.get_by_text("Saved as right.").wait_for()
    turn.get_by_role("button", name="Note a definition").click()
    turn.get_by_role("button", name="See and change").click()
    saved = page.get_by_role("dialog", name="What was saved")
    saved.get_by_role("region", name="How many large orders are there?").wait_for()
    saved.get_by_role("button", name="Close").click()


def test_a_follow_up_is_corrected_with_a_query_under_words_that_are_shown(visit: Visit, shop: Path) -> None:
    page = visit(shop, [sql(NAMES), sql("SELECT name FROM customers WHERE city = 'Paris'")])
    ask(page, "Who are the customers?")
    ask(page, "only those in Lyon")
    turn = page.locator(".turn").nth(1)
    turn.get_by_role("button", name="Right").click()
    wording = turn.get_by_label("Save it as the answer to")
    assert wording.input_value() == "only those in Lyon", "as it was asked, where the model gave no other words"
    wording.fill("Lyon's customers?")
    page.keyboard.press("Enter")
    turn.get_by_text("Saved as right.").wait_for()
    turn.get_by_role("button", name="Wrong").click()
    field = turn.get_by_label("What is wrong?")
    turn.locator(".panel input:focus").wait_for()
    page.keyboard.type("n?")
    assert field.input_value() == "n?"
    assert page.locator(".turn").count() == 2, "no key of these begins a conversation"
    panel, composer = turn.locator(".panel").bounding_box(), page.get_by_role("textbox", name="Your").bounding_box()
    assert panel["y"] >= 0
    assert panel["y"] + panel["height"] <= composer["y"]
    turn.get_by_text("Or write the right query").click()
    turn.locator(".panel textarea:focus").wait_for()
    wording = turn.get_by_label("Save it as the answer to")
    assert wording.input_value() == "Lyon's customers?", "the words under which it was approved"
    wording.fill("Which customers are from Lyon?")
    turn.get_by_label("The right query").fill("SELECT name FROM customers WHERE city = 'Lyon'")
    turn.get_by_role("button", name="Save the right query").click()
    turn.get_by_text("Corrected below.").wait_for()
    page.locator(".turn").nth(2).wait_for()
    last(page).get_by_role("button", name="Note a definition").click()
    last(page).get_by_role("button", name="See and change").click()
    page.get_by_role("dialog", name="What was saved").get_by_role(
        "region", name="Which customers are from Lyon?"
    ).wait_for()


def test_what_is_asked_back_is_answered_with_a_button(visit: Visit, shop: Path) -> None:
    page = visit(shop, [says("Ask back: Which ones?\n1. in Paris\n2. all of them"), sql(NAMES)], examples="none")
    ask(page, "Who are they?")
    page.reload()
    last(page).get_by_text("Which ones?").wait_for()
    last(page).get_by_role("button", name="all of them").click()
    last(page).locator(".feedback").wait_for()
    assert cells(page) == ["Ada", "Bo", "Cy"]
    assert page.locator(".turn").first.get_by_role("button", name="in Paris").is_disabled()


def test_a_query_waits_for_approval(visit: Visit, shop: Path) -> None:
    page = visit(shop, [sql(NAMES)], examples="none")
    page.get_by_label("Show me each query before it runs").check()
    ask(page, "Who are the customers?")
    assert "SELECT" in last(page).locator(".sql").inner_text()
    last(page).get_by_role("button", name="Run it", exact=True).click()
    last(page).locator(".feedback").wait_for()
    assert cells(page) == ["Ada", "Bo", "Cy"]
    assert page.locator(".question").all_inner_texts() == ["Who are the customers?", "Run it"]
    assert page.get_by_text("Not run").count() == 0
    ask(page, "Who are the customers in Lyon?")
    last(page).get_by_role("button", name="Edit").click()
    last(page).get_by_label("The query").fill("SELECT 'mine' AS whose")
    last(page).get_by_role("button", name="Run this instead").click()
    last(page).locator(".feedback").wait_for()
    assert cells(page) == ["mine"]
    ask(page, "Who are the customers in Rome?")
    last(page).get_by_role("button", name="Edit").click()
    last(page).get_by_label("The query").fill("SELECT nothing")
    last(page).get_by_role("button", name="Run this instead").click()
    last(page).locator(".text.problem").wait_for()  # what failed can be edited where it failed
    page.get_by_label("The query", exact=True).fill("SELECT 'mended' AS whose")
    page.get_by_label("The query", exact=True).press("Control+Enter")
    last(page).locator(".figure").wait_for()
    assert cells(page) == ["mended"]
    assert last(page).locator(".question").inner_text() == "Who are the customers in Rome?", "not the query that failed"
    ask(page, "Who are the customers in Paris?")
    last(page).get_by_role("button", name="Don't run").click()
    last(page).locator(".feedback").wait_for()
    assert last(page).locator("table, .problem").count() == 0, "to decline is no error"
    last(page).get_by_role("button", name="Ask again").click()
    last(page).get_by_role("button", name="Run it", exact=True).wait_for()
    assert last(page).locator(".question").inner_text() == "Who are the customers in Paris?"


def test_words_leave_a_query_that_waits_and_ask_something_new(visit: Visit, shop: Path) -> None:
    page = visit(shop, [sql(NAMES), sql("SELECT count(*) FROM orders"), sql(NAMES)], examples="none")
    ask(page, "Who are the customers?")
    page.get_by_label("Show me each query before it runs").check()
    ask(page, "How many orders are there?")
    page.get_by_label("Show me each query before it runs").uncheck()
    ask(page, "Who are the customers in Paris?")
    assert cells(page) == ["Ada", "Bo", "Cy"]
    page.reload()
    left = page.locator(".turn").nth(1)
    left.get_by_text("Not run: something else was asked.").wait_for()
    assert left.get_by_role("button", name="Run it").count() == 0
    assert left.get_by_text("Run this query?").count() == 0


def test_a_refused_decision_is_made_again(visit: Visit, shop: Path) -> None:
    page = visit(shop, [sql(NAMES)], examples="none")
    page.get_by_label("Show me each query before it runs").check()
    ask(page, "Who are the customers?")

    def refuse(route: Any) -> None:
        route.fulfill(status=429, json={"error": {"kind": "TooMany", "message": "too many"}})

    page.route("**/turns", refuse)
    last(page).get_by_role("button", name="Run it", exact=True).click()
    last(page).get_by_text("too many").wait_for()
    page.unroute("**/turns")
    last(page).get_by_role("button", name="Ask again").click()
    last(page).locator(".feedback").wait_for()
    assert cells(page) == ["Ada", "Bo", "Cy"], "the query ran, as was decided"


def test_a_stopped_decision_is_made_again_not_asked_as_words(visit: Visit, shop: Path) -> None:
    slow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000000)"
    page = visit(shop, [sql(f"{slow} SELECT max(i) AS top FROM n")], examples="none", query_seconds=60)
    page.get_by_label("Show me each query before it runs").check()
    ask(page, "What is the top?")
    last(page).get_by_role("button", name="Run it", exact=True).click()
    page.get_by_role("button", name="Stop").click()
    last(page).get_by_text("Stopped.").wait_for()
    page.reload()  # what is asked again comes from the server
    last(page).get_by_role("button", name="Ask again").click()
    last(page).locator(".figure").wait_for()
    assert cells(page) == ["6,000,000"], "the query ran, as was decided"


def test_a_question_is_stopped_before_it_is_drawn(visit: Visit, shop: Path) -> None:
    page = visit(shop, [sql(NAMES)], rephrase="never", examples="none")
    page.get_by_role("textbox", name="Your").fill("Who are the customers?")
    page.evaluate(
        """() => { const key = (key) => document.getElementById("question").dispatchEvent(new KeyboardEvent("keydown",
        {key, bubbles: true, cancelable: true})); key("Enter"); key("Escape") }"""
    )
    last(page).get_by_text("Stopped.").wait_for()
    assert cells(page) == [], "nothing was answered"


def test_conversations_are_kept_renamed_and_deleted(visit: Visit, shop: Path, width: int) -> None:
    page = visit(shop, [sql(NAMES)], examples="none")
    for question in ("Who are the customers?", "How many orders are there?"):
        page.get_by_role("banner").get_by_role("button", name="New conversation").click()
        ask(page, question)
    side = pane(page, "Conversations")
    assert side.get_by_role("link").all_inner_texts() == ["How many orders are there?", "Who are the customers?"]
    side.get_by_role("link", name="Who are the customers?").click()
    page.get_by_role("heading", name="Who are the customers?").wait_for()
    side = pane(page, "Conversations")
    side.get_by_role("listitem").nth(1).hover()
    side.get_by_role("button", name="Rename Who are the customers?").click()
    page.get_by_role("dialog").get_by_label("Name").fill("People")
    page.get_by_role("dialog").get_by_role("button", name="Rename").click()
    side.get_by_role("link", name="People").wait_for()
    page.reload()
    page.get_by_role("heading", name="Who are the customers?").wait_for()
    side = pane(page, "Conversations")
    side.get_by_role("listitem").filter(has_text="People").hover()
    side.get_by_role("button", name="Delete People").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.locator(".welcome").wait_for(state="attached")
    side = pane(page, "Conversations")
    side.get_by_role("link", name="People").wait_for(state="detached")
    assert side.get_by_role("link").all_inner_texts() == ["How many orders are there?"]


def test_a_first_question_that_is_refused_leaves_no_conversation(visit: Visit, shop: Path) -> None:
    page = visit(shop, [sql(NAMES)], examples="none")
    refused: dict[str, Any] = {"status": 429, "json": {"error": {"kind": "TooMany", "message": "too many"}}}

    def refuse(route: Any) -> None:
        route.fulfill(**refused)

    page.route("**/turns", refuse, times=1)
    ask(page, "Who are the customers?", wait=False)
    last(page).get_by_text("too many").wait_for()
    assert "#" not in page.url
    last(page).get_by_role("button", name="Ask again").click()
    last(page).get_by_role("cell", name="Ada").wait_for()
    assert "#" in page.url
    assert pane(page, "Conversations").get_by_role("link").all_inner_texts() == ["Who are the customers?"]


def test_conversations_stand_under_their_day_and_are_found(visit: Visit, shop: Path) -> None:
    page = visit(shop, [sql(NAMES)], examples="none")
    for question in ("Who are the customers?", "How many orders are there?"):
        page.get_by_role("banner").get_by_role("button", name="New conversation").click()
        ask(page, question)
    side = pane(page, "Conversations")
    assert side.get_by_role("heading").all_inner_texts() == ["Today"]
    side.get_by_label("Find conversations").fill("CUSTOMERS")
    side.get_by_role("link", name="How many orders are there?").wait_for(state="detached")
    assert side.get_by_role("link").all_inner_texts() == ["Who are the customers?"]
    side.get_by_label("Find conversations").fill("name and city")
    side.get_by_role("link", name="How many orders are there?").wait_for()
    side.get_by_label("Find conversations").fill("100%")
    side.get_by_text("No conversation has that text.").wait_for()


def test_older_conversations_are_a_button_away(visit: Visit, shop: Path) -> None:
    page = visit(shop, serving=ServeSettings(limits=ServerLimits(requests_a_minute=6_000)))
    page.evaluate(
        """async () => {
          const post = (path, body) => fetch(path, {method: "POST", headers: {"content-type": "application/json"},
            body: JSON.stringify(body)}).then((reply) => reply.json());
          for (let n = 0; n < 60; n++) {
            const { id } = await post("threads", {title: `A conversation ${n}`});
            await post(`threads/${id}/turns`, {question: "Hello"});
          }
        }"""
    )
    page.reload()
    side = pane(page, "Conversations")
    side.get_by_role("button", name="Older conversations").click()
    side.get_by_text("A conversation 0", exact=True).wait_for()
    assert side.get_by_role("link").count() == 60


def test_tables_are_found_and_put_into_the_question(visit: Visit, sample: Path, width: int) -> None:
    page = visit(sample)
    side = pane(page, "Schema")
    side.get_by_label("Find tables and columns").fill("loyalty")
    side.locator("details").first.wait_for()
    assert side.locator("summary .name").all_inner_texts() == ["customers"]
    side.get_by_role("button", name="loyalty_tier").click()
    assert page.get_by_label("Your question").input_value() == "loyalty_tier"
    pane(page, "Schema").get_by_role("button", name="Put customers into the question").click()
    assert page.get_by_label("Your question").input_value() == "loyalty_tier customers"
    pane(page, "Schema")
    page.keyboard.press("Escape")
    page.get_by_role("complementary", name="Schema").wait_for(state="visible" if width > 1000 else "hidden")


def test_all_can_be_done_with_keys(visit: Visit, shop: Path, width: int) -> None:
    page = visit(shop, [sql(NAMES)], examples="none")
    page.get_by_label("Your question").wait_for()
    page.keyboard.press("/")
    page.keyboard.type("Who are / the customers?")
    page.keyboard.press("Enter")
    last(page).locator(".feedback").wait_for()
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.className") == "turn"
    schema = page.get_by_role("complementary", name="Schema")
    before = schema.is_visible()
    page.keyboard.press("s")
    schema.wait_for(state="hidden" if before else "visible")
    page.keyboard.press("s")
    page.keyboard.press("d")
    assert page.evaluate("getComputedStyle(document.body).colorScheme") == "dark"
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    assert "New conversation" in dialog.inner_text()
    dialog.get_by_label("Use shortcuts of a single key").uncheck()
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    page.keyboard.press("d")
    assert page.evaluate("getComputedStyle(document.body).colorScheme") == "dark"
    page.reload()
    assert page.evaluate("getComputedStyle(document.body).colorScheme") == "dark"
    page.get_by_role("button", name="Light").click()
    assert page.evaluate("getComputedStyle(document.body).colorScheme") == "light"


def test_what_goes_wrong_is_told(visit: Visit, shop: Path) -> None:
    page = visit(shop, [fails(401, "no such key")], examples="none")
    ask(page, "Who are the customers?")
    assert "no such key" in last(page).inner_text()
    assert last(page).get_by_role("button", name="Ask again").is_visible()


def test_a_server_with_a_token_asks_for_it(visit: Visit, shop: Path) -> None:
    page = visit(shop, serving=ServeSettings(token="a token of enough characters"))
    page.get_by_label("The server's token").fill("not the token at all")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("alert").wait_for()
    page.get_by_label("The server's token").fill("a token of enough characters")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("Your question").wait_for()
    page.context.clear_cookies()
    ask(page, "How many customers are there?", wait=False)
    dialog = page.get_by_role("dialog", name="Sign in again")
    dialog.get_by_label("The server's token").fill("a token of enough characters")
    dialog.get_by_role("button", name="Sign in").click()
    dialog.wait_for(state="hidden")
    last(page).get_by_role("button", name="Ask again").click()
    last(page).locator(".feedback").wait_for()
    assert "3 customers" in last(page).inner_text()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("The server's token").wait_for()


def test_what_was_asked_in_another_tab_is_seen(visit: Visit, shop: Path) -> None:
    page = visit(shop, [sql(NAMES), sql("SELECT count(*) FROM customers")], examples="none")
    ask(page, "Who are the customers?")
    headers = "method: 'POST', headers: {'content-type': 'application/json'}"
    body = "body: JSON.stringify({question: 'How many are there?'})"
    page.evaluate(f"thread => fetch(`threads/${{thread}}/turns`, {{{headers}, {body}}})", page.url.rpartition("#")[2])
    page.evaluate("dispatchEvent(new Event('focus'))")
    last(page).get_by_role("heading", name="How many are there?").wait_for()
    assert page.locator(".turn").count() == 2, "beside the turn that was here before"


def test_a_conversation_that_is_gone_gives_way_to_another(visit: Visit, shop: Path) -> None:
    page = visit(shop, [sql(NAMES)], examples="none")
    page.get_by_label("Your question").wait_for()
    page.evaluate("location.hash = '0123456789abcdef0123456789abcdef'")
    page.get_by_role("alert").get_by_text("This conversation is gone").wait_for()
    ask(page, "Who are the customers?", wait=False)
    last(page).get_by_role("button", name="Ask in a new conversation").click()
    last(page).locator(".feedback").wait_for()
    assert cells(page) == ["Ada", "Bo", "Cy"]


def test_no_text_becomes_a_part_of_the_page(visit: Visit, shop: Path) -> None:
    with closing(sqlite3.connect(shop)) as connection, connection:
        connection.execute("UPDATE customers SET name = ?", (HOSTILE,))
        connection.execute(f'CREATE TABLE "{HOSTILE}" ("{HOSTILE}" TEXT)')
        connection.execute(f'INSERT INTO "{HOSTILE}" VALUES (?)', (HOSTILE * 20,))
    quoted = HOSTILE.replace("'", "''")
    query = f"SELECT name, id AS \"{HOSTILE}\", '{quoted}' FROM customers"
    page = visit(shop, [sql(query)], examples="none")
    ask(page, HOSTILE)
    assert cells(page)[0].startswith(HOSTILE[:70])  # what is longer unfolds
    assert page.locator(".turn h2").inner_text() == HOSTILE
    assert last(page).get_by_role("tab").count() == 0, "no chart fits"
    pane(page, "Schema").get_by_text(HOSTILE).first.wait_for()
    assert pane(page, "Conversations").get_by_role("link", name=HOSTILE).first.is_visible()
    assert page.locator("#app img, #app script").count() == 0


def test_what_questions_may_still_cost_is_shown_on_a_phone_too(visit: Visit, shop: Path) -> None:
    page = visit(shop, None, ServeSettings(limits=ServerLimits(dollars_a_day=5.0, dollars_a_million=(0.25, 2.0))))
    left = page.get_by_text("$5.00 left today")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 844})
        left.wait_for()
        assert left.is_visible()
