"""A conversation at a terminal, typed to and read as a person does."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.openai_server import HANG, Behaviour, OpenAIServer, sql
from tests.support.terminal import CTRL_C, CTRL_D, CTRL_R, PROMPT, TAB, UP, Screen

WIDE = ", ".join(f"'a rather long value {number}' AS column_{number}" for number in range(12))
FOREVER = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS forever FROM n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("chat")
    with closing(sqlite3.connect(made / "shop.db")) as connection, connection:
        connection.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT)")
        rows = ((f"Person {number}", ("Paris", "Lyon", "Québec")[number % 3]) for number in range(2_500))
        connection.executemany("INSERT INTO customers (name, city) VALUES (?, ?)", rows)
    (made / "settings.toml").write_text('query_seconds = 60\nexamples = "none"\n')
    return made


def chat(folder: Path, *options: str, **environment: str) -> Screen:
    own = {"TABLETURN_HOME": str(folder / "home"), "TABLETURN_CACHE": str(folder / "cache"), "OPENAI_API_KEY": "none"}
    settings = ("--settings", str(folder / "settings.toml"))
    return Screen(["chat", "--db", str(folder / "shop.db"), *settings, *options], own | environment)


@pytest.fixture(scope="module")
def offline(folder: Path) -> Generator[Screen]:
    with chat(folder, "--model", "offline") as screen:
        screen.wait_for(PROMPT)
        screen.say("How many customers are there?")
        yield screen


def scripted(body: dict[str, Any]) -> Behaviour:
    question = str(body["messages"][-1]["content"]).rsplit("<question>", 1)[-1]
    if "quiet" in question:
        return HANG
    if "late" in question:
        return sql("SELECT 77 AS late", delay=2.0)
    if "wide" in question:
        return sql(f"SELECT {WIDE}")
    return sql(FOREVER if "endless" in question else "SELECT name FROM customers")


@pytest.fixture(scope="module")
def model(folder: Path) -> Generator[Screen]:
    with (
        OpenAIServer(scripted) as server,
        chat(folder, "--model", "openai:some", "--base-url", server.base_url, "--price", "1", "2") as screen,
    ):
        screen.wait_for(PROMPT)
        yield screen


def test_names_commands_and_values_are_completed(offline: Screen) -> None:
    for typed, whole in (("/expl", "/explain"), ("list cust", "list customers"), ("who is in Qué", "who is in Québec")):
        offline.type(typed + TAB)
        assert f"> {whole}" in offline.until(f"> {whole}")
        offline.type(CTRL_C)
        offline.settled()
    offline.type(f"/schema cu{TAB}")
    offline.until("> /schema customers")
    offline.type(CTRL_C)
    offline.settled()


def test_an_answer_is_corrected_in_words_and_saved_as_the_person_leaves_the_question(model: Screen) -> None:
    model.say("Who are the customers?")
    told = model.say("/correct only those of Paris")
    assert "Is this right? /approve saves it as the answer to: Who are the customers?" in told
    model.type("/approve\r")
    model.until("save as the answer to: Who are the customers?")
    model.settled()
    start = len(model.written)
    model.type(" In Paris.\r")
    model.wait_for(PROMPT, start=start)
    assert "saved 'Who are the customers? In Paris.' as an example" in model.settled()
    model.say("And who is from Lyon?")
    model.type("/approve\r")
    model.until("save as the answer to: And who is from Lyon?")  # as it was asked, where the model gave no other words
    model.settled()
    start = len(model.written)
    model.type(CTRL_C)
    model.wait_for(PROMPT, start=start)
    assert "nothing was saved" in model.settled()


def test_ctrl_c_clears_the_line_and_nothing_is_asked(offline: Screen) -> None:
    offline.type("Frobnicate")
    offline.until("> Frobnicate")
    start = len(offline.written)
    offline.type(CTRL_C)
    offline.wait_for(PROMPT, start=start)
    assert offline.settled().endswith("\n>")
    assert "answers:\n  1  " in offline.say("/answers")


def test_pages_go_on_over_rows_that_the_answer_does_not_hold(offline: Screen) -> None:
    assert "20 of 1,000 or more rows" in offline.say("Show the names of all customers")
    assert "rows 21 to 40 of 1,000 or more" in offline.say("/more")
    assert "rows 991 to 1,010 of 2,500" in offline.say("/rows 991-1010")
    shown = offline.say("/rows 2490-2600")
    assert "rows 2,490 to 2,500 of 2,500" in shown
    assert "Person 2499" in shown
    assert "there are no more rows to show: the last is row 2,500" in offline.say("/more")


def test_all_rows_are_exported(offline: Screen, folder: Path) -> None:
    offline.say("Show the names of all customers")
    assert "wrote 2,500 rows" in offline.say(f"/export {folder / 'all.csv'}")
    assert len((folder / "all.csv").read_text().splitlines()) == 2_501
    assert "use a name that ends in" in offline.say("/export nothing.doc")


def test_a_query_is_edited_in_an_editor_and_run(folder: Path) -> None:
    editor = folder / "editor.sh"
    editor.write_text('#!/bin/sh\necho "SELECT city, \'edited\' AS how FROM customers LIMIT 1" > "$1"\n')
    editor.chmod(0o700)
    with chat(folder, "--model", "offline", EDITOR=str(editor)) as screen:
        screen.wait_for(PROMPT)
        screen.say("How many customers are there?")
        shown = screen.say("/sql edit")
        assert "edited" in shown
        assert "Lyon" in shown or "Paris" in shown
        assert "FROM customers LIMIT 1" in screen.say("/sql")


def test_an_edit_that_does_not_run_is_opened_again(folder: Path) -> None:
    editor = folder / "mending.sh"
    editor.write_text(
        "#!/bin/sh\n"
        'if grep -q nosuch "$1"; then echo "SELECT \'mended\' AS how" > "$1"; else echo "SELECT nosuch" > "$1"; fi\n'
    )
    editor.chmod(0o700)
    with chat(folder, "--model", "offline", EDITOR=str(editor)) as screen:
        screen.wait_for(PROMPT)
        screen.say("How many customers are there?")
        assert "/sql edit opens it again" in screen.say("/sql edit")
        assert "mended" in screen.say("/sql edit")
    with chat(folder, "--model", "offline", EDITOR="false") as screen:
        screen.wait_for(PROMPT)
        screen.say("How many customers are there?")
        assert "false ended with status 1, so the query was not run" in screen.say("/sql edit")


def test_history_is_kept_for_the_next_session_and_is_its_owners_alone(folder: Path) -> None:
    home = folder / "home"
    with chat(folder, "--model", "offline") as screen:
        screen.wait_for(PROMPT)
        screen.say("/cost")
        screen.type(CTRL_D)
        assert screen.leave() in (0, 1)
    assert stat.S_IMODE((home / "history").stat().st_mode) == 0o600
    with chat(folder, "--model", "offline") as screen:
        screen.wait_for(PROMPT)
        screen.type(UP)
        screen.until("> /cost")
        screen.type(CTRL_C)
        screen.settled()
        screen.type(CTRL_R + "/co")
        assert "(reverse-i-search)`/co': /cost" in screen.until("/co': /cost")


def test_columns_that_do_not_fit_are_named_and_a_wider_window_has_more(model: Screen) -> None:
    narrow = model.say("Something wide?")
    assert "more columns: column 3, column 4" in narrow.replace("\n", " ")
    assert "/wide: all columns" in narrow
    records = model.say("/wide")
    assert "column 11  a rather long value 11" in records
    model.resize(120, 40)
    assert "more columns: column 4," in model.say("/rows 1").replace("\n", " ")
    model.resize(80, 24)
    assert "$0.0" in model.say("/cost")


@pytest.mark.parametrize("question", ["Something quiet?", "Something endless?"])
def test_ctrl_c_ends_a_turn_and_leaves_nothing_of_it(model: Screen, question: str) -> None:
    model.say("How are they called?")
    start = len(model.written)
    model.type(f"{question}\r")
    model.wait_for("looking for examples" if "quiet" in question else "forever", start=start)
    start = len(model.written)
    model.type(CTRL_C)
    model.wait_for(PROMPT, start=start)
    assert "this turn was interrupted; earlier turns are not affected" in model.settled()
    assert "How are they called?" in model.say("/undo")


def test_what_is_typed_meanwhile_stands_in_the_next_line(model: Screen) -> None:
    start = len(model.written)
    model.type("What comes late?\r")
    model.wait_for("looking for examples", start=start)
    start = len(model.written)
    model.type("and then")
    model.until("> and then")
    assert "77" in model.text
    model.type(CTRL_C)
    model.settled()


@pytest.mark.parametrize(
    "environment",
    [{"TERM": "dumb"}, {"NO_COLOR": "1"}, {"LANG": "C", "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}],
)
def test_plain_terminals_are_served(folder: Path, environment: dict[str, str]) -> None:
    with chat(folder, "--model", "offline", **environment) as screen:
        screen.until("Ctrl-D leaves.")
        screen.settled()
        screen.type("Show the names of the customers in Québec\r")
        screen.until("no model, ")
        os.write(screen._own, "caf\xe9 in Latin-1\r".encode("latin-1"))
        screen.settled()
        screen.type("/wide 1\r")
        screen.settled()
        screen.type(CTRL_D)
        assert screen.leave() in (0, 1)
    assert b"Traceback" not in screen.written
    if "NO_COLOR" in environment:
        assert b"\x1b[34m" not in screen.written
        assert b"\x1b[94m" not in screen.written
