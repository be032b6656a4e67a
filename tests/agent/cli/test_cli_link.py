"""`tableturn link`: what is printed, and what is said of bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command_line import tableturn


def run(*args: str) -> str:
    done = tableturn("link", *args)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(*args: str) -> str:
    """What is said of a command that cannot run: one line, with exit code 2."""
    done = tableturn("link", *args)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    return done.stderr


def test_one_json_object(shop: Path, tmp_path: Path) -> None:
    history = tmp_path / "history.json"
    past = [
        {"question": "Which customers live in Paris?", "sql": "SELECT name FROM customers WHERE city = 'Paris'"},
        {"question": "and in Lyon?", "sql": "SELECT name FROM custmers"},
    ]
    history.write_text(json.dumps(past))
    found = json.loads(run("how old are their orders?", "--db", str(shop), "--history", str(history), "--json"))
    assert list(found) == ["tables", "columns", "kept", "base_sql", "milliseconds"]
    assert {item["name"] for item in found["tables"]} == {"customers", "orders"}
    assert all(0 <= item["p"] <= 1 for item in [*found["tables"], *found["columns"]])
    assert {("customers", "*"), ("orders", "total")} <= {(item["table"], item["name"]) for item in found["columns"]}
    assert found["base_sql"] == past[0]["sql"], "what does not run is no base"
    assert found["kept"][0]["table"] in {"customers", "orders"}


@pytest.mark.parametrize("form", ["list", "lines", "one object"])
def test_a_history_is_a_list_or_lines(shop: Path, tmp_path: Path, form: str) -> None:
    turns = [
        {"question": "Which customers are there?"},
        {"question": "and\u2028in Paris?", "sql": "SELECT name FROM customers"},
    ]
    text = {
        "list": json.dumps(turns, indent=2),
        "lines": "\n".join(json.dumps(turn, ensure_ascii=False) for turn in turns) + "\n",
        "one object": json.dumps(turns[1], indent=1),
    }[form]
    (history := tmp_path / "history").write_text(text, encoding="utf-8")
    found = json.loads(run("and in Lyon?", "--db", str(shop), "--history", str(history), "--json"))
    assert found["base_sql"] == "SELECT name FROM customers"


def test_an_empty_question_is_told(shop: Path) -> None:
    assert "the question is empty" in refused(" ", "--db", str(shop))


def test_the_first_turn_has_no_base(shop: Path) -> None:
    assert json.loads(run("orders", "--db", str(shop), "--json"))["base_sql"] is None


def test_text_names_what_is_kept(shop: Path) -> None:
    text = run("total of all orders", "--db", str(shop))
    assert "orders" in text
    assert "total" in text
    assert "tables" in text.splitlines()[-1]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        '{"question": 1}',
        '[{"sql": "SELECT 1"}]',
        '["a"]',
        '[{"question": "a", "sql": 0}]',
        "7",
        "[" * 100_000,
        '{"question": "a"}\n{"sql": "b"}',
    ],
)
def test_a_bad_history_is_one_line(shop: Path, tmp_path: Path, content: str) -> None:
    history = tmp_path / "history.json"
    history.write_text(content)
    assert "history" in refused("x", "--db", str(shop), "--history", str(history))


def test_a_history_that_is_not_there(shop: Path, tmp_path: Path) -> None:
    assert "there is no file" in refused("x", "--db", str(shop), "--history", str(tmp_path / "none.json"))


def test_a_history_may_be_what_other_programs_write(shop: Path, tmp_path: Path) -> None:
    (history := tmp_path / "history").write_text('[{"question": "Who lives in Paris?", "sql": null}]', "utf-8-sig")
    assert json.loads(run("and in Lyon?", "--db", str(shop), "--history", str(history), "--json"))["base_sql"] is None
