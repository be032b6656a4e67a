"""The ledger of rows through a turn: told, weighed, and counted under the rights and limits of the turn."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tableturn.agent import Answer, SQLAgent
from tableturn.agent.answers.render import list_answer_reasons, list_basis_lines
from tableturn.agent.conversation import Conversation
from tableturn.agent.evidence import ledger as evidence
from tableturn.tools.database import Database, Egress, Policy
from tableturn.tools.database.sqlite.engine import SQLiteEngine
from tableturn.tools.labels import IN_ENGLISH

from tests.corpus.ledger_canaries import find_canaries, open_hidden
from tests.support.scripted import writes

JOINED = "SELECT COUNT(*) FROM sale JOIN product ON product.id = sale.product_id"
ALONE: dict[str, Any] = {"examples": "none", "readings": "off"}


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    """100 sales, of which 97 are of a product that is gone."""
    path = tmp_path / "sales.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript("""
            CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE sale (id INTEGER PRIMARY KEY, product_id INTEGER REFERENCES product, note TEXT);
            CREATE TABLE tag (sale_id INTEGER REFERENCES sale, word TEXT);
            INSERT INTO product VALUES (1, 'lamp'), (2, 'canary chair');
        """)
        connection.executemany(
            "INSERT INTO sale VALUES (?, ?, 'canary')", [(n, 1 if n < 3 else 99) for n in range(100)]
        )
        connection.executemany("INSERT INTO tag VALUES (?, 'new')", [(n // 2,) for n in range(20)])
    return path


def ask(path: Path | Database, sql: str = JOINED, **settings: Any) -> Answer:
    with SQLAgent(path, model=writes(sql), settings=ALONE | settings) as agent:
        return agent.ask("How many sales?")


def test_lost_rows_stand_in_the_sentence_and_count_in_confidence(sales: Path) -> None:
    answer, off = ask(sales), ask(sales, ledger="off")
    assert answer.text == "Sale: 3. 97 more have no match in product; with them it is 100."
    assert answer.certainty == "", "it is told once"
    (sure,) = dict(list_answer_reasons(answer, None))["how sure"]
    assert sure.endswith(": nothing speaks against it except what the answer tells")
    assert answer.confidence < off.confidence
    assert (off.text, off.ledger, off.certainty) == ("Sale: 3.", None, "")
    told = json.loads(answer.to_json())["ledger"]
    assert [(one["table"], one["lost"], one["repeated"]) for one in told["joins"]] == [("product", 97, 0)]
    assert (told["nulls"], told["variants"], told["newest"], told["not_counted"]) == ([], [], None, [])
    assert told["joins"][0]["examples"] == []


def test_a_sum_of_repeated_rows_of_which_no_other_number_is_told_is_the_less_sure(sales: Path) -> None:
    repeated = ask(sales, "SELECT SUM(sale.id) FROM sale JOIN tag ON tag.sale_id = sale.id WHERE sale.id < 10")
    assert "Rows of sale are repeated 10 times in all" in repeated.text
    assert repeated.evidence["rows lost"] == 2
    averaged = ask(sales, "SELECT AVG(sale.id) FROM sale JOIN tag ON tag.sale_id = sale.id WHERE sale.id < 10")
    assert (averaged.evidence["rows lost"], "repeated" in averaged.text) == (0, False), "that may be what is meant"


def test_examples_are_shown_only_if_asked_for(sales: Path) -> None:
    answer = ask(sales, ledger="full")
    assert answer.text == "Sale: 3. 97 more have no match in product (99); with them it is 100."


def test_what_hardly_matters_stands_in_the_basis(sales: Path) -> None:
    with closing(sqlite3.connect(sales)) as connection, connection:
        connection.execute("UPDATE sale SET product_id = 1")
        connection.executemany("INSERT INTO sale VALUES (?, 1, '')", [(n,) for n in range(100, 1_000)])
        connection.execute("UPDATE sale SET product_id = 99 WHERE id = 7")
    answer = ask(sales)
    assert (answer.text, answer.certainty) == ("Sale: 999.", "")
    assert "1 of 1,000 rows of sale has no match in product and is left out" in list_basis_lines(answer)[-1]


def test_what_was_not_counted_is_told_beside_the_answer(sales: Path) -> None:
    answer = ask(sales, "SELECT name, (SELECT COUNT(*) FROM sale WHERE product_id = product.id) FROM product")
    assert "not counted: the rows of sale: a sub-query is correlated" in list_basis_lines(answer)[-1].lower()
    assert "correlated" not in answer.text
    assert answer.certainty == ""
    reasons = dict(list_answer_reasons(answer, None))
    assert reasons["how sure"][0] in ("sure", "fairly sure")
    plain = dict(list_answer_reasons(ask(sales, "SELECT COUNT(*) FROM sale"), None))
    assert plain["how sure"][0].endswith("sure: nothing speaks against it")


def test_papers_and_approval_count_nothing(sales: Path) -> None:
    assert ask(sales, preset="track", annotate=False).ledger is None
    with SQLAgent(sales, model=writes(JOINED), settings=ALONE | {"approve": True}) as agent:
        chat = agent.conversation()
        chat.ask("How many sales?")
        assert chat.ask("approve").ledger is None


def test_no_fact_is_in_the_prompts_of_its_turn_and_a_later_one_sees_the_sentence(sales: Path) -> None:
    model = writes(JOINED, JOINED)
    with SQLAgent(sales, model=model, settings=ALONE) as agent:
        chat: Conversation = agent.conversation()
        chat.ask("How many sales?")
        before = list(model.prompts)
        chat.ask("And how many of them are new?")
    assert not any("no match in product" in prompt for prompt in before)
    assert any("97 more have no match in product" in prompt for prompt in model.prompts[len(before) :])


def test_counting_ends_with_its_time(sales: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "LONGEST_SECONDS", 0.0)
    answer = ask(sales)
    assert answer.text == "Sale: 3."
    assert answer.ledger is not None
    assert answer.ledger.not_counted == ("the rows of sale, product: the count took too long",)
    assert "Not counted: the rows of sale, product: the count took too long." in list_basis_lines(answer)


@pytest.mark.parametrize("level", ["none", "statistics"])
def test_nothing_is_told_of_what_may_not_leave(sales: Path, level: str) -> None:
    policy = Policy(egress=Egress.of({"columns": {"sale.id": level, "product.name": level, "sale.note": level}}))
    summed = "SELECT SUM(sale.product_id) FROM sale JOIN tag ON tag.sale_id = sale.rowid"
    grouped = f"{JOINED.replace('COUNT(*)', 'name, COUNT(*)')} GROUP BY name"
    for sql in (summed, grouped):
        with Database.open(sales) as database:
            answer = ask(database.for_user(database.session.identity, policy), sql, ledger="full")
        assert answer.ledger is not None
        assert answer.ledger.not_counted
        assert (answer.ledger.nulls, answer.ledger.variants, answer.ledger.list_facts(IN_ENGLISH, material=True)) == (
            (),
            (),
            (),
        )
        assert "canary" not in json.dumps(answer.to_dict()["ledger"])


def test_what_may_not_be_read_is_not_counted(sales: Path) -> None:
    answer = ask(sales, "SELECT COUNT(*) FROM sale", deny=("product", "sale.note"))
    assert answer.text == "Sale: 100."
    assert "product" not in json.dumps(answer.to_dict()["ledger"])


def test_rows_that_may_be_hidden_are_not_called_lost(sales: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for tables in ("ruled_tables", "personal_tables"):
        monkeypatch.setattr(SQLiteEngine, tables, frozenset({"product"}), raising=False)
    answer = ask(sales)
    assert answer.text == "Sale: 3. Which rows of product may be read depends on who asks, and nobody is named."
    assert answer.ledger is not None
    assert (answer.ledger.joins, answer.ledger.other_sql) == ((), "")


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT SUM(n) FROM t", True),
        ("SELECT SUM(n) FROM t WHERE day > '2024-01-01'", True),
        ("SELECT SUM(n) FROM t WHERE a <> 'y'", True),
        ("SELECT SUM(n) FROM t WHERE a <> 'Total'", False),
        ("SELECT SUM(n) FROM t WHERE a = 'x'", False),
        ("SELECT SUM(n) FROM t WHERE day < '2024-03-15'", False),
        ("SELECT SUM(n) FROM (SELECT a AS b, n FROM t) AS s WHERE b <> 'Total'", False),
        ("WITH s AS (SELECT * FROM t) SELECT SUM(n) FROM s", True),
        ("SELECT a, SUM(n) FROM t GROUP BY a", False),
        ("SELECT length(a) > 3, COUNT(*) FROM t GROUP BY 1", False),
        ("SELECT length(a) > 0, COUNT(*) FROM t GROUP BY 1", True),
        ("SELECT MEDIAN(n) FROM t WHERE a <> 'y'", True),
        ("SELECT a, n / SUM(n) OVER () FROM t", True),
        ("SELECT a FROM t ORDER BY n DESC LIMIT 1", True),
        ("SELECT COUNT(*) FROM t AS one JOIN t AS other ON one.n > other.n", True),
        ("SELECT a FROM t", False),
    ],
)
def test_totals_that_a_sum_may_count_twice_are_told(tmp_path: Path, sql: str, told: bool) -> None:
    (tmp_path / "t.csv").write_text("a,n,day\nx,10,2024-02-01\ny,20,2024-03-01\nTotal,35,2024-04-01\n")
    answer = ask(tmp_path / "t.csv", sql)
    assert ("ows of t may be totals of other rows, and count twice" in answer.text) is told
    assert answer.evidence["rows lost"] == float(told), "it counts in the confidence"


@pytest.mark.parametrize(("where", "told"), [("", True), (" WHERE a IS NOT NULL", False), (" WHERE n > 12", True)])
def test_totals_without_a_name_are_told_too(tmp_path: Path, where: str, told: bool) -> None:
    (tmp_path / "t.csv").write_text("a,n\nx,10\ny,20\n,30\n")
    answer = ask(tmp_path / "t.csv", f"SELECT SUM(n) FROM t{where}")
    assert ("ows of t may be totals of other rows, and count twice" in answer.text) is told


@pytest.mark.parametrize(
    ("where", "rules", "told"),
    [
        ("", {}, True),
        (" WHERE m LIKE 'Q_'", {}, True),
        (" WHERE m NOT LIKE 'Q_' AND m NOT LIKE 'Year%'", {}, False),
        ("", {"egress": {"columns": {"t.m": "none"}}}, True),
    ],
)
def test_several_totals_are_told_each(tmp_path: Path, where: str, rules: dict[str, Any], told: bool) -> None:
    year = "Year, of all shops and stands and markets"
    rows = ["Jan,1043", "Feb,2051", "Mar,3007", "Q1,6101", "Apr,511", "May,622", "Jun,733", "Q2,1866", f'"{year}",7967']
    (tmp_path / "t.csv").write_text("\n".join(["m,n", *rows]))
    with Database.open(tmp_path / "t.csv", **rules) as database:
        answer = ask(database, f"SELECT SUM(n) FROM t{where}")
    assert ("ows of t may be totals of other rows, and count twice" in answer.text) is told


@pytest.mark.parametrize(
    "lines",
    [
        ["IT,web,10", "IT,ops,25", "IT,(all),35", "HR,pay,7", "HR,hire,12", "HR,(all),19"],
        ["IT,web,10", "IT,ops,25", "IT,,35", "HR,pay,7", "HR,hire,12", "HR,,19"],
        ["IT,(all),35", "IT,web,10", "IT,ops,25", "HR,(all),19", "HR,pay,7", "HR,hire,12"],
        [f"{'long ' * 9}{dept},{team}" for dept in "ab" for team in ("web,11", "ops,25", ",36")],
        [f"{dept}-dept,{team}" for dept in "abcdefghijkl" for team in ("web,11", "ops,25", "(all),36")],
    ],
    ids=["below", "blank", "above", "long", "many"],
)
@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT dept, SUM(cost) FROM t GROUP BY dept", True),
        ("SELECT dept, AVG(cost) FROM t GROUP BY dept ORDER BY 2 DESC LIMIT 1", True),
        ("SELECT MAX(cost), dept FROM t GROUP BY dept", True),
        ("SELECT dept, SUM(cost) FROM t WHERE team IN ('web', 'ops') GROUP BY dept", False),
    ],
)
def test_totals_within_a_group_are_told(tmp_path: Path, lines: list[str], sql: str, told: bool) -> None:
    (tmp_path / "t.csv").write_text("\n".join(["dept,team,cost", *lines]))
    answer = ask(tmp_path / "t.csv", sql)
    is_unmarked = len(lines) > 30  # too many to tell each: nobody can tell
    assert ("ows of t may be totals of other rows, and count twice" in answer.text) is (told or is_unmarked)


def test_canaries_of_hidden_rows_and_columns_are_in_no_ledger(tmp_path: Path) -> None:
    with open_hidden(tmp_path) as hidden:
        found = {name: find_canaries(database) for name, database in hidden.items()}
        assert all(bool(texts) is name.endswith(" all") for name, texts in found.items()), found
        if (person := hidden.get("postgres rows and grants")) is None:
            return
        joined = "SELECT COUNT(*) FROM sale s JOIN product p ON p.id = s.product_id"
        ((own,),) = person.execute("SELECT COUNT(*) FROM sale").rows
        ledger = ask(person, joined).ledger
        assert ledger is not None
        assert [join.rows for join in ledger.joins] == [own], "what others may see is not counted"
