"""The page in other languages than English; needs the extra `browser`, and a Chromium."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from tableturn.serve import ServeSettings
from tableturn.tools.formats import ColumnFormat, format_cell
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
    page.get_by_role("button", name="Wie viele orders gibt es pro Monat?").wait_for()
    has_no_english_label(page)
    ask_in_german(page, "Wer ist Kunde?")
    assert page.get_by_role("textbox", name="Antwort").get_attribute("placeholder") == "Antwort"
    has_no_english_label(page)
    last(page).get_by_role("button", name="alle").click()
    turn = page.locator(".turn").nth(1)
    turn.get_by_role("tab", name="Diagramm").click()
    turn.get_by_text("Kein Diagramm passt zu diesem Ergebnis.").wait_for()
    turn.get_by_role("tab", name="Tabelle").click()
    assert "3 Zeilen" in turn.locator(".lead").inner_text()
    assert turn.get_by_role("status").first.inner_text() == "", "the sentence has counted them"
    for summary in turn.locator(".folded > details > summary").all():
        summary.click()
    assert "1 Abfrage versucht" in turn.locator(".why").inner_text()
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


WRITTEN: list[tuple[Any, ColumnFormat]] = [
    (1234.5, ColumnFormat("number", 1)),
    (-1234567, ColumnFormat("number")),
    (12, ColumnFormat("number", unit="kg")),
    (12.5, ColumnFormat("percent", 1)),
    *((-1234.5, ColumnFormat("money", 2, currency)) for currency in ("EUR", "USD", "CHF", "JPY")),
    ("2024-09", ColumnFormat("month")),
    ("2024-09-03", ColumnFormat("date")),
    ("2024-09-03 15:05", ColumnFormat("minute")),
    ("2024-12-31T00:00:07", ColumnFormat("second")),
]
LOCALES = (
    "en",
    "en_US",
    "en_GB",
    "en_IN",
    "de",
    "fr",
    "fr_CA",
    "es",
    "pt_BR",
    "it",
    "nl",
    "pl",
    "sv",
    "cs",
    "tr",
    "ja",
    "hi",
    "th",
    "fa",
)


def test_the_page_writes_cells_as_the_server_does(visit: Visit, shop: Path) -> None:
    page = visit(shop)
    formats = [(cell, replace(form, locale=locale)) for locale in ("", *LOCALES) for cell, form in WRITTEN]
    write = (
        "async cells => (await import('./formats.js').then(({ formatCell }) => cells.map(one => formatCell(...one))))"
    )
    found = page.evaluate(write, [[cell, asdict(form)] for cell, form in formats])
    wrong = [
        (form.locale, form.kind, there, here)
        for (cell, form), there in zip(formats, found, strict=True)
        if (here := format_cell(cell, form)) != there
    ]
    assert wrong == []


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
