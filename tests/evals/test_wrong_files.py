"""Every command says what a file is that it cannot use, in one line, and leaves it as it was."""

from __future__ import annotations

import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.command_line import tableturn

PICTURE = b"\x89PNG\r\n\x1a\n\x00 a line\nand another"
OFFLINE = ("--model", "offline", "--out", "run")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with closing(sqlite3.connect("shop.db")) as connection:
        connection.executescript("CREATE TABLE sale(sale_id INTEGER, town TEXT); INSERT INTO sale VALUES (1, 'Ghent')")
    (tmp_path / "p.png").write_bytes(PICTURE)
    (tmp_path / "notes.txt").write_text("a note\nof two lines")
    (tmp_path / "q.yaml").write_text(
        "- {question: 'How many sales?', sql: SELECT count(*) FROM sale, database: shop.db}"
    )
    (tmp_path / "t.yaml").write_text("- {question: 'How many sales?', value: 1}")
    (tmp_path / "pairs.csv").write_text("question;sql\nHow many sales?;SELECT count(*) FROM sale\n")
    with zipfile.ZipFile("fake.xlsx", "w") as archive:
        archive.writestr("a", "b")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("eval", "--dataset", "q.yaml", *OFFLINE, "--record", "p.png"), "p.png, line 1: not a record of a model"),
        (("eval", "--dataset", "q.yaml", *OFFLINE, "--record", "notes.txt"), "notes.txt, line 1: not a record"),
        (("eval", "--dataset", "q.yaml", *OFFLINE, "--verdicts", "p.png"), "p.png is not a text file in UTF-8"),
        (("eval", "--dataset", "p.png", *OFFLINE), "p.png is not a text file in UTF-8"),
        (("eval", "--dataset", "notes.txt", *OFFLINE), "notes.txt is not JSON: line 1, column 1"),
        (("eval", "--dataset", "q.yaml", "--model", "offline", "--out", "notes.txt"), "it is a file, not a folder"),
        (("trial", "--db", "shop.db", "--questions", "p.png"), "p.png is not a text file"),
        (("trust", "show", "--trust", "p.png"), "name another file with --trust"),
        (("trust", "show", "--trust", "."), " is a folder, not a file"),
        (("impact", "--before", "shop.db", "--after", "shop.db", "--history", "notes.txt"), "has no SQL queries"),
        (("knowledge", "suggest", "--db", "shop.db", "--from", "shop.db"), "shop.db has no saved conversations"),
        (("impact", "--before", "shop.db", "--after", "shop.db", "--history", "pairs.csv"), "has no SQL queries"),
        (("knowledge", "suggest", "--db", "shop.db", "--from", "notes.txt"), "has no SQL queries"),
        (("knowledge", "suggest", "--db", "shop.db", "--from", "pairs.csv"), "has no SQL queries"),
        (("knowledge", "suggest", "--db", "shop.db", "--from", "p.png"), "p.png is not a text file"),
        (("feedback", "--db", "shop.db", "--checkpoints", "none.sqlite"), "there is no file none.sqlite"),
        (("examples", "import", "pairs.csv", "--store", "s"), "name the database of its examples with --db"),
        (("ask", "How many sales?", "--db", "shop.db", "--permissions", "p.png"), "p.png is not a text file"),
        (("ask", "How many sales?", "--db", "s3://bucket/shop.csv"), "download the file"),
        (("ask", "How many?", "--db", "shop.db", "--examples", "new", "--embedding", "foo"), "no embedding is called"),
        (("ask", "How many?", "--db", "fake.xlsx"), "fake.xlsx is not an Excel workbook, or is damaged: save it again"),
        (("lessons", "--db", "shop.db", "--note", ""), "the note is empty"),
    ],
)
def test_a_file_of_another_kind_is_told_and_kept(folder: Path, command: tuple[str, ...], message: str) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    done = tableturn(*command)
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


@pytest.mark.parametrize(
    ("name", "text"), [("results.json", '{"a": 1}'), ("history.jsonl", "{}"), ("report.html", "x")]
)
@pytest.mark.parametrize(
    "command", [("eval", "--dataset", "q.yaml"), ("trial", "--db", "shop.db", "--questions", "t.yaml")]
)
def test_a_folder_with_other_files_of_these_names_is_kept(
    folder: Path, command: tuple[str, ...], name: str, text: str
) -> None:
    (folder / "run").mkdir()
    (folder / "run" / name).write_text(text)
    done = tableturn(*command, *OFFLINE)
    assert (done.returncode, f"{name} is not a run's: name another folder with --out" in done.stderr) == (2, True)
    assert [(path.name, path.read_text()) for path in (folder / "run").iterdir()] == [(name, text)]


def test_a_csv_of_other_columns_names_them(folder: Path) -> None:
    done = tableturn("examples", "import", "pairs.csv", "--store", "s", "--db", "shop.db")
    assert "there is no text for 'question'; its fields are 'question;sql'" in done.stderr


def test_a_report_replaces_reports_alone(folder: Path) -> None:
    assert tableturn("eval", "--dataset", "q.yaml", *OFFLINE).returncode == 0
    assert [tableturn("report", "run", "--out", "r.html").returncode for _ in range(2)] == [0, 0]
    done = tableturn("report", "run", "--out", "shop.db")
    assert "shop.db is not a report, and is not changed" in done.stderr


@pytest.mark.parametrize("command", [("trial", "--questions"), ("trust", "fit", "--labels")])
def test_a_server_that_is_down_is_the_reason(folder: Path, command: tuple[str, ...]) -> None:
    model = ("--model", "openai:m", "--base-url", "http://127.0.0.1:1", "--out", "run")
    done = tableturn(*command, "t.yaml", "--db", "shop.db", *model, OPENAI_API_KEY="k")
    assert done.returncode > 0
    assert "without an answer: 1 of 1: model m could not be reached" in done.stderr
    assert "True" not in done.stderr
