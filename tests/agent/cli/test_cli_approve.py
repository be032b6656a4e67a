"""`/approve` and the other commands of a conversation at the terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tableturn.agent.cli.app import app
from typer.testing import CliRunner, Result

from tests.support.command_line import tableturn
from tests.support.openai_server import OpenAIServer, says

PARIS = "SELECT name FROM customers WHERE city = 'Paris'"


def rephrases(body: dict[str, Any]) -> Any:
    """Takes the last question as it stands, and writes the same SQL for every one."""
    prompt = "\n".join(str(message["content"]) for message in body["messages"])
    if '"intent"' in prompt:
        last = prompt.rsplit("<question>", 1)[-1].split("</question>")[0].strip()
        return says(json.dumps({"rephrased": last, "simplified": last, "intent": "answerable"}))
    return says(PARIS)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TABLETURN_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def chat(shop: Path, lines: str, *options: str) -> Result:
    """A conversation within this process."""
    return CliRunner().invoke(app, ["chat", "--db", str(shop), "--model", "offline", *options], input=lines)


def kept() -> list[dict[str, Any]]:
    listed = CliRunner().invoke(app, ["examples", "list", "--json"])
    return [json.loads(line) for line in listed.stdout.splitlines()]


def test_what_is_approved_in_one_chat_is_shown_in_the_next(home: Path, shop: Path) -> None:
    with OpenAIServer(rephrases) as server:
        model = ("chat", "--db", str(shop), "--model", "openai:some", "--base-url", server.base_url)
        first = tableturn(*model, "--json", given="Give me Nimbus people.\n/approve\n/approve\n", OPENAI_API_KEY="none")
        assert first.returncode == 0, first.stderr
        told = first.stderr.splitlines()
        assert "saved 'Give me Nimbus people.' as an example for shop alone" in told[0]
        assert told[1].startswith("this is already saved as an example")
        assert len(first.stdout.splitlines()) == 1, "commands print no answer"
        second = tableturn(*model, given="Give me people in Lyon.\n/why\n", OPENAI_API_KEY="none")
        assert "the model was shown 1 approved example of this database" in second.stderr
        assert "Nimbus people" in server.prompts[-1]
    (example,) = kept()
    assert (example["question"], example["source"]) == ("Give me Nimbus people.", "approved")
    assert example["added"]
    assert (home / "examples").is_dir()


def test_an_earlier_answer_is_approved_by_number_in_other_words(home: Path, shop: Path) -> None:
    lines = "How many customers are there?\nShow the names of the customers\n/answers\n/approve 1 How many are known?\n"
    ran = chat(shop, lines)
    assert ran.exit_code == 0, ran.output
    assert "  1  Give me the number of customers.  (answered)" in ran.stderr
    assert "the offline translator ignores examples" in ran.stderr
    assert [(one["question"], one["sql"]) for one in kept()] == [
        ("How many are known?", "SELECT COUNT(*) FROM customers")
    ]


def test_without_a_terminal_a_follow_up_is_saved_only_under_words_that_were_seen(home: Path, shop: Path) -> None:
    right = "SELECT name FROM customers WHERE city = 'Lyon'"
    first = "Show the names of the customers\nOnly those in Paris\n"
    ran = chat(shop, f"{first}/approve\n/correct {right}\n")
    assert "'Only those in Paris' follows earlier questions: /approve " in ran.stderr
    assert "saves it, under these words or better ones" in ran.stderr
    assert ran.stderr.count("not saved yet: 'Only those in Paris' follows earlier questions: /approve ") == 2
    assert kept() == []
    chat(shop, f"{first}/correct {right}\n/approve Who is in Lyon?\n")
    assert [(one["question"], one["sql"]) for one in kept()] == [("Who is in Lyon?", right)]


def test_what_is_shared_is_for_every_database(home: Path, shop: Path) -> None:
    ran = chat(shop, "How many customers are there?\n/share\n")
    assert "as an example for every database" in ran.stderr
    assert [one["shared"] for one in kept()] == [True]


def test_a_conversation_that_goes_on_can_approve_where_it_left_off(home: Path, shop: Path, tmp_path: Path) -> None:
    options = ("--thread", "mine", "--examples", str(tmp_path / "here"))
    chat(shop, "How many customers are there?\n", *options)
    ran = chat(shop, "/approve\n", *options)
    assert (ran.exit_code, ran.stdout) == (0, "")
    assert "saved 'Give me the number of customers.'" in ran.stderr
    assert (tmp_path / "here").is_dir()
    assert not (home / "examples").exists()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("/approve\n", "there is no answer to approve yet"),
        ("Frobnicate the quux zorply\n/approve\n", "not saved: there is no answer to approve, "),
        ("How many customers are there?\n/approve 2\n", "there is no answer 2: /answers lists them"),
        ("How many customers are there?\n/aprove\n", "there is no command /aprove: /help lists them"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_1(home: Path, shop: Path, lines: str, message: str) -> None:
    ran = chat(shop, lines)
    assert ran.exit_code == 1
    assert ran.stderr.splitlines()[-1].startswith(f"tableturn: {message}")
    assert not (home / "examples").exists(), "nothing is made for nothing"


def test_help_lists_the_commands_and_leaving_works_in_a_pipe(home: Path, shop: Path) -> None:
    ran = chat(shop, "/help\n/quit\nHow many customers?\n")
    assert (ran.exit_code, ran.stdout) == (0, "")
    assert all(f"  {name} " in ran.stderr for name in ("/approve", "/share", "/explain", "/answers", "/help"))


def test_a_query_is_explained_in_plain_words(home: Path, shop: Path) -> None:
    lines = "How many customers are there?\nShow the names of the customers in Paris\n/explain\n/explain 1\n"
    ran = chat(shop, lines)
    assert (ran.exit_code, ran.stderr.splitlines()) == (
        0,
        ["Name from customers where city is 'Paris'.", "The number of rows from customers."],
    )
    assert chat(shop, "/explain\n").stderr == "tableturn: there is no answer to explain yet\n"
    assert "no SQL to explain" in chat(shop, "Frobnicate the quux zorply\n/explain\n").stderr


def test_sql_that_begins_with_a_comment_is_no_command(home: Path, shop: Path, tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("approve = true\n")
    lines = "How many customers are there?\n/* mine */ SELECT 7 AS n\n"
    ran = chat(shop, lines, "--settings", str(tmp_path / "settings.toml"), "--json")
    assert json.loads(ran.stdout.splitlines()[-1])["rows"] == [[7]]
