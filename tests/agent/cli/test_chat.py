"""Commands of a conversation, what completes them, and what a person's own file chooses."""

from __future__ import annotations

import io
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from subprocess import PIPE

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from rich.console import Console
from tableturn.agent import SQLAgent
from tableturn.agent.cli.chat.chat import ChatSession, ConversationCost
from tableturn.agent.cli.chat.commands import BY_NAME
from tableturn.agent.cli.chat.prompt import ChatCompleter
from tableturn.agent.cli.display import TerminalTable, count_fitting_columns, render_records, show_answer
from tableturn.agent.records import Usage
from tableturn.tools.errors import SettingsError

from tests.support.command_line import tableturn
from tests.support.scripted import writes

ROOT = Path(__file__).parents[3]
COUNT = "How many customers are there?"


def said(shop: Path, *lines: str, options: tuple[str, ...] = ()) -> list[str]:
    ran = tableturn("chat", "--db", str(shop), "--model", "offline", "--json", *options, given="\n".join(lines) + "\n")
    assert "Traceback" not in ran.stderr
    return ran.stderr.splitlines()


def test_help_breaks_no_word(shop: Path) -> None:
    lines = said(shop, "/help")
    words = {word for command in BY_NAME.values() for word in f"{command.name} {command.takes} {command.about}".split()}
    assert max(map(len, lines)) <= 80
    assert words <= {word for line in lines for word in line.split()}


def test_the_database_is_looked_at(shop: Path) -> None:
    lines = said(shop, "/tables", "/schema orders", "/values city", "/values id", "/schema nothing")
    text = "\n".join(lines)
    assert "customers  3 rows" in text
    assert "-> customers.id" in text
    assert "Paris" in text
    assert "tableturn: choose a column: customers.id, orders.id" in text
    assert "tableturn: there is no table nothing: the tables are customers, orders" in text


def test_hidden_columns_are_neither_shown_nor_completed(shop: Path) -> None:
    hidden = ("--deny", "customers.city")
    text = "\n".join(said(shop, "/schema customers", "/values city", "/values customers.city", options=hidden))
    assert "Paris" not in text
    assert "there is no column" in text
    with SQLAgent(shop, model="offline", deny=["customers.city"]) as agent:
        resources = agent.resources
        completer = ChatCompleter(lambda: resources.schemas.read(False).schema, resources.values)
        for typed, wanted in (("who is in Par", []), ("the ci", []), ("who is called Ad", ["Ada"])):
            found = completer.get_completions(Document(typed), CompleteEvent(completion_requested=True))
            assert [one.text for one in found] == wanted


def test_values_of_several_words_are_completed_whole(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "c.db")) as connection, connection:
        connection.execute("CREATE TABLE places (name TEXT)")
        connection.execute("INSERT INTO places VALUES ('New York City'), ('Newport'), ('bad\x1b[31m')")
    with SQLAgent(tmp_path / "c.db", model="offline") as agent:
        completer = ChatCompleter(lambda: agent.resources.schemas.read(False).schema, agent.resources.values)

        def completed(typed: str) -> list[tuple[str, int]]:
            found = completer.get_completions(Document(typed), CompleteEvent(completion_requested=True))
            return [(one.text, one.start_position) for one in found]

        assert completed("who is in new yo") == [("New York City", -6)]
        assert {text for text, _ in completed("in New")} == {"New York City", "Newport"}
        assert completed("in bad") == [], "what could steer the terminal is not put in"
        assert completed("/schema pl") == [("places", -2)]
        assert completed("/values places.n") == [("places.name", -8)]
        assert ("more", -2) in completed("/help mo")


def test_a_turn_is_taken_back_and_asked_again(shop: Path) -> None:
    lines = said(shop, COUNT, "Only those in Paris", "/undo", "/answers", "/retry", "/cost", "/undo", "/undo", "/retry")
    assert lines[0] == "undone: Only those in Paris"
    assert lines[1:3] == ["answers:", "  1  Give me the number of customers.  (answered)"]
    assert lines[3].startswith("3 questions, 0 model requests")
    assert lines[4] == f"undone: {COUNT}"
    assert lines[5] == "tableturn: there is no turn to undo"
    assert lines[6] == "tableturn: there is no question to ask again yet"


def test_undoing_leaves_the_conversation_as_it_was(shop: Path) -> None:
    with SQLAgent(shop, model="offline") as agent:
        chat = agent.conversation("t")
        assert not chat.undo()
        chat.ask(COUNT)
        kept = agent.graph.get_state({"configurable": {"thread_id": "t"}}).values
        chat.ask("Show the names of the customers")
        chat.ask("Only those in Paris")
        assert chat.undo()
        assert chat.undo()
        assert agent.graph.get_state({"configurable": {"thread_id": "t"}}).values == kept
        assert chat.ask("Only those in Paris").rows == ((2,),)
        assert chat.undo()
        assert chat.undo()
        assert chat.last() is None


def test_a_turn_that_was_asked_back_in_is_taken_back_as_one(shop: Path) -> None:
    lines = said(shop, "Show the ids", "customers", "/undo", "/answers", "Show the ids", "/undo", "/answers")
    assert lines == ["undone: Show the ids", "no answers yet"] * 2


def test_kept_conversations_are_listed_and_forgotten(shop: Path, tmp_path: Path) -> None:
    kept = ("--thread", "monday", "--checkpoints", str(tmp_path / "kept.sqlite"))
    said(shop, COUNT, options=kept)
    lines = said(shop, "/threads", "/reset", "/threads", options=kept)
    assert lines[1].startswith("  monday  (last used 20")
    assert lines[3].startswith("there is no saved conversation with this database")


def test_an_answer_says_what_it_rests_on(shop: Path) -> None:
    text = "\n".join(said(shop, "Show the names of the customers in Paris", "/why", "/sql", "/explain"))
    assert "'Paris' is 'Paris' in customers.city (exact)" in text
    assert "likely tables\n  customers " in text
    assert "tried\n  1. 2 rows: SELECT name FROM customers" in text
    assert "how sure\n" in text


def test_another_query_is_run_in_an_answers_place(shop: Path) -> None:
    lines = said(shop, COUNT, "/sql SELECT name FROM customers", "/answers", "/sql DROP TABLE customers", "/sql run")
    text = "\n".join(lines)
    assert "Ada" in text
    assert "  2  Give me the number of customers.  (answered)" in text
    assert "tableturn: " in text, "what does not read is refused"


def test_the_query_with_rows_left_out_is_shown_and_run(shop: Path) -> None:
    lines = said(shop, COUNT, "/sql other")
    assert "tableturn: this answer leaves out no rows that another query could add: /why shows its basis" in lines
    counted = "SELECT COUNT(*) FROM orders WHERE customer_id IN (SELECT id FROM customers)"
    with SQLAgent(shop, model=writes(counted), settings={"examples": "none"}) as agent:
        conversation = agent.conversation()
        chat = ChatSession(resources=agent.resources, agent=agent, conversation=conversation)
        chat.take(conversation.ask("How many orders?"), "How many orders?", conversation.why())
        with pytest.raises(SettingsError, match="could be counted: the rows of orders that have no match"):
            BY_NAME["/sql"].run(chat, "other")
    with closing(sqlite3.connect(shop)) as connection, connection:
        connection.execute("INSERT INTO orders (id, customer_id, total) VALUES (901, 99, 7.5)")
    joined = "SELECT COUNT(*) FROM orders JOIN customers ON customers.id = orders.customer_id"
    with SQLAgent(shop, model=writes(joined), settings={"examples": "none"}) as agent:
        conversation = agent.conversation()
        chat = ChatSession(resources=agent.resources, agent=agent, conversation=conversation)
        chat.take(conversation.ask("How many orders?"), "How many orders?", conversation.why())
        shown = io.StringIO()
        console = Console(file=shown, width=200)
        console.print(BY_NAME["/why"].run(chat, ""))
        console.print(BY_NAME["/sql"].run(chat, "other"))
    assert "with rows left out\n  SELECT COUNT(*) FROM orders  " in shown.getvalue()
    assert "There are 5 orders." in shown.getvalue()


def test_pages_and_files_of_rows(shop: Path, tmp_path: Path) -> None:
    file = tmp_path / "names.csv"
    export = f"/export {file}"
    lines = said(shop, "/more", "Show the names of the customers", "/rows 2-3", "/rows 4", "/more x", export, export)
    written = [line for line in lines if "wrote 3 rows" in line]
    assert [line.endswith("; the file that was there is replaced") for line in written] == [False, True]
    text = "\n".join(lines)
    assert "there are no rows to show" in text
    assert "rows 2 to 3 of 3" in text
    assert file.read_text().splitlines() == ["name", "Ada", "Bo", "Cy"]
    assert "how many rows: a number up to 1,000" in text


def test_columns_that_have_no_room_are_named() -> None:
    headings, rows = [f"column {n}" for n in range(9)], [["x" * 20] * 9]
    assert count_fitting_columns(headings, rows, 300) == 9
    assert count_fitting_columns(headings, rows, 80) == 3
    assert count_fitting_columns(["a"], [["x" * 500]], 80) == 1
    console = Console(width=80, force_terminal=True, no_color=True)
    with console.capture() as captured:
        console.print(TerminalTable(headings, rows, "1 row"), render_records(headings, rows))
    assert "6 more columns: column 3, column 4" in captured.get()
    assert captured.get().count("column 8") == 2


def test_what_a_conversation_costs_counts_a_clarified_turn_once() -> None:
    cost = ConversationCost((1.0, 10.0))
    cost.add(Usage(1, 1_000, 100), continues=False)
    cost.add(Usage(2, 3_000, 200), continues=True)
    cost.add(Usage(1, 1_000, 100), continues=False)
    assert cost.summary == "2 questions, 3 model requests, 4,000 prompt and 300 completion tokens, $0.0070"


def test_a_file_chooses_what_nobody_says(shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    (tmp_path / "own" / "tableturn").mkdir(parents=True)
    (tmp_path / "own" / "tableturn" / "tableturn.toml").write_text('model = "offline"\nformat = "json"\n')
    (tmp_path / "tableturn.toml").write_text(f'database = "{shop.name}"\n')
    assert json.loads(tableturn("ask", COUNT).stdout) == [{"COUNT(*)": 3}]
    assert tableturn("ask", "--format", "csv", COUNT).stdout.splitlines() == ["COUNT(*)", "3"]
    assert json.loads(tableturn("ask", "--json", COUNT).stdout)["rows"] == [[3]]
    assert "nobody:knows" in tableturn("ask", COUNT, "--model", "nobody:knows").stderr
    assert "never:here" in tableturn("ask", "--db", shop.name, COUNT, TABLETURN_MODEL="never:here").stderr
    assert "shop has no query log" in tableturn("knowledge", "suggest", "--from", "server").stderr, "within a group"
    assert "none.yaml" in tableturn("trial", "--questions", "none.yaml").stderr, "of another room"
    (tmp_path / "tableturn.toml").write_text('databse = "shop.db"\n')
    ran = tableturn("ask", COUNT)
    assert (ran.returncode, ran.stderr) == (
        2,
        "tableturn: tableturn.toml: unknown key 'databse'; known keys: database, model, format\n",
    )
    assert tableturn("sample", "other.db").returncode == 0, "what takes nothing from it does not read it"


def test_a_bare_column_is_asked_back_with_a_model_too(shop: Path) -> None:
    model = writes("SELECT id FROM customers")
    with SQLAgent(shop, model=model, settings={"examples": "none"}) as agent:
        chat = agent.conversation()
        asked = chat.ask("Show the ids")
        assert (asked.status, asked.choices) == ("needs_clarification", ("ids of customers", "ids of orders"))
        assert model.prompts == []
        assert chat.ask("1").answered
        assert "ids of customers" in model.prompts[-1]
        assert agent.ask("Show the cities").answered, "one table alone has them"


@pytest.mark.parametrize(
    ("question", "sql", "status"),
    [
        ("Remove cancelled orders and show the ids", "SELECT id FROM orders", "converged"),
        ("Delete the customers in Paris", "DELETE FROM customers WHERE city = 'Paris'", "unanswerable"),
    ],
)
def test_a_model_reads_a_wish_to_leave_out_or_to_delete_as_asked(
    shop: Path, question: str, sql: str, status: str
) -> None:
    model = writes(sql)
    with SQLAgent(shop, model=model) as agent:
        answer = agent.ask(question)
    assert question in str(model.prompts)
    assert answer.status == status
    said = "I can only read data, so nothing was changed."
    assert (said in answer.text) == (status == "unanswerable"), "the statement says it, not the question"


@pytest.mark.parametrize("question", ["What tables are there?", "which tables do you have", "Show me all the tables."])
def test_the_tables_are_told_as_far_as_they_may_be_read(shop: Path, question: str) -> None:
    with SQLAgent(shop, model=writes("SELECT 1"), deny=["orders"]) as agent:
        answer = agent.ask(question)
    assert (answer.text, answer.stop_kind, answer.answered, answer.confidence, answer.usage.llm_calls) == (
        "The database has one table: customers.",
        "schema",
        True,
        1.0,
        0,
    )


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        (
            "Which customers are from Paris and Lyon?",
            "SELECT name FROM customers WHERE city = 'Paris' OR city = 'Lyon'",
        ),
        ("Who made the orders?", None),
    ],
)
def test_what_was_read_wrongly_with_confidence(shop: Path, question: str, sql: str | None) -> None:
    with SQLAgent(shop, model="offline") as agent:
        assert agent.ask(question).sql == sql


@pytest.mark.whole
def test_a_conversation_is_held_by_one_chat_at_a_time(shop: Path, tmp_path: Path) -> None:
    kept = ("--thread", "monday", "--checkpoints", str(tmp_path / "kept.sqlite"))
    command = [sys.executable, "-m", "tableturn", "chat", "--db", str(shop), "--model", "offline", *kept]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        other.stdin.write(f"{COUNT}\n")
        other.stdin.flush()
        while "3 customers." not in other.stdout.readline():
            pass
        (refused,) = said(shop, "/undo", options=kept)
        assert refused.startswith("tableturn: the conversation 'monday' is in use by another chat: ")
        assert said(shop, "/undo", options=(*kept[:1], "tuesday", *kept[2:])) == ["tableturn: there is no turn to undo"]
        other.stdin.close()
    assert said(shop, "/undo", "/threads", options=kept) == [
        "the last turn was undone",
        "there is no saved conversation with this database yet: this chat will be saved after its first turn",
    ]


def test_a_price_is_two_numbers_or_one_word(shop: Path) -> None:
    for price in (("--price", "1", "2"), ("--price", "1,2"), ("--price=1,2",)):
        assert said(shop, COUNT, "/cost", options=price)[-1].endswith("$0.0000")
    for command in (["chat", "--db", str(shop)], ["eval", "--dataset", "no"], ["trial"], ["serve", "--db", str(shop)]):
        for price in ("-1,2", "1", "x,2"):
            ended = tableturn(*command, "--price", price)
            assert ended.stderr == f"tableturn: --price takes two numbers such as 0.25,2, not {price!r}\n"
    for price in (["0.25", "2"], ["0.25,2"]):
        ended = tableturn("eval", "--dataset", "no", "--model", "offline", "--price", *price)
        assert ended.stderr.startswith("tableturn: unknown dataset 'no'")


def test_what_a_caption_says_is_not_said_again(shop: Path) -> None:
    with SQLAgent(shop, model="offline", settings={"rows": 2}) as agent:
        answer = agent.ask("Show the names of the customers")
    assert "Only the first 2 rows are shown." in answer.notes
    console = Console(width=80, record=True, file=io.StringIO(), force_terminal=True)
    show_answer(answer, console, rows=1, brief=True)
    text = console.export_text()
    assert "1 of 2 or more rows; /more shows the next" in text
    assert "Only the first" not in text
    assert "More than" not in text
    show_answer(answer, console)
    text = console.export_text()
    assert answer.text in text, "nothing else says it"
    assert "Only the first 2 rows are shown." in text


def test_what_people_are_told_of_their_own_query_has_no_advice_for_a_model(shop: Path, tmp_path: Path) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    settings = tmp_path / "settings.toml"
    settings.write_text("query_seconds = 0.3\n", encoding="utf-8")
    lines = said(
        shop,
        COUNT,
        f"/sql {endless}",
        "/sql DROP TABLE orders",
        f"/note big means sum(orders.total) > ({endless})",
        "/lessons",
        options=("--settings", str(settings)),
    )
    assert "tableturn: This took more than 0.3 s. Try a shorter period or fewer rows." in lines
    assert "tableturn: I can only read data, so nothing was changed." in lines
    assert "join on keys" not in " ".join(lines)


def test_commands_that_cannot_be_done_say_what_can(shop: Path) -> None:
    lines = said(
        shop,
        "/sql SELECT 1",
        "/tables custmers",
        "/rows 9-3",
        "/accept",
        "/forget",
        "/note a means b",
        "/lessons",
        "/forget 1",
    )
    lines += said(shop, COUNT, "/rows 5-9", "/accept 2", "/forget xyz", "/reset foo", "/answers")
    lines += said(shop, "/note foo means", "/note rule:")
    for text in (
        "ask a question first: /sql replaces the query of an answer",
        "/reset takes no words, so nothing was done: write /reset alone",
        "not saved: say what foo means: foo means ...",
        "not saved: write the rule after 'rule:'",
        "there is no table custmers: did you mean customers?",
        "say which rows: /rows 50 shows the first fifty, /rows 101-120 rows 101 to 120",
        "there is no suggestion to accept: correct a query to get suggestions",
        "say what to forget, by its name or its number in /lessons",
        "there are no more rows to show: the last is row 1",
        "there is no suggestion 2: correct a query to get suggestions",
        "no saved answer or definition is called 'xyz'",
    ):
        assert f"tableturn: {text}" in lines
    assert any("(answered)" in line for line in lines), "/answers still has what was not reset"
