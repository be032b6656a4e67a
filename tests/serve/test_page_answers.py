"""Answers on the page: a sentence, then a number, a chart or a table; needs the extra `browser`, and a Chromium."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tableturn.tools.ledger import build_query_ledger

from tests.serve import pages
from tests.serve.pages import NAMES, Visit, ask, cells, last, unfold_query
from tests.support.openai_server import sql

pytest.importorskip("playwright", reason="playwright is not installed: make test-extras")

pytestmark = [pytest.mark.extra, pytest.mark.filterwarnings("ignore::ResourceWarning")]
browser, visit, width = pages.browser, pages.visit, pages.width

THOUSAND = "WITH RECURSIVE t(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM t LIMIT 1000) SELECT value FROM t"


def test_an_answer_comes_with_rows_files_and_reasons(visit: Visit, sample: Path) -> None:
    page = visit(sample)
    ask(page, "List the names and prices of all products sorted by price in descending order")
    turn = last(page)
    status = turn.locator(".pager [role=status]")
    assert "235" in turn.locator(".lead").inner_text()
    assert status.inner_text() == "1–25 of 235"
    turn.get_by_role("button", name="Next").click()
    turn.get_by_text("26–50 of 235", exact=True).wait_for()
    turn.get_by_role("columnheader").nth(1).get_by_role("button").click()
    turn.locator("th[aria-sort=ascending]").wait_for()
    turn.get_by_text("1–25 of 235", exact=True).wait_for()
    prices = [float(cell) for cell in cells(page, 2)]
    assert prices == sorted(prices)
    turn.get_by_label("Filter rows").fill("volta")
    turn.get_by_text("1–25 of 235", exact=True).wait_for(state="detached")
    assert all("volta" in cell.lower() for cell in cells(page))
    turn.get_by_label("Filter rows").fill("no such text")
    turn.get_by_text("No row has that text.").wait_for()
    for name, start in {"CSV": b"name,price", "Excel": b"PK", "Parquet": b"PAR1"}.items():
        with page.expect_download() as download:
            turn.get_by_role("button", name=name).click()
        assert Path(download.value.path()).read_bytes().startswith(start)
    assert not turn.locator(".sql").first.is_visible(), "the query is folded"
    turn.get_by_text("What it rests on").click()
    assert "It took 1 query." in turn.locator(".why").inner_text()
    assert "How sure, from 0 to 1: " in turn.locator(".why").inner_text()
    turn.get_by_text("What was tried").click()
    assert "offline translator" in turn.inner_text()
    unfold_query(turn)
    assert turn.get_by_text("Name and price from products, sorted").is_visible()


def test_a_lone_number_is_written_large_in_its_sentence_and_answers_scroll_within_the_page(
    visit: Visit, shop: Path
) -> None:
    page = visit(shop, [sql("SELECT 1234.5 AS spent, 'a' AS who"), sql("SELECT 1234.5 AS spent")], examples="none")
    ask(page, "Who spent how much?")
    heading, cell = (last(page).locator(which).first.bounding_box() for which in ("th button", "td"))
    assert abs(heading["x"] + heading["width"] - cell["x"] - cell["width"]) < 1
    for question in ("How much was spent?", "And how much now?"):
        ask(page, question)
    sentence, figure = (last(page).locator(which) for which in (".lead", ".figure"))
    assert figure.inner_text() == "1,234.5"
    assert sentence.inner_text() == "Spent: 1,234.5."
    assert last(page).inner_text().count("1,234.5") == 1, "it is said once"
    assert last(page).locator("table, [role=tab]").count() == 0


def test_an_answer_stands_before_its_rows_are_counted_and_what_counting_adds_moves_nothing(
    visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    path = tmp_path / "sales.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript("""
            CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE sale (id INTEGER PRIMARY KEY, product_id INTEGER REFERENCES product);
            INSERT INTO product VALUES (1, 'lamp');
            INSERT INTO sale VALUES (1, 1), (2, 9), (3, 9);
        """)
    counted = threading.Event()

    def keep(*given: Any, **more: Any) -> Any:
        query, count = given

        def later(counting: str) -> Any:
            rows = count(counting)
            assert counted.wait(30)
            return rows

        return build_query_ledger(query, later, **more)

    monkeypatch.setattr("tableturn.agent.evidence.ledger.build_query_ledger", keep)
    monkeypatch.setattr("tableturn.agent.evidence.ledger.LONGEST_SECONDS", 60.0)
    monkeypatch.setattr("tableturn.agent.evidence.ledger.SHORTEST_SECONDS", 60.0)
    page = visit(path, [sql("SELECT COUNT(*) FROM sale JOIN product ON product.id = sale.product_id")], examples="none")
    ask(page, "How many sales?", wait=False)
    turn = last(page)
    turn.get_by_text("Counting rows…").wait_for()
    assert turn.locator(".lead").inner_text() == "Sale: 1."
    before = turn.locator(".figure").bounding_box()
    assert turn.get_by_role("button").count() == 0
    counted.set()
    turn.get_by_text("2 more have no match in product; with them it is 3.").wait_for()
    assert turn.locator(".doubt").count() == 0, "it is told once"
    assert turn.locator(".lead").inner_text() == "Sale: 1."
    assert turn.get_by_text("Counting rows…").count() == 0
    if width > 1_000:
        assert turn.locator(".figure").bounding_box() == before
    turn.get_by_role("button", name="Count them too").click()
    page.locator(".figure").nth(1).wait_for()
    assert last(page).locator(".figure").inner_text() == "3"


def test_a_sentence_stands_alone_where_there_is_nothing_to_show(visit: Visit, shop: Path) -> None:
    empty = "SELECT name, city FROM customers WHERE id < 0"
    page = visit(shop, [sql(empty), sql("SELECT NULL AS phone"), sql(NAMES)], examples="none")
    for question, sentence in {"Who is nobody?": "No rows match.", "What is the phone?": "Phone: no value."}.items():
        ask(page, question)
        assert last(page).locator(".lead").inner_text() == sentence
        assert last(page).locator("section").count() == 0, "neither a table nor files"
        assert not last(page).get_by_text("matched").is_visible(), "a NULL may be what is stored"
    ask(page, "Who are the customers?")
    assert last(page).locator(".pager [role=status]").inner_text() == "", "the sentence counts three rows"
    last(page).locator("table").wait_for()


def test_small_talk_has_no_tools(visit: Visit, shop: Path) -> None:
    page = visit(shop)
    ask(page, "hello")
    assert last(page).get_by_role("button").count() == 0
    assert last(page).locator("details").count() == 0


def test_the_first_screen_asks_what_can_be_answered(visit: Visit, sample: Path) -> None:
    page = visit(sample)
    choices = page.locator(".welcome .choices button")
    choices.first.wait_for()
    questions = choices.all_inner_texts()
    assert len(questions) == 4
    assert questions[0] == "How many orders are there for each store?"
    for question in questions:
        ask(page, question)
        last(page).locator(".lead").wait_for()


def test_a_table_that_pages_all_rows_is_not_called_cut(visit: Visit, sample: Path) -> None:
    page = visit(sample)
    ask(page, "List all orders")
    last(page).locator(".pager").get_by_text(" of 9,500 rows").wait_for()
    assert "1,000" not in last(page).locator(".lead").inner_text(), "the rows are counted once, and all of them"
    assert not last(page).get_by_text("Only the first").first.is_visible()
    last(page).get_by_text("What it rests on").click()
    assert "1,000" not in last(page).locator(".why").inner_text()


def test_a_table_wider_than_the_page_says_that_it_scrolls(visit: Visit, shop: Path, width: int) -> None:
    columns = ", ".join(f"name || ' of {place}' AS {place}" for place in ("france", "germany", "portugal"))
    page = visit(shop, [sql(f"SELECT {columns} FROM customers"), sql(NAMES)])
    ask(page, "Who is from where?")
    last(page).locator(".result").wait_for()
    hint = last(page).get_by_text("More columns: scroll sideways")
    if width == 390:
        hint.wait_for()
    assert hint.count() == (1 if width == 390 else 0)
    ask(page, "Who are the customers?")
    last(page).locator(".result").wait_for()
    assert hint.count() == 0, "all of them are in sight"


def test_a_note_of_its_kind_is_left_out_in_any_language(visit: Visit, sample: Path) -> None:
    page = visit(sample)
    ask(page, "List all orders")
    note = "Nur die ersten 1.000 Zeilen werden gezeigt."

    def translate(route: Any) -> None:
        reply = route.fetch()
        thread = reply.json()
        answer = thread["turns"][0]["answer"]
        answer |= {"text": f"Alle. {note} Mehr.", "notes": [note, "Mehr."], "note_kinds": ["cut", ""]}
        route.fulfill(response=reply, json=thread)

    page.route("**/threads/*", translate)
    page.reload()
    last(page).get_by_text("Mehr.", exact=True).first.wait_for()
    assert last(page).locator(".lead").inner_text() == "Alle."
    assert not last(page).get_by_text("Nur die").first.is_visible()


def test_a_chart_is_drawn_and_changed(visit: Visit, sample: Path) -> None:
    page = visit(sample)
    ask(page, "How many orders are there per store?")
    turn = last(page)
    turn.locator("svg.marks").wait_for()
    assert turn.locator("table[role], .scrolled").count() == 0, "the chart comes first"
    assert turn.locator("svg .mark-rect path").count() == 12
    turn.get_by_role("combobox", name="Chart").select_option("pie")
    turn.locator("svg .mark-arc").wait_for()
    turn.get_by_role("combobox", name="Chart").select_option("histogram")
    turn.get_by_text("does not fit").or_(turn.locator("svg .mark-rect")).first.wait_for()
    turn.get_by_role("combobox", name="Chart").select_option("bar")
    turn.locator("svg .mark-rect").wait_for()
    with page.expect_download() as download:
        turn.get_by_role("button", name="Save as PNG").click()
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")
    turn.get_by_role("tab", name="Chart").press("ArrowRight")
    assert turn.get_by_role("tab", name="Table").get_attribute("aria-selected") == "true"


def test_a_count_has_no_marks_at_its_tenths(visit: Visit, shop: Path) -> None:
    page = visit(shop, [sql("SELECT name, 1 AS visits FROM customers")], examples="none")
    ask(page, "Visits by name")
    last(page).locator("svg.marks").wait_for()
    labels = last(page).locator("svg.marks .role-axis-label text").all_text_contents()
    assert {label for label in labels if label[0].isdigit()} == {"0", "1"}


def test_a_chart_of_few_lying_bars_leaves_no_gap_beneath(visit: Visit, shop: Path) -> None:
    query = "SELECT name || ' of the hill far away' AS name, id * 2.5 AS visits FROM customers"
    page = visit(shop, [sql(query)], examples="none")
    ask(page, "Visits by name as a bar chart")
    chart = last(page).locator(".chart")
    chart.locator("svg.marks").wait_for()
    drawing, buttons = chart.locator(".drawing").bounding_box(), chart.locator(".buttons").bounding_box()
    assert buttons["y"] - drawing["y"] - drawing["height"] < 20


def test_which_column_a_chart_measures_is_chosen_and_remembered(visit: Visit, shop: Path) -> None:
    rows = "SELECT 'north' AS region, 3 AS visits, 4 AS buyers UNION ALL SELECT 'south', 5, 6"
    page = visit(shop, [sql(f"{rows} UNION ALL SELECT 'east', 7, 9")], examples="none")
    ask(page, "Show visits and buyers per region as a bar chart")
    turn = last(page)
    turn.locator("svg.marks").wait_for()
    bars = turn.locator("svg .mark-rect path")
    assert bars.count() == 6, "what is alike in size is drawn side by side"
    measure = turn.get_by_role("combobox", name="Measure")
    assert measure.locator("option").all_inner_texts() == ["Automatic", "visits", "buyers"]
    measure.select_option("buyers")
    bars.nth(3).wait_for(state="detached")
    assert bars.count() == 3
    assert turn.locator("svg").get_by_text("buyers").count() > 0
    turn.get_by_role("combobox", name="Chart").select_option("pie")
    turn.locator("svg .mark-arc path").nth(2).wait_for()
    turn.get_by_role("tab", name="Table").click()
    turn.locator("table").wait_for()
    turn.get_by_role("tab", name="Chart").click()
    turn.locator("svg .mark-arc path").nth(2).wait_for()
    assert (measure.input_value(), turn.get_by_role("combobox", name="Chart").input_value()) == ("2", "pie")
    measure.focus()
    page.keyboard.press("ArrowUp")
    turn.locator("svg .mark-arc path").nth(2).wait_for()
    assert measure.input_value() == "1"
    assert measure.evaluate("field => field === document.activeElement"), "the keys stay where they are"


@pytest.mark.parametrize(
    ("query", "charts"),
    [
        ("SELECT name, city FROM customers", 0),
        ("SELECT name FROM customers", 0),
        ("SELECT 7 AS visits", 0),
        ("SELECT name, city, 7 AS visits FROM customers LIMIT 1", 0),
        (f"SELECT 1000 + value AS id, value * 7 % 50 AS price FROM ({THOUSAND})", 0),
        ("SELECT name, id * 7 AS visits FROM customers", 1),
        ("SELECT city, name, 1.5 * id AS spent FROM customers", 1),
    ],
)
def test_a_chart_is_offered_where_one_fits(visit: Visit, shop: Path, query: str, charts: int) -> None:
    page = visit(shop, [sql(query)], examples="none")
    ask(page, "Who are the customers?")
    last(page).locator(".figure, table, svg.marks").first.wait_for()
    page.wait_for_load_state("networkidle")
    assert last(page).get_by_role("tab", name="Chart").count() == charts
    assert last(page).get_by_role("tab", name="Table").count() == charts


def test_a_chart_has_the_currency_of_its_table(visit: Visit, shop: Path) -> None:
    page = visit(shop, [sql("SELECT name, id * 1500 AS spent_eur FROM customers")], examples="none")
    ask(page, "Who spent how much?")
    last(page).locator("svg.marks").wait_for()
    labels = last(page).locator("svg.marks .role-axis-label text").all_text_contents()
    assert "€1,000" in labels


def test_tabs_keep_the_keys(visit: Visit, sample: Path) -> None:
    page = visit(sample)
    ask(page, "How many orders are there per store?")
    last(page).locator("svg.marks").wait_for()
    for key, name in (("ArrowRight", "Table"), ("ArrowLeft", "Chart")):
        last(page).get_by_role("tab", selected=True).press(key)
        tab = last(page).get_by_role("tab", name=name)
        last(page).get_by_role("tab", name=name, selected=True).wait_for()
        assert tab.evaluate("tab => tab === document.activeElement")


def test_files_have_the_rows_that_are_shown_in_their_order(visit: Visit, shop: Path) -> None:
    page = visit(shop, [sql("SELECT id, name, city FROM customers UNION ALL SELECT 4, 'Di', 'Paris'")], examples="none")
    ask(page, "Who lives where?")
    turn = last(page)
    turn.get_by_label("Filter rows").fill("paris")
    turn.get_by_text("3 rows", exact=True).wait_for()
    assert turn.get_by_text("These rows as").is_visible()
    turn.get_by_role("columnheader").nth(1).get_by_role("button").click()
    turn.locator("th[aria-sort=ascending]").wait_for()
    turn.get_by_role("columnheader").nth(1).get_by_role("button").click()
    turn.locator("th[aria-sort=descending]").wait_for()
    with page.expect_download() as download:
        turn.get_by_role("button", name="CSV").click()
    assert download.value.suggested_filename == "Who lives where.csv"
    assert Path(download.value.path()).read_text() == "id,name,city\n4,Di,Paris\n3,Cy,Paris\n1,Ada,Paris\n"
    turn.get_by_label("Filter rows").fill("")
    turn.get_by_text("All rows as").wait_for()


def test_what_an_answer_says_of_itself_is_shown(visit: Visit, shop: Path) -> None:
    page = visit(shop, [sql(NAMES)], examples="none")
    ask(page, "Who are the customers?")
    basis = {
        "origin": "generated",
        "tables": ["customers"],
        "date": {"column": "placed", "used": True, "first": "2024-01-01", "last": "", "newest": "2024-03-04"},
        "filters": [{"text": "city is 'Paris'", "words": None}],
        "grain": "one row per customer",
        "duplicates": "removed",
        "readings": "with returns, 3 rows more",
    }
    says_more = {"confidence_reason": "two queries agree", "trusted": True, "trust_reason": "19 of 20", "basis": basis}

    def more(route: Any) -> None:
        reply = route.fetch()
        thread = reply.json()
        thread["turns"][0]["answer"] |= says_more
        thread["turns"][0]["dates"] = {"first": "Jan 1, 2024", "newest": "Mar 4, 2024"}
        route.fulfill(response=reply, json=thread)

    page.route("**/threads/*", more)
    page.reload()
    last(page).get_by_text("✓ trusted").wait_for()
    assert last(page).locator(".doubt").inner_text().startswith("Fairly sure: two queries agree")
    last(page).get_by_text("What it rests on").click()
    told = last(page).locator(".why").inner_text()
    for text in (
        "19 of 20.",
        "written by the model",
        "placed from Jan 1, 2024; newest Mar 4, 2024",
        "city is 'Paris' (not in the question)",
        "one row per customer, duplicates removed",
        "with returns, 3 rows more",
    ):
        assert text in told


def test_a_table_is_as_it_was_left(visit: Visit, sample: Path) -> None:
    page = visit(sample)
    ask(page, "List the names and prices of all products sorted by price in descending order as a histogram")
    turn = last(page)
    turn.get_by_role("tab", name="Table").click()
    turn.get_by_role("button", name="Last page").click()
    turn.get_by_text("226–235 of 235", exact=True).wait_for()
    turn.get_by_role("button", name="First page").click()
    turn.get_by_text("1–25 of 235", exact=True).wait_for()
    turn.get_by_role("columnheader").nth(1).get_by_role("button").click()
    turn.get_by_role("button", name="Next").click()
    turn.get_by_text("26–50 of 235", exact=True).wait_for()
    before = cells(page)
    turn.get_by_role("tab", name="Chart").click()
    turn.locator(".chart").wait_for()
    turn.get_by_role("tab", name="Table").click()
    turn.get_by_text("26–50 of 235", exact=True).wait_for()
    assert cells(page) == before
    assert turn.locator("th[aria-sort=ascending]").count() == 1


def test_two_tables_are_filtered_at_once(visit: Visit, sample: Path) -> None:
    page = visit(sample)
    for _ in range(2):
        ask(page, "List the names and prices of all products sorted by price in descending order")
    for number in range(2):
        page.locator(".turn").nth(number).get_by_label("Filter rows").fill("no such text")
    page.get_by_text("No row has that text.").nth(1).wait_for()
    assert page.locator('.turn section tbody td[dir="auto"]').count() == 0, "no row is left in either"


def test_durations_sort_by_their_length(visit: Visit, shop: Path) -> None:
    lengths = "SELECT '124:30:00' AS spent UNION ALL SELECT '36:00:00' UNION ALL SELECT '2 days 01:00:00'"
    page = visit(shop, [sql(lengths)], examples="none")
    ask(page, "How long did it take?")
    assert last(page).locator("td[dir=auto]").count() == 3
    last(page).get_by_role("columnheader").get_by_role("button").click()
    last(page).locator("th[aria-sort=ascending]").wait_for()
    last(page).locator('td:text-is("36:00:00")').and_(last(page).locator("tr:first-child td")).wait_for()
    assert cells(page) == ["36:00:00", "2 days 01:00:00", "124:30:00"]


def test_long_titles_of_axes_are_read_to_their_end(visit: Visit, shop: Path) -> None:
    across, up = "name of the customer who has the most visits here", "average number of visits in the last quarter"
    page = visit(shop, [sql(f'SELECT name AS "{across}", id * 2.5 AS "{up}" FROM customers')], examples="none")
    ask(page, "Visits by name as a bar chart")
    last(page).locator("svg.marks").wait_for()
    titles = (
        last(page)
        .locator(".role-axis-title text")
        .evaluate_all(
            """titles => titles.map(title => {
          const box = title.getBoundingClientRect(), whole = title.closest("svg").getBoundingClientRect();
          const lines = [...title.querySelectorAll("tspan")].map((line) => line.textContent);
          const inside = box.left >= whole.left && box.right <= whole.right && box.bottom <= whole.bottom;
          return [lines.length ? lines.join(" ") : title.textContent, inside && box.top >= whole.top];
        })"""
        )
    )
    assert titles == [[across, True], [up, True]]
