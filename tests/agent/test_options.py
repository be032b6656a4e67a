"""The options that open a database or an agent are the same wherever a command has them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
import typer
from tableturn.agent.cli.app import app
from tableturn.agent.options import AgentOptions, DatabaseOptions

LACKS = {"serve": {"user"}}
"""The proxy or the permissions say who asks a server."""


def taken(*names: str) -> dict[str, Any]:
    group: Any = typer.main.get_group(app)
    context = group.make_context("tableturn", [], resilient_parsing=True)
    for name in names:
        group = group.get_command(context, name)
    return {one.name: (one.opts, one.default, one.envvar) for one in group.params}


def options(of: type) -> set[str]:
    return {one.name for one in fields(of)} - {"named"}


@pytest.mark.parametrize("command", ["ask", "chat", "serve", "mcp"])
def test_whatever_opens_an_agent_takes_all_its_options(command: str) -> None:
    assert taken(command).keys() & options(AgentOptions) == options(AgentOptions) - LACKS.get(command, set())


@pytest.mark.parametrize(
    "command",
    [
        *[("annotate",), ("link",), ("schema",), ("lessons",), ("feedback",), ("examples", "add")],
        *[("knowledge", "check"), ("knowledge", "export"), ("knowledge", "suggest")],
    ],
)
def test_whatever_opens_a_database_takes_all_its_options(command: tuple[str, ...]) -> None:
    ask = taken("ask")
    assert {name: taken(*command)[name] for name in options(DatabaseOptions)} == {
        name: ask[name] for name in options(DatabaseOptions)
    }
