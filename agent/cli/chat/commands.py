"""Every command of a conversation, in one table: `/help`, completion and docs/ask.md are made of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ....tools.errors import SettingsError
from ...answers.commands import RUN
from . import answers, database, rows, turns
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
    return Group(*parts, Text("Anything else is a question. N is the number of an answer; without it, the last one."))


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
        Command("/rows", "FROM[-TO]", "show the first rows up to a number, or the rows between two numbers", rows.some),
        Command("/wide", "[COUNT]", "show rows as records, with the columns below each other", rows.wide),
        Command(
            "/sql",
            "[edit | run | SELECT ...]",
            "show the query; edit it in $EDITOR and run it; run it again; or run another query instead",
            answers.sql,
        ),
        Command("/explain", "[N]", "explain in plain words what the SQL computes", RUN["/explain"]),
        Command(
            "/why", "[N]", "show what the answer is based on, what was tried, and why it is sure or unsure", answers.why
        ),
        Command(
            "/chart",
            "[FILE]",
            "draw a chart of the result here, or in an .svg, .png or .html file",
            rows.chart,
            "files",
        ),
        Command(
            "/export",
            "FILE",
            "write all rows to a .csv, .json, .jsonl, .md, .xlsx or .parquet file",
            rows.export,
            "files",
        ),
        Command("/answers", "", "list the answers with their numbers", RUN["/answers"]),
    ),
    "The conversation": (
        Command("/retry", "", "undo the last turn and ask it again", turns.retry),
        Command("/undo", "", "undo the last turn", turns.undo),
        Command("/reset", "", "forget all turns and start again", turns.reset),
        Command("/threads", "", "list the saved conversations with this database", turns.threads),
        Command("/cost", "", "show what the conversation has cost: calls, tokens and, with --price, money", turns.cost),
        Command("/help", "[COMMAND]", "list the commands, or describe one", _help, "commands"),
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
            "save the answer as an example for similar questions to this database; QUESTION rewords its question",
            RUN["/approve"],
        ),
        Command("/share", "[N] [QUESTION]", "save the answer as an example for other databases too", RUN["/share"]),
        Command(
            "/correct",
            "[N] SQL",
            "replace the answer's query: the new one runs and is saved as the answer to that question; offers other "
            "things to remember",
            RUN["/correct"],
        ),
        Command("/note", "WORD means TEXT", "remember what a word means here, or a rule", RUN["/note"]),
        Command("/accept", "NUMBER", "remember what was offered under this number", RUN["/accept"]),
        Command(
            "/forget",
            "NAME",
            "remove a definition by its name, or an approved answer by its question or identifier",
            RUN["/forget"],
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
