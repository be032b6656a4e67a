"""The command line, run as a person or a program runs it."""

from __future__ import annotations

import contextlib
import io
import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from tableturn.agent.cli import main, root
from tableturn.agent.cli.app import app
from typer.testing import CliRunner

from tests.support.command_line import fresh_tableturn, tableturn
from tests.support.openai_server import OpenAIServer, says

KEYS = [
    "question", "rephrased", "intent", "sql", "columns", "rows", "row_count", "truncated", "status", "text",
    "confidence", "attempts", "usage", "translator", "model",
    "stop_kind", "notes", "answered", "explanation",
]  # fmt: skip


def test_ask_gives_one_json_object(shop: Path) -> None:
    ran = fresh_tableturn("ask", "--db", str(shop), "--model", "offline", "--json", "How many customers are there?")
    answer = json.loads(ran.stdout)
    assert ran.returncode == 0, ran.stderr
    assert list(answer)[: len(KEYS)] == KEYS, "further keys are appended"
    assert answer["rows"] == [[3]]
    assert list(answer["attempts"][0]) == ["sql", "error", "row_count", "feedback"]
    assert list(answer["usage"]) == ["llm_calls", "prompt_tokens", "completion_tokens", "seconds"]
    assert (answer["translator"], answer["model"], answer["usage"]["llm_calls"]) == ("offline", "offline", 0)
    assert ran.stderr == "", "nothing is said that was not asked"


def test_without_a_model_one_line_says_so(shop: Path) -> None:
    ran = tableturn("ask", "--db", f"sqlite:///{shop}", "How many customers are there?")
    assert ran.returncode == 0
    assert ran.stderr.count("\n") == 1
    assert "offline" in ran.stderr
    assert "3" in ran.stdout


def test_a_model_that_the_environment_names_is_chosen(shop: Path) -> None:
    ran = tableturn("ask", "--db", str(shop), "How many customers are there?", TABLETURN_MODEL="offline")
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--db", "shop.db", "How", "many", "customers?"], "put the question in quotes, as in: tableturn ask"),
        (["--db", "", "How many customers are there?"], "no database is named: give its path or URL"),
    ],
)
def test_a_question_without_quotes_or_database_says_how_to_write_it(arguments: list[str], says: str) -> None:
    ran = tableturn("ask", "--model", "offline", *arguments)
    assert ran.returncode == 2
    assert says in ran.stderr


def test_what_is_not_answered_is_exit_1(shop: Path) -> None:
    ran = tableturn("ask", "--db", str(shop), "--model", "offline", "--json", "Frobnicate the quux zorply")
    assert ran.returncode == 1
    assert json.loads(ran.stdout)["status"] in ("failed", "unanswerable", "needs_clarification")


@pytest.mark.parametrize(
    ("limit", "says"), [("0", "must be at least 1, not '0'"), ("x", "must be a whole number, not 'x'")]
)
def test_a_value_that_an_option_does_not_take_is_told_in_words(shop: Path, limit: str, says: str) -> None:
    ran = tableturn("ask", "--db", str(shop), "--limit", limit, "How many?", COLUMNS="200")
    assert ran.returncode == 2
    assert f"Invalid value for '--limit': {says}" in ran.stderr


def broken_databases(folder: Path) -> dict[str, str]:
    (folder / "text.db").write_text("this is no database, whatever its name says " * 40)
    (folder / "nothing.db").write_bytes(b"")
    with closing(sqlite3.connect(folder / "bare.db")) as connection, connection:
        connection.execute("PRAGMA user_version = 1")
    return {
        "missing": str(folder / "missing.db"),
        "folder": str(folder),
        "text": str(folder / "text.db"),
        "zero bytes": str(folder / "nothing.db"),
        "no tables": str(folder / "bare.db"),
        "other dialect": "postgresql://localhost/shop",
    }


def one_line(ran: subprocess.CompletedProcess[str]) -> bool:
    return ran.returncode == 2 and len(ran.stderr.strip().splitlines()) == 1 and "Traceback" not in ran.stderr


@pytest.mark.parametrize("kind", ["missing", "folder", "text", "zero bytes", "no tables", "other dialect"])
def test_an_unusable_database_is_one_line_and_exit_2(tmp_path: Path, kind: str) -> None:
    ran = tableturn("ask", "--db", broken_databases(tmp_path)[kind], "--model", "offline", "How many?")
    assert one_line(ran), ran.stderr
    assert ran.stdout == ""
    assert not (tmp_path / "missing.db").exists(), "nothing is created"


def test_a_locked_database_is_one_line_and_exit_2(shop: Path) -> None:
    with closing(sqlite3.connect(shop)) as connection:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        ran = tableturn("ask", "--db", str(shop), "--model", "offline", "How many customers are there?")
    assert one_line(ran), ran.stderr
    assert "locked" in ran.stderr


@pytest.mark.parametrize(
    "wrong", [["--preset", "best"], ["--model", "nobody:knows"], ["--settings", "none.toml"], ["--model", "openai:"]]
)
def test_wrong_choices_are_one_line_and_exit_2(shop: Path, wrong: list[str]) -> None:
    ran = tableturn("ask", "--db", str(shop), *wrong, "How many customers are there?")
    assert one_line(ran), ran.stderr


def test_a_fault_of_ours_says_so_and_is_no_usage_error(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise KeyError("ours")

    monkeypatch.setattr("tableturn.agent.sqlagent.Conversation.stream", fails)
    ran = tableturn("ask", "--db", str(shop), "--model", "offline", "How many customers are there?")
    assert ran.returncode == 70
    assert ran.stderr.strip().splitlines() == [
        "tableturn: this is an error in tableturn (KeyError: 'ours'): set PYTHONDEVMODE=1 to see the traceback"
    ]


def test_a_piped_conversation_takes_one_turn_a_line(shop: Path) -> None:
    lines = "How many customers are there?\n\nShow the names of the customers\nOnly those in Paris\n"
    ran = tableturn("chat", "--db", str(shop), "--model", "offline", "--json", given=lines)
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert ran.returncode == 0, ran.stderr
    assert [answer["row_count"] for answer in answers] == [1, 3, 2]


def test_a_piped_line_that_is_not_utf_8_is_answered_too(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = io.BytesIO(b"caf\xe9\nHow many customers are there?\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(lines, encoding="utf-8"))
    monkeypatch.setattr(sys, "argv", ["tableturn", "chat", "--db", str(shop), "--model", "offline", "--json"])
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        main()
    assert json.loads(printed.getvalue().splitlines()[-1])["rows"] == [[3]]


def test_a_thread_goes_on_in_another_run(shop: Path, tmp_path: Path) -> None:
    def take(question: str, thread: str, run: Callable[..., subprocess.CompletedProcess[str]]) -> dict[str, Any]:
        ran = run(
            "chat", "--db", str(shop), "--model", "offline", "--json", "--thread", thread,
            given=question + "\n", TABLETURN_HOME=str(tmp_path / "home"),
        )  # fmt: skip
        return json.loads(ran.stdout)

    assert take("How many customers are there?", "mine", fresh_tableturn)["rows"] == [[3]]
    assert take("Only those in Paris", "mine", tableturn)["rows"] == [[2]]
    assert (tmp_path / "home" / "conversations.sqlite").exists()
    assert take("Only those in Paris", "yours", tableturn)["rows"] != [[2]], "another thread is new"


def test_settings_come_from_a_file(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("rows = 2\n")
    ran = tableturn(
        "ask", "--db", str(shop), "--model", "offline", "--settings", str(tmp_path / "settings.toml"), "--json",
        "Show the names of the customers",
    )  # fmt: skip
    answer = json.loads(ran.stdout)
    assert (answer["row_count"], answer["truncated"]) == (2, True)


def test_a_query_is_approved_in_a_conversation(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("approve = true\n")
    settings = ("--settings", str(tmp_path / "settings.toml"))
    lines = "How many customers are there?\nyes\nHow many customers are there?\nno\n"
    ran = tableturn("chat", "--db", str(shop), "--model", "offline", *settings, "--json", given=lines)
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [answer["status"] for answer in answers] == [
        "needs_clarification", "converged",
        "needs_clarification", "failed",
    ]  # fmt: skip
    assert answers[0]["sql"] == answers[1]["sql"]


def test_a_model_server_is_named_by_its_url(shop: Path) -> None:
    def script(body: dict[str, Any]) -> Any:
        if '"intent"' in json.dumps(body["messages"]).replace("\\", ""):
            return says('{"rephrased": "Give me it.", "simplified": "it", "intent": "answerable"}')
        return says("SELECT 41 + 1 AS n")

    with OpenAIServer(script) as server:
        ran = tableturn(
            "ask", "--db", str(shop), "--model", "openai:some-model", "--base-url", server.base_url, "--json",
            "What is it?", OPENAI_API_KEY="none",
        )  # fmt: skip
    answer = json.loads(ran.stdout)
    assert answer["rows"] == [[42]], ran.stderr
    assert (answer["translator"], answer["model"]) == ("prompted", "some-model")
    assert (answer["usage"]["llm_calls"], answer["usage"]["prompt_tokens"]) == (1, 100)


def test_terminal_output_cannot_be_steered_by_the_database(tmp_path: Path) -> None:
    path = tmp_path / "evil.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE things (name TEXT)")
        connection.execute("INSERT INTO things VALUES (?)", ("\x1b]0;owned\x07[red]x[/red]",))
    ran = tableturn("ask", "--db", str(path), "--model", "offline", "Show the names of the things")
    assert ran.returncode == 0, ran.stderr
    assert "\x1b" not in ran.stdout
    assert "[red]x[/red]" in ran.stdout


HEAVY = ("langgraph", "langchain_core", "sqlglot", "pandas", "numpy", "chromadb", "sqlalchemy", "pydantic")


def test_help_loads_nothing_heavy_and_lists_what_is_asked_for_first() -> None:
    code = (
        "import sys\nfrom tableturn.agent.cli import main\nsys.argv = ['tableturn', '--help']\n"
        f"try: main()\nexcept SystemExit: print([name for name in {HEAVY} if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.strip().endswith("[]"), ran.stdout[-200:]
    headings = ("─ Ask ─", " ask ", " chat ", "─ Look ─", "─ Examples and knowledge ─", "─ Evaluate ─", " score ")
    places = [ran.stdout.index(heading) for heading in headings]
    assert places == sorted(places)


def test_the_version_is_the_package_s() -> None:
    from tableturn import __version__

    assert tableturn("--version").stdout == f"tableturn {__version__}\n"
    assert fresh_tableturn("--version").stdout == f"tableturn {__version__}\n"


def test_the_shell_s_completion_is_shown() -> None:
    # The shell that would be asked for is the test runner's parent, whatever that is.
    ran = tableturn("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "_TABLETURN_COMPLETE=complete_bash" in ran.stdout


def plugin(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    def only(group: str) -> list[EntryPoint]:
        return [EntryPoint("theirs", value, group)]

    monkeypatch.setattr(root, "entry_points", only)


def test_no_command_takes_the_name_of_another() -> None:
    """Typer keeps the last one of a name, and says nothing."""
    groups = [app, *(group.typer_instance for group in app.registered_groups)]
    for group in filter(None, groups):
        names = [command.name or getattr(command.callback, "__name__", "") for command in group.registered_commands]
        names = [name.strip("_").replace("_", "-") for name in names]
        assert names
        assert sorted(names) == sorted(set(names))


def test_a_plug_in_adds_commands_and_takes_none_away(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = typer.Typer()
    theirs.command("greet")(lambda: typer.echo("hello"))
    theirs.command("ask")(lambda: typer.echo("not the agent"))
    monkeypatch.setitem(sys.modules, "their_commands", SimpleNamespace(app=theirs))
    plugin(monkeypatch, "their_commands:app")
    assert tableturn("greet").stdout == "hello\n"
    assert "not the agent" not in tableturn("ask").stdout
    assert "greet" in tableturn("--help").stdout


def _every_command(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        yield (*path, name), command
        if hasattr(command, "list_commands"):
            yield from _every_command(command, (*path, name))


def test_help_shows_every_word_that_it_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Square brackets, as in `[users.NAME]`, are no styles."""
    for variable in ("COLUMNS", "TERMINAL_WIDTH"):
        monkeypatch.setenv(variable, "3000")
    bracketed: set[str] = set()
    for path, command in _every_command(typer.main.get_group(app)):
        shown = CliRunner().invoke(app, [*path, "--help"]).stdout.split()
        for text in (getattr(param, "help", "") or "" for param in command.params if not param.hidden):
            words = text.replace("\\[", "[").split()
            bracketed |= {path[0] for word in words if "[" in word}
            assert set(words) <= set(shown), (path, set(words) - set(shown))
    assert {"ask", "chat", "annotate", "examples"} <= bracketed


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("no_such_module:app", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("json:dumps", "TypeError: expected a typer.Typer, got function"),
        ("json:app", "AttributeError: "),
    ],
)
def test_a_broken_plug_in_is_one_line_and_the_rest_works(
    monkeypatch: pytest.MonkeyPatch, shop: Path, value: str, reason: str
) -> None:
    plugin(monkeypatch, value)
    ran = tableturn("--help")
    assert (ran.returncode, ran.stderr.count("\n")) == (0, 1)
    assert f"plug-in 'theirs' ({value}) are left out: {reason}" in ran.stderr
    assert " ask " in ran.stdout
    asked = tableturn("ask", "--db", str(shop), "--model", "offline", "How many customers are there?")
    assert (asked.returncode, asked.stderr) == (0, ""), "the agent's own commands load no plug-ins"
