"""The page in other languages than English; needs the extra `browser`, and a Chromium."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tableturn.serve import ServeSettings
from tableturn.tools.formats import ColumnFormat, find_number_marks, format_cell
from tableturn.tools.labels import list_labels

from tests.serve import pages
from tests.serve.pages import NAMES, Visit, last, pane
from tests.support.openai_server import says, sql

pytest.importorskip("playwright", reason="playwright is not installed: make test-extras")

pytestmark = [pytest.mark.extra, pytest.mark.filterwarnings("ignore::ResourceWarning")]
browser, visit, width = pages.browser, pages.visit, pages.width

PARTS = """[...document.querySelectorAll("#app *")].flatMap((element) => [
    ...[...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data.trim()),
    ...["aria-label", "placeholder", "title"].map((name) => element.getAttribute(name)),
]).filter(Boolean)"""


def ask_in_german(page: Any, question: str, button: str = "Fragen") -> None:
    page.locator("#question").fill(question)
    page.get_by_role("button", name=button, exact=True).click()
    page.get_by_role("button", name="Abbrechen").wait_for(state="detached")
    last(page).locator(".feedback, .asked, .problem").first.wait_for()


def has_no_english_label(page: Any) -> None:
    english, german = (list_labels(language) for language in ("en", "de"))
    foreign = {text for text in english.values() if isinstance(text, str) and text not in german.values()}
    assert set(page.evaluate(PARTS)) & foreign == set()


def test_a_german_browser_gets_a_german_page(visit: Visit, shop: Path) -> None:
    replies = [says("Ask back: Wen?\n1. in Paris\n2. alle"), sql(NAMES), sql("SELECT 1234.5 AS summe, 'a' AS wer")]
    page = visit(shop, replies, language="de-DE", examples="none")
    page.get_by_text("Zu jeder Antwort gehört die Abfrage").wait_for()
    assert page.evaluate("document.documentElement.lang") == "de"
    page.get_by_role("button", name="Wie viele „orders“ gibt es pro Monat?").wait_for()
    has_no_english_label(page)
    ask_in_german(page, "Wer ist Kunde?")
    assert page.get_by_role("textbox", name="Antwort").get_attribute("placeholder") == "Antwort"
    has_no_english_label(page)
    last(page).get_by_role("button", name="alle").click()
    turn = page.locator(".turn").nth(1)
    turn.locator(".result").wait_for()
    assert turn.get_by_role("tab", name="Diagramm").count() == 0, "no chart fits names"
    assert "3 Zeilen" in turn.locator(".lead").inner_text()
    assert turn.get_by_role("status").first.inner_text() == "", "the sentence has counted them"
    for summary in turn.locator(".folded > details > summary").all():
        summary.click()
    assert "1 Abfrage war nötig." in turn.locator(".why").inner_text()
    turn.get_by_role("button", name="Falsch").click()
    has_no_english_label(page)
    turn.get_by_role("button", name="Definition notieren").click()
    turn.get_by_label("Was ein Wort hier heißt").fill("Stammkunde: city = 'Lyon'")
    turn.get_by_role("button", name="Notieren", exact=True).click()
    turn.get_by_text("Notiert.").wait_for()
    turn.get_by_role("button", name="Definition notieren").click()
    turn.get_by_role("button", name="Gespeichertes ansehen und ändern").click()
    saved = page.get_by_role("dialog", name="Gespeichertes")
    assert "Begriff" in saved.get_by_role("region", name="Stammkunde").inner_text()
    has_no_english_label(page)
    saved.get_by_role("button", name="Schließen").click()
    saved.wait_for(state="hidden")
    ask_in_german(page, "Wer gab wie viel?")
    assert last(page).locator("td").first.inner_text() == "1.234,5"
    assert last(page).get_by_role("status").first.inner_text() == "1 Zeile"
    page.get_by_role("button", name="Tastenkürzel").click()
    page.get_by_role("cell", name="Geänderte Abfrage ausführen").wait_for()
    has_no_english_label(page)
    page.keyboard.press("Escape")
    pane(page, "Schema").locator("summary").first.click()
    has_no_english_label(page)
    earlier = pane(page, "Unterhaltungen")
    assert earlier.get_by_role("heading").inner_text() == "Heute"
    earlier.get_by_role("button", name="Wer ist Kunde? löschen").click()
    page.get_by_role("dialog", name="Unterhaltung löschen?").get_by_role("button", name="Behalten").click()


def test_a_query_that_fails_is_told_in_german(visit: Visit, shop: Path) -> None:
    page = visit(shop, [sql("SELECT wobble FROM customers")], language="de-DE", examples="none")
    ask_in_german(page, "Wer ist Kunde?")
    told = "Zu dieser Frage ist keine Abfrage gelungen. Bitte anders fragen oder Tabelle und Spalte nennen."
    assert last(page).locator(".problem").first.inner_text() == told
    assert "No query" not in last(page).inner_text()
    has_no_english_label(page)


def test_signing_in_is_in_the_browsers_language(visit: Visit, shop: Path) -> None:
    page = visit(shop, serving=ServeSettings(token="a token of enough characters"), language="de-AT")
    page.get_by_label("Token des Servers").fill("a token of enough characters")
    assert page.evaluate("document.documentElement.lang") == "de"
    page.get_by_role("button", name="Anmelden").click()
    page.get_by_role("textbox", name="Frage").wait_for()
    page.get_by_role("button", name="Abmelden").wait_for()


def test_the_setting_goes_before_the_browsers_language(visit: Visit, shop: Path) -> None:
    page = visit(shop, [sql("SELECT 1234.5 AS spent, 'a' AS who")], locale="de", examples="none")
    page.get_by_role("textbox", name="Frage").wait_for()
    assert page.evaluate("document.documentElement.lang") == "de"
    ask_in_german(page, "Who spent how much?")
    assert last(page).locator("td").first.inner_text() == "1.234,5"


def test_a_language_without_labels_has_english_ones(visit: Visit, shop: Path) -> None:
    page = visit(shop, language="fr-FR")
    page.get_by_role("textbox", name="Your question").wait_for()
    assert page.evaluate("document.documentElement.lang") == "en"


def test_the_built_in_translator_is_asked_in_english(visit: Visit, shop: Path) -> None:
    page = visit(shop, language="de-DE")
    page.get_by_text("Zu jeder Antwort gehört die Abfrage").wait_for()
    page.get_by_role("button", name="How many orders are there?").click()
    last(page).locator(".figure").wait_for()
    assert page.evaluate("document.documentElement.lang") == "de"


@pytest.mark.parametrize(
    ("language", "said", "cell"),
    [
        ("en-US", "Jan 3, 2024 to Dec 31, 2024", "Jan 3, 2024"),
        ("en-GB", "3 Jan 2024", "3 Jan 2024"),
        ("fr-FR", "3 janv. 2024", "3 janv. 2024"),
    ],
)
def test_a_sentence_and_its_rows_have_one_way_of_writing(
    visit: Visit, shop: Path, language: str, said: str, cell: str
) -> None:
    rows = "SELECT '2024-01-03' AS day, 1234.5 AS total UNION ALL SELECT '2024-12-31', 7 ORDER BY 1"
    page = visit(shop, [sql(rows)], language=language, examples="none")
    page.locator("#question").fill("Totals per day" if language.startswith("en") else "Les totaux ?")
    page.keyboard.press("Enter")
    last(page).locator(".feedback").wait_for()
    assert said in last(page).locator(".lead").inner_text()
    assert last(page).locator("td").first.inner_text() == cell


RANKED = "SELECT 'Anna' AS who, 23257.97 AS total_eur UNION ALL SELECT 'Bert', 7000.5 ORDER BY 2 DESC"
DAILY = """WITH RECURSIVE days(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM days WHERE n < 1199)
SELECT date('2024-09-09', '+' || n || ' days') AS day, 1000.5 + n AS spent FROM days ORDER BY 1"""


@pytest.mark.parametrize(
    ("language", "question", "locale"),
    [
        ("en-US", "What did each of the people spend?", "en_US"),
        ("de-DE", "Wie viel hat jeder ausgegeben?", "de_DE"),
        ("de-DE", "What did each of the people spend?", "en_DE"),  # whose numbers no browser knows
        ("fr-CH", "Combien chacun a-t-il dépensé ?", "fr_CH"),
        ("de-CH", "Wie viel hat jeder ausgegeben?", "de_CH"),
        ("en-US", "Wie viel hat jeder ausgegeben?", "de"),  # of a person whose browser is not German
    ],
)
def test_one_answer_has_one_format_everywhere(
    visit: Visit, shop: Path, language: str, question: str, locale: str
) -> None:
    page = visit(shop, [sql(RANKED), sql(DAILY)], language=language, examples="none")
    _, group, decimal, _ = find_number_marks(ColumnFormat("number", locale=locale))

    def ask(words: str) -> Any:
        page.locator("#question").fill(words)
        page.keyboard.press("Enter")
        last(page).locator(".feedback").wait_for()
        last(page).get_by_role("tab").first.wait_for()
        return last(page)

    def cells(turn: Any) -> list[str]:
        turn.locator("tbody td").first.wait_for()
        return turn.locator("tbody tr").first.locator("td").all_inner_texts()

    money = format_cell(23257.97, ColumnFormat("money", 2, "EUR", locale=locale))
    turn = ask(question)
    sentence = turn.locator(".lead").inner_text()
    turn.locator("[role=tab][id^=table]").click()
    assert (cells(turn)[1] in sentence, cells(turn)) == (True, ["Anna", money])
    turn = ask(question.replace("?", " per day?"))
    day = format_cell("2024-09-09", ColumnFormat("date", locale=locale))
    assert day in turn.locator(".lead").inner_text()
    turn.locator("[role=tab][id^=chart]").click()
    turn.locator(".drawing svg").wait_for()
    axes = turn.locator(".drawing svg text").all_text_contents()
    assert f"1{group}800" in " ".join(axes), axes
    turn.locator("[role=tab][id^=table]").click()
    assert cells(turn) == [day, f"1{group}000{decimal}5"]
    assert f"1{group}200" in turn.locator("[role=status]").first.inner_text() or (
        f"1{group}200" in turn.locator(".lead").inner_text()
    )
    turn.locator("section button", has_text="»").click()
    turn.locator("[role=status]", has_text=f"1{group}176").wait_for()
    for summary in turn.locator(".folded > details > summary").all():
        summary.click()
    assert re.search(rf"\d{re.escape(decimal)}\d s$", turn.locator(".folded details").last.inner_text())
