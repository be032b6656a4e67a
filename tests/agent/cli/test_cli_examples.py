"""`tableturn examples ...`, as a person uses it."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tableturn.agent import SQLAgent
from tableturn.agent.cli.app import app
from tableturn.tools.database import Database
from tableturn.tools.examples import database_identity, seed_examples, to_json
from typer.testing import CliRunner, Result

from tests.support.scripted import ScriptedModel

UNRUN = "; no SQL was run: that needs --databases\n"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript("CREATE TABLE sale(sale_id INTEGER, town TEXT); INSERT INTO sale VALUES (1, 'Ghent')")
    connection.close()
    return path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TABLETURN_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TABLETURN_EXAMPLES", raising=False)
    return tmp_path / "home"


def examples(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["examples", *map(str, arguments)])


def listed(*arguments: str | Path) -> Sequence[dict[str, str]]:
    result = examples("list", "--json", *arguments)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_what_is_no_file_of_examples_and_no_store_is_said(home: Path, tmp_path: Path) -> None:
    (tmp_path / "picture.jsonl").write_bytes(b"\x89PNG")
    assert "picture.jsonl is not a text file in UTF-8" in examples("import", tmp_path / "picture.jsonl").stderr
    assert "/dev/null is a file, and an example store is a folder" in examples("stats", "--store", "/dev/null").stderr


def test_an_example_is_added_found_and_removed(home: Path, shop: Path) -> None:
    added = examples("add", "How many sales were there?", "SELECT count(*) FROM sale", "--db", shop)
    assert (added.exit_code, added.stdout) == (0, "added 1, already stored 0, refused 0\n")
    assert (home / "examples").is_dir()
    (kept,) = listed("--source", "approved")
    assert (kept["database"], kept["shared"]) == ("shop", False)
    assert "sale(" in kept["schema"]
    found = examples("search", "How many sales?", "--db", shop)
    assert "SELECT count(*) FROM sale" in found.stdout
    assert "sale" not in examples("search", "How many sales?").stdout
    assert "shop@" in examples("list").stdout
    assert "no example selector is called 'best'" in examples("search", "Who?", "--by", "best").stderr
    assert examples("remove", kept["id"]).stdout == "removed 1\n"
    gone = examples("remove", kept["id"])
    assert (gone.exit_code, gone.stdout) == (1, "removed 0\n")
    assert "ids without an example: 1; `tableturn examples list` shows the ids" in gone.stderr
    assert "0 examples" in examples("stats").stdout


def test_sql_that_does_not_run_is_refused(home: Path, shop: Path) -> None:
    refused = examples("add", "How many?", "SELECT count(*) FROM sold", "--db", shop)
    assert refused.exit_code == 2
    assert "no such table: sold" in refused.stderr
    assert listed() == []


def test_an_import_reports_what_it_refuses_and_can_be_run_again(home: Path, shop: Path, tmp_path: Path) -> None:
    file = tmp_path / "good.json"
    rows = [
        {"question": "Which towns?", "query": "SELECT town FROM sale", "db_id": "shop"},
        {"question": "Which shops?", "query": "SELECT name FROM shop", "db_id": "shop"},
    ]
    file.write_text(json.dumps(rows))
    for expected in ("added 1, already stored 0, refused 1\n", "added 0, already stored 1, refused 1\n"):
        done = examples("import", file, "--databases", shop.parent, "--store", tmp_path / "store")
        assert (done.exit_code, done.stdout) == (1, expected)
        assert "no such table: shop" in done.stderr
    (kept,) = listed("--store", tmp_path / "store")
    assert kept["schema"].startswith("Database shop")
    stats = json.loads(examples("stats", "--json", "--store", tmp_path / "store").stdout)
    assert stats["by_source"] == {"import:good": 1}


def test_the_built_in_examples_can_be_imported(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text(to_json(seed_examples()[0]))
    done = examples("import", "--seeds", file)
    assert (done.exit_code, done.stdout) == (0, f"added {len(seed_examples())}, already stored 1, refused 0{UNRUN}")
    assert examples("reindex").stdout == f"indexed {len(seed_examples())} examples\n"
    assert len(listed("--limit", "5", "--database", "bakery")) == 5


@pytest.mark.parametrize("command", [("stats",), ("list",), ("search", "Who?"), ("remove", "x"), ("reindex",)])
def test_what_only_reads_makes_no_store(home: Path, tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "empty").mkdir()
    for arguments in ((), ("--store", tmp_path / "nowhere" / "x"), ("--store", tmp_path / "empty")):
        done = examples(*command, *arguments)
        assert done.exit_code == 2
        assert "there is no example store at" in done.stderr
    assert not home.exists()
    assert [*tmp_path.rglob("*")] == [tmp_path / "empty"]


def test_search_shows_what_an_agent_would_show(home: Path, shop: Path) -> None:
    assert examples("add", "How many sales in Ghent?", "SELECT count(*) FROM sale", "--db", shop).exit_code == 0
    model = ScriptedModel(script=lambda _: "```sql\nSELECT town FROM sale\n```")
    asked = "How many sales are there in Ghent?"
    settings = {"rephrase": "never", "simplify": False}
    with SQLAgent(shop, model=model, settings=settings, examples=home / "examples") as agent:
        events = list(agent.conversation().stream(asked))
    shown = next(event.data["turn"]["examples"] for event in events if event.name == "retrieve")
    found = [json.loads(line) for line in examples("search", asked, "--db", shop, "--json").stdout.splitlines()]
    assert [row["question"] for row in found] == [row["question"] for row in shown]
    assert found[0]["question"] == "How many sales in Ghent?"
    assert len(found) > 1, "built-in ones besides"
    plain = examples("search", asked, "--db", shop, "--simplified", "List towns from A to Z.", "--json").stdout
    assert len(plain.splitlines()) > 1


def test_an_owner_is_not_believed_from_a_file(home: Path, shop: Path, tmp_path: Path) -> None:
    with Database.open(shop) as database:
        victim = database_identity(database)
    file = tmp_path / "claims.jsonl"
    row = {"question": "Who?", "sql": "SELECT town FROM sale", "database": "shop", "owner": victim}
    file.write_text("\n".join(json.dumps({**row, "shared": shared}) for shared in (True, False)))
    done = examples("import", file)
    assert (done.exit_code, done.stdout) == (1, f"added 1, already stored 0, refused 1{UNRUN}")
    assert "its database is needed" in done.stderr
    assert [kept["owner"] for kept in listed()] == [""]
    (tmp_path / "b").mkdir()
    other = shutil.copy(shop, tmp_path / "b")
    done = examples("import", file, "--databases", Path(other).parent, "--store", tmp_path / "s")
    assert "belongs to another database" in done.stderr
    assert [kept["owner"] for kept in listed("--store", tmp_path / "s")] == [""]


def test_an_unreadable_file_keeps_back_nothing_of_the_others(home: Path, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.json"
    good.write_text("no example\n" + to_json(seed_examples()[0]))
    bad.write_text("{")
    done = examples("import", good, bad, good)
    assert (done.exit_code, done.stdout) == (2, f"added 1, already stored 1, refused 2{UNRUN}")
    assert "line 1: not a line of JSON" in done.stderr
    assert f"{bad} is not JSON: line 1, column 2" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux alone")
def test_a_database_whose_name_is_no_text_has_examples_and_answers(home: Path, shop: Path) -> None:
    odd = os.fsdecode(os.fsencode(shop.parent) + b"/sh\xffop.sqlite")
    shop.rename(odd)
    added = examples("add", "How many sales were there?", "SELECT count(*) FROM sale", "--db", odd)
    assert (added.exit_code, added.stdout) == (0, "added 1, already stored 0, refused 0\n")
    assert "count(*)" in examples("search", "How many sales?", "--db", odd).stdout
    answer = CliRunner().invoke(app, ["ask", "How many sales?", "--db", odd, "--model", "offline", "--json"])
    assert (answer.exit_code, json.loads(answer.stdout)["rows"]) == (0, [[1]])


def test_what_is_listed_as_json_can_be_imported(home: Path, shop: Path, tmp_path: Path) -> None:
    examples("add", "How many sales were there?", "SELECT count(*) FROM sale", "--db", shop, "--shared")
    (tmp_path / "all.jsonl").write_text(examples("list", "--json").stdout)
    done = examples("import", tmp_path / "all.jsonl", "--store", tmp_path / "other")
    assert (done.exit_code, done.stdout.split(",")[0]) == (0, "added 1")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("import", "missing.jsonl"), "there is no file missing.jsonl"),
        (("stats", "--embedding", "bert"), "no embedding is called 'bert'"),
        (("add", "Who?", "SELECT 1", "--db", "missing.db"), "missing.db"),
        (("stats", "--store", "http://127.0.0.1:9"), "127.0.0.1:9"),
    ],
)
def test_errors_are_one_line(home: Path, arguments: tuple[str, ...], message: str) -> None:
    result = examples(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_an_import_goes_on_past_what_is_no_example(home: Path, shop: Path, tmp_path: Path) -> None:
    file = tmp_path / "mixed.jsonl"
    fields = {"question": "Who?", "sql": "SELECT town FROM sale", "database": "shop"}
    rows = [fields, {**fields, "question": "\ud800"}, {**fields, "sql": "selec " * 3_000}, {**fields, "shared": False}]
    file.write_text("\n".join(["[" * 99_999, *map(json.dumps, rows)]))
    done = examples("import", file)
    assert (done.exit_code, done.stdout) == (1, f"added 1, already stored 0, refused 4{UNRUN}")
    assert f"{file}, line 1: not a line of JSON" in done.stderr
    assert done.stderr.count("\n") == 4
    assert max(map(len, done.stderr.splitlines())) < 500
    done = examples("import", file, "--databases", shop.parent)
    assert (done.exit_code, done.stdout) == (1, "added 1, already stored 1, refused 3\n")
    assert "Who?" in examples("search", "Who?", "--db", shop).stdout


def test_what_is_listed_cannot_steer_a_terminal(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "evil.jsonl"
    file.write_text(json.dumps({"question": "\x1b]0;owned\x07Who?", "sql": "SELECT 1", "database": "d"}))
    assert examples("import", file).exit_code == 0
    for shown in (examples("list"), examples("search", "\x1b]0;owned\x07Who?")):
        assert "\x1b" not in shown.stdout
        assert "owned" in shown.stdout


def test_a_file_that_is_no_text_is_one_line(home: Path, tmp_path: Path) -> None:
    (tmp_path / "latin.jsonl").write_bytes('{"question": "Où?", "sql": "SELECT 1", "database": "d"}'.encode("latin-1"))
    done = examples("import", tmp_path / "latin.jsonl")
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert "latin.jsonl is not a text file" in done.stderr
