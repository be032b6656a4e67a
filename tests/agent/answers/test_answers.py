"""What an answer gives besides its rows: a chart, files, a notebook's HTML, and words for its columns."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from tableturn import SQLAgent
from tableturn.agent.answers.render import render_answer_markdown
from tableturn.agent.cli.display import show_answer
from tableturn.tools.errors import ExportError, QueryFailed
from tableturn.tools.formats import ColumnFormat

from tests.support.scripted import writes

BY_CITY = "SELECT city, COUNT(*) FROM customers GROUP BY city"


def agent(shop: Path, *statements: str, **more: Any) -> SQLAgent:
    return SQLAgent(shop, model=writes(*statements), examples=None, **more)


def test_a_picture_is_part_of_the_answer_and_no_part_of_the_prompt(shop: Path) -> None:
    model = writes(BY_CITY)
    with SQLAgent(shop, model=model, examples=None) as asked:
        answer = asked.ask("Plot the number of customers by city as a bar chart")
    assert (answer.question, answer.status) == ("Plot the number of customers by city as a bar chart", "converged")
    assert answer.chart is not None
    assert answer.chart["mark"]["type"] == "bar"
    assert [row["x"] for row in answer.chart["data"]["values"]] == ["Lyon", "Paris"]
    assert answer.to_dict()["chart"] == answer.chart == json.loads(answer.to_json())["chart"]
    assert "number of customers by city" in model.prompts[-1]
    assert not any("bar chart" in prompt or "Plot" in prompt for prompt in model.prompts)


def test_a_question_that_asks_for_none_pays_for_none(shop: Path) -> None:
    with agent(shop, BY_CITY) as asked:
        answer = asked.ask("How many customers does each city have?")
    assert answer.to_dict()["chart"] is None
    assert answer.chart is not None, "who asks the answer has one"


def test_another_picture_runs_the_same_query_without_a_model(shop: Path) -> None:
    with agent(shop, BY_CITY, "SELECT 1") as asked:
        talk = asked.conversation()
        first = talk.ask("How many customers does each city have?")
        again = talk.ask("as a pie chart")
        third = talk.ask("plot that")
    assert (again.sql, again.rows, again.usage.llm_calls) == (first.sql, first.rows, 0)
    assert (again.status, again.question) == ("converged", "as a pie chart")
    assert [answer.drawn and answer.drawn.kind for answer in (again, third)] == ["pie", "bar"]


def test_a_picture_of_nothing_is_declined(shop: Path) -> None:
    with agent(shop, BY_CITY) as asked:
        answer = asked.ask("plot that")
    assert (answer.status, answer.sql, answer.usage.llm_calls) == ("unanswerable", None, 0)
    assert "no result to draw yet" in answer.text


@pytest.mark.parametrize(
    ("sql", "text", "headings"),
    [
        ("SELECT COUNT(*) FROM customers", "There are 3 customers.", ("number of customers",)),
        ("SELECT COUNT(*) FROM customers WHERE city = 'Lyon'", "Customers: 1.", ("number of customers",)),
        ("SELECT COUNT(DISTINCT c.id) AS n FROM customers c JOIN orders ON c.id=customer_id", "Customers: 3.", ("n",)),
        ("SELECT COUNT(*) FROM orders o JOIN customers c ON o.customer_id = c.id", "Orders: 4.", ("number of orders",)),
        ("SELECT AVG(total) FROM orders WHERE total > 0", "Average total: 11.83.", ("average total",)),
        # What the query calls its own sub-query says nothing to a person.
        ("WITH w AS (SELECT * FROM orders WHERE total > 0) SELECT AVG(w.total) FROM w JOIN customers c ON"
         " w.customer_id = c.id", "Average total: 11.83.", ("average total",)),
        (BY_CITY, "Number of customers by city, 2 rows.", ("city", "number of customers")),
        ("SELECT name FROM customers WHERE id = 1", "Name: Ada.", ("name",)),
    ],
)  # fmt: skip
def test_columns_are_called_by_words(shop: Path, sql: str, text: str, headings: tuple[str, ...]) -> None:
    with agent(shop, sql) as asked:
        answer = asked.ask("How many?")
    assert (answer.text, answer.headings) == (text, headings)


def test_answers_are_written_as_files(shop: Path, tmp_path: Path) -> None:
    with agent(shop, "SELECT id, name FROM customers ORDER BY id") as asked:
        answer = asked.ask("Who?")
    assert answer.to_csv() == "id,name\n1,Ada\n2,Bo\n3,Cy\n"
    answer.to_csv(tmp_path / "who.csv")
    answer.to_excel(tmp_path / "who.xlsx")
    assert (tmp_path / "who.csv").read_text() == answer.to_csv()
    (sheet,) = openpyxl.load_workbook(tmp_path / "who.xlsx").worksheets
    assert list(sheet.values) == [("id", "name"), (1, "Ada"), (2, "Bo"), (3, "Cy")]


def test_an_export_has_the_rows_that_the_answer_left_out(shop: Path, tmp_path: Path) -> None:
    with agent(shop, "SELECT name FROM customers ORDER BY id", settings={"rows": 2}) as asked:
        answer = asked.ask("Who?")
        assert (answer.row_count, answer.truncated) == (2, True)
        assert asked.export(answer, tmp_path / "who.csv").rows == 3
        assert asked.export(answer, tmp_path / "few.csv", settings={"export_rows": 1}).truncated


def test_an_export_has_the_rights_of_whoever_asks_for_it(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "people.toml").write_text('[default]\ndeny = ["customers.name"]\n[users.ada]\n')
    rules: dict[str, Any] = {"permissions": tmp_path / "people.toml", "user": "ada"}
    with agent(shop, "SELECT name FROM customers", **rules) as asked:
        answer = asked.ask("Who?")
        with pytest.raises(QueryFailed):
            asked.for_user("bo").export(answer, tmp_path / "who.csv")
    assert not (tmp_path / "who.csv").exists()


def test_what_may_not_leave_is_in_the_file_of_whoever_asks(shop: Path, tmp_path: Path) -> None:
    with agent(shop, "SELECT name FROM customers ORDER BY id", egress={"columns": {"customers.name": "none"}}) as asked:
        asked.export(asked.ask("Who?"), tmp_path / "who.csv")
    assert (tmp_path / "who.csv").read_text() == "name\nAda\nBo\nCy\n"


def test_no_answer_is_not_written(shop: Path, tmp_path: Path) -> None:
    with agent(shop, "SELECT nothing FROM customers") as asked, pytest.raises(ExportError, match="no answer"):
        asked.export(asked.ask("Who?"), tmp_path / "who.csv")


class Tags(HTMLParser):
    """The tags and attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.sources: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.sources += [value or "" for name, value in attrs if name == "src"]


def test_a_notebook_shows_text_and_nothing_that_runs(shop: Path) -> None:
    evil = "</pre><script>alert(1)</script><img src=x onerror=y>"
    with closing(sqlite3.connect(shop)) as connection, connection:
        connection.execute("UPDATE customers SET name = ? || id", (evil,))
    sql = f'SELECT name AS "{evil}", id * 2 AS size FROM customers /* {evil} */'
    with agent(shop, sql) as asked:
        page = Tags()
        html = asked.ask(f"Plot {evil}")._repr_html_()
    page.feed(html)
    assert "script" not in page.tags
    assert page.attributes <= {"class", "style", "alt", "src"}
    assert [source[:26] for source in page.sources] == ["data:image/svg+xml;base64,"]
    assert "how this came about" in html


REVENUE = "SELECT DATE('2024-01-05') AS day, 1234.5000000001 AS revenue_eur, 12345 AS order_id, NULL AS note"


@pytest.mark.parametrize(
    ("locale", "revenue", "day", "missing"),
    [("", "€1,234.50", "5 Jan 2024", "no value"), ("de", "1.234,50\N{NO-BREAK SPACE}€", "05.01.2024", "kein Wert")],
)
def test_people_read_formatted_cells_and_programs_exact_ones(
    shop: Path, capsys: pytest.CaptureFixture[str], locale: str, revenue: str, day: str, missing: str
) -> None:
    with agent(shop, REVENUE, settings={"locale": locale}) as asked:
        answer = asked.ask("What was earned?")
    show_answer(answer)
    texts = [answer.text, answer._repr_html_(), render_answer_markdown(answer, 5), capsys.readouterr().out]
    assert [text for text in texts if not (revenue in text and day in text and "12345" in text)] == []
    assert answer.text == f"Day: {day}; revenue: {revenue}; order id: 12345; note: {missing}."
    assert f'right">{revenue}</td>' in texts[1]
    assert "---:" in texts[2]
    assert answer.to_dict()["rows"] == (("2024-01-05", 1234.5000000001, 12345, None),)
    assert answer.to_dict()["formats"][1] == {
        "kind": "money", "decimals": 2, "currency": "EUR", "unit": "", "locale": locale,
    }  # fmt: skip
    assert "1234.5000000001" in (answer.to_csv() or "")


def test_a_chart_names_the_currency_and_rounds_where_somebody_points(shop: Path) -> None:
    with agent(shop, "SELECT city, SUM(1.005) AS amount_eur FROM customers GROUP BY city") as asked:
        answer = asked.ask("Amount by city")
    assert answer.chart is not None
    assert answer.chart["encoding"]["y"]["title"] == "amount"
    assert answer.chart["config"]["numberFormat"] == "$,.2~f"
    assert answer.chart["config"]["locale"]["number"]["currency"] == ["€", ""]


def test_what_is_withheld_gives_no_format_away(shop: Path) -> None:
    rules = {"columns": {"customers.name": "none"}}
    with agent(shop, "SELECT name FROM customers ORDER BY id LIMIT 1", egress=rules) as asked:
        answer = asked.ask("Who?")
    assert (answer.text, answer.kept.formats) == ("Name: Ada.", (ColumnFormat(),))
