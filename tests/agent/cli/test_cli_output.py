"""What `ask` prints and writes, and what `doctor` finds."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest
from rich.console import Console
from tableturn.agent import SQLAgent
from tableturn.agent.cli.display import show_answer

from tests.support.command_line import fresh_tableturn, tableturn
from tests.support.scripted import writes

ASK = ("ask", "--model", "offline")
ALL = "Show the names and cities of all customers"


def ask(shop: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return tableturn(*ASK, "--db", str(shop), *words)


def test_format_json_is_the_rows_alone(shop: Path) -> None:
    ran = ask(shop, "--format", "json", ALL)
    assert ran.returncode == 0, ran.stderr
    assert [sorted(row) for row in json.loads(ran.stdout)] == [["city", "name"]] * 3


def test_rows_go_to_a_file_and_the_answer_to_the_screen(shop: Path, tmp_path: Path) -> None:
    ran = ask(shop, "--output", str(tmp_path / "who.csv"), "--limit", "2", "--explain", ALL)
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "who.csv").read_text().splitlines()[0] == "name,city"
    assert len((tmp_path / "who.csv").read_text().splitlines()) == 3
    assert "wrote 2 rows" in ran.stderr
    assert "2 of 3 rows" in ran.stdout
    assert "from customers" in ran.stdout


def test_what_failed_is_told_once_and_what_waits_in_plain_words(shop: Path) -> None:
    wrong = writes("SELECT nme FROM customers", "SELECT nam FROM customers", "SELECT nme FROM customers")
    shown = ""
    for model in (wrong, writes("SELECT name FROM customers", intent="ambiguous")):
        with SQLAgent(shop, model=model, settings={"examples": "none", "max_attempts": 3}) as agent:
            answer = agent.ask("Who are they?")
        console = Console(file=io.StringIO(), width=200)
        show_answer(answer, console)
        shown += cast("io.StringIO", console.file).getvalue()
    assert shown.count("I could not write a query that works") == 1
    assert "no such column" not in shown
    assert "3 queries (3 failed), 3 model requests, " in shown
    assert "waiting for your reply, 1 model request, " in shown
    assert "needs_clarification" not in shown


def test_what_is_not_there_has_no_empty_table(shop: Path) -> None:
    model = writes("SELECT name FROM customers WHERE id < 0", "SELECT NULL AS phone", "SELECT NULL AS phone, 1 AS n")
    console = Console(file=io.StringIO(), width=200)
    with SQLAgent(shop, model=model, settings={"examples": "none", "rephrase": "never"}) as agent:
        for question in ("Who is nobody?", "What is the phone?", "What are they?"):
            show_answer(agent.ask(question), console)
    shown = cast("io.StringIO", console.file).getvalue()
    assert "No rows match." in shown
    assert "Phone: no value." in shown
    assert shown.count("┏") == 1, "only that with something in a row has a table"


def test_json_with_a_limit_says_that_it_was_cut(shop: Path) -> None:
    answer = json.loads(ask(shop, "--json", "--limit", "2", ALL).stdout)
    assert (len(answer["rows"]), answer["row_count"], answer["truncated"], answer["answered"]) == (2, 2, True, True)


def test_a_dry_run_shows_the_query_and_what_it_would_read(shop: Path) -> None:
    ran = ask(shop, "--dry-run", ALL)
    assert ran.returncode == 0, ran.stderr
    assert "SELECT" in ran.stdout
    assert "would read customers (name, city, 3 rows)" in ran.stdout
    assert "Ada" not in ran.stdout
    answer = json.loads(ask(shop, "--dry-run", "--json", ALL).stdout)
    assert answer["rows"] == []
    assert (answer["status"], answer["answered"]) == ("dry_run", False)
    assert answer["text"].startswith("Not run: ")
    assert "approve" not in answer["text"]
    assert answer["reads"] == [{"table": "customers", "columns": ["name", "city"], "rows": 3}]


@pytest.mark.parametrize("option", ["--output", "--chart"])
@pytest.mark.parametrize("place", ["a folder", "the database"])
def test_a_file_that_cannot_be_written_is_refused_before_the_question(
    shop: Path, tmp_path: Path, option: str, place: str
) -> None:
    ending = ".csv" if option == "--output" else ".svg"
    own = shop.rename(shop.with_suffix(ending))
    before = own.read_bytes()
    ran = ask(own, option, str(own if place == "the database" else tmp_path / "none" / f"x{ending}"), ALL)
    own.rename(shop)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ("there is no folder" if place == "a folder" else "is the database itself") in ran.stderr
    assert shop.read_bytes() == before


def test_a_terminal_without_a_sign_has_a_question_mark(shop: Path) -> None:
    with closing(sqlite3.connect(shop)) as connection, connection:
        connection.execute("UPDATE customers SET city = 'Łódź'")
    own = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ran = fresh_tableturn(*ASK, "--db", str(shop), ALL, **own)
    assert ran.returncode == 0, ran.stderr
    assert "??d?" in ran.stdout


def test_a_picture_is_drawn_and_written(shop: Path, tmp_path: Path) -> None:
    files = ("--chart", str(tmp_path / "c.svg"), "--output", str(tmp_path / "c.csv"))
    for count in (0, 2):
        ran = ask(shop, *files, "Plot the number of customers by city")
        assert ran.returncode == 0, ran.stderr
        assert ran.stderr.count("the file that was there is replaced") == count
    assert (tmp_path / "c.svg").read_text().startswith("<svg")
    assert "█" in ran.stdout
    ran = ask(shop, "--chart", str(tmp_path / "none.png"), ALL)
    assert ran.returncode == 1
    assert "no chart fits" in ran.stderr
    assert not (tmp_path / "none.png").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("--json", "--format", "json"),
        ("--format", "table", "--output", "x.csv"),
        ("--format", "yaml"),
        ("--output", "x.doc"),
        ("--chart", "x.gif"),
        ("--dry-run", "--output", "x.csv"),
        ("--output", "no/such/folder/x.csv"),
    ],
)
def test_bad_usage_is_one_line_and_exit_2(shop: Path, words: tuple[str, ...]) -> None:
    ran = ask(shop, *words, ALL)
    assert ran.returncode == 2
    assert [line.startswith("tableturn: ") for line in ran.stderr.splitlines()] == [True]


@pytest.mark.parametrize("form", ["table", "jsonl"])
def test_a_reader_that_leaves_ends_it_quietly(shop: Path, form: str) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "tableturn", *ASK, "--db", str(shop), "--format", form, ALL]
    with os.fdopen(write, "wb") as nobody:
        ran = subprocess.run(command, stdout=nobody, stderr=subprocess.PIPE, text=True, check=False)
    assert ran.stderr == ""
    assert ran.returncode in (0, 1)


def test_the_doctor_says_what_is_wrong_and_what_to_do(shop: Path) -> None:
    ran = tableturn("doctor", "--db", str(shop), "--model", "offline", "--json")
    found = {finding["what"]: finding for finding in json.loads(ran.stdout)}
    assert ran.returncode == 0, ran.stdout
    assert list(found) == ["model", "database", "examples", "sandbox", "folders", "extras", "trust"]
    assert found["database"]["state"] == "ok"
    assert (found["model"]["state"], found["model"]["says"]) == ("ok", "the built-in offline translator")
    ran = tableturn(
        "doctor", "--db", str(shop.with_name("none.db")), "--model", "openai:x", "--base-url", "http://127.0.0.1:9/v1"
    )
    assert ran.returncode == 1
    assert "FAULT model" in ran.stdout
    assert "FAULT database" in ran.stdout
    assert "Traceback" not in ran.stderr
