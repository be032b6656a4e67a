"""The commands of knowledge, verified questions from a file, and what a person types in a chat."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tableturn.agent.cli.app import app
from tableturn.tools.database import Database
from tableturn.tools.errors import QueryTimeout
from typer.testing import CliRunner

from tests.support.command_line import tableturn

from ..context.test_knowledge import KNOWN

GOLDEN = """question,sql,author
How many customers are there?,SELECT count(*) FROM customers,
Who lives in Paris?,SELECT name FROM customers WHERE city = 'Paris',ann
Which order is the largest?,SELECT id FROM orders,
Who lives in Rome?,SELECT name FROM customers WHERE city = 'Rome',
How many customers are there?,SELECT count(*) + 1 FROM customers,
What is broken?,SELECT nope FROM customers,
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLETURN_HOME", str(tmp_path / "home"))


@pytest.fixture
def known(shop: Path) -> Path:
    path = shop.with_name("shop.knowledge.yaml")
    path.write_text(KNOWN)
    return path


def test_check_tells_what_no_longer_fits(shop: Path, known: Path) -> None:
    good = tableturn("knowledge", "check", "--db", str(shop))
    assert (good.returncode, "definitions: 3 valid, 0 invalid" in good.stdout) == (0, True)
    known.write_text(KNOWN.replace("orders.total", "orders.totals"))
    bad = tableturn("knowledge", "check", "--db", str(shop), "--json")
    assert bad.returncode == 1
    (problem,) = json.loads(bad.stdout)["problems"]
    assert problem["what"] == "metric revenue"
    assert "orders has no column 'totals'" in problem["why"]
    asked = tableturn("ask", "--db", str(shop), "--model", "offline", "How many customers are there?")
    assert asked.returncode == 0
    assert "left out of the knowledge" in asked.stderr
    known.write_text("terms: [")
    assert tableturn("knowledge", "check", "--db", str(shop)).returncode == 2


def test_export_and_schema(shop: Path, known: Path) -> None:
    found = tableturn("knowledge", "export", "--db", str(shop), "--form", "json")
    assert json.loads(found.stdout)["metrics"]["revenue"]["expression"] == "SUM(orders.total)"
    ossie = tableturn("knowledge", "export", "--db", str(shop), "--form", "ossie")
    assert (ossie.returncode, "--form yaml" in ossie.stderr, ossie.stderr.count("\n")) == (2, True, 1)
    assert json.loads(tableturn("knowledge", "schema").stdout)["properties"]["terms"]
    del known


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".yaml"])
def test_golden_questions_are_run_and_doubtful_ones_held_back(shop: Path, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"golden{suffix}"
    lines = [line.rsplit(",", 1) for line in GOLDEN.splitlines()[1:]]
    records = [dict(zip(("question", "query"), line[0].split(",", 1), strict=True)) for line in lines]
    if suffix == ".csv":
        path.write_text(GOLDEN)
    else:
        text = "\n".join(map(json.dumps, records)) if suffix == ".jsonl" else json.dumps(records)
        path.write_text(text)
    first = tableturn("examples", "import", str(path), "--db", str(shop), "--author", "bo")
    assert first.returncode == 1
    assert "added 2, already stored 0, refused 1, doubtful 3 (not imported; --trust imports them)" in first.stdout
    for why in ("ranks nothing", "its result is empty", "with another result", "no such column: nope"):
        assert why in first.stderr, why
    answer = tableturn("ask", "--db", str(shop), "--model", "offline", "--json", "How many customers are there?")
    assert "answered by the query verified" in answer.stdout
    second = tableturn("examples", "import", str(path), "--db", str(shop), "--trust")
    assert "added 3, already stored 2, refused 1, doubtful 0" in second.stdout
    listed = [json.loads(line) for line in tableturn("examples", "list", "--json").stdout.splitlines()]
    authors = {found["question"]: found["author"] for found in listed}
    assert authors["Who lives in Paris?"] == ("ann" if suffix == ".csv" else "bo")
    checked = tableturn("knowledge", "check", "--db", str(shop), "--knowledge", str(_empty(tmp_path)))
    assert "verified queries: 5 run, 0 fail" in checked.stdout


def _empty(folder: Path) -> Path:
    path = folder / "empty.yaml"
    path.write_text("")
    return path


def test_a_log_suggests_what_comes_again(shop: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.sql"
    log.write_text(
        "SELECT SUM(o.total * 2) FROM orders o JOIN customers c ON c.name = o.placed WHERE c.city IS NOT NULL;\n"
        "select sum(total*2), 'a;b' from orders where id = 3;\n"
        "SELECT 1 FROM customers x JOIN orders y ON x.name = y.placed WHERE x.city IS NOT NULL;\n"
        "DROP TABLE orders; nonsense"
    )
    found = tableturn("knowledge", "suggest", "--db", str(shop), "--from", str(log), "--json")
    suggested = {entry["sql"]: entry["count"] for entry in map(json.loads, found.stdout.splitlines())}
    assert suggested == {
        "customers.name = orders.placed": 2,
        "NOT customers.city IS NULL": 2,
        "SUM(orders.total * 2)": 2,
    }


def test_kept_conversations_are_a_log_too(shop: Path, tmp_path: Path) -> None:
    kept = str(tmp_path / "kept.sqlite")
    lines = "Which customers live in Paris?\nHow many customers live in Paris?\n"
    chat = ["chat", "--db", str(shop), "--model", "offline", "--thread", "t", "--checkpoints", kept]
    assert CliRunner().invoke(app, chat, input=lines).exit_code == 0
    found = tableturn("knowledge", "suggest", "--db", str(shop), "--from", kept)
    assert "customers.city = 'Paris'  (2 queries)" in found.stdout


def test_what_cannot_be_run_to_its_end_is_not_called_valid(
    shop: Path, known: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: object) -> None:
        raise QueryTimeout("it took longer than 5 s")

    monkeypatch.setattr(Database, "execute", run)
    known.write_text(json.dumps({"terms": {"big": {"means": "much", "sql": "orders.total > 8"}}}))
    done = tableturn("knowledge", "check", "--db", str(shop))
    assert done.returncode == 0
    assert "definitions: 0 valid, 0 invalid, 1 not checked" in done.stdout
    assert "term big: its SQL could not be checked: it took longer than 5 s" in done.stderr


def test_definitions_are_checked_within_the_limits_of_the_settings(shop: Path, known: Path, tmp_path: Path) -> None:
    listed = ", ".join(map(str, range(600)))
    known.write_text(json.dumps({"terms": {"big": {"means": "much", "sql": f"orders.total NOT IN ({listed})"}}}))
    (tmp_path / "short.json").write_text(json.dumps({"sql_bytes": 1_000}))
    given = tableturn("knowledge", "check", "--db", str(shop), "--settings", str(tmp_path / "short.json"))
    assert "1 invalid" in given.stdout, given.stderr
    assert "1 valid" in tableturn("knowledge", "check", "--db", str(shop)).stdout


def test_what_was_taught_is_listed_changed_and_removed(shop: Path, known: Path) -> None:
    del known

    def lessons(*options: str) -> list[dict[str, str]]:
        done = tableturn("lessons", "--db", str(shop), "--user", "ann", "--json", *options)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    regular, big, revenue = lessons("--note", "big = orders.total > 8")
    assert (regular["name"], revenue["kind"], big["author"]) == ("regular", "metric", "ann")
    assert lessons("--edit", big["id"], "orders.total > 9")[1]["meaning"] == "orders.total > 9"
    refused = tableturn("lessons", "--db", str(shop), "--edit", big["id"], "orders.totl > 9")
    assert (refused.returncode, "did you mean total?" in refused.stderr) == (2, True)
    again = tableturn("lessons", "--db", str(shop), "--note", "big = orders.total > 7")
    assert 'replaces: term "big": ' in again.stderr
    assert [one["name"] for one in lessons("--forget", big["id"])] == ["regular", "revenue"]


def test_a_chat_learns_what_a_person_says(shop: Path, known: Path) -> None:
    lines = (
        "/note active means ordered this year\n"
        "How many customers are there?\n"
        "/correct SELECT count(*) FROM customers WHERE id < 3\n"
        "/correct\n"
        "/accept 1\n"
        "/forget active\n"
        "/forget active\n"
    )
    done = CliRunner().invoke(app, ["chat", "--db", str(shop), "--model", "offline"], input=lines)
    said = done.stderr
    assert 'remembered in shop.knowledge.yaml: term "active": ordered this year' in said
    assert "\nCustomers: 2." in said
    assert "saved" in said
    assert "say what is wrong after /correct" in said
    assert "there is no suggestion 1: " in said
    assert "forgot the definition of 'active'" in said
    assert "no saved answer or definition is called" in said
    assert "active" not in known.read_text()
