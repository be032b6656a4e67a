"""Every command of a conversation, in one table: `/help`, completion and docs/chat.md are made of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ....tools.errors import SettingsError
from . import answers, database, learning, rows, turns
from .chat import Chat
from .turns import Ask

Said: TypeAlias = str | RenderableType | Ask
"""What a command gives: words or something to show, or a question that is asked now."""

Completes = Literal["", "tables", "columns", "files", "commands"]
"""What stands after a command, as far as it can be completed."""


@dataclass(frozen=True)
class Command:
    """A command.

    Attributes:
        name: With its slash.
        takes: What may follow it.
        about: What it does, in a line or two.
        run: Does it, given the conversation and what follows the name.
        completes: What is completed after it.
    """

    name: str
    takes: str
    about: str
    run: Callable[[Chat, str], Said]
    completes: Completes = ""


def _help(chat: Chat, rest: str) -> Said:
    chosen = [command for command in _known() if command.name.lstrip("/") == rest.lstrip("/")]
    if rest and not chosen:
        raise SettingsError(f"there is no command {rest}: /help lists them")
    if chosen:
        return _listed(tuple(chosen))
    parts: list[RenderableType] = []
    for heading, commands in COMMANDS.items():
        parts += [Text(f"{heading}:", style="bold"), _listed(commands)]
    return Group(*parts, Text("Anything else is a question. N is an answer's number; the last one is meant without."))


def _listed(commands: tuple[Command, ...]) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(max_width=26)
    grid.add_column()
    for command in commands:
        grid.add_row(Text(f"{command.name} {command.takes}"), Text(command.about))
    return Padding(grid, (0, 0, 0, 2))


COMMANDS: dict[str, tuple[Command, ...]] = {
    "The answer": (
        Command("/more", "[COUNT]", "show the next rows", rows.more),
        Command("/rows", "FROM[-TO]", "show so many rows, or those from one number to another", rows.some),
        Command("/wide", "[COUNT]", "show rows as records, all columns one under the other", rows.wide),
        Command(
            "/sql",
            "[edit | run | SELECT ...]",
            "show the query; change it in $EDITOR and run it; run it again; or run another in its place",
            answers.sql,
        ),
        Command("/explain", "[N]", "say in plain words what the SQL computes", answers.explained),
        Command("/why", "[N]", "say what it rests on, what was tried, and why it is as sure as it is", answers.why),
        Command("/chart", "[FILE]", "draw the result here, or into a .svg, .png or .html file", rows.chart, "files"),
        Command(
            "/export",
            "FILE",
            "write all rows to a .csv, .json, .jsonl, .md, .xlsx or .parquet file",
            rows.export,
            "files",
        ),
        Command("/answers", "", "list the answers with their numbers", answers.listed),
    ),
    "The conversation": (
        Command("/retry", "", "take the last turn back and ask it again", turns.retry),
        Command("/undo", "", "take the last turn back", turns.undo),
        Command("/reset", "", "forget all turns, and begin anew", turns.reset),
        Command("/threads", "", "list the conversations with this database that are kept", turns.threads),
        Command("/cost", "", "say what the conversation has cost: calls, tokens and, with --price, money", turns.cost),
        Command("/help", "[COMMAND]", "show this", _help, "commands"),
    ),
    "The database": (
        Command("/tables", "", "list the tables", database.tables),
        Command("/schema", "TABLE", "show a table's columns, keys and values", database.schema, "tables"),
        Command("/values", "COLUMN", "show the values of a column, most frequent first", database.values, "columns"),
    ),
    "Teaching it": (
        Command(
            "/approve",
            "[N] [QUESTION]",
            "save the answer as an example of this database, under another wording of the question if one is given; "
            "similar questions to this database are then shown it",
            learning.approve,
        ),
        Command("/share", "[N] [QUESTION]", "the same, for questions to other databases too", learning.share),
        Command(
            "/correct",
            "[N] SQL",
            "put another query in the place of the answer's: it runs and is kept as the answer to that question; what "
            "could be remembered besides is offered",
            learning.correct,
        ),
        Command("/note", "WORD means TEXT", "remember what a word means here, or a rule of the house", learning.note),
        Command("/accept", "NUMBER", "remember what was offered under that number", learning.accept),
        Command(
            "/forget",
            "NAME",
            "take out a definition by its name, or an approved answer by its question or identifier",
            learning.forget,
        ),
    ),
}
"""The commands under their headings. `exit`, `quit` and Ctrl-D leave."""


def _known() -> tuple[Command, ...]:
    return tuple(command for commands in COMMANDS.values() for command in commands)


BY_NAME = {command.name: command for command in _known()}


def run(chat: Chat, line: str) -> Said:
    """Runs a command.

    Raises:
        TableturnError: It cannot be done; the message says why.
    """
    name, _, rest = line.partition(" ")
    command = BY_NAME.get(name)
    if command is None:
        raise SettingsError(f"there is no command {name}: /help lists them")
    return command.run(chat, rest.strip())


def taught(chat: Chat, line: str) -> str:
    """Runs a command where nobody sits at a terminal: one that teaches or explains, none that writes files.

    Raises:
        TableturnError: It is another, or cannot be done; the message says why.
    """
    taken = {command.name: command for command in COMMANDS["Teaching it"]}
    taken |= {name: BY_NAME[name] for name in ("/explain", "/answers")}
    name, _, rest = line.partition(" ")
    if name not in taken:
        raise SettingsError(f"there is no command {name} here: {', '.join(taken)}")
    said = taken[name].run(chat, rest.strip())
    assert isinstance(said, str), "what teaches and explains replies in words"
    return said
