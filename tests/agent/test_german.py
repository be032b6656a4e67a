"""What is told about the answer to a German question is German."""

from __future__ import annotations

import ast
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tableturn import SQLAgent
from tableturn.agent import Answer
from tableturn.agent.answers.render import list_answer_reasons, list_basis_lines
from tableturn.agent.evidence import ledger as evidence
from tableturn.tools.labels import Labels
from tableturn.tools.ledger import JoinCount, Ledger, MissingCount, NewestDate, VariantCount, count, path, repeated
from tableturn.tools.readings import AlternativeReading, ReadingResult, Rows, compare_readings, summarize_outcomes
from tableturn.tools.sample import build_sample

from tests.support.scripted import writes

JOINED = "SELECT COUNT(*) FROM sale JOIN product ON product.id = sale.product_id"


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    """100 sales, of which 97 are of a product that is gone."""
    path = tmp_path / "sales.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript("""
            CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE sale (id INTEGER PRIMARY KEY, product_id INTEGER REFERENCES product);
            INSERT INTO product VALUES (1, 'lamp');
        """)
        connection.executemany("INSERT INTO sale VALUES (?, ?)", [(n, 1 if n < 3 else 99) for n in range(100)])
    return path


def ask(path: Path, reply: str, question: str, **settings: Any) -> Answer:
    with SQLAgent(path, model=writes(reply), settings={"examples": "none"} | settings) as agent:
        return agent.ask(question)


def test_lost_rows_are_told_in_german(sales: Path) -> None:
    answer = ask(sales, JOINED, "Wie viele Verkäufe gibt es?")
    told = "97 weitere haben keinen passenden Eintrag in product; mit ihnen sind es 100."
    assert answer.text.endswith(told)
    assert answer.to_dict()["ledger"]["line"] == told
    assert answer.certainty == "", "it is told once"
    english = ask(sales, JOINED, "How many sales are there?")
    assert english.text.endswith("97 more have no match in product; with them it is 100.")


def test_other_readings_are_told_in_german(sales: Path) -> None:
    other = (
        f"{JOINED} AND sale.id > 0\n```\nOther reading: ohne den ersten\n```sql\nSELECT COUNT(*) FROM sale WHERE id > 0"
    )
    answer = ask(sales, other, "Wie viele Verkäufe gibt es?", ledger="off")
    assert answer.text.endswith("Ohne den ersten: 99.")
    tied = "SELECT product_id, id FROM sale ORDER BY product_id LIMIT 2"
    assert ask(sales, tied, "Wie heißen die Verkäufe von A bis Z? Liste 2.", ledger="off").text.endswith(
        "1 weitere Zeile auf demselben letzten Platz."
    )


def test_what_an_answer_rests_on_is_told_in_german(tmp_path: Path) -> None:
    kestrel = build_sample(tmp_path / "kestrel.sqlite")
    grouped = (
        "SELECT s.name, COUNT(*) FROM orders o JOIN stores s ON s.store_id = o.store_id "
        "WHERE o.ordered_on >= '2023-01-01' AND o.status = 'shipped' GROUP BY s.name ORDER BY 2 DESC LIMIT 3"
    )
    answer = ask(kestrel, grouped, "Welche 3 Läden haben die meisten Bestellungen seit 2023?", readings="off")
    assert list_basis_lines(answer) == (
        "Eine erzeugte Abfrage über stores und orders; eine Zeile je “s.name”; ordered on ab 01.01.2023 "
        "(zuletzt 31.12.2024).",
        "Nur wenn “o.status = 'shipped'” (nicht in der Frage).",
        "Gezeigt: die ersten 3 Zeilen; manche Zeilen, die mit der letzten gleichauf liegen, können fehlen.",
    )
    reasons = dict(list_answer_reasons(answer, None))
    assert reasons["beruht auf"] == list_basis_lines(answer)
    assert reasons["versucht"] == (f"1. 3 Zeilen: {grouped}",)
    assert reasons["beendet"] == ("die Abfrage lief ohne Fehler",)
    failed = ask(kestrel, "SELECT nope FROM orders", "Wie viele Bestellungen gibt es?", max_attempts=1)
    reasons = dict(list_answer_reasons(failed, None))
    assert reasons["versucht"][0].startswith("1. gescheitert: ")
    assert reasons["beendet"] == ("weitere Versuche waren nicht erlaubt",)


@pytest.mark.parametrize(
    ("here", "there", "says"),
    [
        (((1, "a"), (2, "b")), ((1, "a"), (2, "b"), (3, "c")), "1 Zeile mehr"),
        (((1, "a"), (2, "b"), (3, "c")), ((1, "a"),), "2 Zeilen weniger"),
        (((1, "a"), (2, "b")), ((1, "a"), (2, "c")), "1 von 2 Zeilen ändert sich"),
        (((1, "a"), (2, "b")), ((3, "a"), (4, "b")), "alle 2 Zeilen ändern sich"),
        (((1, "a"), (2, "b")), ((3, "a"), (4, "b"), (5, "c")), "3 Zeilen statt 2"),
        (((1,),), ((2_500_000,),), "2,5 Mio"),
        (((1, "a"), (2, "b")), ((3, "a"),), "1 Zeile statt 2"),
    ],
)
def test_what_another_reading_gives_is_told_in_german(here: Rows, there: Rows, says: str) -> None:
    rival = AlternativeReading("meaning", "anders", "", "")
    outcome = compare_readings(rival, ReadingResult(here), ReadingResult(there), ordered=False, locale="de")
    assert outcome is not None
    assert (outcome.says, summarize_outcomes([outcome], "de")) == (says, f"Falls „anders“ gemeint ist: {says}.")


def test_what_is_not_counted_is_told_in_german(sales: Path) -> None:
    correlated = "SELECT id, (SELECT COUNT(*) FROM sale WHERE product_id = product.id) FROM product"
    answer = ask(sales, correlated, "Wie viele Verkäufe gibt es je Produkt?")
    told = "Nicht gezählt: die Zeilen von sale: eine Unterabfrage hängt von der äußeren Abfrage ab."
    assert list_basis_lines(answer)[-1] == told
    assert answer.ledger is not None
    assert answer.ledger.not_counted == ("the rows of sale: a sub-query is correlated",), (
        "for programs it stays as it is"
    )


def test_every_reason_not_to_count_has_a_german_form() -> None:
    texts = [text for module in (count, path, repeated, evidence) for text in list_reasons(Path(module.__file__ or ""))]
    parts = {part for text in texts for part in text.split(": ", 1)} - {"@", "@ of @", "the @ of @"}
    assert len(parts) > 35
    assert [part for part in parts if Labels("de").translate(part) == part] == []
    odd = "the rows of a that have no match in b: c: a condition looks for it"
    assert Labels("de").translate(odd).startswith("die Zeilen von a ohne passenden Eintrag in b: ")
    assert Labels().translate(odd) == odd


def list_reasons(module: Path) -> Iterator[str]:
    """Yield what a module says that is not counted and why, with `@` for each name."""
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        found: Sequence[ast.expr | None] = []
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("NotCountedError", "not_counted.append")):
            found = node.args
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".attempt"):
            found = node.args[:1]
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("what", "NO_SUBJECT"):
            found = [node.value]
        elif isinstance(node, ast.AnnAssign | ast.Assign) and ast.unparse(node).startswith("problems = "):
            found = node.value.keys if isinstance(node.value, ast.Dict) else []
        for one in found:
            for each in [one.body, one.orelse] if isinstance(one, ast.IfExp) else [one]:
                if isinstance(each, ast.JoinedStr):
                    yield "".join(str(part.value) if isinstance(part, ast.Constant) else "@" for part in each.values)
                elif isinstance(each, ast.Constant):
                    yield str(each.value)


def test_every_fact_of_the_ledger_has_a_german_form() -> None:
    ledger = Ledger(
        joins=(
            JoinCount("product", "id", 1, 2, "sale", 1_000, material=True),
            JoinCount("product", "id", 4, 0, "sale", 10, material=True, ones=True),
        ),
        nulls=(
            MissingCount("sale", "amount", "averaged", 1, "sale", 1, material=True),
            MissingCount("sale", "amount", "grouped", 2, "", 3, material=True),
        ),
        variants=(VariantCount("sale", "kind", ("“a”, “A”", "“b”, “B”"), 2, 4, material=True),),
        newest=NewestDate("sale", "day", "2023-10-01", "2023-12-31", material=True),
    )
    assert ledger.write_line(Labels("de")).split(". ") == [
        "1 von 1.000 Zeilen von sale hat keinen passenden Eintrag in product und fehlt deshalb",
        "Zeilen von sale sind insgesamt 2-mal zu oft enthalten, weil sie zu mehreren Zeilen von product passen",
        "4 von 10 Zeilen von sale fehlen, weil keine gezählte Zeile von product zu ihnen passt",
        "Die einzige Zeile von sale hat keinen Wert für amount und zählt im Durchschnitt nicht mit",
        "2 von 3 Zeilen haben keinen Wert für amount",
        "Manche Werte von kind unterscheiden sich nur in Groß- und Kleinschreibung oder Leerzeichen "
        "(“a”, “A” und “b”, “B”)",
        "Die Daten enden am 01.10.2023, vor dem 31.12.2023.",
    ]
    assert ledger.line == (
        "1 of 1,000 rows of sale has no match in product and is left out. "
        "Rows of sale are repeated 2 times in all, because they match several rows of product. "
        "4 of 10 rows of sale are left out, because no counted row of product matches them. "
        "The one row of sale has no amount, which the average leaves out. "
        "2 of 3 rows have no amount. "
        "Some values of kind differ only in case or spacing (“a”, “A” and “b”, “B”). "
        "The data ends on 1 Oct 2023, before 31 Dec 2023."
    )
