"""What stands around an answer is in the language of the setting, or else of the question."""

from __future__ import annotations

from pathlib import Path
from string import Formatter
from typing import get_args

import openpyxl
import pytest
from tableturn import SQLAgent
from tableturn.agent.answers.render import list_answer_reasons
from tableturn.agent.cli.display import show_answer
from tableturn.agent.records import StopKind
from tableturn.tools.formats import find_babel_locale
from tableturn.tools.labels import ACCEPTED, Labels, choose_locale, find_language, read_catalogue

from tests.support.command_line import tableturn
from tests.support.scripted import writes


def find_values(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_every_language_has_every_label() -> None:
    labels = read_catalogue()
    languages = set(labels["rows"])
    assert languages == {"en", "de"}
    for key, texts in labels.items():
        assert set(texts) == languages, key
        for language, text in texts.items():
            if isinstance(text, dict):
                assert set(text) == {*find_babel_locale(language).plural_form.tags, "other"}, (key, language)
            assert (isinstance(text, dict)) == isinstance(texts["en"], dict), key
        values = [find_values(text["other"] if isinstance(text, dict) else text) for text in texts.values()]
        assert all(each == values[0] for each in values), key


def test_there_is_a_label_for_each_reason_why_a_turn_ends() -> None:
    assert {f"stopped_{kind}" for kind in get_args(StopKind)} <= set(read_catalogue())


@pytest.mark.parametrize(
    ("question", "setting", "locale"),
    [
        ("Wie viele Kunden gibt es?", "", "de"),
        ("Umsatz je Monat", "", "de"),
        ("Umsatz pro Monat", "", "de"),
        ("Monatsumsatz", "", "de"),
        ("Durchschnittliche Gebühr", "", "de"),
        ("Liste aller Kunden", "", "de"),
        ("Die zehn besten Kunden", "", "de"),
        ("Kolik je jízd?", "", ""),
        ("How many customers are there?", "", ""),
        ("How many customers of Wie and Viel", "", ""),
        ("Toon alle klanten per land", "", "nl"),
        ("Combien de clients ?", "", "fr"),
        ("Kunden", "", ""),
        ("Passwörter bitte", "", "de"),
        ("Top 5 Produkte", "", ""),
        ("Wie viele Kunden gibt es?", "en", "en"),
        ("How many customers?", "de_AT", "de_AT"),
    ],
)
def test_the_language_is_that_of_the_setting_or_the_question(question: str, setting: str, locale: str) -> None:
    assert choose_locale(question, setting) == locale


@pytest.mark.parametrize(
    ("question", "accepted", "locale"),
    [
        ("How many customers are there?", "de-DE,de;q=0.9,en;q=0.8", "en_DE"),
        ("How many customers are there?", "de", "en_DE"),
        ("How many customers are there?", "en-GB", "en_GB"),
        ("Wie viele Kunden gibt es?", "de-AT;q=0.9, en", "de_AT"),
        ("Wie viele Kunden gibt es?", "en-US", "de"),
        ("Combien de clients y a-t-il ?", "fr-CA", "fr_CA"),
        ("Kunden", "xx, *, pt-BR", "pt_BR"),
        ("Kunden", "../../etc", ""),
        ("Umsatz 2024", "*, ../../etc, xx-yy, fr;q=0.1", "fr"),
    ],
)
def test_numbers_are_those_of_where_a_browser_is(question: str, accepted: str, locale: str) -> None:
    token = ACCEPTED.set(accepted)
    try:
        assert choose_locale(question) == locale
        assert choose_locale(question, "nl") == "nl"
    finally:
        ACCEPTED.reset(token)


def test_other_languages_are_told_apart() -> None:
    assert find_language("¿Cuál es el cliente con más pedidos?") == "es"
    assert find_language("Quel est le client avec le plus de commandes ?") == "fr"
    assert find_language("Qual é o cliente com mais pedidos?") == "pt"
    assert find_language("Quali clienti ci sono?") == "it"
    assert find_language("Chiffre d'affaires par mois") == "fr"
    assert find_language("Ingresos por mes") == "es"
    assert find_language("Ricavi per mese") == "it"
    assert find_language("月ごとの売上") == "ja"
    assert find_language("Kolik je jízd?") == ""
    assert choose_locale("¿Qué es?") == "es"


@pytest.mark.parametrize(
    "question",
    ["Orders refunded share", "Orders shipped 2025", "total quantity", "Umsatz Mai 2023 in Berlin"],
)
def test_names_and_words_of_several_languages_tell_none(question: str) -> None:
    assert choose_locale(question) == ""
    assert find_language("Valor por ordem") == "pt"
    assert find_language("Quantità totale per mese") == "it"
    assert find_language("WIE VIELE KUNDEN GIBT ES?") == "de"


def test_a_sentence_tells_the_language_of_a_short_question() -> None:
    assert choose_locale("Kunden", sentence="Es gibt {n} Kunden.") == "de"
    assert choose_locale("Kunden", "nl", "Es gibt {n} Kunden.") == "nl"
    assert choose_locale("How many customers are there?", sentence="Es gibt {n} Kunden.") == ""


def test_a_conversation_keeps_its_language(shop: Path) -> None:
    with SQLAgent(shop, model=writes("SELECT 30472269.82 AS umsatz")) as agent:
        talk = agent.conversation()
        texts = [talk.ask(text).text for text in ("Wie hoch ist der Umsatz?", "Umsatz 2023", "And revenue in 2023?")]
        assert agent.ask("Umsatz 2023").text == "Umsatz: 30,472,269.82.", "nothing tells the language"
    assert texts == ["Umsatz: 30.472.269,82.", "Umsatz: 30.472.269,82.", "Umsatz: 30,472,269.82."]


@pytest.mark.parametrize(
    ("variables", "text"),
    [
        ({"LC_ALL": "", "LANG": "de_DE.UTF-8"}, "Nicht verstanden: frobnicate, quux."),
        ({"LC_ALL": "de_AT@euro", "LANG": "en_US"}, "Nicht verstanden: frobnicate, quux."),
        ({"LC_ALL": "", "LANG": "C.UTF-8"}, "I did not understand: frobnicate, quux."),
    ],
)
def test_the_terminal_speaks_the_language_of_the_machine(shop: Path, variables: dict[str, str], text: str) -> None:
    where = ["--db", str(shop), "--model", "offline"]
    assert text in tableturn("ask", *where, "Frobnicate quux", **variables).stdout
    chat = tableturn("chat", *where, given="/nosuch\nFrobnicate quux\n", **variables)
    assert text in chat.stdout
    assert ("den Befehl /nosuch gibt es nicht" in chat.stderr) == text.startswith("Nicht")


def test_numbers_choose_the_plural() -> None:
    assert [Labels("de").say("rows", number) for number in (0, 1, 1234)] == ["0 Zeilen", "1 Zeile", "1.234 Zeilen"]
    assert Labels("fr").say("rows", 0) == "0 rows"
    assert Labels().say("not_saved", why="{n} and {key}") == "not saved as an example: {n} and {key}"


def test_a_german_answer_is_german(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with SQLAgent(shop, model=writes("SELECT name FROM customers ORDER BY name"), settings={"rows": 2}) as asked:
        answer = asked.ask("Wie heißen die Kunden von A bis Z? Liste alle.")
    assert answer.text.endswith("Nur die ersten 2 Zeilen werden gezeigt.")
    assert answer.text.startswith("Name: Ada, Bo, … ")
    assert answer.to_dict()["note_kinds"][answer.notes.index("Nur die ersten 2 Zeilen werden gezeigt.")] == "cut"
    show_answer(answer, rows=1)
    shown = capsys.readouterr().out
    assert "1 von 2 oder mehr Zeilen" in shown
    assert "1 Abfrage, 1 Anfrage an das Modell" in shown
    assert "Nur die ersten" not in shown, "the caption says it"
    assert {"beruht auf", "wie sicher", "Aufwand"} <= set(dict(list_answer_reasons(answer, None)))


def test_what_is_told_without_a_model_is_german(shop: Path) -> None:
    with SQLAgent(shop, model="offline", settings={"locale": "de"}) as agent:
        answered, refused = agent.ask("How many customers are there?"), agent.ask("Frobnicate quux?")
    notes = dict(list_answer_reasons(answered, None))["Hinweise"]
    assert notes[0] == "ohne Modell gelesen"
    assert any(note.startswith("Muster: ") for note in notes)
    assert refused.text.startswith("Nicht verstanden: frobnicate, quux. Die Datenbank hat ")
    assert answered.labels.say_error("there is no command /foo: /help lists them").startswith("den Befehl /foo gibt es")
    missing = answered.labels.say_error("not saved: say what foo means: foo means ...")
    assert missing == "nicht gespeichert: es fehlt, was foo bedeutet: foo bedeutet ..."
    assert answered.labels.translate("undone: x") == "rückgängig gemacht: x"


def test_notes_have_kinds(shop: Path) -> None:
    with SQLAgent(shop, model=writes("SELECT name FROM customers"), settings={"rows": 1}) as asked:
        answer = asked.ask("Names of customers?")
    told = answer.to_dict()
    assert len(told["note_kinds"]) == len(told["notes"])
    assert dict(zip(told["notes"], told["note_kinds"], strict=True))["Only the first row is shown."] == "cut"


def test_names_stand_in_words_wherever_people_look_and_as_they_are_for_programs(shop: Path, tmp_path: Path) -> None:
    query = 'SELECT name AS KundenName, id * 2 AS kosten_eur, id * 3 AS "Tage im Jahr" FROM customers'
    named, exact = ["kunden name", "kosten", "Tage im Jahr"], ["KundenName", "kosten_eur", "Tage im Jahr"]
    with SQLAgent(shop, model=writes(query)) as asked:
        answer = asked.ask("What does each customer cost?")
        for form in ("xlsx", "md", "csv", "jsonl"):
            asked.export(answer, tmp_path / f"rows.{form}")
        lone = asked.rerun(answer, "SELECT max(id) AS kosten_eur FROM customers")
    assert [list(answer.headings), list(answer.columns)] == [named, exact]
    assert lone.text == "Kosten eur: 3."
    assert answer.drawn is not None
    assert answer.drawn.x is not None
    assert [answer.drawn.x.title, *dict.fromkeys(mark.group for mark in answer.drawn.marks)] == named
    answer.to_excel(tmp_path / "answer.xlsx")
    for file in ("rows.xlsx", "answer.xlsx"):
        (sheet,) = openpyxl.load_workbook(tmp_path / file).worksheets
        assert [cell.value for cell in sheet[1]] == named
    assert (tmp_path / "rows.md").read_text().startswith(f"| {' | '.join(named)} |")
    assert (tmp_path / "rows.csv").read_text().startswith(",".join(exact))
    assert '"kosten_eur": 2' in (tmp_path / "rows.jsonl").read_text()


def test_numbers_and_dates_are_those_of_the_question_where_labels_are_english(shop: Path) -> None:
    with SQLAgent(shop, model=writes("SELECT 937259.1 AS revenu_eur, '2024-01-05' AS jour")) as asked:
        answer = asked.ask("Quel est le chiffre d'affaires et combien de clients y a-t-il ?")
        assert answer.text == "Revenu: 937\u202f259,10\xa0€; jour: 5 janv. 2024."
        english = asked.ask("What is the revenue?")
    assert english.text == "Revenu: €937,259.10; jour: 5 Jan 2024."
