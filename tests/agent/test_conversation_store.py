"""The files of conversations, and what is printed at a terminal: neither is written to, or steered, by others."""

from __future__ import annotations

import json
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest
from tableturn.tools.errors import ExampleStoreError
from tableturn.tools.examples import ExampleStore

from tests.support.command_line import tableturn


def chat(shop: Path, checkpoints: Path) -> tuple[int, str]:
    """A kept conversation of one question."""
    options = ("--db", str(shop), "--model", "offline", "--thread", "t", "--checkpoints", str(checkpoints))
    done = tableturn("chat", *options, given="How many orders are there?\n")
    return done.returncode, done.stderr


@pytest.mark.parametrize("other", ["the database", "another database", "a text", "a folder"])
def test_what_holds_no_conversations_is_left_alone(shop: Path, tmp_path: Path, other: str) -> None:
    path = shop if other == "the database" else tmp_path / "other"
    if other == "another database":
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("CREATE TABLE checkpoints (a)")
    elif other == "a text":
        path.write_text("dear diary", encoding="utf-8")
    elif other == "a folder":
        path.mkdir()
    before = None if path.is_dir() else path.read_bytes()
    code, said = chat(shop, path)
    assert code == 2
    assert str(path) in said
    assert path.is_dir() or path.read_bytes() == before
    assert not list(tmp_path.glob("*-wal"))


@pytest.mark.parametrize("name", ["nope.db", "shop.duckdb.wal"])
def test_no_conversations_are_begun_in_a_databases_place(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    code, said = chat(tmp_path / "nope.db", path)
    assert code == 2
    assert str(path) in said
    assert not path.exists()


def test_conversations_are_their_owners_alone(shop: Path, tmp_path: Path) -> None:
    path = tmp_path / "kept" / "conversations.sqlite"
    assert chat(shop, path)[0] == 0
    assert chat(shop, path)[0] == 0
    assert {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()} == {0o600}


def test_a_malicious_file_does_not_steer_the_terminal(tmp_path: Path) -> None:
    evil = tmp_path / "\x1b]0;owned\x07\x1b[31m.db"
    evil.write_text("no database", encoding="utf-8")
    history = tmp_path / "history.json"
    history.write_text('[{"question": 3, "\x1b[2J": 1}]', encoding="utf-8")
    examples = tmp_path / "evil.jsonl"
    example = {"question": "\x1b[2J\u202e", "sql": "DROP \x1b[2J", "database": "x"}
    examples.write_text(json.dumps(example) + "\n", encoding="utf-8")
    store = str(tmp_path / "store")
    for command in (
        ("ask", "How many?", "--db", str(evil), "--model", "offline"),
        ("link", "How many?", "--db", str(evil), "--history", str(history)),
        ("examples", "import", str(examples), "--store", store),
        ("examples", "import", str(evil), "--store", store),
    ):
        done = tableturn(*command)
        assert done.returncode
        assert done.stderr
        assert not [mark for mark in done.stdout + done.stderr if not (mark.isprintable() or mark in "\n\t")]


def test_json_is_printed_whole_and_harmless(tmp_path: Path) -> None:
    path = tmp_path / "evil.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE notes (note TEXT)")
        connection.execute("INSERT INTO notes VALUES (?)", ["a\x1b[31m\u202eb\x07\U0001f600\u200d"])
    done = tableturn("ask", "List the notes", "--db", str(path), "--model", "offline", "--json")
    assert json.loads(done.stdout)["rows"] == [["a\x1b[31m\u202eb\x07\U0001f600\u200d"]]
    assert not [mark for mark in done.stdout if not (mark.isprintable() or mark == "\n")]


@pytest.mark.parametrize("damage", ["start", "middle", "end"])
def test_a_damaged_example_store_is_an_error_of_ours(tmp_path: Path, damage: str) -> None:
    store = tmp_path / "store"
    with ExampleStore.open(store) as opened:
        opened.count()
    file = store / "chroma.sqlite3"
    whole = bytearray(file.read_bytes())
    size = len(whole)
    if damage == "start":
        whole[:100] = bytes(100)
    elif damage == "middle":
        whole[8192 : size - 8192] = b"\xa5" * (size - 16_384)
    else:
        del whole[size // 2 :]
    file.write_bytes(whole)
    with pytest.raises(ExampleStoreError), ExampleStore.open(store) as opened:
        list(opened.list())


@pytest.mark.parametrize("name", ["file:{db}", "{db}-wal", "{db}-shm", "{db}-journal"])
def test_neither_a_uri_nor_a_sidecar_of_the_database_keeps_conversations(shop: Path, name: str) -> None:
    before = shop.read_bytes(), sorted(shop.parent.iterdir())
    ran = tableturn(
        "chat", "--db", str(shop), "--model", "offline", "--thread", "t", "--checkpoints", name.format(db=shop),
        given="How many customers are there?\n",
    )  # fmt: skip
    assert ran.returncode == 2, ran.stderr
    assert (shop.read_bytes(), sorted(shop.parent.iterdir())) == before
