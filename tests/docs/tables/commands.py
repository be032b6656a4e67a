"""Tables of what can be typed: the commands of the terminal with their options, and those of a chat."""

from __future__ import annotations

import re
from typing import Any

import typer
from tableturn.agent.cli.app import app
from tableturn.agent.cli.chat.commands import BY_NAME
from typer.cli import get_docs_for_click

from .markdown import table

_OPTION = re.compile(r"^(\* `-[^`<]*) <(?:list\[)?([\w,]+)[^`]*`", re.MULTILINE)
_ARGUMENT = re.compile(r"^(\* `[a-z_.]+) <[^`]*`", re.MULTILINE)
_PLACEHOLDERS = {
    "str": "TEXT",
    "path": "PATH",
    "Path": "PATH",
    "int": "NUMBER",
    "float": "NUMBER",
}
"""What an option takes; typer shows Python's types. Others are choices, and are shown as they are."""


def command_line() -> str:
    """Every command with its arguments and options, after a table of the commands."""
    group: Any = typer.main.get_group(app)
    context = group.make_context("tableturn", [], resilient_parsing=True)
    _leave_hidden_out(group, context)
    text = get_docs_for_click(obj=group, ctx=context, name="tableturn")
    _, _, text = text.partition("\n## ")
    text = re.sub(r"\*\*Commands\*\*:\n\n(\* .*\n)+\n", "", f"## {text}")  # cut short there; each has its own heading
    text = text.replace("* `-h, --help`: Show this message and exit.\n", "").replace("**Options**:\n\n\n", "")
    text = _ARGUMENT.sub(r"\1`", text)
    text = _OPTION.sub(
        lambda found: f"{found[1]} {_PLACEHOLDERS[found[2]]}`" if found[2] in _PLACEHOLDERS else found[0], text
    )
    text = re.sub(r"\*\*Usage\*\*:\n\n```console\n\$ (.*)\n```", r"`\1`", text)
    listed = ((name, group.get_command(context, name)) for name in group.list_commands(context))
    shown = ((name, command) for name, command in listed if not command.hidden)
    rows = [(f"[`{name}`](#tableturn-{name})", command.help.splitlines()[0]) for name, command in shown]
    return f"{table(('command', 'what it does'), rows)}\n{text.strip()}\n"


def _leave_hidden_out(group: Any, context: Any) -> None:
    """Takes hidden commands out of a group, and out of the groups within it."""
    shown = {name: group.get_command(context, name) for name in group.list_commands(context)}
    group.commands = {name: command for name, command in shown.items() if not command.hidden}
    for command in group.commands.values():
        if hasattr(command, "commands"):
            _leave_hidden_out(command, context)


def chat_commands() -> str:
    """Every command of a chat."""
    rows = [(f"`{f'{one.name} {one.takes}'.strip()}`", one.about) for one in BY_NAME.values()]
    return table(("command", "what it does"), rows)
